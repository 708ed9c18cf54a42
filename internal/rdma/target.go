// SPDX-License-Identifier: BSD-3-Clause

// A target's endpoint: frames of its origin are handled one after the other, as far as there is
// room for their answers. It never waits: a frame that cannot be handled now stays in its receive
// buffer until earlier answers have been sent.
package rdma

import (
	"slices"

	"libarmci/internal/kernel"
	"libarmci/internal/rdma/fastpath"
	"libarmci/internal/rdma/lab"
	"libarmci/internal/rdma/qp"
	"libarmci/internal/transport"
)

const maxTargetPieces = 4 // pieces of local memory in a request

// receivedMessage is a frame, or a question of the origin's C, in a receive buffer.
type receivedMessage struct {
	buffer   int32
	bytes    int
	slotCopy []byte // the body, if it was copied out of a slot of the eager ring
}

// target is the endpoint by which a data server serves one origin.
type target struct {
	endpoint
	eagerRing *lab.Ring // the data server's, if its origin uses it; else nil

	// Guarded by endpoint.send.mu.
	serveScheduled bool // serveBacklog is among the poller's calls
	registered     bool // the queue knows the endpoint, so that completions are handled

	// Used by the poller only.
	backlog        []receivedMessage // messages that are not handled yet, the oldest first
	backlogged     bool              // it is in poller.backlogged of the queue
	answerBuffer   int32             // send buffer for the answer to the current frame
	answersInC     bool              // C may answer the origin's questions
	answersBlocked bool              // C answers none now, since the backlog is not empty
	writes         []*targetWrite    // that are not posted whole
}

// newTarget makes an endpoint with its queue pair, which the caller connects or closes.
func newTarget(f *Fabric) (*target, error) {
	t := &target{answerBuffer: noBuffer}
	t.handlers.onCompletion, t.handlers.onLost = t.serveBacklog, t.discard
	t.handlers.onMessage = func(buffer int32, n int) {
		t.backlog = append(t.backlog, receivedMessage{buffer: buffer, bytes: n})
		t.serveBacklog()
		t.emptySlot()
	}
	return t, t.openPair(f, f.serverQueue, targetLength(f.remoteRanks()), maxTargetPieces,
		targetInlineBytes, f.maxAnswersPerOrigin())
}

// serveBacklog handles messages of the backlog as far as there is room for their answers. What is
// left is served again when requests of the queue have completed. Poller only.
func (t *target) serveBacklog() {
	for t.postPending() && len(t.backlog) > 0 && t.lossReason.Load() == nil {
		if t.answerBuffer = t.queue.sendBuffers.TakeBuffer(); t.answerBuffer == noBuffer {
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
	t.send.mu.Lock()
	defer t.send.mu.Unlock()
	left := len(t.backlog) + len(t.send.pending) + len(t.writes)
	if left > 0 && t.lossReason.Load() == nil && !t.backlogged {
		t.backlogged = true
		t.queue.poller.backlogged = append(t.queue.poller.backlogged, t)
	}
}

// nextMessage removes the oldest message of the backlog, which is not empty. When that is empty
// afterwards, its memory is used again.
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

// handleMessage hands a message to the receiver, and frees its slot of the eager ring, if any.
func (t *target) handleMessage(m *receivedMessage) error {
	b := t.queue.receiveBuffers.Bytes(m.buffer)[:m.bytes]
	if fastpath.IsQuestion(b) {
		return t.handleQuestion(b)
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

// blockAnswers has C answer no questions of the origin while earlier messages are in the backlog,
// or lets it again. Poller only.
func (t *target) blockAnswers(blocked bool) {
	if t.answersInC && t.answersBlocked != blocked {
		t.answersBlocked = blocked
		t.queue.answers.BlockOrigin(t.pair.Number(), blocked)
	}
}

// handleQuestion handles a question of the origin's C (fastpath/questions.h). It is not part of
// handleMessage, since it allocates. Only the poller's thread calls it.
func (t *target) handleQuestion(b []byte) error {
	if m, ok := fastpath.AsSent(b); ok { // it may be as long as a question about a word
		return t.deliverSent(&m)
	}
	if q, ok := fastpath.AsQuestion(b); ok {
		return t.changeWord(&q)
	}
	if a, ok := fastpath.AsAccumulate(b); ok {
		return t.applyAccumulate(&a)
	}
	return errUnknownMessage
}

// changeWord carries out a read-modify-write, or an operation on a mutex, for the origin's C, and
// sends the answer.
func (t *target) changeWord(q *fastpath.Question) error {
	s, ok := t.receiver.(transport.WordServer)
	switch {
	case ok && q.Unlocks:
		s.UnlockMutex(q.Rank, q.Addr)
	case ok && q.Known:
		ok = s.ModifyWord(q.Rank, &q.RMW)
	default:
		ok = false
	}
	return t.sendAnswer(q.ID, q.Old, ok)
}

// applyAccumulate carries out an accumulate for the origin's C, and sends the answer.
func (t *target) applyAccumulate(a *fastpath.Accumulate) error {
	s, ok := t.receiver.(transport.WordServer)
	ok = ok && s.Accumulate(a.Rank, &a.Xfer, a.Scale)
	return t.sendAnswer(a.ID, 0, ok)
}

// deliverSent delivers a two-sided message of the origin's C, and sends the answer.
func (t *target) deliverSent(m *fastpath.Sent) error {
	s, ok := t.receiver.(transport.WordServer)
	if !ok {
		return errUnknownMessage
	}
	delivered, err := s.DeliverMessage(m.Rank, m.Tag, m.Body)
	if err != nil {
		return err
	}
	return t.sendAnswer(m.ID, 0, delivered)
}

// sendAnswer answers a question of the origin's C. ok is false if nothing was done, and the origin
// has to send a frame instead. From now on C may answer this origin.
func (t *target) sendAnswer(id uint64, old int64, ok bool) error {
	if !t.answersInC && t.pair.Inline() >= fastpath.AnswerBytes {
		t.answersInC = true
		t.queue.answers.AddOrigin(t.pair.Handle(), t.pair.Number())
	}
	var message [fastpath.AnswerBytes]byte
	a := queuedFrame{body: fastpath.AppendAnswer(message[:0], id, old, ok)}
	t.send.mu.Lock()
	defer t.send.mu.Unlock()
	kept := len(t.writes)+len(t.send.pending) > 0 || t.overBufferShare(len(a.body))
	if kept || t.answerBuffer == noBuffer || !t.reserveRequests(1) {
		t.queueFrame(queuedFrame{body: slices.Clone(a.body)})
		return nil
	}
	b := t.answerBuffer
	t.answerBuffer = noBuffer
	return t.postMessage(b, encodeQueuedFrame(t.queue.sendBuffers.Bytes(b), a))
}

// emptySlot copies the body of the newest message, if that is still in the backlog, out of its slot
// of the eager ring: other origins wait for slots. Poller only.
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

// postPending posts writes and frames for which there was no room; false if some are left. It locks
// send.mu. Poller only.
func (t *target) postPending() bool {
	wrote := t.postWrites()
	t.send.mu.Lock()
	defer t.send.mu.Unlock()
	t.serveScheduled = false
	return wrote && !t.sendPending()
}

// discard gives up the backlog and the target-side writes: the connection is lost. Poller only.
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

// Send sends a frame, or queues a copy of it. The memory of head and body is the caller's again.
// Poller only.
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

// postOrQueueFrame is Send for a connection that works. A frame goes into the answer buffer if it
// is the first answer to its request, and if none is queued.
func (t *target) postOrQueueFrame(head []byte, body *kernel.Cursor, n int) error {
	t.send.mu.Lock()
	defer t.send.mu.Unlock()
	// An origin waits for data, and so receives it: only frames without are bounded.
	kept := len(t.writes)+len(t.send.pending) > 0 ||
		n == 0 && t.overBufferShare(bodyOffset(len(head)))
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
	return t.postMessage(b, encodeFrame(t.queue.sendBuffers.Bytes(b), head, body, n))
}

// Post sends a frame, or queues a copy of it, which the poller sends, even if the connection is
// lost meanwhile. Any thread may call it; it locks send.mu.
func (t *target) Post(head, body []byte) {
	t.send.mu.Lock()
	defer t.send.mu.Unlock()
	works := t.registered && !t.send.closed && t.lossReason.Load() == nil
	if works && len(t.send.pending) == 0 && t.sendBuffered(queuedFrame{head, body}) {
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

// targetWrite is a target-side write of which not all requests are posted yet.
type targetWrite struct {
	x     transport.Transfer
	walk  kernel.Walk
	chain chain // the next requests, for which there was no room
}

// complete ends the part of the transfer that Write has counted.
func (w *targetWrite) complete(err error) {
	if w.x.Done != nil {
		w.x.Done.CompletePart(err)
	}
}

// Write writes memory of the arena to memory of the origin. Its requests are posted as soon as the
// current frame has been handled. Poller only.
func (t *target) Write(x *transport.Transfer) error {
	if e := t.lossReason.Load(); e != nil {
		return *e
	}
	w := &targetWrite{x: *x}
	w.walk.Set(x.Local, x.Remote, writeChainLength)
	if x.Done != nil {
		x.Done.AddParts(1)
	}
	t.writes = append(t.writes, w)
	return nil
}

// postWrites posts requests of target-side writes; false if there is no room for all. Poller only.
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
		p := postedChain{buffer: noBuffer, done: w.x.Done}
		if ok, _ := t.tryPost(p, w.chain.requests, w.chain.data); !ok {
			return false
		}
		w.chain.reset()
	}
	return true
}

// writeChainLength is the length of a write's chain: two of them are in flight at once.
const writeChainLength = targetRequests / 2

// extendWrite appends the next requests of a write to its chain, which is empty or was not posted.
func (t *target) extendWrite(w *targetWrite) error {
	for len(w.chain.requests) < writeChainLength {
		r := w.walk.Peek(writeChainLength)
		if r == nil {
			break
		}
		near := t.fabric.LocalRange(r.Local)
		far, err := w.x.Key(r.Remote, func() {})
		if err != nil {
			return err
		}
		if near == nil || !far.Direct {
			// a correct origin does not request a write without a key
			return errUnknownMessage
		}
		n := int(min(uintptr(r.Bytes), near.Hi-r.Local, far.Hi-r.Remote, maxRequestBytes))
		d := qp.Data{Addr: uint64(r.Local), Bytes: uint32(n),
			Key: t.fabric.device.LocalKey(near.Key)}
		w.chain.appendPiece(qp.Write, r.Remote, far.Key, d, t.limits.pieces)
		w.walk.Advance(n)
	}
	return nil
}
