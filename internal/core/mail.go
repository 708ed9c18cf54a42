// SPDX-License-Identifier: BSD-3-Clause

// Two-sided messages to any rank. Within the node they use the node's mailbox. To another node a message travels in parts,
// and a window bounds what is on its way to one rank: a rank that does not receive blocks its senders, and its node need not
// buffer more. A sender that waits receives meanwhile, so that two ranks that send to each other both go on.
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
	partBytes = 32 << 10 // most bytes of a part of a message between nodes
	askBytes  = 64 << 10 // after so many bytes a sender asks whether they have been delivered
	maxAsked  = 2        // questions that may be open; the window is maxAsked+1 times askBytes
	mailHead  = 16       // int64 tag, int64 bytes of the whole message
	partID    = 8        // a message in several parts begins with its number
)

// Tags of the library's own messages lie above those of applications, which are C ints.
const (
	tagGroup        = int64(1) << 33 // start of a group, to the members on a node
	tagGroupLeaders = int64(2) << 33 // start of a group, among the nodes
	TagRange        = int64(3) << 33 // for package msg
	tagCredit       = int64(1) << 40 // plus a rank; sent to myself: what I have sent to that rank so far has been delivered
	tagPart         = int64(1) << 41 // plus a number: the rest of a message
	tagTeam         = int64(1) << 61 // plus a group's number: its collectives among the nodes
)

type mail struct {
	out     []outbox // by rank
	in      []inbox  // by local number
	next    atomic.Uint32
	mu      sync.Mutex // guards closed
	closed  bool
	running sync.WaitGroup
}

func (m *mail) init(ranks, here int) { m.out, m.in = make([]outbox, ranks), make([]inbox, here) }

// outbox counts what is on its way to a rank of another node.
type outbox struct {
	mu    sync.Mutex
	since int // bytes sent since the last question
	asked int // open questions
}

// Send sends a message to a rank, possibly this one. It returns when the body may be reused.
func (r *Runtime) Send(to transport.Rank, tag int64, body []byte) error {
	if r.Topo.SameNode(to) {
		r.mailbox.Send(r.Topo.Local(to), tag, body)
		return nil
	}
	o := &r.mail.out[to]
	o.mu.Lock()
	defer o.mu.Unlock()
	total := len(body)
	if total <= partBytes {
		return r.sendPart(o, to, tag, total, nil, body)
	}
	id := r.mail.next.Add(1)
	first := partBytes - partID
	err := r.sendPart(o, to, tag, total, binary.LittleEndian.AppendUint64(nil, uint64(id)), body[:first])
	for at := first; at < total && err == nil; at += partBytes {
		part := body[at:min(at+partBytes, total)]
		err = r.sendPart(o, to, tagPart+int64(id), len(part), nil, part)
	}
	return err
}

func (r *Runtime) sendPart(o *outbox, to transport.Rank, tag int64, total int, id, data []byte) error {
	if o.asked >= maxAsked {
		if _, err := r.mailbox.Recv(r.Me, tagCredit+int64(to), nil); err != nil {
			return err
		}
		o.asked--
	}
	body := mailBody(tag, total, id, data)
	if err := r.send(to, msgMail, body); err != nil {
		return err
	}
	if o.since += len(body); o.since >= askBytes && r.mail.begin() {
		o.since = 0
		o.asked++
		go r.ask(to)
	}
	return nil
}

func mailBody(tag int64, total int, id, data []byte) []byte {
	body := make([]byte, mailHead, mailHead+len(id)+len(data))
	binary.LittleEndian.PutUint64(body, uint64(tag))
	binary.LittleEndian.PutUint64(body[8:], uint64(total))
	return append(append(body, id...), data...)
}

// sendUnordered is Send of an unordered message: no other message has its tag, and a collective bounds how many are on their way.
func (r *Runtime) sendUnordered(to transport.Rank, tag int64, data []byte) error {
	if len(data) > partBytes {
		return r.Send(to, tag, data)
	}
	way := &r.routes[to]
	return way.tr.Send(way.peer, transport.Msg{Kind: msgMail, Body: mailBody(tag, len(data), nil, data), Unordered: true})
}

// begin counts a goroutine that Finalize waits for; false if Finalize has begun.
func (m *mail) begin() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed {
		m.running.Add(1)
	}
	return !m.closed
}

func (m *mail) isClosed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.closed
}

func (m *mail) close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
}

// ask waits until everything that this rank has sent to another one has been delivered, then sends itself a message.
func (r *Runtime) ask(to transport.Rank) {
	defer log.Guard()
	defer r.mail.running.Done()
	r.call(to, msgMailed, nil) // if it fails, the job ends anyway
	r.mailbox.Send(r.Topo.Local(r.Me), tagCredit+int64(to), nil)
}

// Recv receives the oldest message of a tag from a rank, or from any (-1). ErrTooLong leaves it unread.
func (r *Runtime) Recv(from transport.Rank, tag int64, body []byte) (transport.Received, error) {
	l, err := r.mailbox.Recv(from, tag, body)
	if err != nil || l.Bytes == l.Total {
		return l, err
	}
	id := int64(binary.LittleEndian.Uint64(body))
	at := copy(body, body[partID:l.Bytes])
	for at < l.Total {
		part, err := r.mailbox.Recv(l.From, tagPart+id, body[at:l.Total])
		if err != nil {
			return l, err
		}
		at += part.Bytes
	}
	l.Bytes = at
	return l, nil
}

// recvSoon is Recv of a message of another node that is likely to come soon: it polls first.
func (r *Runtime) recvSoon(from transport.Rank, tag int64, body []byte) (transport.Received, error) {
	way := &r.routes[from]
	if way.watcher != nil {
		defer way.watcher.Watch(way.peer, func() bool { return r.mailbox.Arrived(from, tag) })()
	}
	return r.Recv(from, tag, body)
}

// inbox holds, in order, what has come for a rank of this node while its ring was full.
type inbox struct {
	mu      sync.Mutex
	waiting []parcel
	pumping bool
}

// parcel is a part of a message, or a question whether everything before it has been delivered.
type parcel struct {
	from       transport.Rank
	tag, total int64
	body       []byte
	reply      func([]byte)
}

// handleMail delivers a part at once if there is room; else it is queued for a pump.
func (r *Runtime) handleMail(from, to transport.Rank, m transport.Msg, reply func([]byte)) bool {
	p := parcel{from: from, reply: reply}
	if m.Kind == msgMail {
		if len(m.Body) < mailHead {
			return false
		}
		p.tag = int64(binary.LittleEndian.Uint64(m.Body))
		p.total = int64(binary.LittleEndian.Uint64(m.Body[8:]))
		p.body = m.Body[mailHead:]
	}
	local := r.Topo.Local(to)
	in := &r.mail.in[local]
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.waiting) == 0 && r.deliver(local, p) {
		return true
	}
	in.waiting = append(in.waiting, p)
	if !in.pumping && r.mail.begin() {
		in.pumping = true
		go r.pump(local, in)
	}
	return true
}

func (r *Runtime) deliver(local int, p parcel) bool {
	if p.reply != nil {
		p.reply(nil)
		return true
	}
	return r.mailbox.Deliver(local, p.from, p.tag, p.total, p.body, false)
}

// pump delivers what is queued as the receiver makes room. It polls instead of blocking, so that it can end when the job does.
func (r *Runtime) pump(local int, in *inbox) {
	const shortest, longest = 20 * time.Microsecond, 4 * time.Millisecond
	defer log.Guard()
	defer r.mail.running.Done()
	pause := shortest
	for !r.mail.isClosed() {
		in.mu.Lock()
		n := 0
		for n < len(in.waiting) && r.deliver(local, in.waiting[n]) {
			n++
		}
		in.waiting = in.waiting[n:]
		if len(in.waiting) == 0 {
			in.waiting, in.pumping = nil, false
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
