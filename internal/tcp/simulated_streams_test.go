// SPDX-License-Identifier: BSD-3-Clause

// Simulated connections between two processes. Streams, receivers, and both ends of a connection
// are the product's. The sockets below them are simulated, and so is what decides which end goes on
// next, and which of them connects again or is answered.
package tcp

import (
	"golang.org/x/sys/unix"

	"libarmci/internal/testutil/simulate"
)

// simWorld is two processes: one of origins and one of data servers.
type simWorld struct {
	processes [2]*fabric
	conns     []*simConn
	steps     int
	ended     int // connections that have lost bytes for good
}

// simConn is a connection.
type simConn struct {
	world       *simWorld
	number      int
	origin      *endpoint
	server      *conn
	descriptors [2]*simDescriptor // of origin and server
	receivers   [2]*simReceiver
	memory      *workspace
	toRequest   uint32
	sent        [simKinds]uint32 // frames that were begun
	posts       simPosts
	outage      simOutage
	isOver      bool // bytes are lost for good
}

// simPosts is the thread of the server that posts frames. While it posts one it holds writeMu.
type simPosts struct {
	left   uint32
	rest   []byte // of the frame that it is posting
	queued int    // bytes that streams without a socket have taken
}

// pick returns one of the values.
func pick[T any](values ...T) T { return values[simulate.IntN(len(values))] }

// simulateStreams is a run.
func simulateStreams() (ended int) {
	w := &simWorld{}
	simulate.OnFailure(w.describe)
	for i := range w.processes {
		f := &fabric{FabricConfig: config(0, 0), gatherMin: pick(64, 4<<10, 1<<30)}
		f.Reconnect = true
		f.kept.most = pick[int64](16<<10, 128<<10, 16<<20)
		w.processes[i] = f
		simulate.Note("process %d keeps %d bytes, gathers from %d", i, f.kept.most,
			f.gatherMin)
	}
	for i := range 1 + simulate.IntN(3) {
		w.conns = append(w.conns, newSimConn(w, i))
	}
	for !w.isDone() {
		w.step()
	}
	w.checkIdle()
	for _, c := range w.conns {
		c.origin.out.finish()
		c.server.out.finish()
	}
	for i, f := range w.processes {
		if n := f.kept.bytes.Load(); n != 0 {
			simulate.Fail("process %d keeps %d bytes of ended streams", i, n)
		}
	}
	return w.ended
}

// newSimConn makes a connection.
func newSimConn(w *simWorld, number int) *simConn {
	c := &simConn{world: w, number: number, memory: newWorkspace(),
		toRequest: uint32(simulate.IntN(16)),
		posts:     simPosts{left: uint32(simulate.IntN(8))}}
	c.outage = simOutage{cutsLeft: simulate.IntN(8), acksEarly: simulate.Chance(20),
		frequency: pick(20, 200, 1000), inSendAgain: pick(3, 30), giveUp: pick(4, 100)}
	c.outage.settings = [2]int{pick(1<<10, 8<<10, 64<<10, 300<<10),
		pick(1<<10, 16<<10, 256<<10)}
	first := c.newLink()
	first.answered = true
	for i := range c.descriptors {
		c.descriptors[i] = &simDescriptor{simSocket: first.ends[i], world: w,
			mayFree: simulate.Chance(2)}
		c.receivers[i] = &simReceiver{conn: c}
	}
	simulate.Note("conn %d: %d requests, %d posts; %+v", number, c.toRequest, c.posts.left,
		c.outage)
	o, s := w.processes[0], w.processes[1]
	at := [2]streamSocket{{-1, c.descriptors[0]}, {-1, c.descriptors[1]}}
	c.origin = &endpoint{socket: o.newSocket(-1), fabric: o, rx: receiver{socket: at[0],
		gatherMin: o.gatherMin, handler: c.receivers[0], atOrigin: true}}
	c.origin.out.socket = at[0]
	c.origin.tx = sender{out: &c.origin.out, gatherMin: o.gatherMin}
	c.server = &conn{socket: s.newSocket(-1)}
	c.server.out.socket = at[1]
	c.server.tx = sender{out: &c.server.out, gatherMin: s.gatherMin}
	c.server.rx = receiver{socket: at[1], gatherMin: s.gatherMin, handler: c.receivers[1],
		mayAcceptFrame: c.server.mayAcceptFrame}
	return c
}

func (c *simConn) newLink() *simLink {
	return newSimLink(c.outage.settings[0], c.outage.settings[1], c.outage.acksEarly)
}

// note adds a line to the trace.
func (c *simConn) note(format string, args ...any) {
	simulate.Note("conn %d: "+format, append([]any{c.number}, args...)...)
}

// step lets one connection do something.
func (w *simWorld) step() {
	simulate.Gosched()
	if w.steps++; w.steps > 300_000 {
		simulate.Fail("no end")
	}
	c := w.conns[simulate.IntN(len(w.conns))]
	if c.isOver {
		return
	}
	c.cutSometimes()
	switch simulate.IntN(12) {
	case 0:
		c.sendRequests()
	case 1, 2:
		c.receiveAtOrigin()
	case 3, 4:
		c.serve()
	case 5:
		c.post()
	case 6:
		c.reconnect()
	case 7:
		pick(&c.origin.out, &c.server.out).freeIfIdle()
	default:
		end := simulate.IntN(2)
		if what := c.descriptors[end].step(); what != "" {
			s := c.descriptors[end]
			c.note("end %d: %s; %d taken, %d arrived, %d acknowledged", end, what,
				s.taken, s.delivered, s.acked)
		}
	}
	w.checkKept()
}

// sendRequests sends from the origin.
func (c *simConn) sendRequests() {
	e := c.origin
	if n := c.toRequest - c.sent[simRequest]; n > 0 && !e.tx.hasOutput() {
		e.tx.queued = make([]byte, 0, pick(2<<10, bufferBytes/2))
		for range 1 + simulate.IntN(int(min(n, 4))) {
			f := simFrame{simRequest, c.sent[simRequest], uint32(c.bodySize())}
			if simulate.Chance(3) {
				f.reply = simNoReply
			}
			size := c.bodySize()
			body := f.body(size)
			c.sent[simRequest]++
			if !e.tx.queueFrame(f.appendHead(nil), &body, int64(size),
				pick(0, 8<<10)) {
				break
			}
		}
	}
	if e.tx.hasOutput() {
		left := e.Flush()
		c.note("origin sends, up to request %d; left %v", c.sent[simRequest], left)
		if e.sendErr != nil {
			simulate.Fail("conn %d: the origin cannot send: %v", c.number, e.sendErr)
		}
	}
}

// receiveAtOrigin is what the thread that polls the origin's end does.
func (c *simConn) receiveAtOrigin() {
	e, o := c.origin, &c.outage
	if o.dialing {
		return
	}
	n, err := e.receive()
	if err == nil {
		c.note("origin has received %d, %d in all", n, e.rx.streamed)
	}
	if err != nil && err != unix.EAGAIN {
		if cause := e.leaveSocket(err); cause != nil {
			o.dialing, o.received = true, e.rx.streamed
			c.note("origin has lost its socket after %d: %v", o.received, err)
		}
	}
	if err := e.breakErr(); err != nil {
		simulate.Fail("conn %d, origin: %v", c.number, err)
	}
}

// serve is what the thread that serves the connection does.
func (c *simConn) serve() {
	s, o := c.server, &c.outage
	if o.parked {
		return
	}
	if s.workspace == nil {
		room := pick(2<<10, bufferBytes)
		s.attachWorkspace(&workspace{c.memory.input, c.memory.output[:0:room]})
	}
	s.rx.keepsPeeked = simulate.Chance(2)
	moved := s.serveBudget(1 + simulate.IntN(bufferBytes))
	if moved > 0 || s.status == connEnded {
		c.note("server has moved %d, received %d in all; status %d", moved, s.rx.streamed,
			s.status)
	}
	switch {
	case s.status == connEnded && !s.parking.socketLost:
		simulate.Fail("conn %d, server: %v", c.number, s.endCause)
	case s.status == connEnded:
		s.leaveSocket()
		o.parked = true
		c.note("server has lost its socket after %d: %v", s.rx.streamed, s.endCause)
	case s.status == connIdle || simulate.Chance(4):
		s.detachWorkspace()
	}
}

// sendReply sends a reply with a body of n bytes. The Receiver calls it.
func (c *simConn) sendReply(n int) {
	f := simFrame{simReply, c.sent[simReply], simNoReply}
	c.sent[simReply]++
	body := f.body(n)
	c.server.Send(f.appendHead(nil), &body, int64(n), 0)
}

// post is what a thread does that posts: Post at first, then sendRemainingPosts.
func (c *simConn) post() {
	p, s := &c.posts, c.server
	if len(p.rest) == 0 {
		if p.left == 0 || !s.writeMu.TryLock() {
			return
		}
		f, n := simFrame{simPost, c.sent[simPost], simNoReply}, c.bodySize()
		c.sent[simPost]++
		p.left--
		body, packed := f.body(n), make([]byte, n)
		body.Pack(packed)
		p.rest = appendFrame(nil, f.appendHead(nil), packed)
		s.rx.nothingSentSince.Store(false)
	}
	if s.out.queueIfLost(p.rest) {
		c.note("post %d is queued, %d bytes", c.sent[simPost]-1, len(p.rest))
		p.queued += len(p.rest)
		p.rest = nil
	} else if n, err := s.out.send(p.rest); err == nil || err == unix.EAGAIN {
		c.note("post %d: sent %d of %d", c.sent[simPost]-1, n, len(p.rest))
		p.rest = p.rest[n:]
	} else {
		simulate.Fail("conn %d: a post fails: %v", c.number, err)
	}
	if len(p.rest) == 0 {
		s.writeMu.Unlock()
	}
}
