// SPDX-License-Identifier: BSD-3-Clause

// A target's end of a connection: who may write, and the frames that are posted by any thread. Serving it is done by
// whoever has its workspace at the moment (serve.go).
package tcp

import (
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
	socket
	l    *listener
	away atomic.Bool // a goroutine serves it, and not the thread that polls

	// Of who serves it.
	tx     sender
	rx     receiver
	space  *workspace // nil if it is idle or aside
	unsent []byte     // what was left in out when the workspace was taken away
	status status
	err    error // why the connection is over
	aside  bool  // it waits until epoll tells that the loop can go on with it
	holds  bool  // send
	owed   bool  // Receiver.Sent, when tx is done
	mute   bool  // nothing can be sent any more

	send sync.Mutex // held by who writes to the socket, from the first byte of a frame to the last

	// Guarded by mu.
	posted  []byte // frames that wait for send
	sending []byte // frames that were posted, and that the holder of send is sending
}

func newConn(l *listener, fd int) *conn {
	c := &conn{socket: socket{fd: fd}, l: l, tx: sender{fd: fd, straight: l.f.straight}}
	c.rx = receiver{fd: fd, straight: l.f.straight, may: c.mayBegin}
	return c
}

// packBytes is up to which size a body is copied behind other frames; of larger ones long rows are sent from where they
// are.
const packBytes = 16 << 10

// Send sends a frame: as far as it goes when the Receiver returns.
func (c *conn) Send(head []byte, body *kernel.Cursor, n int64, _ transport.When) (deferred bool, err error) {
	if c.owed = !c.mute && !c.tx.add(head, body, n, packBytes); !c.owed && n > 0 {
		c.rx.to.Sent()
	}
	return false, nil
}

// Post sends a frame from any goroutine. It never waits.
func (c *conn) Post(head, body []byte) {
	c.mu.Lock()
	if !c.closed {
		c.posted = appendFrame(c.posted, head, body)
	}
	c.mu.Unlock()
	c.push()
}

// push sends what was posted unless another is writing, who will do so when he has finished.
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

// finish sends what push could not, from at on. Who receives finds out if the connection is lost.
func (c *conn) finish(at int) {
	defer log.Guard()
	rawsock.SendAll(c.fd, c.sending[at:], rawsock.NoDeadline)
	c.sent(nil)
	c.push()
}

// letGo gives back the right to write.
func (c *conn) letGo() {
	if c.holds {
		c.holds = false
		c.send.Unlock()
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
	c.Break()
	c.send.Lock()
	defer c.send.Unlock()
	c.socket.close()
}

// Flush: nothing is put off. Source is for origins.
func (c *conn) Flush() (left bool)       { return false }
func (c *conn) Source() transport.Source { return nil }
