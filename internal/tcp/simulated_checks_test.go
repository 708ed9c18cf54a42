// SPDX-License-Identifier: BSD-3-Clause

// What must be true of simulated connections: at each step, and when all frames have arrived.
package tcp

import (
	"fmt"
	"strings"

	"libarmci/internal/testutil/simulate"
)

// streams are the two streams of a connection, in the order of descriptors.
func (c *simConn) streams() [2]*outStream {
	return [2]*outStream{&c.origin.out, &c.server.out}
}

// checkKept checks the memory for kept bytes: that all of it is counted, and that no stream keeps
// many more bytes than its sockets have ever had.
func (w *simWorld) checkKept() {
	var counted [2]int64
	for _, c := range w.conns {
		for i, s := range c.streams() {
			counted[i] += int64(cap(s.unacked))
			d := c.descriptors[i]
			most := 2*d.mostKept + minUnacked + longSend
			if i == 1 {
				most += c.posts.queued
			}
			if len(s.unacked) > most {
				simulate.Fail("conn %d, end %d keeps %d bytes, its sockets had "+
					"%d at most", c.number, i, len(s.unacked), d.mostKept)
			}
		}
	}
	for i, f := range w.processes {
		if n := f.kept.bytes.Load(); n != counted[i] {
			simulate.Fail("process %d has counted %d kept bytes of %d", i, n,
				counted[i])
		}
	}
}

// isDone tells whether all frames have arrived and been acknowledged, on sockets that are whole.
func (w *simWorld) isDone() bool {
	for _, c := range w.conns {
		if !c.isOver && !c.isDone() {
			return false
		}
	}
	return true
}

// isDone tells whether that is so of one connection.
func (c *simConn) isDone() bool {
	at, o := c.receivers, &c.outage
	if c.posts.left > 0 || at[1].received[simRequest] < c.toRequest ||
		at[0].received[simReply] < c.sent[simReply] ||
		at[0].received[simPost] < c.sent[simPost] ||
		o.dialing || o.parked || o.awaited != nil || o.queued != nil {
		return false
	}
	for _, d := range c.descriptors {
		if d.link.isCut || d.isShut || d.failure != nil || d.acked < d.taken {
			return false
		}
	}
	return true
}

// checkIdle checks that streams of which all is acknowledged keep nothing, and that the kernel
// decides again how large send buffers are.
func (w *simWorld) checkIdle() {
	for range 3 {
		for _, c := range w.conns {
			for _, s := range c.streams() {
				s.freeIfIdle()
			}
		}
	}
	for _, c := range w.conns {
		for i, s := range c.streams() {
			d := c.descriptors[i]
			if !c.isOver && (cap(s.unacked) > 0 || s.memory.limited && d.mayFree) {
				simulate.Fail("conn %d, idle: end %d keeps %d bytes, limited %v",
					c.number, i, cap(s.unacked), s.memory.limited)
			}
		}
	}
}

// describe says where connections are, for the report of a failure.
func (w *simWorld) describe() string {
	var b strings.Builder
	for _, c := range w.conns {
		fmt.Fprintf(&b, "  conn %d: sent %v, received %v and %v, outage %+v\n", c.number,
			c.sent, c.receivers[0].received, c.receivers[1].received, c.outage)
		for i, s := range c.streams() {
			d := c.descriptors[i]
			fmt.Fprintf(&b, "    end %d: state %d, %d bytes, %d in the socket, %d "+
				"kept; socket: %d taken, %d arrived, %d acknowledged, limit %d, "+
				"shut %v, cut %v, %v\n", i, s.state, s.end, s.inSocket,
				len(s.unacked), d.taken, d.delivered, d.acked, d.sendLimit,
				d.isShut, d.link.isCut, d.failure)
		}
	}
	return b.String()
}
