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
	head           [ringHead]byte // of a piece that Go sends: an operation has only its address
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
		parts = transport.FastMessage(e.fastTo(), at, total, piece, e.there+ringArrived,
			count, &e.request)
	}
	var err error
	if parts < transport.FastHeadOnly {
		binary.LittleEndian.PutUint64(e.head[:], uint64(total))
		err = e.r.move(Put, e.to, e.head[:], at)
	}
	if parts < transport.FastHeadAndData && len(piece) > 0 && err == nil {
		err = e.r.move(Put, e.to, piece, at+ringHead)
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

// forget ends that: the memory will be another allocation's.
func (e *ringEnd) forget() {
	if to := e.r.route(e.to); to.fast != nil {
		to.fast.DropRanges(to.peer)
	}
}

func (e *ringEnd) fastTo() transport.FastTo {
	at, all := &e.r.traffic[e.to], e.r.traffic.all()
	return transport.FastTo{Rank: e.to, At: unsafe.Pointer(at), All: unsafe.Pointer(all)}
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
		written := e.r.beyond.fast != nil &&
			transport.FastWord(e.fastTo(), e.there+ringFreed, count)
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
