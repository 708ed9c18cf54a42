// SPDX-License-Identifier: BSD-3-Clause

// A target's end of a connection. Serving it without ever waiting: receive what has arrived, tell
// the Receiver, send what fits, and say what is missing. The same code runs in the event loop and
// in the goroutines that go on with large transfers. And which thread may write, and the frames
// that are posted by any thread.
package tcp

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/kernel"
	"libarmci/internal/log"
	"libarmci/internal/tcp/rawsock"
	"libarmci/internal/transport"
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

// conn is a target's end.
type conn struct {
	socket
	away atomic.Bool // a goroutine serves it, and not the thread that polls

	// Of the thread that serves it.
	tx     sender
	rx     receiver
	space  *workspace // nil if it is idle or put aside
	unsent []byte     // what was left in out when the workspace was taken away
	status status
	err    error // why the connection is over
	holds  bool  // send
	owed   bool  // Receiver.Sent, when tx is done
	mute   bool  // nothing can be sent any more

	// held by the thread that writes to the socket, from the first byte of a frame to the last
	send sync.Mutex

	// Guarded by mu.
	posted  []byte // frames that wait for send
	sending []byte // frames that were posted, and that the holder of send is sending
}

// awaits is what epoll looks for where the loop cannot go on at once.
var awaits = [...]uint32{starved: unix.EPOLLIN, choked: unix.EPOLLOUT,
	busy: unix.EPOLLIN | unix.EPOLLOUT}

// replyRoom is how much room for frames there must be before another request is dealt with.
const replyRoom = 1 << 10

// packBytes is up to which size a body is copied behind other frames; of larger ones long rows are
// sent from where they are.
const packBytes = 16 << 10

// Send sends a frame: as far as it goes when the Receiver returns.
func (c *conn) Send(head []byte, body *kernel.Cursor, n int64, _ transport.When) (deferred bool,
	err error) {
	if c.owed = !c.mute && !c.tx.add(head, body, n, packBytes); !c.owed && n > 0 {
		c.rx.to.Sent()
	}
	return false, nil
}

// attach gives a connection what it takes to serve it.
func (c *conn) attach(w *workspace) {
	c.space = w
	c.rx.lend(w.in)
	c.tx.out, c.unsent = append(w.out, c.unsent...), nil
	c.tx.packed = len(c.tx.out)
}

// detach takes that away. What has arrived or is to be sent is kept: nothing if the connection is
// idle.
func (c *conn) detach() {
	c.rx.giveBack()
	c.tx.rewind()
	if c.tx.at < len(c.tx.out) {
		c.unsent = slices.Clone(c.tx.out[c.tx.at:])
	}
	c.space, c.tx.out, c.tx.at = nil, nil, 0
}

// mayBegin tells whether a frame may be dealt with now: replies to those before must have left, or
// fit into the buffer.
func (c *conn) mayBegin() bool { return !c.owed && cap(c.tx.out)-len(c.tx.out) >= replyRoom }

// run goes on with the connection until it must wait, or has moved budget bytes. It returns how
// many it has moved.
func (c *conn) run(budget int) (moved int) {
	c.status, c.rx.drained = busy, false
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
		case err == nil && c.rx.quiet():
			if !c.rx.later || !c.rx.unheard.Load() {
				err = c.rx.consume()
			}
			if err == nil {
				c.status = idle
				return moved
			}
		case err == nil:
			n, err = c.rx.receive()
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

// flush sends what is in the buffer and the body behind it, about most bytes. unix.EAGAIN: not all
// could be sent. Then c holds the right to write, or waits for it.
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
			c.tx.out, c.tx.at, c.tx.body = c.tx.out[:0], 0, nil
		}
		if c.owed && !c.tx.busy() {
			c.owed = false
			c.rx.to.Sent() // which may send more
		}
	}
	if c.holds && !c.tx.busy() {
		c.holds = false
		c.send.Unlock()
		c.push()
	}
	return sent, err
}

// Post sends a frame from any goroutine. It never waits.
func (c *conn) Post(head, body []byte) {
	if len(body) >= packBytes && c.postStraight(head, body) {
		return
	}
	c.mu.Lock()
	if !c.closed {
		c.posted = appendFrame(c.posted, head, body)
	}
	c.mu.Unlock()
	c.push()
}

// postStraight sends a long frame from where it is; what the socket does not take at once is
// copied. false: another is writing, or has frames to send first.
func (c *conn) postStraight(head, body []byte) bool {
	if c.hasPosted() || !c.send.TryLock() {
		return false
	}
	c.mu.Lock()
	mine := !c.closed && len(c.posted)+len(c.sending) == 0
	c.mu.Unlock()
	if !mine {
		c.send.Unlock()
		return false
	}
	c.rx.unheard.Store(false)
	start := append(appendPrefix(make([]byte, 0, prefixBytes+len(head)), len(head),
		int64(len(body))), head...)
	n, err := rawsock.SendPieces(c.fd, []kernel.Piece{rawsock.PieceOf(start),
		rawsock.PieceOf(body)})
	runtime.KeepAlive(start)
	// copying bad memory crashes at its address
	lost := err != nil && err != unix.EAGAIN && err != unix.EFAULT
	if n == len(start)+len(body) || lost {
		// the receiver finds out if the connection is lost
		c.send.Unlock()
		c.push()
		return true
	}
	rest := append(start[min(n, len(start)):], body[max(n-len(start), 0):]...)
	c.mu.Lock()
	c.sending = rest
	c.mu.Unlock()
	go c.finish(0)
	return true
}

// push sends what was posted unless another thread is writing, which does so when it has finished.
func (c *conn) push() {
	for c.hasPosted() && c.send.TryLock() {
		c.mu.Lock()
		c.posted, c.sending = c.sending, c.posted
		c.mu.Unlock()
		c.rx.unheard.Store(false)
		n, err := rawsock.Send(c.fd, c.sending)
		if n < len(c.sending) && (err == nil || err == unix.EAGAIN) {
			go c.finish(n)
			return
		}
		c.sent(c.sending[:0])
	}
}

func (c *conn) hasPosted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.posted)+len(c.sending) > 0 && !c.closed
}

// sent ends the sending of what was posted, and keeps memory for the next time.
func (c *conn) sent(memory []byte) {
	c.mu.Lock()
	c.sending = memory
	c.mu.Unlock()
	c.send.Unlock()
}

// finish sends what push could not, from at on. The receiver finds out if the connection is lost.
func (c *conn) finish(at int) {
	defer log.Guard()
	rawsock.SendAll(c.fd, c.sending[at:], rawsock.NoDeadline)
	c.sent(nil)
	c.push()
}

// Close ends the connection when what was posted has left.
func (c *conn) Close(linger time.Duration) {
	for end := time.Now().Add(linger); c.hasPosted() &&
		time.Now().Before(end); time.Sleep(50 * time.Microsecond) {
	}
	c.Break()
}

// close gives the socket back. It is called once, by the thread that serves it. A thread that
// writes or waits to write is woken first.
func (c *conn) close() {
	c.Break()
	if !c.holds {
		c.send.Lock()
	}
	defer c.send.Unlock()
	c.socket.close()
}
