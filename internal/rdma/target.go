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

const maxTargetPieces = 4 // most pieces of one request

// message is a frame in a receive buffer.
type receivedMessage struct {
	buffer   int32
	bytes    int
	slotCopy []byte // a copy of what was in a slot
}

type target struct {
	endpoint
	eagerRing      *lab.Ring // that its origin may use; may be nil
	serveScheduled bool      // serve is in the queue's todo; under the lock
	registered     bool      // to the queue, which gets its completions; under the lock
	// Used by the poller only.
	backlog        []receivedMessage // that were not handled
	backlogged     bool              // it is in the queue's owing
	answerBuffer   int32             // a buffer for the answer to the current frame
	answersInC     bool              // the origin's C does
	answersBlocked bool              // C answers nothing now
	writes         []*targetWrite    // that were not posted whole
}

func newTarget(f *Fabric) (*target, error) {
	t := &target{answerBuffer: noBuffer}
	t.onCompletion, t.discardPending = t.serveBacklog, t.discard
	t.onMessage = func(buffer int32, n int) {
		t.backlog = append(t.backlog, receivedMessage{buffer: buffer, bytes: n})
		t.serveBacklog()
		t.emptySlot()
	}
	return t, t.openPair(f, f.serverQueue, targetLength(f.remoteRanks()), maxTargetPieces, targetInlineBytes,
		f.maxAnswersPerOrigin())
}

// serve handles what waits, as far as there is room. Poller only.
func (t *target) serveBacklog() {
	for t.postPending() && len(t.backlog) > 0 && t.lossReason.Load() == nil {
		if t.answerBuffer = t.queue.sendBuffers.Take(); t.answerBuffer == noBuffer {
			break
		}
		m := t.nextMessage()
		err := t.handleMessage(&m)
		t.queue.recycleReceive(m.buffer)
		if t.answerBuffer != noBuffer {
			t.queue.sendBuffers.Put(t.answerBuffer)
		}
		if err != nil {
			t.markLost(err)
		}
	}
	t.blockAnswers(len(t.backlog) > 0)
	t.sendMu.Lock()
	defer t.sendMu.Unlock()
	if len(t.backlog)+len(t.pendingFrames)+len(t.writes) > 0 && t.lossReason.Load() == nil && !t.backlogged {
		t.backlogged = true
		t.queue.backlogged = append(t.queue.backlogged, t)
	}
}

// nextMessage takes the oldest message. The last one leaves its memory to those that come.
func (t *target) nextMessage() receivedMessage {
	m := t.backlog[0]
	if len(t.backlog) == 1 {
		t.backlog[0] = receivedMessage{}
		t.backlog = t.backlog[:0]
	} else {
		t.backlog = t.backlog[1:]
	}
	return m
}

// handle hands a message to the receiver, and empties its slot.
func (t *target) handleMessage(m *receivedMessage) error {
	b := t.queue.receiveBuffers.Bytes(m.buffer)[:m.bytes]
	if fastpath.IsQuestion(b) {
		return t.handleRequest(b)
	}
	n, ticket := slotOfBody(b)
	if n == 0 || m.slotCopy != nil {
		return t.deliverFrame(b, m.slotCopy)
	}
	body, err := t.eagerRing.Body(ticket, n)
	if err != nil {
		return err
	}
	defer t.eagerRing.Release(ticket)
	return t.deliverFrame(b, body)
}

// block keeps C from answering the origin, while messages wait that came before, or ends that.
func (t *target) blockAnswers(blocked bool) {
	if t.answersInC && t.answersBlocked != blocked {
		t.answersBlocked = blocked
		t.queue.answers.Block(t.pair.Number(), blocked)
	}
}

// question deals with what the origin's C has asked. It is apart from handle, since it allocates.
func (t *target) handleRequest(b []byte) error {
	if m, ok := fastpath.AsSent(b); ok { // it may be as long as a question about a word
		return t.deliverSent(&m)
	}
	if q, ok := fastpath.AsQuestion(b); ok {
		return t.changeWord(&q)
	}
	if a, ok := fastpath.AsAccumulate(b); ok {
		return t.accumulate(&a)
	}
	return errUnknownMessage
}

// answer answers a read-modify-write, or what is done to a mutex, that the origin's C has asked
// for.
func (t *target) changeWord(q *fastpath.Question) error {
	s, ok := t.receiver.(transport.WordServer)
	switch {
	case ok && q.Unlocks:
		s.Unlock(q.Rank, q.Addr)
	case ok && q.Known:
		ok = s.Change(q.Rank, &q.RMW)
	default:
		ok = false
	}
	return t.sendAnswer(q.ID, q.Old, ok)
}

// accumulate carries out an accumulate that the origin's C has asked for.
func (t *target) accumulate(a *fastpath.Accumulate) error {
	s, ok := t.receiver.(transport.WordServer)
	ok = ok && s.Accumulate(a.Rank, &a.Xfer, a.Scale)
	return t.sendAnswer(a.ID, 0, ok)
}

// hand delivers a two-sided message that the origin's C has sent.
func (t *target) deliverSent(m *fastpath.Sent) error {
	s, ok := t.receiver.(transport.WordServer)
	if !ok {
		return errUnknownMessage
	}
	delivered, err := s.Deliver(m.Rank, m.Tag, m.Body)
	if err != nil {
		return err
	}
	return t.sendAnswer(m.ID, 0, delivered)
}

// reply answers a question of C's. From now on C may do so.
func (t *target) sendAnswer(id uint64, old int64, ok bool) error {
	if !t.answersInC && t.pair.Inline() >= fastpath.AnswerBytes {
		t.answersInC = true
		t.queue.answers.Add(t.pair.Handle(), t.pair.Number())
	}
	var message [fastpath.AnswerBytes]byte
	a := queuedFrame{body: fastpath.AppendAnswer(message[:0], id, old, ok)}
	t.sendMu.Lock()
	defer t.sendMu.Unlock()
	kept := len(t.writes)+len(t.pendingFrames) > 0 || t.overBufferShare(len(a.body))
	if kept || t.answerBuffer == noBuffer || !t.reserveRequests(1) {
		t.queueFrame(queuedFrame{body: slices.Clone(a.body)})
		return nil
	}
	b := t.answerBuffer
	t.answerBuffer = noBuffer
	return t.postFrame(b, encodeQueuedFrame(t.queue.sendBuffers.Bytes(b), a))
}

// emptySlot copies the body of the newest message, which has to wait, out of its slot: other
// origins wait for slots.
func (t *target) emptySlot() {
	if len(t.backlog) == 0 {
		return
	}
	m := &t.backlog[len(t.backlog)-1]
	n, ticket := slotOfBody(t.queue.receiveBuffers.Bytes(m.buffer)[:m.bytes])
	if n == 0 {
		return
	}
	body, err := t.eagerRing.Body(ticket, n)
	if err != nil {
		t.markLost(err)
		return
	}
	m.slotCopy = slices.Clone(body)
	t.eagerRing.Release(ticket)
}

// goOn posts what was kept; false if something is left.
func (t *target) postPending() bool {
	wrote := t.postWrites()
	t.sendMu.Lock()
	defer t.sendMu.Unlock()
	t.serveScheduled = false
	return wrote && !t.flushPending()
}

// drop gives up what was not handled: the connection has ended. Poller only.
func (t *target) discard() {
	t.blockAnswers(true)
	for _, m := range t.backlog {
		if m.bytes == 0 {
			t.onPeerDisconnect()
		}
		t.queue.recycleReceive(m.buffer)
	}
	for _, w := range t.writes {
		w.complete(*t.lossReason.Load())
	}
	t.backlog, t.writes = nil, nil
}

// Send sends a frame, or keeps a copy of it.
func (t *target) Send(head []byte, body *kernel.Cursor, n int64, _ transport.When) (bool, error) {
	if e := t.lossReason.Load(); e != nil {
		return false, *e
	}
	err := t.postOrQueueFrame(head, body, int(n))
	if n > 0 {
		t.receiver.Sent()
	}
	return false, err
}

func (t *target) postOrQueueFrame(head []byte, body *kernel.Cursor, n int) error {
	t.sendMu.Lock()
	defer t.sendMu.Unlock()
	// data is waited for, and so received
	kept := len(t.writes)+len(t.pendingFrames) > 0 || n == 0 && t.overBufferShare(bodyOffset(len(head)))
	if t.answerBuffer == noBuffer || kept || !t.reserveRequests(1) {
		copied := make([]byte, n)
		if n > 0 {
			body.Pack(copied)
		}
		t.queueFrame(queuedFrame{slices.Clone(head), copied})
		return nil
	}
	b := t.answerBuffer
	t.answerBuffer = noBuffer
	return t.postFrame(b, encodeFrame(t.queue.sendBuffers.Bytes(b), head, body, n))
}

// Post sends a frame, or keeps a copy of it, which the poller sends; so it does with the last ones,
// behind a loss.
func (t *target) Post(head, body []byte) {
	t.sendMu.Lock()
	defer t.sendMu.Unlock()
	if t.registered && !t.sendClosed && t.lossReason.Load() == nil && len(t.pendingFrames) == 0 &&
		t.sendBuffered(queuedFrame{head, body}) {
		return
	}
	if t.queueFrame(queuedFrame{slices.Clone(head), slices.Clone(body)}) && !t.serveScheduled {
		t.serveScheduled = true
		t.queue.callFromPoller(t.serveBacklog)
	}
}

// Target-side writes: rows of the node's memory are written to an origin's memory, as far as there
// is room for requests, and the rest when earlier ones are complete. Meanwhile the server handles
// other origins.

// write is a target-side write that was not posted whole.
type targetWrite struct {
	x     transport.Transfer
	walk  kernel.Walk
	chain chain // the next requests, which found no room
}

// finish ends the part of the transfer that Write has begun.
func (w *targetWrite) complete(err error) {
	if w.x.Done != nil {
		w.x.Done.Done(err)
	}
}

// Write writes memory of the arena to memory of the origin, as soon as the current frame has been
// handled.
func (t *target) Write(x *transport.Transfer) error {
	if e := t.lossReason.Load(); e != nil {
		return *e
	}
	w := &targetWrite{x: *x}
	w.walk.Set(x.Local, x.Remote, writeChainLength)
	if x.Done != nil {
		x.Done.Add(1)
	}
	t.writes = append(t.writes, w)
	return nil
}

// writeMore posts requests of writes; false if there is no room for all.
func (t *target) postWrites() bool {
	for len(t.writes) > 0 && t.lossReason.Load() == nil {
		w := t.writes[0]
		if err := t.extendWrite(w); err != nil {
			t.markLost(err)
			break
		}
		if len(w.chain.requests) == 0 {
			t.writes = t.writes[1:]
			w.complete(nil)
			continue
		}
		if ok, _ := t.tryPost(postedChain{buffer: noBuffer, done: w.x.Done}, w.chain.requests,
			w.chain.data); !ok {
			return false
		}
		w.chain.reset()
	}
	return true
}

// writeLength is the length of a chain: two of them are under way at once.
const writeChainLength = targetRequests / 2

// extend adds the next requests of a write to its chain.
func (t *target) extendWrite(w *targetWrite) error {
	for len(w.chain.requests) < writeChainLength {
		r := w.walk.Peek(writeChainLength)
		if r == nil {
			break
		}
		near := t.fabric.Here(r.Local)
		far, err := w.x.Key(r.Remote, func() {})
		if err != nil {
			return err
		}
		if near == nil || !far.Direct {
			// the origin has asked for keys, and was told that there are none
			return errUnknownMessage
		}
		n := int(min(uintptr(r.Bytes), near.Hi-r.Local, far.Hi-r.Remote, maxRequestBytes))
		d := qp.Data{Addr: uint64(r.Local), Bytes: uint32(n),
			Key: t.fabric.device.LocalKey(near.Key)}
		w.chain.appendPiece(qp.Write, r.Remote, far.Key, d, t.maxPieces)
		w.walk.Advance(n)
	}
	return nil
}
