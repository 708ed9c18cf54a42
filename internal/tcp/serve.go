// SPDX-License-Identifier: BSD-3-Clause

// Serving a connection at the target without ever waiting: receive what has arrived, tell the Receiver, send what fits, and
// say what is missing. The same code runs in the event loop and in the goroutines that go on with large transfers.
package tcp

import (
	"slices"

	"golang.org/x/sys/unix"
)

// status says why serving has stopped.
type status uint8

const (
	idle    status = iota // between frames, everything sent: no workspace is needed
	starved               // in the middle of a frame: more must arrive
	choked                // replies do not fit: the client must read, or another is writing
	busy                  // there is more to do at once
	ended                 // the connection is over: conn.err
)

// replyRoom is how much room for frames there must be before another request is dealt with.
const replyRoom = 1 << 10

// attach gives a connection what it takes to serve it.
func (c *conn) attach(w *workspace) {
	c.space = w
	c.rx.lend(w.in)
	c.tx.out, c.tx.before, c.unsent = append(w.out, c.unsent...), &w.before, nil
	c.tx.packed = len(c.tx.out)
}

// detach takes that away. What has arrived or is to be sent is kept: nothing if the connection is idle.
func (c *conn) detach() {
	c.rx.giveBack()
	c.tx.rewind()
	if c.tx.at < len(c.tx.out) {
		c.unsent = slices.Clone(c.tx.out[c.tx.at:])
	}
	c.space, c.tx.out, c.tx.at = nil, nil, 0
}

// mayBegin tells whether a frame may be dealt with now: replies to those before must have left, or fit into the buffer.
func (c *conn) mayBegin() bool { return !c.owed && cap(c.tx.out)-len(c.tx.out) >= replyRoom }

// run goes on with the connection until it must wait, or has moved budget bytes. It returns how many it has moved.
func (c *conn) run(budget int) (moved int) {
	c.status = busy
	for moved < budget {
		err := c.rx.parse()
		n := 0
		if err == nil {
			n, err = c.flush(budget - moved)
			moved += n
		}
		switch {
		case err == unix.EAGAIN:
			c.status = choked
			return moved
		case err == nil && (c.tx.busy() || c.rx.stopped):
			continue
		case err == nil:
			n, err = c.rx.receive(moved > 0)
			moved += n
		}
		switch {
		case err == nil:
			continue
		case err != unix.EAGAIN:
			c.status, c.err = ended, err
		case c.rx.open || c.rx.r < c.rx.w:
			c.status = starved
		default:
			c.status = idle
		}
		return moved
	}
	return moved
}

// flush sends what is in the buffer and the body behind it, about most bytes. unix.EAGAIN: not all could be sent. Then c
// holds the right to write, or waits for it.
func (c *conn) flush(most int) (sent int, err error) {
	for c.tx.busy() && sent < most && err == nil {
		if !c.holds && !c.send.TryLock() {
			return sent, unix.EAGAIN
		}
		c.holds = true
		c.rx.unheard.Store(false)
		var n int
		n, err = c.tx.push(most - sent)
		sent += n
		if err != nil && err != unix.EAGAIN { // but what has arrived is still dealt with
			c.mute, err = true, nil
			c.tx.drop()
		}
		if c.owed && !c.tx.busy() {
			c.owed = false
			c.rx.to.Sent() // which may send more
		}
	}
	if c.holds && !c.tx.busy() {
		c.letGo()
		c.push()
	}
	return sent, err
}
