// SPDX-License-Identifier: BSD-3-Clause

// A target's end of a connection: frames of its origin are handled one after the other, as far as
// there is room for their answers. It never waits: a frame that cannot be handled now stays in its
// receive buffer until earlier answers have left.
package rdma

import (
	"slices"

	"libarmci/internal/kernel"
	"libarmci/internal/rdma/fastpath"
	"libarmci/internal/rdma/lab"
	"libarmci/internal/rdma/qp"
	"libarmci/internal/transport"
)

const targetPieces = 4 // most pieces of one request

// message is a frame in a receive buffer.
type message struct {
	buffer int32
	bytes  int
	body   []byte // a copy of what was in a slot
}

type target struct {
	end
	eager *lab.Ring // that its origin may use; may be nil
	asked bool      // serve is in the queue's todo; under the lock
	known bool      // to the queue, which gets its completions; under the lock
	// Used by the poller only.
	backlog []message // that were not handled
	owing   bool      // it is in the queue's owing
	spare   int32     // a buffer for the answer to the current frame
	asks    bool      // the origin's C does
	blocked bool      // C answers nothing now
	writes  []*write  // that were not posted whole
}

func newTarget(f *Fabric) (*target, error) {
	t := &target{spare: none}
	t.freed, t.dropped = t.serve, t.drop
	t.arrived = func(buffer int32, n int) {
		t.backlog = append(t.backlog, message{buffer: buffer, bytes: n})
		t.serve()
		t.emptySlot()
	}
	return t, t.open(f, f.served, targetLength(f.elsewhere()), targetPieces, inlineAnswer,
		f.answersEach())
}

// serve handles what waits, as far as there is room. Poller only.
func (t *target) serve() {
	for t.goOn() && len(t.backlog) > 0 && t.broken.Load() == nil {
		if t.spare = t.q.out.Take(); t.spare == none {
			break
		}
		m := t.nextMessage()
		err := t.handle(&m)
		t.q.giveBack(m.buffer)
		if t.spare != none {
			t.q.out.Put(t.spare)
		}
		if err != nil {
			t.lose(err)
		}
	}
	t.block(len(t.backlog) > 0)
	t.posting.Lock()
	defer t.posting.Unlock()
	if len(t.backlog)+len(t.late)+len(t.writes) > 0 && t.broken.Load() == nil && !t.owing {
		t.owing = true
		t.q.owing = append(t.q.owing, t)
	}
}

// nextMessage takes the oldest message. The last one leaves its memory to those that come.
func (t *target) nextMessage() message {
	m := t.backlog[0]
	if len(t.backlog) == 1 {
		t.backlog[0] = message{}
		t.backlog = t.backlog[:0]
	} else {
		t.backlog = t.backlog[1:]
	}
	return m
}

// handle hands a message to the receiver, and empties its slot.
func (t *target) handle(m *message) error {
	b := t.q.in.Bytes(m.buffer)[:m.bytes]
	if fastpath.IsQuestion(b) {
		return t.question(b)
	}
	n, ticket := slotOf(b)
	if n == 0 || m.body != nil {
		return t.deliver(b, m.body)
	}
	body, err := t.eager.Body(ticket, n)
	if err != nil {
		return err
	}
	defer t.eager.Release(ticket)
	return t.deliver(b, body)
}

// block keeps C from answering the origin, while messages wait that came before, or ends that.
func (t *target) block(blocked bool) {
	if t.asks && t.blocked != blocked {
		t.blocked = blocked
		t.q.answers.Block(t.pair.Number(), blocked)
	}
}

// question deals with what the origin's C has asked. It is apart from handle, since it allocates.
func (t *target) question(b []byte) error {
	if m, ok := fastpath.AsSent(b); ok { // it may be as long as a question about a word
		return t.hand(&m)
	}
	if q, ok := fastpath.AsQuestion(b); ok {
		return t.answer(&q)
	}
	if a, ok := fastpath.AsAccumulate(b); ok {
		return t.accumulate(&a)
	}
	return errFrame
}

// answer answers a read-modify-write, or what is done to a mutex, that the origin's C has asked
// for.
func (t *target) answer(q *fastpath.Question) error {
	s, ok := t.receiver.(transport.WordServer)
	switch {
	case ok && q.Unlocks:
		s.Unlock(q.Rank, q.Addr)
	case ok && q.Known:
		ok = s.Change(q.Rank, &q.RMW)
	default:
		ok = false
	}
	return t.reply(q.ID, q.Old, ok)
}

// accumulate carries out an accumulate that the origin's C has asked for.
func (t *target) accumulate(a *fastpath.Accumulate) error {
	s, ok := t.receiver.(transport.WordServer)
	ok = ok && s.Accumulate(a.Rank, &a.Xfer, a.Scale)
	return t.reply(a.ID, 0, ok)
}

// hand delivers a two-sided message that the origin's C has sent.
func (t *target) hand(m *fastpath.Sent) error {
	s, ok := t.receiver.(transport.WordServer)
	if !ok {
		return errFrame
	}
	delivered, err := s.Deliver(m.Rank, m.Tag, m.Body)
	if err != nil {
		return err
	}
	return t.reply(m.ID, 0, delivered)
}

// reply answers a question of C's. From now on C may do so.
func (t *target) reply(id uint64, old int64, ok bool) error {
	if !t.asks && t.pair.Inline() >= fastpath.AnswerBytes {
		t.asks = true
		t.q.answers.Add(t.pair.Handle(), t.pair.Number())
	}
	var message [fastpath.AnswerBytes]byte
	a := frame{body: fastpath.AppendAnswer(message[:0], id, old, ok)}
	t.posting.Lock()
	defer t.posting.Unlock()
	kept := len(t.writes)+len(t.late) > 0 || t.full(len(a.body))
	if kept || t.spare == none || !t.reserve(1) {
		t.keep(frame{body: slices.Clone(a.body)})
		return nil
	}
	b := t.spare
	t.spare = none
	return t.postFrame(b, encodeKept(t.q.out.Bytes(b), a))
}

// emptySlot copies the body of the newest message, which has to wait, out of its slot: other
// origins wait for slots.
func (t *target) emptySlot() {
	if len(t.backlog) == 0 {
		return
	}
	m := &t.backlog[len(t.backlog)-1]
	n, ticket := slotOf(t.q.in.Bytes(m.buffer)[:m.bytes])
	if n == 0 {
		return
	}
	body, err := t.eager.Body(ticket, n)
	if err != nil {
		t.lose(err)
		return
	}
	m.body = slices.Clone(body)
	t.eager.Release(ticket)
}

// goOn posts what was kept; false if something is left.
func (t *target) goOn() bool {
	wrote := t.writeMore()
	t.posting.Lock()
	defer t.posting.Unlock()
	t.asked = false
	return wrote && !t.flush()
}

// drop gives up what was not handled: the connection has ended. Poller only.
func (t *target) drop() {
	t.block(true)
	for _, m := range t.backlog {
		if m.bytes == 0 {
			t.departed()
		}
		t.q.giveBack(m.buffer)
	}
	for _, w := range t.writes {
		w.finish(*t.broken.Load())
	}
	t.backlog, t.writes = nil, nil
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
	// data is waited for, and so received
	kept := len(t.writes)+len(t.late) > 0 || n == 0 && t.full(bodyAt(len(head)))
	if t.spare == none || kept || !t.reserve(1) {
		copied := make([]byte, n)
		if n > 0 {
			body.Pack(copied)
		}
		t.keep(frame{slices.Clone(head), copied})
		return nil
	}
	b := t.spare
	t.spare = none
	return t.postFrame(b, encodeFrame(t.q.out.Bytes(b), head, body, n))
}

// Post sends a frame, or keeps a copy of it, which the poller sends; so it does with the last ones,
// behind a loss.
func (t *target) Post(head, body []byte) {
	t.posting.Lock()
	defer t.posting.Unlock()
	if t.known && !t.over && t.broken.Load() == nil && len(t.late) == 0 &&
		t.sendCopy(frame{head, body}) {
		return
	}
	if t.keep(frame{slices.Clone(head), slices.Clone(body)}) && !t.asked {
		t.asked = true
		t.q.later(t.serve)
	}
}

// Target-side writes: rows of the node's memory are written to an origin's memory, as far as there
// is room for requests, and the rest when earlier ones are complete. Meanwhile the server handles
// other origins.

// write is a target-side write that was not posted whole.
type write struct {
	x     transport.Transfer
	walk  kernel.Walk
	chain chain // the next requests, which found no room
}

// finish ends the part of the transfer that Write has begun.
func (w *write) finish(err error) {
	if w.x.Done != nil {
		w.x.Done.Done(err)
	}
}

// Write writes memory of the arena to memory of the origin, as soon as the current frame has been
// handled.
func (t *target) Write(x *transport.Transfer) error {
	if e := t.broken.Load(); e != nil {
		return *e
	}
	w := &write{x: *x}
	w.walk.Set(x.Local, x.Remote, writeLength)
	if x.Done != nil {
		x.Done.Add(1)
	}
	t.writes = append(t.writes, w)
	return nil
}

// writeMore posts requests of writes; false if there is no room for all.
func (t *target) writeMore() bool {
	for len(t.writes) > 0 && t.broken.Load() == nil {
		w := t.writes[0]
		if err := t.extend(w); err != nil {
			t.lose(err)
			break
		}
		if len(w.chain.requests) == 0 {
			t.writes = t.writes[1:]
			w.finish(nil)
			continue
		}
		if ok, _ := t.attempt(posted{buffer: none, done: w.x.Done}, w.chain.requests,
			w.chain.data); !ok {
			return false
		}
		w.chain.clear()
	}
	return true
}

// writeLength is the length of a chain: two of them are under way at once.
const writeLength = targetRequests / 2

// extend adds the next requests of a write to its chain.
func (t *target) extend(w *write) error {
	for len(w.chain.requests) < writeLength {
		r := w.walk.Peek(writeLength)
		if r == nil {
			break
		}
		near := t.f.Here(r.Local)
		far, err := w.x.Key(r.Remote, func() {})
		if err != nil {
			return err
		}
		if near == nil || !far.Direct {
			// the origin has asked for keys, and was told that there are none
			return errFrame
		}
		n := int(min(uintptr(r.Bytes), near.Hi-r.Local, far.Hi-r.Remote, pieceBytes))
		d := qp.Data{Addr: uint64(r.Local), Bytes: uint32(n),
			Key: t.f.base.LocalKey(near.Key)}
		w.chain.add(qp.Write, r.Remote, far.Key, d, t.width)
		w.walk.Advance(n)
	}
	return nil
}
