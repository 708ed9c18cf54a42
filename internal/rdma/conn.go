// SPDX-License-Identifier: BSD-3-Clause

// A server's connection to one client: what waits to be answered, and the sending of answers. The loop serves; handlers
// reply from any goroutine.
package rdma

import (
	"fmt"
	"slices"
	"sync"

	"libarmci/internal/rdma/verbs"
	"libarmci/internal/transport"
)

// parcel is a message in a receive buffer.
type parcel struct {
	buffer int32
	bytes  uint32
}

type conn struct {
	s    *server
	pair *verbs.Pair
	from transport.Rank
	most int // bytes of an answer

	// Of the loop alone.
	backlog []parcel
	coming  *coming // the message whose parts are arriving
	pushing *pushing
	batch   batch // of it

	mu      sync.Mutex
	slots   int    // answers that may be sent
	handled uint32 // messages that have taken effect
	told    uint32 // so many of them the client knows of
	urgent  bool   // the client waits to be told
	late    [][]byte
	listed  bool // among those to whom something is owed
	dead    bool
}

// coming is a message of which parts are missing.
type coming struct {
	header
	body []byte
	got  int
}

// serve deals with what waits, as far as there is room for answers. For the loop.
func (c *conn) serve() {
	for c.sendLate() && c.pushed() && len(c.backlog) > 0 {
		answer := c.s.out.take()
		if answer == none {
			break
		}
		p := c.backlog[0]
		c.backlog = c.backlog[1:]
		n, err := c.act(c.s.in.bytes(p.buffer)[:p.bytes], c.s.out.bytes(answer))
		c.s.giveBack(p.buffer)
		if n == 0 || err != nil {
			c.s.out.put(answer)
		}
		if err != nil {
			c.lose(err)
			return
		}
		if c.finished() {
			return
		}
		c.mu.Lock()
		c.handled++
		if n > 0 && !c.send(answer, n) {
			c.late = append(c.late, append([]byte(nil), c.s.out.bytes(answer)[:n]...))
			c.s.out.put(answer)
		}
		c.mu.Unlock()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.backlog) > 0 || len(c.late) > 0 || c.pushing != nil {
		c.owed()
		return
	}
	c.acknowledge()
}

// pushed tells whether nothing is being pushed any more. For the loop.
func (c *conn) pushed() bool {
	done, err := c.goOn()
	if err != nil {
		c.lose(err)
	}
	return done && err == nil
}

// acknowledge tells the client how far the server has come, where it needs to know. The caller has the lock.
func (c *conn) acknowledge() {
	if c.dead || c.handled == c.told || !c.urgent && c.handled-c.told < credits/2 {
		return
	}
	b := c.s.out.take()
	if b == none {
		c.owed()
		return
	}
	h := header{kind: kindAck}
	h.encode(c.s.out.bytes(b))
	if !c.send(b, headerBytes) {
		c.s.out.put(b)
		c.owed()
	}
}

// owed makes sure that the loop comes back. The caller has the lock.
func (c *conn) owed() {
	if !c.listed && !c.dead {
		c.listed = true
		c.s.owe(c)
	}
}

// send sends an answer of n bytes, and with it how far the server has come; false if there is no room. The caller has the
// lock.
func (c *conn) send(b int32, n int) bool {
	if c.dead {
		c.s.out.put(b)
		return true
	}
	if c.slots == 0 {
		return false
	}
	if c.s.tokens.Add(-1) < 0 {
		c.s.tokens.Add(1)
		return false
	}
	c.slots--
	setHandled(c.s.out.bytes(b), c.handled)
	c.told, c.urgent = c.handled, false
	q := [1]verbs.Request{{ID: 1<<32 | uint64(b), Pieces: 1, Op: verbs.Send, Flags: verbs.Signal}}
	copied := n <= c.pair.Inline
	if copied {
		q[0].ID, q[0].Flags = 1<<32|noBuffer, verbs.Signal|verbs.Inline
	}
	_, err := c.pair.Post(q[:], []verbs.Data{c.s.out.data(b, 0, n)})
	if err != nil {
		c.slots++
		c.s.tokens.Add(1)
	}
	if err != nil || copied {
		c.s.out.put(b)
	}
	return true
}

// noBuffer is the lower half of the number of a request that has none; the upper half is how many requests are complete
// with it.
const noBuffer = 1<<32 - 1

// pulse: see server.pulses.
func (c *conn) pulse() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead || c.slots < connRequests {
		return // what is on its way fails too
	}
	if c.s.tokens.Add(-1) < 0 {
		c.s.tokens.Add(1)
		return
	}
	q := [1]verbs.Request{{ID: 1<<32 | noBuffer, Op: verbs.Write, Flags: verbs.Signal}}
	if _, err := c.pair.Post(q[:], nil); err != nil {
		c.s.tokens.Add(1)
		return
	}
	c.slots--
}

// sendLate sends answers that found no room; false if there still is none.
func (c *conn) sendLate() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.late) > 0 {
		b := c.s.out.take()
		if b == none {
			return false
		}
		n := copy(c.s.out.bytes(b), c.late[0])
		if !c.send(b, n) {
			c.s.out.put(b)
			return false
		}
		c.late = c.late[1:]
	}
	return true
}

// reply answers a call, from any goroutine: in parts, each of which fits into a buffer.
func (c *conn) reply(id uint32, body []byte) {
	h := header{kind: kindReply, id: id, arg: uint64(len(body))}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead {
		return
	}
	for at := 0; ; {
		n := min(len(body)-at, c.most-headerBytes)
		h.addr, h.bytes = uint64(at), uint32(n)
		frame := make([]byte, headerBytes+n)
		h.encode(frame)
		copy(frame[headerBytes:], body[at:at+n])
		c.late = append(c.late, frame)
		if at += n; at == len(body) {
			break
		}
	}
	c.owed()
	ring(c.s.wake)
}

// goodbye tells the client that the server ends; after it nothing is sent.
func (c *conn) goodbye() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b := c.s.out.take(); b != none && !c.dead {
		h := header{kind: kindBye}
		h.encode(c.s.out.bytes(b))
		c.send(b, headerBytes)
	}
	c.dead = true
}

// finished tells whether the client has said goodbye.
func (c *conn) finished() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dead
}

// end closes the connection. For the loop.
func (c *conn) end() {
	c.mu.Lock()
	was := c.dead
	c.dead = true
	c.mu.Unlock()
	if was {
		return
	}
	for _, p := range c.backlog {
		c.s.giveBack(p.buffer)
	}
	c.backlog = nil
	c.s.mu.Lock()
	delete(c.s.conns, c.pair.Number)
	c.s.order = slices.DeleteFunc(c.s.order, func(other *conn) bool { return other == c })
	c.s.mu.Unlock()
	c.pair.Close()
}

// lose ends the connection and tells the job.
func (c *conn) lose(why error) {
	if c.finished() {
		return
	}
	c.end()
	if !c.s.closing.Load() {
		c.s.opt.Lost(c.from, fmt.Sprintf("rank %d (host %s): connection lost: %v", c.from, c.s.opt.hostOf(c.from), why))
	}
}
