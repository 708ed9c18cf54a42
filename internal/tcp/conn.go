// SPDX-License-Identifier: BSD-3-Clause

// A client's connection at the server: who is there, who may write, and the replies that handlers give later.
// Reading belongs to whoever serves the connection at the moment (receive.go); nothing here reads.
package tcp

import (
	"errors"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"libarmci/internal/log"
	"libarmci/internal/transport"
)

// conn is one client.
type conn struct {
	fd    int
	from  transport.Rank
	slot  int         // in the server's table
	usual int8        // for so many requests large data is expected; below 0: in short rows (receive.go)
	seen  int         // bytes that have been dealt with and are still to be taken (receive.go)
	bye   bool        // the client has said goodbye
	mute  atomic.Bool // nothing has been sent since a request without an answer
	away  atomic.Bool // a goroutine serves it, not the loop

	send sync.Mutex // held by who writes to the socket, from the first byte of a frame to the last

	mu   sync.Mutex
	late []byte // replies that wait for send
	dead bool   // the socket must not be used any more
}

// reply answers a call, now or later, from any goroutine; it never waits.
func (c *conn) reply(id uint64, body []byte) {
	c.say(header{Kind: kindReply, ID: id, Bytes: uint64(len(body))}, body)
}

// tell sends the client's process a message. It never waits.
func (c *conn) tell(m transport.Msg) {
	c.say(header{Kind: kindSend, Flags: m.Kind, Rank: uint32(c.from), Bytes: uint64(len(m.Body))}, m.Body)
}

// goodbye tells the client that the server ends, as far as it can be told without waiting.
func (c *conn) goodbye() { c.say(header{Kind: kindBye}, nil) }

// blame tells the client why the job ends because of it.
func (c *conn) blame(why string) {
	why = why[:min(len(why), maxText)]
	c.say(header{Kind: kindLost, Rank: uint32(c.from), Bytes: uint64(len(why))}, []byte(why))
}

func (c *conn) say(h header, body []byte) {
	c.mu.Lock()
	c.late = append(h.append(c.late), body...)
	c.mu.Unlock()
	c.push()
}

// push sends the late replies unless another is writing, who will do so when it has finished.
func (c *conn) push() {
	for c.hasLate() && c.send.TryLock() {
		if !c.sendLate() {
			go c.drain()
			return
		}
		c.send.Unlock()
	}
}

func (c *conn) hasLate() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.late) > 0 && !c.dead
}

// sendLate sends what fits; false if something is left. The caller holds send.
func (c *conn) sendLate() bool {
	for {
		c.mu.Lock()
		b := c.late
		if len(b) == 0 || c.dead {
			c.mu.Unlock()
			return true
		}
		c.late = nil
		c.mu.Unlock()
		c.mute.Store(false)
		n, err := sendNow(c.fd, b)
		c.mu.Lock()
		switch {
		case err != nil && !errors.Is(err, unix.EAGAIN):
			c.dead = true // the reader finds out why
		case c.late == nil:
			c.late = b[:copy(b, b[n:])]
		default:
			c.late = append(b[n:], c.late...)
		}
		c.mu.Unlock()
		if err != nil {
			return !errors.Is(err, unix.EAGAIN)
		}
	}
}

// drain goes on with what push could not send. It has send and gives it back.
func (c *conn) drain() {
	defer log.Guard()
	for !c.sendLate() {
		if waitFor(c.fd, unix.POLLOUT, noDeadline) != nil {
			break
		}
	}
	c.send.Unlock()
	c.push()
}

// close ends the connection. It is called once, by who serves it. Who writes or waits to write is woken first.
func (c *conn) close() {
	unix.Shutdown(c.fd, unix.SHUT_RDWR)
	c.send.Lock()
	defer c.send.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dead, c.late = true, nil
	unix.Close(c.fd)
}
