// SPDX-License-Identifier: BSD-3-Clause

// Updates of other nodes. A message has a head, runs of the target's memory, and the elements. It
// is small enough to be received in reused memory, so a large update is many messages. One that
// fetches is answered (update_fetch.go). The server checks everything: a wrong message changes
// nothing, is not answered with data, and is logged.
package core

import (
	"encoding/binary"
	"fmt"
	"sync"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/log"
	"libarmci/internal/transport"
)

// Head: uint8 operator, uint8 type, uint8 flags, uint8 0, uint32 runs, uint32 elements, uint32 0. A
// run: uint64 address, uint64 bytes. A message and its answer have no more than mostUpdate bytes.
const (
	updateHead = 16
	runBytes   = 16
	mostUpdate = 60 << 10

	flagFetch = 1 // it is answered with the old elements
	flagEmpty = 2 // it has no elements: no-op
)

// Messages, and the runs of one.
var (
	messageBuffers = sync.Pool{New: func() any { return new([mostUpdate]byte) }}
	runBuffers     = sync.Pool{New: func() any { return new(runBuffer) }}
)

// runBuffer has room for the runs of any message.
type runBuffer [mostUpdate / runBytes]kernel.Segment

// updateMessages cuts an update into messages.
type updateMessages struct {
	update        *Update
	elementBytes  int              // bytes of an element
	runsLeft      []kernel.Segment // that no message has
	current       []kernel.Segment // of the next message
	bytesAppended int64            // bytes of elements that messages have
}

// nextMessage takes the runs of the next message into c.current, and returns the bytes of their
// elements; 0: there is none. Elements of a no-op count, too, since they are fetched.
func (c *updateMessages) nextMessage() (bytes int64) {
	c.current = c.current[:0]
	for room := int64(mostUpdate - updateHead); len(c.runsLeft) > 0; {
		run := &c.runsLeft[0]
		if run.Bytes == 0 {
			c.runsLeft = c.runsLeft[1:]
			continue
		}
		n := min(run.Bytes, (room-runBytes)/int64(c.elementBytes)*int64(c.elementBytes))
		if n <= 0 {
			break
		}
		c.current = append(c.current, kernel.Segment{Addr: run.Addr, Bytes: n})
		run.Addr, run.Bytes = run.Addr+uintptr(n), run.Bytes-n
		room, bytes = room-runBytes-n, bytes+n
	}
	return bytes
}

// appendMessage appends the message of c.current, with bytes of elements.
func (c *updateMessages) appendMessage(b []byte, bytes int64) []byte {
	flags := byte(0)
	if c.update.Old != nil {
		flags |= flagFetch
	}
	if c.update.Op == kernel.OpNoOp {
		flags |= flagEmpty
	}
	b = append(b, byte(c.update.Op), byte(c.update.Type), flags, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(c.current)))
	b = binary.LittleEndian.AppendUint32(b, uint32(bytes/int64(c.elementBytes)))
	b = binary.LittleEndian.AppendUint32(b, 0)
	for _, run := range c.current {
		b = appendRange(b, run.Addr, run.Bytes)
	}
	if flags&flagEmpty == 0 {
		b = append(b, unsafe.Slice((*byte)(addUnlessNil(c.update.Data, c.bytesAppended)),
			bytes)...)
		c.bytesAppended += bytes
	}
	return b
}

// remoteUpdates are updates of other nodes, as their origins and their servers see them.
type remoteUpdates struct{ rt *Runtime }

// updateRemote updates memory of a rank of another node.
func (ru *remoteUpdates) updateRemote(u *Update, size int) error {
	old := u.Old
	return forEachMessage(u, size, func(message []byte, first kernel.Segment,
		bytes int64) error {
		if u.Old == nil {
			err := ru.rt.sendActive(transport.Rank(u.Proc), msgUpdate, message)
			if err != nil {
				return updateError(u.Proc, err)
			}
			ru.rt.traffic.countPosted(u.Proc) // a fence waits for it, too
			return nil
		}
		part := old[:bytes]
		old = old[bytes:]
		answer, err := ru.rt.callActive(transport.Rank(u.Proc), msgUpdate, message)
		return storeFetched(u.Proc, part, answer, err, first)
	})
}

// sendMessageFunc sends a message of an update, which is valid during the call. The message's first
// run is first, and its elements have so many bytes.
type sendMessageFunc func(message []byte, first kernel.Segment, bytes int64) error

// forEachMessage calls send with each message of an update of elements of size bytes.
func forEachMessage(u *Update, size int, send sendMessageFunc) error {
	room := messageBuffers.Get().(*[mostUpdate]byte)
	defer messageBuffers.Put(room)
	var few [8]kernel.Segment
	c := updateMessages{update: u, elementBytes: size, runsLeft: append(few[:0], u.Runs...)}
	for bytes := c.nextMessage(); bytes > 0; bytes = c.nextMessage() {
		if err := send(c.appendMessage(room[:0], bytes), c.current[0], bytes); err != nil {
			return err
		}
	}
	return nil
}

// updateRequest is a decoded message, which is well formed.
type updateRequest struct {
	op           kernel.UpdateOp
	typ          kernel.UpdateType
	elementBytes int
	fetch        bool
	runs         []byte
	data         []byte // nil: it has no elements
	elements     int
}

// decodeUpdate checks all of a message except the owner of its memory.
func decodeUpdate(b []byte) (q updateRequest, ok bool) {
	if len(b) < updateHead || len(b) > mostUpdate || b[2]&^(flagFetch|flagEmpty) != 0 {
		return q, false
	}
	q.op, q.typ, q.fetch = kernel.UpdateOp(b[0]), kernel.UpdateType(b[1]), b[2]&flagFetch != 0
	if !kernel.UpdateValid(q.op, q.typ) || (q.op == kernel.OpNoOp) != (b[2]&flagEmpty != 0) {
		return q, false
	}
	q.elementBytes = kernel.UpdateBytes(q.typ)
	runs, elements := int64(binary.LittleEndian.Uint32(b[4:])),
		int64(binary.LittleEndian.Uint32(b[8:]))
	rest := b[updateHead:]
	bytes := elements * int64(q.elementBytes)
	if runs*runBytes > int64(len(rest)) || bytes > mostUpdate || bytes == 0 {
		return q, false
	}
	q.runs, rest, q.elements = rest[:runs*runBytes], rest[runs*runBytes:], int(elements)
	for at := 0; at < len(q.runs); at += runBytes {
		_, n := rangeAt(q.runs[at:])
		if n <= 0 || n > bytes || n%int64(q.elementBytes) != 0 {
			return q, false
		}
		bytes -= n
	}
	if b[2]&flagEmpty == 0 {
		q.data = rest
		return q, bytes == 0 && len(rest) == q.elements*q.elementBytes
	}
	return q, bytes == 0 && len(rest) == 0
}

// handleUpdate executes an update of a rank of this node; false: the message is malformed.
func (ru *remoteUpdates) handleUpdate(from, to transport.Rank, m transport.Msg,
	reply func([]byte)) bool {
	q, ok := decodeUpdate(m.Body)
	if !ok || q.fetch != (reply != nil) {
		return false
	}
	var old []byte
	if q.fetch {
		old = make([]byte, q.elements*q.elementBytes)
	}
	if err := ru.applyRequest(to, &q, old); err != nil {
		log.Warnf("update by rank %d of %d elements of rank %d is dropped: %v", from,
			q.elements, to, err)
		old = nil
	}
	if reply != nil {
		reply(old)
	}
	return true
}

// applyRequest updates memory of a rank of this node, or changes nothing if a run is not the
// rank's.
func (ru *remoteUpdates) applyRequest(to transport.Rank, q *updateRequest, old []byte) error {
	local, room := ru.rt.Topo.Local(to), runBuffers.Get().(*runBuffer)
	defer runBuffers.Put(room)
	runs := room[:0]
	for at := 0; at < len(q.runs); at += runBytes {
		addr, n := rangeAt(q.runs[at:])
		if noAddress(addr) || !ru.rt.Memory.InRegionOf(local, addr, n) {
			return fmt.Errorf("%w: %d bytes at %#x", transport.ErrBadAddr, n, addr)
		}
		runs = append(runs, kernel.Segment{Addr: addr, Bytes: n})
	}
	return ru.rt.applyUpdate(local, &transport.Update{Op: q.op, Type: q.typ, Runs: runs,
		Data: unsafe.Pointer(unsafe.SliceData(q.data)),
		Old:  unsafe.Pointer(unsafe.SliceData(old))})
}

// A compare-and-swap: uint64 address, then the two operands, of equal length. The answer is what
// was there.
const compareHead = 8

// compareRemote is CompareSwap at another node. The caller has checked the arguments and has called
// orderAfterStores.
func (ru *remoteUpdates) compareRemote(proc int, addr uintptr, compare, value, old []byte) error {
	body := binary.LittleEndian.AppendUint64(make([]byte, 0,
		compareHead+2*transport.MaxCompare), uint64(addr))
	answer, err := ru.rt.callActive(transport.Rank(proc), msgCompare,
		append(append(body, compare...),
			value...))
	switch {
	case err != nil:
		return updateError(proc, err)
	case len(answer) != len(old):
		return argErr(CodeAddress, "target", "%d bytes at %#x are not memory of rank %d",
			len(old), addr, proc)
	}
	copy(old, answer)
	return nil
}

// handleCompare executes a compare-and-swap at a rank of this node; false: the message is
// malformed.
func (ru *remoteUpdates) handleCompare(to transport.Rank, m transport.Msg,
	reply func([]byte)) bool {
	n := (len(m.Body) - compareHead) / 2
	if reply == nil || n < 1 || n > transport.MaxCompare || len(m.Body) != compareHead+2*n {
		return false
	}
	addr := uintptr(binary.LittleEndian.Uint64(m.Body))
	if noAddress(addr) || !ru.rt.Memory.InRegionOf(ru.rt.Topo.Local(to), addr, int64(n)) {
		return false
	}
	operands := m.Body[compareHead:]
	x := transport.CompareSwap{Addr: addr, Compare: operands[:n], Value: operands[n:],
		Old: make([]byte, n)}
	if err := ru.rt.applyCompare(ru.rt.Topo.Local(to), &x); err != nil {
		log.Warnf("compare-and-swap at rank %d: %v", to, err)
		x.Old = nil
	}
	reply(x.Old)
	return true
}
