// SPDX-License-Identifier: BSD-3-Clause

// A target's end of a connection: who may write, and the frames that are posted by any thread. Serving it is done by
// whoever has its workspace at the moment (serve.go).
package tcp

import (
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

// conn is a target's end.
type conn struct {
	l    *listener
	fd   int
	to   transport.Receiver
	away atomic.Bool // a goroutine serves it, or nobody: not the thread that polls

	// Of who serves it.
	tx     sender
	rx     receiver
	space  *workspace // nil if it is idle
	unsent []byte     // what was left in out when the workspace was taken away
	status status
	err    error // why the connection is over
	holds  bool  // send
	owed   bool  // Receiver.Sent, when tx is done
	whole  bool  // only frames that have arrived completely (serveWhole)
	mute   bool  // nothing can be sent any more

	send sync.Mutex // held by who writes to the socket, from the first byte of a frame to the last

	mu     sync.Mutex
	posted []byte // frames that wait for send
	dead   bool   // the socket must not be used any more
}

func newConn(l *listener, fd int) *conn {
	c := &conn{l: l, fd: fd, tx: sender{fd: fd, straight: l.f.straight}}
	c.rx = receiver{fd: fd, straight: l.f.straight, may: c.mayBegin}
	return c
}

// packBytes is up to which size a body is copied behind other frames; of larger ones long rows are sent from where they
// are.
const packBytes = 16 << 10

// Send sends a frame: as far as it goes when the Receiver returns.
func (c *conn) Send(head []byte, body *kernel.Cursor, n int64, _ transport.When) (deferred bool, err error) {
	small := packBytes
	if c.whole {
		small = bufferBytes
	}
	if c.owed = !c.mute && !c.tx.add(head, body, n, small); !c.owed && n > 0 {
		c.to.Sent()
	}
	return false, nil
}

// Post sends a frame from any goroutine. It never waits.
func (c *conn) Post(head, body []byte) {
	c.mu.Lock()
	if !c.dead {
		c.posted = appendFrame(c.posted, head, body)
	}
	c.mu.Unlock()
	c.push()
}

// push sends what was posted unless another is writing, who will do so when he has finished.
func (c *conn) push() {
	for c.hasPosted() && c.send.TryLock() {
		if !c.sendPosted() {
			go c.drain()
			return
		}
		c.send.Unlock()
	}
}

func (c *conn) hasPosted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.posted) > 0 && !c.dead
}

// sendPosted sends what fits; false if something is left. The caller holds send.
func (c *conn) sendPosted() bool {
	c.rx.unheard.Store(false)
	for {
		c.mu.Lock()
		b := c.posted
		c.posted = nil
		over := len(b) == 0 || c.dead
		c.mu.Unlock()
		if over {
			return true
		}
		n, err := rawsock.Send(c.fd, b)
		c.mu.Lock()
		if n == len(b) && cap(b) <= bufferBytes {
			b = b[:0] // to be used again
		} else {
			b = slices.Clip(b[n:])
		}
		c.posted = append(b, c.posted...)
		c.dead = c.dead || err != nil && err != unix.EAGAIN // who receives finds out why
		c.mu.Unlock()
		if err != nil {
			return err != unix.EAGAIN
		}
	}
}

// drain goes on with what push could not send. It has send and gives it back.
func (c *conn) drain() {
	defer log.Guard()
	for !c.sendPosted() && rawsock.WaitFor(c.fd, unix.POLLOUT, rawsock.NoDeadline) == nil {
	}
	c.send.Unlock()
	c.push()
}

// letGo gives back the right to write.
func (c *conn) letGo() {
	if c.holds {
		c.holds = false
		c.send.Unlock()
	}
}

// Break ends the connection: who serves it finds out.
func (c *conn) Break() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.dead {
		unix.Shutdown(c.fd, unix.SHUT_RDWR)
	}
}

// Close ends the connection when what was posted has left.
func (c *conn) Close(linger time.Duration) {
	for end := time.Now().Add(linger); c.hasPosted() && time.Now().Before(end); time.Sleep(50 * time.Microsecond) {
	}
	c.Break()
}

// close gives the socket back. It is called once, by who serves it. Who writes or waits to write is woken first.
func (c *conn) close() {
	c.letGo()
	unix.Shutdown(c.fd, unix.SHUT_RDWR)
	c.send.Lock()
	defer c.send.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dead, c.posted = true, nil
	unix.Close(c.fd)
}

// Flush: nothing is put off. Pulse: the kernel sends keep-alives. Source is for origins.
func (c *conn) Flush() (left bool)       { return false }
func (c *conn) Pulse()                   {}
func (c *conn) MaxFrame() int            { return 0 }
func (c *conn) Source() transport.Source { return nil }
