// SPDX-License-Identifier: BSD-3-Clause

// One end of the rings between two leaders (leader_ring.go): sending and receiving messages in
// pieces, and giving the ring back.
package core

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// ringEnd is one leader's end of the two rings between it and another leader. The thread that uses
// the team owns it.
type ringEnd struct {
	rt                    *Runtime
	to                    transport.Rank // the other leader
	localPart, remotePart uintptr        // addresses of the parts for each other

	// Of all messages sent so far; of the ring at the other leader, the quarters that it freed.
	bytesWritten, piecesSent, peerQuartersFreed int64
	// Of all messages received so far; of the ring here, the quarters that this leader freed.
	bytesRead, piecesReceived, quartersFreed int64

	request int32 // number under which C still sends data, 0: none
	// head is that of a piece that Go sends: an operation has only its address.
	head [ringHead]byte
}

// ringStep is how many bytes of a ring a piece of n bytes takes.
func ringStep(n int) int64 { return int64(ringHead+n+ringAlign-1) &^ (ringAlign - 1) }

// ringPlace is where the next piece begins, behind so many bytes: a piece does not wrap around, so
// that it starts anew where less than a quarter is left.
func ringPlace(behind int64) int64 {
	if left := ringBytes - behind%ringBytes; left < ringQuarter {
		return behind + left
	}
	return behind
}

// sendMessage sends a message in pieces. Its memory must not change until awaitSent.
func (e *ringEnd) sendMessage(body []byte, what string) error {
	for total, first := len(body), true; first || len(body) > 0; first = false {
		n := min(len(body), ringPiece)
		if err := e.sendPiece(total, body[:n], what); err != nil {
			return err
		}
		body = body[n:]
	}
	return nil
}

// sendPiece sends a piece of a message of total bytes. It waits until the ring has room.
func (e *ringEnd) sendPiece(total int, piece []byte, what string) error {
	e.bytesWritten = ringPlace(e.bytesWritten)
	end := e.bytesWritten + ringStep(len(piece))
	for end-ringBytes > e.peerQuartersFreed*ringQuarter {
		if err := e.awaitCount(ringFreed, ringFreedRecord, uint32(e.peerQuartersFreed),
			what); err != nil {
			return err
		}
		e.peerQuartersFreed += int64(e.rt.events.EventCount(e.localPart+ringFreed) - uint32(
			e.peerQuartersFreed))
	}
	at := e.remotePart + ringData + uintptr(e.bytesWritten%ringBytes)
	e.bytesWritten, e.piecesSent = end, e.piecesSent+1
	return e.storePiece(at, total, piece)
}

// storePiece writes a piece to an address in the other leader's ring and counts it there.
func (e *ringEnd) storePiece(at uintptr, total int, piece []byte) error {
	count := uint32(e.piecesSent)
	parts := transport.FastNoPart
	if e.rt.internode.fast != nil {
		parts = transport.FastMessage(e.fastTarget(), at, total, piece,
			e.remotePart+ringArrived,
			count, &e.request)
	}
	var err error
	if parts < transport.FastHeadOnly {
		binary.LittleEndian.PutUint64(e.head[:], uint64(total))
		err = e.rt.copyBlocking(Put, e.to, e.head[:], at)
	}
	if parts < transport.FastHeadAndData && len(piece) > 0 && err == nil {
		err = e.rt.copyBlocking(Put, e.to, piece, at+ringHead)
	}
	if err == nil {
		err = e.writeCount(ringArrived, ringArrivedRecord, count,
			parts == transport.FastWhole)
	}
	return err
}

// awaitSent waits until the memory of all messages that were sent may be changed.
func (e *ringEnd) awaitSent() error {
	request := e.request
	if request == 0 {
		return nil
	}
	e.request = 0
	if transport.SpinForRequest(request) {
		return nil
	}
	return e.rt.internode.waitFastRequest(request)
}

// writeCount writes one of this leader's counts at the other leader, behind all stores there,
// unless C has written it (written). It wakes the other leader if that has asked for it.
func (e *ringEnd) writeCount(event, record uintptr, count uint32, written bool) error {
	if !written {
		if err := e.rt.eventCounters.writeEventCount(e.to, e.remotePart+event,
			count); err != nil {
			return err
		}
		e.rt.traffic.countPosted(int(e.to))
		e.addFastRanges()
	}
	if e.rt.events.RecordEventSent(e.localPart+record, count) {
		return e.rt.WakeEventWaiters(int(e.to), e.remotePart+event, count)
	}
	return nil
}

// addFastRanges allows the C fast path to write to the other leader's part the next time.
func (e *ringEnd) addFastRanges() {
	if to := e.rt.route(e.to); to.fast != nil {
		to.fast.AddRange(to.peer, e.remotePart, e.remotePart, e.remotePart+ringPart)
		to.fast.AddRange(to.peer, e.remotePart+ringPart-1, e.remotePart,
			e.remotePart+ringPart)
	}
}

// dropFastRanges revokes addFastRanges: another allocation will use the memory.
func (e *ringEnd) dropFastRanges() {
	if to := e.rt.route(e.to); to.fast != nil {
		to.fast.DropRanges(to.peer)
	}
}

// fastTarget names the other leader and its traffic counters for the C fast path.
func (e *ringEnd) fastTarget() transport.FastTo {
	at, all := &e.rt.traffic[e.to], e.rt.traffic.total()
	return transport.FastTo{Rank: e.to, At: unsafe.Pointer(at), All: unsafe.Pointer(all)}
}

// awaitCount waits until one of the other leader's counts here differs from seen. It polls before
// it sleeps.
func (e *ringEnd) awaitCount(event, record uintptr, seen uint32, what string) error {
	if e.rt.events.EventCount(e.localPart+event) != seen {
		return nil
	}
	e.rt.coalescing.postCoalesced(everyRank)
	if e.rt.events.EventSoon(e.localPart+event, seen) {
		return nil
	}
	_, err := e.rt.EventAwait(int(e.to), e.localPart+event, e.remotePart+record, seen, -1, what)
	return err
}

// receivePiece waits for the next piece, of up to `most` bytes, and returns it and the length of
// its message. The piece stays in the ring until freePiece.
func (e *ringEnd) receivePiece(most int, what string) (total int, piece []byte, err error) {
	if err := e.awaitCount(ringArrived, ringArrivedRecord, uint32(e.piecesReceived),
		what); err != nil {
		return 0, nil, err
	}
	e.bytesRead = ringPlace(e.bytesRead)
	at := e.localPart + ringData + uintptr(e.bytesRead%ringBytes)
	ring := unsafe.Slice((*byte)(kernel.Ptr(at)), ringHead+most)
	return int(binary.LittleEndian.Uint64(ring)), ring[ringHead:], nil
}

// freePiece frees the last piece, of n bytes, and tells the other leader when a quarter of the ring
// is free.
func (e *ringEnd) freePiece(n int) error {
	e.bytesRead, e.piecesReceived = e.bytesRead+ringStep(n), e.piecesReceived+1
	for e.quartersFreed < e.bytesRead/ringQuarter {
		e.quartersFreed++
		count := uint32(e.quartersFreed)
		written := e.rt.internode.fast != nil &&
			transport.FastWord(e.fastTarget(), e.remotePart+ringFreed, count)
		if err := e.writeCount(ringFreed, ringFreedRecord, count, written); err != nil {
			return err
		}
	}
	return nil
}

// errLength is that a message does not have the length that its receiver expects.
type errLength struct{ total int }

func (e errLength) Error() string { return fmt.Sprintf("a message of %d bytes", e.total) }

// receiveMessage receives a message of a known length and calls use with each piece and its offset.
func (e *ringEnd) receiveMessage(total int, what string, use func(at int, piece []byte)) error {
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
