// SPDX-License-Identifier: BSD-3-Clause

// Outages of simulated connections: resets, and what both ends do until the connection goes on over
// another socket. This is a model of redial, goOnWith and resume, which wait for real sockets.
package tcp

import (
	"errors"

	"libarmci/internal/testutil/simulate"
)

// simOutage is the time without a socket, at both ends.
type simOutage struct {
	cutsLeft    int
	dialing     bool // the origin looks for another socket
	received    uint64
	helloCame   bool // at the server
	parked      bool // the server's end has left its socket
	next        *simLink
	answered    uint64 // what the server has said, on next, that it has received
	settings    [2]int // send and read limits of sockets
	acksEarly   bool
	frequency   int // a step in so many cuts the connection
	inSendAgain int // the same while bytes are sent again
}

// cutSometimes resets a connection.
func (c *simConn) cutSometimes() {
	o, link := &c.outage, c.descriptors[0].link
	if o.next != nil {
		link = o.next
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

// reconnect is the next step of connecting again.
func (c *simConn) reconnect() {
	switch o := &c.outage; {
	case o.helloCame && !o.parked:
		c.server.Break()
		c.note("server breaks the old socket")
	case o.helloCame && simulate.Chance(8):
		o.helloCame = false
		c.note("answer is not sent")
	case o.helloCame:
		c.resumeServer()
	case o.next != nil && o.next.answered:
		c.resumeOrigin()
	case o.next != nil && o.next.isCut:
		o.next = nil
		c.note("answer does not arrive")
	case o.dialing && o.next == nil:
		o.helloCame = true
		c.note("origin connects, has received %d", o.received)
	}
}

// resumeServer answers the origin and goes on over its socket.
func (c *simConn) resumeServer() {
	o := &c.outage
	o.next, o.answered, o.helloCame = c.newLink(), c.server.rx.streamed, false
	c.descriptors[1].replaceSocket(o.next.ends[1])
	err := c.server.goOn(o.received)
	c.note("server goes on, has received %d: %v", o.answered, err)
	if o.parked = err != nil; o.parked {
		c.checkLost(c.descriptors[1], err)
		return
	}
	c.server.out.sendRest()
}

// resumeOrigin goes on at the origin, over the socket on which the answer has arrived.
func (c *simConn) resumeOrigin() {
	o := &c.outage
	c.descriptors[0].replaceSocket(o.next.ends[0])
	err := c.origin.out.resume(o.answered)
	c.note("origin goes on after %d: %v", o.answered, err)
	o.next, o.dialing = nil, false
	if err != nil {
		c.checkLost(c.descriptors[0], err)
		return
	}
	c.origin.out.sendRest()
}

// checkLost checks that a stream which cannot go on has lost bytes, and ends the connection.
func (c *simConn) checkLost(d *simDescriptor, err error) {
	if !errors.Is(err, errBytesLost) || !d.everLost {
		simulate.Fail("conn %d cannot go on: %v", c.number, err)
	}
	c.isOver = true
	for _, s := range c.streams() {
		s.finish()
	}
	c.world.ended++
}
