// SPDX-License-Identifier: BSD-3-Clause

// Outages of simulated connections: resets, and what both ends do until the connection goes on over
// another socket. This is a model of redial, goOnWith and resume, which wait for real sockets; what
// they ask of the connection, also whether a hello is late, is the product's.
package tcp

import (
	"errors"
	"slices"

	"libarmci/internal/testutil/simulate"
)

// simOutage is the time without a socket, at both ends.
type simOutage struct {
	cutsLeft    int
	dialing     bool // the origin looks for another socket
	received    uint64
	awaited     *simHello   // the hello to which the origin awaits an answer, nil: none
	hellos      []*simHello // those that have not arrived at the server, in any order
	queued      *simHello   // one that has arrived: the server goes on with it when parked
	parked      bool        // the server's end has left its socket
	settings    [2]int      // send and read limits of sockets
	acksEarly   bool
	frequency   int // a step in so many cuts the connection
	inSendAgain int // the same while bytes are sent again
	giveUp      int // of so many steps of connecting the origin gives one attempt up
}

// simHello is an attempt of the origin to go on, over a connection of its own.
type simHello struct {
	received   uint64 // bytes that the origin has received
	link       *simLink
	isAnswered bool
	has        uint64 // what the answer says that the server has received
	isRefused  bool
}

// cutSometimes resets a connection.
func (c *simConn) cutSometimes() {
	o, link := &c.outage, c.descriptors[0].link
	if o.awaited != nil {
		link = o.awaited.link
	}
	once := o.frequency
	for _, s := range []*outStream{&c.origin.out, &c.server.out} {
		if s.inSocket < s.end && s.state == streamOpen {
			once = o.inSendAgain
		}
	}
	if o.cutsLeft > 0 && !link.isCut && simulate.Chance(once) {
		o.cutsLeft--
		link.isCut = true
		c.note("reset: %d and %d bytes on their way", len(link.ends[0].onTheWay),
			len(link.ends[1].onTheWay))
	}
}

// reconnect is the next step of connecting again, at one end or the other.
func (c *simConn) reconnect() {
	if simulate.Chance(2) {
		c.dialStep()
	} else {
		c.answerStep()
	}
}

// dialStep is the next step of redial.
func (c *simConn) dialStep() {
	switch o, h := &c.outage, c.outage.awaited; {
	case h == nil && o.dialing:
		o.awaited = &simHello{received: o.received, link: c.newLink()}
		o.hellos = append(o.hellos, o.awaited)
		c.note("origin connects, has received %d", o.received)
	case h == nil:
	case h.isRefused:
		o.awaited = nil
		c.note("origin is refused")
		c.checkLost(c.descriptors[1], errBytesLost)
	case h.isAnswered && h.link.answered:
		c.resumeOrigin(h)
	case h.link.isCut:
		o.awaited = nil
		c.note("answer does not arrive")
	case simulate.Chance(o.giveUp):
		o.awaited, h.link.isCut = nil, true
		c.note("origin waits no longer for an answer")
	}
}

// answerStep is the next step of the server: a hello arrives, perhaps one that the origin has given
// up, or the server goes on with the one that is queued.
func (c *simConn) answerStep() {
	o := &c.outage
	if h := o.queued; h != nil && o.parked {
		o.queued = nil
		switch {
		case c.server.isLate(&streamPoint{received: h.received}):
			h.link.isCut = true
			c.note("server closes the connection of a late hello")
		case simulate.Chance(8):
			h.link.isCut = true
			c.note("answer is not sent")
		default:
			c.resumeServer(h)
		}
		return
	}
	if len(o.hellos) == 0 || !simulate.Chance(2) {
		return
	}
	i := simulate.IntN(len(o.hellos))
	h := o.hellos[i]
	o.hellos = slices.Delete(o.hellos, i, i+1)
	if h.isRefused = c.server.isLate(&streamPoint{received: h.received}); h.isRefused {
		c.note("server refuses a hello after %d", h.received)
		return
	}
	c.server.Break()
	if o.queued != nil {
		o.queued.link.isCut = true
	}
	o.queued = h
	c.note("server breaks the old socket, since a hello has come, after %d", h.received)
}

// resumeServer answers a hello and goes on over its socket.
func (c *simConn) resumeServer(h *simHello) {
	h.isAnswered, h.has = true, c.server.rx.streamed
	c.descriptors[1].replaceSocket(h.link.ends[1])
	c.server.parking.originReceived = h.received
	err := c.server.goOn(h.received)
	c.note("server goes on after %d, has received %d: %v", h.received, h.has, err)
	if c.outage.parked = err != nil; c.outage.parked {
		c.checkLost(c.descriptors[1], err)
		return
	}
	c.server.out.sendRest()
}

// resumeOrigin goes on at the origin, over the socket on which the answer has arrived.
func (c *simConn) resumeOrigin(h *simHello) {
	o := &c.outage
	c.descriptors[0].replaceSocket(h.link.ends[0])
	err := c.origin.out.resume(h.has)
	c.note("origin goes on after %d: %v", h.has, err)
	o.awaited, o.dialing = nil, false
	if err != nil {
		c.checkLost(c.descriptors[0], err)
		return
	}
	c.origin.out.sendRest()
}

// checkLost checks that a stream which cannot go on has lost bytes, and ends the connection.
func (c *simConn) checkLost(d *simDescriptor, err error) {
	if !errors.Is(err, errBytesLost) || !d.everLost && !d.lostAcked() {
		simulate.Fail("conn %d cannot go on: %v", c.number, err)
	}
	c.isOver = true
	for _, s := range c.streams() {
		s.finish()
	}
	c.world.ended++
}
