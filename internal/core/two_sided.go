// SPDX-License-Identifier: BSD-3-Clause

// Two-sided messages to any rank. Within the node they use the node's mailbox. To another node a
// message travels in fragments, and a window bounds the bytes in flight to one rank: a rank that
// does not receive blocks its senders, and its node need not buffer more. A sender that waits
// receives meanwhile, so that two ranks that send to each other both go on. Where there is a fast
// path, C sends what is short, as long as its receiver keeps up; C's messages and Go's travel on
// one connection, and keep their order.
package core

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
	"time"

	"libarmci/internal/log"
	"libarmci/internal/transport"
)

const (
	fragmentBytes = 32 << 10 // most bytes of a fragment of a message between nodes
	ackBytes      = 64 << 10 // after so many bytes a sender requests an acknowledgement
	// requests that may be open; the window is maxUnacked+1 times ackBytes
	maxUnacked = 2
	idBytes    = 8 // a message in several fragments begins with its number

	// A rank that requests less often does not fill its window before the answer arrives.
	seldomAsked = 10 * time.Millisecond
)

// Tags of the library's own messages lie above those of applications, which are C ints.
const (
	tagGroup        = int64(1) << 33 // start of a group, to the members on a node
	tagGroupLeaders = int64(2) << 33 // start of a group, among the nodes
	TagRange        = int64(3) << 33 // for package msg
	// plus a rank; sent to myself: acknowledges what I have sent to that rank so far
	tagCredit   = int64(1) << 40
	tagFragment = int64(1) << 41 // plus a number: the rest of a message
	tagTeam     = int64(1) << 61 // plus a group's number: its collectives among the nodes
)

// twoSided is the state of messages to and from ranks of other nodes.
type twoSided struct {
	rt            *Runtime
	expected      expectedTable
	windows       []atomic.Pointer[sendWindow] // by rank; nil: nothing has been sent there
	backlogs      []recvQueue                  // by local number
	lastMessageID atomic.Uint32
	stageCount    atomic.Int32   // stages that were asked for
	tasks         sync.WaitGroup // goroutines that Finalize waits for
	mu            sync.Mutex     // guards closed
	closed        bool           // Finalize has begun: no task may start. mu guards it.
}

func (ts *twoSided) initQueues(ranks, here int) {
	ts.windows, ts.backlogs = make([]atomic.Pointer[sendWindow], ranks), make([]recvQueue, here)
}

// windowTo is the window of a rank of another node.
func (ts *twoSided) windowTo(to transport.Rank) *sendWindow {
	if o := ts.windows[to].Load(); o != nil {
		return o
	}
	ts.windows[to].CompareAndSwap(nil, new(sendWindow))
	return ts.windows[to].Load()
}

// sendWindow bounds the bytes in flight to a rank of another node. Its lock also keeps the order of
// messages; it guards all other fields.
type sendWindow struct {
	mu                sync.Mutex // guards the rest
	bytesSinceRequest int        // bytes sent since the last request for an acknowledgement
	unackedRequests   int        // requests that have not been answered
	lastRequestTime   time.Time  // when the last request was made
	stage             stage
}

// Send sends a message to a rank, possibly this one. It returns when the body may be reused.
func (r *Runtime) Send(to transport.Rank, tag int64, body []byte) error {
	if r.Topo.SameNode(to) {
		r.mailbox.Send(r.Topo.Local(to), tag, body)
		return nil
	}
	o := r.twoSided.windowTo(to)
	o.mu.Lock()
	defer o.mu.Unlock()
	staged := r.twoSided.wantsStaging(o, to, len(body))
	if len(body) <= fragmentBytes && !staged {
		err := r.twoSided.sendFragment(o, to, tag, len(body), nil, body)
		dest := r.route(to)
		if err == nil && dest.fast != nil {
			if behind := dest.fast.LetSend(dest.peer); behind &&
				o.unackedRequests == 0 {
				r.twoSided.requestAckAsync(o, to)
			}
		}
		return err
	}
	return r.twoSided.sendLong(o, to, tag, body, staged)
}

// sendLong sends a message in pieces, each staged if that is wanted and a slot is free. The caller
// holds o.mu.
func (ts *twoSided) sendLong(o *sendWindow, to transport.Rank, tag int64, body []byte,
	staged bool) error {
	id := int64(ts.lastMessageID.Add(1))
	n, err := ts.sendFirstPiece(o, to, tag, id, body, staged)
	for at := n; at < len(body) && err == nil; at += n {
		rest := body[at:]
		if ref, m := ts.copyToSlot(o, to, rest, staged); m > 0 {
			n, err = m, ts.sendFragment(o, to, tagFragment+id, m, nil, ref[:])
			continue
		}
		n = min(len(rest), fragmentBytes)
		err = ts.sendFragment(o, to, tagFragment+id, n, nil, rest[:n])
	}
	return err
}

// sendFirstPiece sends the first piece of a message, and returns the piece's length. The caller
// holds o.mu.
func (ts *twoSided) sendFirstPiece(o *sendWindow, to transport.Rank, tag, id int64, body []byte,
	staged bool) (n int, err error) {
	total := len(body)
	ref, n := ts.copyToSlot(o, to, body, staged)
	data := ref[:]
	if n > 0 {
		id |= stagedID
	} else if total <= fragmentBytes {
		return total, ts.sendFragment(o, to, tag, total, nil, body)
	} else {
		n = fragmentBytes - idBytes
		data = body[:n]
	}
	number := binary.LittleEndian.AppendUint64(nil, uint64(id))
	return n, ts.sendFragment(o, to, tag, total, number, data)
}

// sendFragment sends a fragment when the window has room for it. The caller holds o.mu.
func (ts *twoSided) sendFragment(o *sendWindow, to transport.Rank, tag int64, total int, id,
	data []byte) error {
	if o.unackedRequests >= maxUnacked {
		if _, err := ts.rt.mailbox.Recv(ts.rt.Me, tagCredit+int64(to), nil); err != nil {
			return err
		}
		o.unackedRequests--
	}
	if err := ts.postFragment(to, tag, total, id, data); err != nil {
		return err
	}
	if o.bytesSinceRequest += transport.FragmentHead + len(id) +
		len(data); o.bytesSinceRequest >= ackBytes {
		ts.requestAckAsync(o, to)
	}
	return nil
}

// requestAckAsync starts a request for an acknowledgement of what has been sent. The caller holds
// o.mu.
func (ts *twoSided) requestAckAsync(o *sendWindow, to transport.Rank) {
	if ts.startTask() {
		o.bytesSinceRequest = 0
		o.unackedRequests++
		now := time.Now()
		go ts.requestAck(to, now.Sub(o.lastRequestTime) > seldomAsked)
		o.lastRequestTime = now
	}
}

// fragmentMemory is used again: with large messages garbage would take more time than all else.
var fragmentMemory = sync.Pool{New: func() any {
	return new([transport.FragmentHead + fragmentBytes]byte)
}}

// postFragment sends a fragment, with the window's room or where none is needed.
func (ts *twoSided) postFragment(to transport.Rank, tag int64, total int, id, data []byte) error {
	b := fragmentMemory.Get().(*[transport.FragmentHead + fragmentBytes]byte)
	defer fragmentMemory.Put(b)
	dest := ts.rt.route(to)
	body := append(append(transport.AppendFragmentHead(b[:0], tag, total), id...), data...)
	m := transport.Msg{Kind: msgFragment, Body: body, Unhurried: true}
	return dest.tr.Send(dest.peer, m)
}

// startTask counts a goroutine that Finalize waits for, which calls tasks.Done at its end; false:
// Finalize has begun, and the goroutine must not start.
func (ts *twoSided) startTask() bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if !ts.closed {
		ts.tasks.Add(1)
	}
	return !ts.closed
}

// isFinalizing tells whether Finalize has begun. It locks mu.
func (ts *twoSided) isFinalizing() bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return ts.closed
}

// close makes further startTask fail: Finalize has begun.
func (ts *twoSided) close() {
	ts.mu.Lock()
	ts.closed = true
	ts.mu.Unlock()
}

// requestAck waits until everything that this rank has sent to another one has been delivered, then
// sends itself the credit. unhurried: no fragment is likely to wait for it.
func (ts *twoSided) requestAck(to transport.Rank, unhurried bool) {
	defer log.Guard()
	defer ts.tasks.Done()
	// If it fails, the job ends anyway.
	_, err := ts.rt.callActiveMsg(to, transport.Msg{Kind: msgAckRequest, Unhurried: unhurried})
	if dest := ts.rt.route(to); err == nil && dest.fast != nil {
		dest.fast.Delivered(dest.peer)
	}
	ts.rt.mailbox.Send(ts.rt.Topo.Local(ts.rt.Me), tagCredit+int64(to), nil)
}

// Recv receives the oldest message of a tag from a rank, or from any (-1). ErrTooLong leaves it
// unread.
func (r *Runtime) Recv(from transport.Rank, tag int64, body []byte) (transport.Received, error) {
	r.coalescing.postCoalesced(everyRank)
	l, err := r.mailbox.Recv(from, tag, body)
	if err != nil || l.Bytes == l.Total {
		return l, err
	}
	l.Bytes, err = r.twoSided.recvLong(l, body)
	return l, err
}

// recvLong receives the rest of a message, of which the first fragment is in body, and returns the
// message's length.
func (ts *twoSided) recvLong(l transport.Received, body []byte) (at int, err error) {
	id := int64(binary.LittleEndian.Uint64(body))
	if id&stagedID == 0 {
		at = copy(body, body[idBytes:l.Bytes])
	} else {
		id, at = id&^stagedID, min(l.Total, stagePiece)
		err = ts.fetchStaged(l.From, body[idBytes:firstRef], body[:at])
	}
	for at < l.Total && err == nil {
		var frag transport.Received
		frag, err = ts.rt.mailbox.Recv(l.From, tagFragment+id, body[at:l.Total])
		if err != nil {
			break
		}
		if frag.Bytes < frag.Total { // it is staged
			err = ts.fetchStaged(l.From, body[at:at+refBytes], body[at:at+frag.Total])
		}
		at += frag.Total
	}
	return at, err
}

// recvQueue holds, in order, the fragments that arrived for a rank of this node while its mailbox
// was full. mu guards it.
type recvQueue struct {
	mu         sync.Mutex // guards the rest
	waiting    []fragment
	delivering bool
}

// fragment is what arrives for a rank: a fragment of a message, or a request to acknowledge
// everything before it.
type fragment struct {
	from       transport.Rank
	tag, total int64
	body       []byte
	reply      func([]byte)
}

// handleTwoSided gives a fragment to the thread that waits for it, or delivers it to the mailbox of
// rank to. A request for an acknowledgement is answered behind all fragments before it.
func (ts *twoSided) handleTwoSided(from, to transport.Rank, m transport.Msg,
	reply func([]byte)) bool {
	p := fragment{from: from, reply: reply}
	if m.Kind == msgFragment {
		if len(m.Body) < transport.FragmentHead {
			return false
		}
		p.tag = int64(binary.LittleEndian.Uint64(m.Body))
		p.total = int64(binary.LittleEndian.Uint64(m.Body[8:]))
		p.body = m.Body[transport.FragmentHead:]
		if to == ts.rt.Me && int(p.total) == len(p.body) && ts.storeExpected(&p) {
			return true
		}
	}
	ts.deliverOrQueue(ts.rt.Topo.Local(to), p, &m)
	return true
}

// deliverOrQueue delivers a fragment at once if there is room; else it queues it for a goroutine. m
// is the message that has it, and may be nil. It locks the queue.
func (ts *twoSided) deliverOrQueue(local int, p fragment, m *transport.Msg) {
	in := &ts.backlogs[local]
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.waiting) == 0 && ts.tryDeliver(local, p) {
		return
	}
	if p.body != nil && m != nil {
		p.body = m.OwnedBody()[transport.FragmentHead:]
	}
	in.waiting = append(in.waiting, p)
	ts.rt.mailbox.SetBacklogged(local, true)
	if !in.delivering && ts.startTask() {
		in.delivering = true
		go ts.deliverQueued(local, in)
	}
}

// hasBacklog tells whether fragments for a rank of this node wait for room. It locks the queue.
func (ts *twoSided) hasBacklog(local int) bool {
	in := &ts.backlogs[local]
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.waiting) > 0
}

// tryDeliver delivers a fragment to the mailbox, or answers a request for an acknowledgement;
// false: there is no room. The caller holds the lock of the rank's queue.
func (ts *twoSided) tryDeliver(local int, p fragment) bool {
	if p.reply != nil {
		p.reply(nil)
		return true
	}
	return ts.rt.mailbox.Deliver(local, p.from, p.tag, p.total, p.body, false)
}

// deliverQueued is a goroutine that delivers queued fragments as the receiver makes room. It polls
// instead of blocking, so that it ends with the job.
func (ts *twoSided) deliverQueued(local int, in *recvQueue) {
	const shortest, longest = 20 * time.Microsecond, 4 * time.Millisecond
	defer log.Guard()
	defer ts.tasks.Done()
	pause := shortest
	for !ts.isFinalizing() {
		in.mu.Lock()
		n := 0
		for n < len(in.waiting) && ts.tryDeliver(local, in.waiting[n]) {
			n++
		}
		in.waiting = in.waiting[n:]
		if len(in.waiting) == 0 {
			in.waiting, in.delivering = nil, false
			ts.rt.mailbox.SetBacklogged(local, false)
			in.mu.Unlock()
			return
		}
		in.mu.Unlock()
		if n > 0 {
			pause = shortest
		}
		time.Sleep(pause)
		pause = min(2*pause, longest)
	}
}
