// SPDX-License-Identifier: BSD-3-Clause

// Messages between the leaders of a team that a device writes. Each leader has a ring in its memory
// for each leader from which it receives, and an event that counts the pieces that were written
// there (event_word.go), so that no data server takes part. Rings are made at a team's fourth
// collective. Which leaders have rings for each other, and where the next message is written, both
// ends compute. The receiver frees the ring a quarter at a time.
package core

import (
	"encoding/binary"
	"math/bits"

	"libarmci/internal/transport"
)

const (
	ringAfter = 4         // collectives of a team before it makes rings
	ringPiece = 256 << 10 // most bytes of a piece; shorter pieces are slower
	ringAlign = 64        // bytes that the place of a piece is a multiple of
	ringHead  = transport.FastHead

	ringQuarter = ringPiece + ringAlign // a piece with its head fits in one
	ringBytes   = 4 * ringQuarter
)

// A part of a leader's memory is for one other leader: two events that the other's device writes,
// the leader's own records of the two that it writes there, and the ring that it receives from.
const (
	ringArrived       = 0 * ringAlign // pieces that the other leader has written
	ringFreed         = 1 * ringAlign // quarters of its own ring that it has freed
	ringArrivedRecord = 2 * ringAlign
	ringFreedRecord   = 3 * ringAlign
	ringData          = 4 * ringAlign
	ringPart          = ringData + ringBytes
)

// leaderRings are the rings of one leader of a team.
type leaderRings struct {
	block uintptr    // memory of all parts
	ends  []*ringEnd // by peerIndex
}

// numPeers is the number of leaders with which any of n leaders exchanges messages, at most.
func numPeers(n int) int { return 2 * bits.Len(uint(n-1)) }

// peerIndex is the index of another leader among those with which a leader exchanges messages: the
// leaders at a distance of a power of two, in either direction. -1: it is none of them.
func peerIndex(me, other, n int) int {
	distance := (other - me + n) % n
	for k := range bits.Len(uint(n - 1)) {
		switch 1 << k {
		case distance:
			return 2 * k
		case n - distance:
			return 2*k + 1
		}
	}
	return -1
}

// countCollective counts a collective of the team, and makes the rings at the fourth one, which is
// itself a collective: it communicates. So each collective calls it first, at all leaders.
func (l *leaderTeam) countCollective() {
	if l.tag < tagTeam || l.collectives > ringAfter {
		return
	}
	if l.collectives++; l.collectives == ringAfter {
		l.makeRings()
	}
}

// makeRings is collective over the leaders. All of them get rings, or none does.
func (l *leaderTeam) makeRings() {
	n := len(l.ranks)
	var mine uintptr
	if l.rt.internode.wordWriter != nil {
		mine = l.ringMemory(numPeers(n))
	}
	all := l.gatherBlocks(binary.LittleEndian.AppendUint64(nil, uint64(mine)), equalSizes(n, 8))
	rings := &leaderRings{block: mine, ends: make([]*ringEnd, numPeers(n))}
	for other := range n {
		block := uintptr(binary.LittleEndian.Uint64(all[8*other:]))
		if block == 0 {
			l.rt.FreeLocal(mine)
			return
		}
		if at := peerIndex(l.me, other, n); other != l.me && at >= 0 {
			rings.ends[at] = &ringEnd{rt: l.rt, to: l.ranks[other],
				localPart:  mine + uintptr(at)*ringPart,
				remotePart: block + uintptr(peerIndex(other, l.me, n))*ringPart}
		}
	}
	l.rings = rings
}

// ringMemory allocates memory for the parts of so many peers and zeroes their counts; 0 if there is
// none.
func (l *leaderTeam) ringMemory(parts int) uintptr {
	block, err := l.rt.MallocLocal(int64(parts) * ringPart)
	if err != nil {
		return 0
	}
	for i := range uintptr(parts) {
		zeroMemory(block+i*ringPart, ringData)
	}
	return block
}

// ringTo returns this leader's end of the rings between it and another one. nil: there are none, or
// this rank is finalising and messages must be handled before their sender has left.
func (l *leaderTeam) ringTo(other int) *ringEnd {
	if l.rings == nil || l.rt.leaving.Load() {
		return nil
	}
	if at := peerIndex(l.me, other, len(l.ranks)); at >= 0 {
		return l.rings.ends[at]
	}
	return nil
}

// retireRings ends the use of the rings. Other leaders may write to them until the fence and the
// barrier that the caller executes next; freeRings frees their memory behind these.
func (l *leaderTeam) retireRings() {
	l.collectives = ringAfter + 1
	if l.rings == nil {
		return
	}
	for _, e := range l.rings.ends {
		if e != nil {
			e.dropFastRanges()
		}
	}
	l.retired, l.rings = l.rings.block, nil
}

// freeRings frees the memory of rings that were retired.
func (l *leaderTeam) freeRings() {
	l.rt.FreeLocal(l.retired)
	l.retired = 0
}
