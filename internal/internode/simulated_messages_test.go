// SPDX-License-Identifier: BSD-3-Clause

//go:build simulation

// Messages of a simulated job: ordered ones, which tell of stores before them, calls, locks, and
// unordered messages. Each has to come once.
package internode

import (
	"bytes"
	"encoding/binary"
	"slices"
	"time"

	"libarmci/internal/testutil/simulate"
	"libarmci/internal/transport"
)

// The kinds of messages.
const (
	simOrdered   = iota + 1 // a slot of the receiver is as the message says
	simCall                 // the reply is the message backwards
	simAcquire              // a call that is answered when the lock is the client's
	simRelease              // gives the lock back
	simAsk                  // asks for unordered messages
	simUnordered            // one of those
)

// The beginning of a message.
const (
	atClient = 0 // the client that sends, or that has asked
	atSlot   = 1
	atNumber = 2 // u32
	simHead  = 8
)

// simLock is a lock at a rank, and a count that only its holder changes.
type simLock struct {
	holder  int // 1 + the client; 0: none
	waiting []func()
	count   uint64
}

// simCountAt is where the count of a rank's lock is.
const simCountAt = 60 << 10

// message begins a message.
func (c *simClient) message(slot int, number uint32, more int) []byte {
	b := make([]byte, simHead+more)
	b[atClient], b[atSlot] = byte(c.id), byte(slot)
	binary.LittleEndian.PutUint32(b[atNumber:], number)
	c.fill(b[simHead:])
	return b
}

// length draws the length of a message.
func (c *simClient) length() int { return c.rnd.IntN(pick(c.rnd, 1, 100, 3000, 30000)) }

// sendOrdered sends a message that tells what is in a slot.
func (c *simClient) sendOrdered(peer *simPeer) {
	i := c.rnd.IntN(simSlots)
	c.complete(peer, i)
	s := &peer.slots[i]
	s.frozen = true
	b := append(c.message(i, peer.sent, 0), s.want...)
	c.note("sends message %d about slot %d to rank %d", peer.sent, i, peer.rank)
	peer.sent++
	c.failed(peer, "a message", c.p.t.Send(transport.Peer(peer.rank),
		transport.Msg{Kind: simOrdered, Body: b, Unhurried: c.rnd.IntN(4) == 0}))
	clear(b)
}

// call calls, blocking or not.
func (c *simClient) call(peer *simPeer) {
	b := c.message(0, 0, c.length())
	want := slices.Clone(b)
	slices.Reverse(want)
	m := transport.Msg{Kind: simCall, Body: b}
	c.note("calls rank %d with %d bytes", peer.rank, len(b))
	if c.rnd.IntN(2) == 0 {
		got, err := c.p.t.Call(transport.Peer(peer.rank), m)
		if !c.failed(peer, "a call", err) && !bytes.Equal(got, want) {
			simulate.Fail("client %d gets a wrong reply", c.id)
		}
		return
	}
	o := &simOpen{}
	m.Replied = func(body []byte, err error) {
		if o.done {
			simulate.Fail("client %d gets two replies of one call", c.id)
		}
		if o.done, o.err = true, err; err == nil && !bytes.Equal(body, want) {
			simulate.Fail("client %d gets a wrong reply", c.id)
		}
	}
	if _, err := c.p.t.Call(transport.Peer(peer.rank), m); err != nil {
		c.failed(peer, "a call", err)
		return
	}
	peer.calls = append(peer.calls, o)
	if len(peer.calls) > c.rnd.IntN(6) {
		c.completeCalls(peer)
	}
}

// completeCalls waits for the calls that are open.
func (c *simClient) completeCalls(peer *simPeer) {
	calls := peer.calls
	peer.calls = nil
	for _, o := range calls {
		c.await(func() bool { return o.done })
		if o.err != nil {
			c.failed(peer, "a nonblocking call", o.err)
		}
	}
}

// lock takes the lock of a rank, raises its count and gives it back, without a fence.
func (c *simClient) lock(peer *simPeer) {
	if c.j.mayFail() {
		return // another one may hold it for ever
	}
	to, l := transport.Peer(peer.rank), c.j.locks[peer.rank]
	c.note("takes the lock of rank %d", peer.rank)
	_, err := c.p.t.Call(to, transport.Msg{Kind: simAcquire, Body: c.message(0, 0, 0)})
	c.failed(peer, "a lock", err)
	if l.holder != c.id+1 {
		simulate.Fail("client %d has the lock of rank %d, which is client %d's", c.id,
			peer.rank, l.holder-1)
	}
	b := simBytes(c.p.rank, c.wordBuffer(), 8)
	c.failed(peer, "a get", c.moveWord(c.p.t.Get, peer, simCountAt))
	if v := binary.LittleEndian.Uint64(b); v != l.count {
		simulate.Fail("client %d has the lock and finds %d, not %d", c.id, v, l.count)
	}
	l.count++
	binary.LittleEndian.PutUint64(b, l.count)
	c.failed(peer, "a put", c.moveWord(c.p.t.Put, peer, simCountAt))
	c.note("gives the lock of rank %d back", peer.rank)
	c.failed(peer, "an unlock", c.p.t.Send(to, transport.Msg{Kind: simRelease,
		Body: c.message(0, 0, 0)}))
}

// askForMessages asks for unordered messages, and waits for them.
func (c *simClient) askForMessages(peer *simPeer) {
	if c.j.mayFail() {
		return // they may be lost
	}
	n := 1 + c.rnd.IntN(3)
	first := c.asked
	c.asked += uint32(n)
	c.note("asks rank %d for %d messages", peer.rank, n)
	c.failed(peer, "a message", c.p.t.Send(transport.Peer(peer.rank),
		transport.Msg{Kind: simAsk, Body: append(c.message(n, first, 0),
			make([]byte, c.length())...)}))
	met := func() bool {
		for k := first; k < c.asked; k++ {
			if c.got[k] == 0 {
				return false
			}
		}
		return true
	}
	end := c.p.t.Watch(transport.Peer(peer.rank), met, c.rnd.IntN(2) == 0)
	for d := time.Microsecond; !met(); d = min(2*d, 10*time.Millisecond) {
		simulate.Sleep(d)
	}
	end()
}

// handler is the process's handler of messages.
func (p *simProcess) handler(j *simJob) transport.Handler {
	return func(from, to transport.Rank, m transport.Msg, reply func([]byte)) {
		c := j.clients[m.Body[atClient]]
		number := binary.LittleEndian.Uint32(m.Body[atNumber:])
		if m.Kind != simUnordered && from != c.p.rank || m.Kind == simUnordered &&
			to != c.p.rank {
			simulate.Fail("a message of kind %d from rank %d to rank %d, of client %d",
				m.Kind, from, to, c.id)
		}
		switch m.Kind {
		case simOrdered:
			c.checkOrdered(to, number, int(m.Body[atSlot]), m.Body[simHead:])
		case simCall:
			body := bytes.Clone(m.Body)
			slices.Reverse(body)
			p.later(func() { reply(body) })
		case simAcquire:
			j.locks[to].acquire(c, reply)
		case simRelease:
			j.locks[to].release(c)
		case simAsk:
			n, size := int(m.Body[atSlot]), len(m.Body)-simHead
			p.running.Go(func() { p.answer(c, number, n, size) })
		case simUnordered:
			if c.got[number]++; c.got[number] > 1 || number >= c.asked {
				simulate.Fail("message %d comes to client %d for the %d. time",
					number, c.id, c.got[number])
			}
		}
	}
}

// later calls f, now or in a thread.
func (p *simProcess) later(f func()) {
	if simulate.Chance(2) {
		f()
		return
	}
	p.running.Go(func() {
		simulate.Sleep(time.Duration(simulate.IntN(100_000)))
		f()
	})
}

// answer sends unordered messages to a client.
func (p *simProcess) answer(c *simClient, first uint32, n, size int) {
	for k := range n {
		b := make([]byte, simHead+size)
		b[atClient] = byte(c.id)
		binary.LittleEndian.PutUint32(b[atNumber:], first+uint32(k))
		m := transport.Msg{Kind: simUnordered, Head: b[:simHead], Body: b[simHead:],
			Unordered: true}
		if err := p.t.Send(transport.Peer(c.p.rank), m); err != nil {
			simulate.Fail("an unordered message: %v", err)
		}
	}
}

// checkOrdered checks a message that tells of a slot: it comes in its turn, and behind all stores.
func (c *simClient) checkOrdered(to transport.Rank, number uint32, slot int, want []byte) {
	for _, peer := range c.peers {
		if peer.rank != to {
			continue
		}
		if number != peer.expected {
			simulate.Fail("message %d of client %d comes to rank %d, not %d", number,
				c.id, to, peer.expected)
		}
		peer.expected++
		if !bytes.Equal(simBytes(to, peer.slots[slot].at, c.j.slot), want) {
			simulate.Fail("message %d of client %d to rank %d comes before a store",
				number, c.id, to)
		}
	}
}

// acquire gives the lock to a client, when it is free.
func (l *simLock) acquire(c *simClient, reply func([]byte)) {
	grant := func() {
		l.holder = c.id + 1
		reply(nil)
	}
	if l.holder != 0 {
		l.waiting = append(l.waiting, grant)
		return
	}
	grant()
}

// release gives it to the next.
func (l *simLock) release(c *simClient) {
	if l.holder != c.id+1 {
		simulate.Fail("client %d gives a lock back that is client %d's", c.id, l.holder-1)
	}
	l.holder = 0
	if len(l.waiting) > 0 {
		next := l.waiting[0]
		l.waiting = l.waiting[1:]
		next()
	}
}
