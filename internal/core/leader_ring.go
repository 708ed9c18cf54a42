// SPDX-License-Identifier: BSD-3-Clause

// Messages between the leaders of a team that a device writes: each leader has a ring in its memory
// for each leader that it hears from, and an event that counts what has been written there
// (event_word.go), so that no data server takes part. Rings are made when a team has been used a few
// times. Which leaders have rings for each other, and where the next message belongs, follows from
// what both ends know; the receiver frees the ring a quarter at a time.
package core

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"runtime"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

const (
	ringAfter = 4         // collectives of a team before it makes rings
	ringPiece = 256 << 10 // most bytes of a piece of a message: shorter ones take several times as long in all
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

// ringEnd is one leader's end of the rings between it and another one.
type ringEnd struct {
	r           *Runtime
	to          transport.Rank
	here, there uintptr // the parts for each other

	written, sent  int64          // bytes and pieces of all messages so far
	freed          int64          // quarters that the other leader has freed
	read, received int64          // as written and sent
	returned       int64          // quarters that were freed here
	request        int32          // under which C still sends data, 0: none
	head           [ringHead]byte // of a piece that Go sends: here, since an operation has only its address
}

// leaderRings are those of one leader of a team.
type leaderRings struct {
	block uintptr
	ends  []*ringEnd // by relation
}

// relations is how many leaders any of n leaders exchanges messages with, at most.
func relations(n int) int { return 2 * bits.Len(uint(n-1)) }

// relation is the number of another leader among those that a leader exchanges messages with: they
// are a power of two before or behind it. -1: it is none of them.
func relation(me, other, n int) int {
	behind := (other - me + n) % n
	for k := range bits.Len(uint(n - 1)) {
		switch 1 << k {
		case behind:
			return 2 * k
		case n - behind:
			return 2*k + 1
		}
	}
	return -1
}

// entered counts the collectives of a team, and makes its rings when it is time to.
func (l *leaderTeam) entered() {
	if l.tag < tagTeam || l.entries > ringAfter {
		return
	}
	if l.entries++; l.entries == ringAfter {
		l.makeRings()
	}
}

// makeRings is collective over the leaders. All of them get rings, or none does.
func (l *leaderTeam) makeRings() {
	n := len(l.ranks)
	var mine uintptr
	if l.r.beyond.words != nil {
		mine = l.r.ringMemory(relations(n))
	}
	all := l.gatherBlocks(binary.LittleEndian.AppendUint64(nil, uint64(mine)), equalSizes(n, 8))
	rings := &leaderRings{block: mine, ends: make([]*ringEnd, relations(n))}
	for other := range n {
		block := uintptr(binary.LittleEndian.Uint64(all[8*other:]))
		if block == 0 {
			l.r.FreeLocal(mine)
			return
		}
		if at := relation(l.me, other, n); other != l.me && at >= 0 {
			rings.ends[at] = &ringEnd{r: l.r, to: l.ranks[other], here: mine + uintptr(at)*ringPart,
				there: block + uintptr(relation(other, l.me, n))*ringPart}
		}
	}
	l.rings = rings
}

// ringMemory is memory for so many parts, 0 if there is none.
func (r *Runtime) ringMemory(parts int) uintptr {
	block, err := r.MallocLocal(int64(parts) * ringPart)
	if err != nil {
		return 0
	}
	for i := range uintptr(parts) {
		zero(block+i*ringPart, ringData)
	}
	return block
}

// ring is the end of the rings between this leader and another one; nil: there are none, or
// messages must be handled before their sender leaves the job.
func (l *leaderTeam) ring(other int) *ringEnd {
	if l.rings == nil || l.r.leaving.Load() {
		return nil
	}
	if at := relation(l.me, other, len(l.ranks)); at >= 0 {
		return l.rings.ends[at]
	}
	return nil
}

// retire ends the use of the rings. The fence and the barrier that follow end what other leaders
// write there.
func (l *leaderTeam) retire() {
	l.entries = ringAfter + 1
	if l.rings != nil {
		l.retired, l.rings = l.rings.block, nil
	}
}

// freeRings frees the memory of rings that were retired.
func (l *leaderTeam) freeRings() {
	l.r.FreeLocal(l.retired)
	l.retired = 0
}

// ringStep is how many bytes of a ring a piece takes.
func ringStep(n int) int64 { return int64(ringHead+n+ringAlign-1) &^ (ringAlign - 1) }

// ringPlace is where the next piece begins behind so many bytes: none goes beyond the end.
func ringPlace(behind int64) int64 {
	if left := ringBytes - behind%ringBytes; left < ringQuarter {
		return behind + left
	}
	return behind
}

// send sends a message, in pieces. Its memory must not be changed until finish.
func (e *ringEnd) send(body []byte, what string) error {
	for total, first := len(body), true; first || len(body) > 0; first = false {
		n := min(len(body), ringPiece)
		if err := e.sendPiece(total, body[:n], what); err != nil {
			return err
		}
		body = body[n:]
	}
	return nil
}

// sendPiece sends a piece of a message of so many bytes when there is room for it.
func (e *ringEnd) sendPiece(total int, piece []byte, what string) error {
	e.written = ringPlace(e.written)
	end := e.written + ringStep(len(piece))
	for end-ringBytes > e.freed*ringQuarter {
		if err := e.await(ringFreed, ringFreedRecord, uint32(e.freed), what); err != nil {
			return err
		}
		e.freed += int64(e.r.events.EventCount(e.here+ringFreed) - uint32(e.freed))
	}
	at := e.there + ringData + uintptr(e.written%ringBytes)
	e.written, e.sent = end, e.sent+1
	return e.store(at, total, piece)
}

// store stores a piece at a place in the other leader's ring and counts it there.
func (e *ringEnd) store(at uintptr, total int, piece []byte) error {
	count := uint32(e.sent)
	parts := transport.FastNoPart
	if e.r.beyond.fast != nil {
		parts = transport.FastMessage(e.fastTo(), at, total, piece, e.there+ringArrived, count, &e.request)
	}
	var err error
	if parts < transport.FastHeadOnly {
		binary.LittleEndian.PutUint64(e.head[:], uint64(total))
		err = e.put(at, e.head[:])
	}
	if parts < transport.FastHeadAndData && len(piece) > 0 && err == nil {
		err = e.put(at+ringHead, piece)
	}
	if err == nil {
		err = e.count(ringArrived, ringArrivedRecord, count, parts == transport.FastWhole)
	}
	return err
}

// finish waits until the memory of all messages that were sent may be changed.
func (e *ringEnd) finish() error {
	request := e.request
	if request == 0 {
		return nil
	}
	e.request = 0
	if transport.FastWait(request) {
		return nil
	}
	return e.r.waitFast(request)
}

// put is a blocking put by Go, of data that is not on the stack, which may move.
func (e *ringEnd) put(at uintptr, data []byte) error {
	o := NewOp()
	defer o.Release()
	o.Kind, o.Proc = Put, int(e.to)
	o.Xfer.Local.Base, o.Xfer.Remote.Base = uintptr(unsafe.Pointer(unsafe.SliceData(data))), at
	o.Xfer.Count = []int32{int32(len(data))}
	err := e.r.Do(o)
	runtime.KeepAlive(data)
	return err
}

// count writes a count of this leader's at the other one, behind all that was stored there, unless
// C has written it; and wakes the other one if that has asked for it.
func (e *ringEnd) count(event, record uintptr, count uint32, written bool) error {
	if !written {
		if err := e.r.raise(e.to, e.there+event, count); err != nil {
			return err
		}
		e.r.traffic.posted(int(e.to))
		e.leaveToFast()
	}
	if e.r.events.EventSent(e.here+record, count) {
		return e.r.EventTell(int(e.to), e.there+event, count)
	}
	return nil
}

// leaveToFast lets C write to the other leader's part the next time.
func (e *ringEnd) leaveToFast() {
	if to := e.r.route(e.to); to.fast != nil {
		to.fast.AddRange(to.peer, e.there, e.there, e.there+ringPart)
		to.fast.AddRange(to.peer, e.there+ringPart-1, e.there, e.there+ringPart)
	}
}

func (e *ringEnd) fastTo() transport.FastTo {
	t := e.r.traffic
	return transport.FastTo{Rank: e.to, At: unsafe.Pointer(&t[e.to]), All: unsafe.Pointer(t.all())}
}

// await waits until one of the other leader's counts here differs from seen: it looks, then sleeps.
func (e *ringEnd) await(event, record uintptr, seen uint32, what string) error {
	if e.r.events.EventCount(e.here+event) != seen {
		return nil
	}
	e.r.postCoalesced(everyRank)
	if e.r.events.EventSoon(e.here+event, seen) {
		return nil
	}
	_, err := e.r.EventAwait(int(e.to), e.here+event, e.there+record, seen, -1, what)
	return err
}

// receivePiece waits for the next piece: total is the length of its message, the piece has at most
// `most` bytes. It stays where it is until freePiece.
func (e *ringEnd) receivePiece(most int, what string) (total int, piece []byte, err error) {
	if err := e.await(ringArrived, ringArrivedRecord, uint32(e.received), what); err != nil {
		return 0, nil, err
	}
	e.read = ringPlace(e.read)
	at := e.here + ringData + uintptr(e.read%ringBytes)
	ring := unsafe.Slice((*byte)(kernel.Ptr(at)), ringHead+most)
	return int(binary.LittleEndian.Uint64(ring)), ring[ringHead:], nil
}

// freePiece ends the use of the last piece, of n bytes.
func (e *ringEnd) freePiece(n int) error {
	e.read, e.received = e.read+ringStep(n), e.received+1
	for e.returned < e.read/ringQuarter {
		e.returned++
		count := uint32(e.returned)
		written := e.r.beyond.fast != nil && transport.FastWord(e.fastTo(), e.there+ringFreed, count)
		if err := e.count(ringFreed, ringFreedRecord, count, written); err != nil {
			return err
		}
	}
	return nil
}

// errLength says that a message does not have the length that its receiver expects.
type errLength struct{ total int }

func (e errLength) Error() string { return fmt.Sprintf("a message of %d bytes", e.total) }

// receive receives a message of a known length, in pieces, of which each is given to use.
func (e *ringEnd) receive(total int, what string, use func(at int, piece []byte)) error {
	for at, first := 0, true; first || at < total; first = false {
		n := min(total-at, ringPiece)
		got, piece, err := e.receivePiece(n, what)
		if err == nil && got != total {
			err = errLength{got}
		}
		if err != nil {
			return err
		}
		use(at, piece)
		if err := e.freePiece(n); err != nil {
			return err
		}
		at += n
	}
	return nil
}
