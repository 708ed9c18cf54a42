// SPDX-License-Identifier: BSD-3-Clause

// A target's end of a connection, which is served without ever waiting: receive what has arrived,
// call the Receiver, send what fits, and return what the connection waits for. The same code runs
// in the event loop and in the workers that serve large transfers. This file also has the right to
// write to the socket, and the frames that any thread posts.
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

// connStatus is what a connection waits for.
type connStatus uint8

const (
	// connIdle: between frames, and all output is sent. The connection needs no workspace.
	connIdle connStatus = iota
	// connNeedsInput: in the middle of a frame of which more bytes must arrive.
	connNeedsInput
	// connNeedsOutput: replies do not fit into the socket until the client reads, or another
	// thread holds writeMu.
	connNeedsOutput
	// connBusy: the connection can go on at once.
	connBusy
	// connEnded: the connection is over; endCause says why.
	connEnded
)

// writerState is what the thread that serves a connection may write to its socket.
type writerState uint8

const (
	// writerIdle: the serving thread does not hold writeMu.
	writerIdle writerState = iota
	// writerHolds: the serving thread holds writeMu, until all its output has been sent.
	writerHolds
	// writerBroken: a send has failed. The serving thread does not hold writeMu. Replies are
	// dropped, and requests that have arrived are still handled.
	writerBroken
)

// conn is a target's end.
type conn struct {
	socket
	origin originHello
	// A worker serves the connection, not the thread that polls. The latter sets it, the former
	// clears it.
	servedByWorker atomic.Bool

	// Of the thread that serves the connection.
	tx          sender
	rx          receiver
	workspace   *workspace // nil if the connection is idle or waits without one
	savedOutput []byte     // frames that were queued when the workspace was taken away
	status      connStatus
	writer      writerState
	endCause    error // status connEnded: what Receiver.Lost is called with
	parking     parking

	// held by the thread that writes to the socket, from the first byte of a frame to the last
	writeMu sync.Mutex
	posts   postQueue
}

// originHello is what the hello of an origin has said.
type originHello struct {
	rank   transport.Rank
	stream streamID
}

// postQueue is the frames of Post. Guarded by socket.mu.
type postQueue struct {
	waiting []byte // frames that wait for writeMu
	// frames that the holder of writeMu is sending; since only it changes them, it reads them
	// without mu
	inFlight []byte
}

// awaitedEvents is what epoll reports where the loop cannot go on at once.
var awaitedEvents = [...]uint32{connNeedsInput: unix.EPOLLIN, connNeedsOutput: unix.EPOLLOUT,
	connBusy: unix.EPOLLIN | unix.EPOLLOUT}

// minReplyRoom is the bytes that must be free for replies before another request is handled.
const minReplyRoom = 1 << 10

// maxCopiedBody is the longest body that is copied behind other frames. Of longer ones, long rows
// are sent from where they are.
const maxCopiedBody = 16 << 10

// Send queues a frame, which is sent as far as possible when the Receiver returns. The serving
// thread calls it, from methods of the Receiver.
func (c *conn) Send(head []byte, body *kernel.Cursor, n int64, _ transport.When) (deferred bool,
	err error) {
	done := c.writer == writerBroken || c.tx.queueFrame(head, body, n, maxCopiedBody)
	if done && n > 0 {
		c.rx.handler.Sent()
	}
	return false, nil
}

// attachWorkspace lends a connection the memory to serve it.
func (c *conn) attachWorkspace(w *workspace) {
	c.workspace = w
	c.rx.lendBuffer(w.input)
	c.tx.queued, c.savedOutput = append(w.output, c.savedOutput...), nil
	c.tx.packedFrom = len(c.tx.queued)
}

// detachWorkspace takes the workspace away. Bytes that were not handled or not sent are saved: an
// idle connection has none.
func (c *conn) detachWorkspace() {
	c.rx.returnBuffer()
	c.tx.unpackUnsent()
	if c.tx.queuedSent < len(c.tx.queued) {
		c.savedOutput = slices.Clone(c.tx.queued[c.tx.queuedSent:])
	}
	c.workspace, c.tx.queued, c.tx.queuedSent = nil, nil, 0
}

// mayAcceptFrame tells whether a request may be handled now: the body of the reply before must have
// left, and another reply must fit into the buffer.
func (c *conn) mayAcceptFrame() bool {
	return c.tx.body == nil && cap(c.tx.queued)-len(c.tx.queued) >= minReplyRoom
}

// serveBudget serves the connection until it must wait, or has moved budget bytes. It returns how
// many bytes it has moved, and sets status to what the connection waits for. The connection has a
// workspace.
func (c *conn) serveBudget(budget int) (moved int) {
	c.status, c.rx.socketDrained = connBusy, false
	for moved < budget {
		err := c.rx.parseFrames()
		n := 0
		if err == nil {
			n, err = c.flushReplies(budget - moved)
			moved += n
		}
		switch {
		case err == unix.EAGAIN:
			c.status = connNeedsOutput
			if c.endCause = c.out.lossCause(); c.endCause != nil {
				c.status, c.parking.socketLost = connEnded, true
			}
			return moved
		case err == nil && (c.tx.hasOutput() || c.rx.frameHeld):
			continue
		case err == nil && c.rx.allHandled():
			if !c.rx.keepsPeeked || !c.rx.nothingSentSince.Load() {
				err = c.rx.discardPeeked()
				c.parking.socketLost = err != nil && err != unix.EAGAIN
			}
			if err == nil {
				c.status = connIdle
				return moved
			}
		case err == nil:
			n, err = c.rx.receive()
			moved += n
			c.parking.socketLost = err != nil && err != unix.EAGAIN
		}
		switch {
		case err == nil:
			continue
		case err != unix.EAGAIN:
			c.status, c.endCause = connEnded, err
		case c.rx.bodyOpen || c.rx.start < c.rx.end:
			c.status = connNeedsInput
		default:
			c.status = connIdle
		}
		return moved
	}
	return moved
}

// flushReplies sends the replies that are queued, about most bytes. The error is unix.EAGAIN if not
// all could be sent: then the caller holds writeMu, or has to wait for it. No other error is
// returned: if sending fails, replies are dropped from then on.
func (c *conn) flushReplies(most int) (sent int, err error) {
	for c.tx.hasOutput() && sent < most && err == nil {
		if c.writer == writerIdle {
			if !c.writeMu.TryLock() {
				return sent, unix.EAGAIN
			}
			c.writer = writerHolds
		}
		c.rx.nothingSentSince.Store(false)
		hadBody := c.tx.body != nil
		var n int
		n, err = c.tx.sendQueued(most - sent)
		sent += n
		if err != nil && err != unix.EAGAIN {
			err = nil
			c.stopSending()
		}
		if hadBody && c.tx.body == nil {
			c.rx.handler.Sent() // the Receiver may send the next frame
		}
	}
	if c.writer == writerHolds && !c.tx.hasOutput() {
		c.writer = writerIdle
		c.writeMu.Unlock()
		c.flushPosts()
	}
	return sent, err
}

// stopSending drops the replies that are queued, and all later ones. The caller holds writeMu,
// which it releases.
func (c *conn) stopSending() {
	c.tx.dropOutput()
	c.writer = writerBroken
	c.writeMu.Unlock()
	c.flushPosts()
}

// Post sends a frame from any goroutine. It never waits.
func (c *conn) Post(head, body []byte) {
	if len(body) >= maxCopiedBody && c.postGathered(head, body) {
		return
	}
	c.mu.Lock()
	if !c.closed {
		c.posts.waiting = appendFrame(c.posts.waiting, head, body)
	}
	c.mu.Unlock()
	c.flushPosts()
}

// postGathered sends a long frame from where it is, and copies the part that the socket does not
// accept at once. It returns false, and has sent nothing, if another thread writes or other posts
// come first. It takes writeMu, which sendRemainingPosts may go on to hold.
func (c *conn) postGathered(head, body []byte) bool {
	if c.hasPosts() || !c.writeMu.TryLock() {
		return false
	}
	c.mu.Lock()
	first := !c.closed && len(c.posts.waiting)+len(c.posts.inFlight) == 0
	c.mu.Unlock()
	if !first {
		c.writeMu.Unlock()
		return false
	}
	c.rx.nothingSentSince.Store(false)
	start := append(appendPrefix(make([]byte, 0, prefixBytes+len(head)), len(head),
		int64(len(body))), head...)
	n, err := c.out.sendPieces([]kernel.Segment{rawsock.PieceOf(start), rawsock.PieceOf(body)})
	runtime.KeepAlive(start)
	// copying bad memory crashes at its address
	failed := err != nil && err != unix.EAGAIN && err != unix.EFAULT
	if n == len(start)+len(body) || failed {
		// a connection that is lost is reported by the receiving side
		c.writeMu.Unlock()
		c.flushPosts()
		return true
	}
	rest := append(start[min(n, len(start)):], body[max(n-len(start), 0):]...)
	c.mu.Lock()
	c.posts.inFlight = rest
	c.mu.Unlock()
	go c.sendRemainingPosts(0)
	return true
}

// flushPosts sends the frames that were posted, unless another thread holds writeMu: that thread
// calls flushPosts when it has released it. The caller holds neither writeMu nor mu.
func (c *conn) flushPosts() {
	for c.hasPosts() && c.out.lossCause() == nil && c.writeMu.TryLock() {
		c.mu.Lock()
		c.posts.waiting, c.posts.inFlight = c.posts.inFlight, c.posts.waiting
		c.mu.Unlock()
		c.rx.nothingSentSince.Store(false)
		n, err := c.out.send(c.posts.inFlight)
		if n < len(c.posts.inFlight) && (err == nil || err == unix.EAGAIN) {
			go c.sendRemainingPosts(n)
			return
		}
		c.endPostWrite(c.posts.inFlight[:0])
	}
}

// hasPosts tells whether posted frames have not been sent. It locks mu.
func (c *conn) hasPosts() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.posts.waiting)+len(c.posts.inFlight) > 0 && !c.closed
}

// endPostWrite ends the sending of posted frames and unlocks writeMu. memory is kept for later
// frames.
func (c *conn) endPostWrite(memory []byte) {
	c.mu.Lock()
	c.posts.inFlight = memory
	c.mu.Unlock()
	c.writeMu.Unlock()
}

// sendRemainingPosts sends the frames in flight from offset on, waiting for the client to read. It
// runs in a goroutine that holds writeMu, and unlocks it. A connection that is lost is reported by
// the receiving side; if it may go on over another socket, the stream takes what is left.
func (c *conn) sendRemainingPosts(offset int) {
	defer log.Guard()
	for rest := c.posts.inFlight[offset:]; len(rest) > 0 && !c.out.queueIfLost(rest); {
		n, err := c.out.send(rest)
		if err != nil && err != unix.EAGAIN {
			break
		}
		if rest = rest[n:]; err != nil {
			rawsock.WaitFor(c.fd, unix.POLLOUT, rawsock.NoDeadline)
		}
	}
	c.endPostWrite(nil)
	c.flushPosts()
}

// Close ends the connection when the frames that were posted have left, or after linger.
func (c *conn) Close(linger time.Duration) {
	for end := time.Now().Add(linger); c.hasPosts() && c.out.lossCause() == nil &&
		time.Now().Before(end); time.Sleep(50 * time.Microsecond) {
	}
	c.Break()
}

// close closes the socket. The thread that serves the connection calls it once. Break wakes a
// thread that holds writeMu or waits for it.
func (c *conn) close() {
	c.Break()
	c.out.finish()
	if c.writer != writerHolds {
		c.writeMu.Lock()
	}
	defer c.writeMu.Unlock()
	c.socket.close()
}
