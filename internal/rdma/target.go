// SPDX-License-Identifier: BSD-3-Clause

// A target's end of a connection: frames of its origin are handled one after the other, as far as there is room for what
// they cause. It never waits: what cannot be handled now stays in its receive buffer until earlier answers have left.
package rdma

import (
	"libarmci/internal/kernel"
	"libarmci/internal/rdma/lab"
	"libarmci/internal/rdma/verbs"
	"libarmci/internal/transport"
)

const (
	targetRequests = 32 // of a queue pair: frames and writes to one origin that are on their way
	targetPieces   = 4  // of memory in one of them
)

// message is a frame in a receive buffer.
type message struct {
	buffer int32
	bytes  int
}

type target struct {
	end
	eager *lab.Ring // that its origin may use; may be nil
	asked bool      // it will be served soon; under the lock
	// Of who polls.
	backlog []message // that were not handled
	owing   bool      // it will be served when something has completed
	spare   int32     // buffer for what the frame at hand causes
	writes  []*write  // that were not posted whole; under the lock
	ended   []*write  // that were; under the lock
}

func newTarget(f *Fabric) (*target, error) {
	t := &target{spare: none}
	t.freed, t.dropped = t.serve, t.drop
	t.arrived = func(buffer int32, n int) {
		t.backlog = append(t.backlog, message{buffer, n})
		t.serve()
	}
	return t, t.open(f, f.served, targetRequests, targetPieces, inlineAnswer, 0)
}

// serve handles what waits, as far as there is room. For who polls.
func (t *target) serve() {
	for t.goOn() && len(t.backlog) > 0 && t.broken.Load() == nil {
		if t.spare = t.q.out.Take(); t.spare == none {
			break
		}
		m := t.backlog[0]
		t.backlog = t.backlog[1:]
		err := t.deliver(t.q.in.Bytes(m.buffer)[:m.bytes], t.eager)
		t.q.giveBack(m.buffer)
		if t.spare != none {
			t.q.out.Put(t.spare)
		}
		if err != nil {
			t.lose(err)
		}
	}
	t.posting.Lock()
	defer t.posting.Unlock()
	if len(t.backlog)+len(t.late)+len(t.writes) > 0 && t.broken.Load() == nil && !t.owing {
		t.owing = true
		t.q.owing = append(t.q.owing, t)
	}
}

// goOn posts what was kept; false if there is no room.
func (t *target) goOn() bool {
	t.posting.Lock()
	t.asked = false
	ok := t.writeMore() && !t.flush()
	ended := t.ended
	t.ended = nil
	t.posting.Unlock()
	for _, w := range ended { // who may post
		w.finish(nil)
	}
	return ok
}

// soon has who polls serve this end. The caller has the lock.
func (t *target) soon() {
	if !t.asked {
		t.asked = true
		t.q.later(t.freed)
	}
}

// drop gives up what was not handled, of an end that was lost. For who polls.
func (t *target) drop() {
	for _, m := range t.backlog {
		t.q.giveBack(m.buffer)
	}
	t.posting.Lock()
	writes := append(t.writes, t.ended...)
	t.writes, t.ended = nil, nil
	t.posting.Unlock()
	for _, w := range writes {
		w.finish(*t.broken.Load())
	}
	t.backlog = nil
}

// Send sends a frame, or keeps a copy of it.
func (t *target) Send(head []byte, body *kernel.Cursor, n int64, _ transport.When) (bool, error) {
	if e := t.broken.Load(); e != nil {
		return false, *e
	}
	err := t.send(head, body, int(n))
	if n > 0 {
		t.receiver.Sent()
	}
	return false, err
}

func (t *target) send(head []byte, body *kernel.Cursor, n int) error {
	t.posting.Lock()
	defer t.posting.Unlock()
	if t.spare == none || len(t.writes)+len(t.late) > 0 || !t.reserve(1) {
		copied := make([]byte, n)
		if n > 0 {
			body.Pack(copied)
		}
		t.keep(append([]byte(nil), head...), copied)
		t.soon()
		return nil
	}
	b := t.spare
	t.spare = none
	at := encodeHead(t.q.out.Bytes(b), head)
	if n > 0 {
		body.Pack(t.q.out.Bytes(b)[at : at+n])
	}
	return t.postFrame(b, at+n)
}

// Post keeps a frame for who polls.
func (t *target) Post(head, body []byte) {
	t.posting.Lock()
	defer t.posting.Unlock()
	if t.keep(head, body) {
		t.soon()
	}
}

// Flush has nothing to do: who polls sends what was kept.
func (t *target) Flush() bool { return false }

// Target-side writes: rows of the node's memory are written to an origin's, as far as there is room for requests; the rest
// when some have left. It is the origin's turn that waits, not the server.

// write is one that was not posted whole.
type write struct {
	x    transport.Transfer
	walk kernel.Walk
}

// finish ends what Write has begun.
func (w *write) finish(err error) {
	if w.x.Done != nil {
		w.x.Done.Done(err)
	}
}

// Write writes memory of the arena to memory of the origin.
func (t *target) Write(x *transport.Transfer) error {
	if e := t.broken.Load(); e != nil {
		return *e
	}
	w := &write{x: *x}
	w.walk.Set(&x.Local, &x.Remote, writeLength)
	if x.Done != nil {
		x.Done.Add(1)
	}
	t.posting.Lock()
	defer t.posting.Unlock()
	t.writes = append(t.writes, w)
	t.writeMore()
	t.soon()
	return nil
}

// writeMore posts more; false if it has to wait. The caller has the lock.
func (t *target) writeMore() bool {
	for len(t.writes) > 0 && t.broken.Load() == nil {
		w := t.writes[0]
		for w.walk.Left() > 0 {
			if done, err := t.writeChain(w); err != nil {
				t.lose(err)
				return true
			} else if !done {
				return false
			}
		}
		t.writes, t.ended = t.writes[1:], append(t.ended, w)
	}
	return true
}

// writeLength is how many requests are posted together: two such chains are under way at once.
const writeLength = targetRequests / 2

// writeChain posts one chain, if there is room for the longest.
func (t *target) writeChain(w *write) (done bool, err error) {
	if !t.reserve(writeLength) {
		return false, nil
	}
	var c chain
	for r := w.walk.Peek(writeLength); r != nil && len(c.requests) < writeLength; r = w.walk.Peek(writeLength) {
		near := t.f.Here(r.Local)
		far, err := w.x.Key(r.Remote, func() {})
		if err != nil {
			return false, err
		}
		if near == nil || !far.Direct {
			return false, errFrame // the origin has asked for keys, and was told that there are none
		}
		n := int(min(uintptr(r.Bytes), near.Hi-r.Local, far.Hi-r.Remote, pieceBytes))
		c.add(verbs.Write, r.Remote, far.Key, verbs.Data{Addr: uint64(r.Local), Bytes: uint32(n), Key: localKey(near.Key)}, t.width)
		w.walk.Advance(n)
	}
	more := int32(writeLength - len(c.requests))
	t.slots.Add(more)
	t.q.tokens.Add(more)
	return true, t.post(posted{buffer: none, done: w.x.Done}, c.requests, c.data)
}

// Read has no use here.
func (*target) Read(*transport.Transfer) error { return transport.ErrNotNative }

// Atomic has no use here.
func (*target) Atomic(transport.AtomicOp, uintptr, uint64, int64, int64) (int64, error) {
	return 0, transport.ErrNotNative
}
