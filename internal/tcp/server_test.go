// SPDX-License-Identifier: BSD-3-Clause

// Clients that break frames, die, or do not read: each harms no other client. And many clients at a
// time.
package tcp

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// A client that breaks a frame or the connection is reported to its Receiver alone, which may still
// post a reason.
func TestBrokenClientsAreReported(t *testing.T) {
	put := frame([]byte{opPut}, make([]byte, 1<<20))
	for name, c := range map[string]struct {
		say      []byte
		byServer bool
		words    string
	}{
		"a long head": {appendPrefix(nil, transport.MaxHead+1, 0), true,
			"violation"},
		"a long body": {append(appendPrefix(nil, 1, maxBody+1), opLoad), true,
			"violation"},
		"no such frame":      {frame([]byte("?"), nil), true, "kind 63"},
		"longer than memory": {append(appendPrefix(nil, 1, 1<<40), opPut), true, "put of"},
		"between frames":     {nil, false, "EOF"},
		"in a prefix":        {put[:5], false, "EOF"},
		"in a body":          {put[:1<<19], false, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, nil)
			s.configure(func() {
				s.onLost = func(e *serverEnd, err error) {
					e.conn.Post([]byte("because"),
						[]byte(err.Error()))
				}
			})
			me := s.dialRaw(2)
			me.checkEcho()
			other := s.dialRaw(3)
			me.send(c.say)
			if c.byServer {
				if h, why := me.nextFrame(); string(h) != "because" ||
					!strings.Contains(string(why), c.words) {
					t.Errorf("%q: %q", h, why)
				}
				checkClosed(t, me.fd)
			} else {
				unix.Close(me.fd)
			}
			if err := s.lossOf(t, s.awaitConns(t, 2)[0]); !strings.Contains(err.Error(),
				c.words) {
				t.Errorf("lost: %v; want %q", err, c.words)
			}
			other.checkEcho()
			other.closeWithGoodbye()
		})
	}
}

// Clients that request more than any buffer holds and do not read delay no others, and get
// everything when they read.
func TestSlowClientsDelayNoOthers(t *testing.T) {
	t.Run("few", func(t *testing.T) { testSlowClients(t, 16<<20) })
	t.Run("more than workspaces", func(t *testing.T) { testSlowClients(t, 0) })
}

// testSlowClients is the test with this size of all buffers.
func testSlowClients(t *testing.T, buffer int64) {
	// a busy machine takes its time
	s := newServer(t, func(f *fabric) { f.Buffer, f.Timeout = buffer, time.Minute })
	const readers, gets, rows = 6, 10, 4 << 10
	for i := range s.mem {
		s.mem[i] = filler
	}
	var slow []*rawClient
	for i := range readers {
		c := s.dialRaw(2)
		for range gets {
			if i%2 == 0 {
				c.send(frame(getHead(1<<20, 4), nil))
			} else {
				c.send(frame(getHead(64, rows), nil)) // packed
			}
		}
		slow = append(slow, c)
	}
	c := s.dialRaw(3)
	for range 1000 {
		c.checkEcho()
	}
	c.closeWithGoodbye()
	for i, c := range slow {
		want := []int{4 << 20, 64 * rows}[i%2]
		for range gets {
			if _, b := c.nextFrame(); len(b) != want ||
				bytes.Count(b, []byte{filler}) != want {
				t.Fatalf("%d bytes have come, expected %d, or wrong ones", len(b),
					want)
			}
		}
		c.closeWithGoodbye()
	}
}

const filler = 0x5a

// Post does not wait for a client that does not read: its frames do.
func TestPostDoesNotBlock(t *testing.T) {
	const replies, size = 40, 1 << 20
	s := newServer(t, nil)
	c := s.dialRaw(2)
	c.checkEcho()
	end := s.awaitConns(t, 1)[0]
	var all sync.WaitGroup
	for i := range byte(replies) {
		all.Go(func() { end.conn.Post([]byte{i}, bytes.Repeat([]byte{i}, size)) })
	}
	all.Wait()
	seen := map[byte]bool{}
	for range replies {
		h, b := c.nextFrame()
		if len(b) != size || bytes.Count(b, h) != size || seen[h[0]] {
			t.Fatalf("reply %v: %d bytes, or wrong ones", h, len(b))
		}
		seen[h[0]] = true
	}
	c.checkEcho()
	c.closeWithGoodbye()
}

// A server that is closed sends the frames that were posted, also to a client in the middle of a
// request.
func TestCloseSendsPostedFrames(t *testing.T) {
	s := newServer(t, nil)
	quiet, stuck := s.dialRaw(2), s.dialRaw(3)
	stuck.send(frame([]byte{opPut}, make([]byte, 1<<20))[:100])
	quiet.checkEcho()
	for _, e := range s.awaitConns(t, 2) {
		e.conn.Post([]byte("bye"), nil)
	}
	s.close()
	for _, c := range []*rawClient{quiet, stuck} {
		if h, _ := c.nextFrame(); string(h) != "bye" {
			t.Errorf("%q", h)
		}
		checkClosed(t, c.fd)
	}
	for _, e := range s.awaitConns(t, 2) {
		if e.lossCause != nil {
			t.Errorf("Close reports a loss: %v", e.lossCause)
		}
	}
}

// A connection is read to its end although replies cannot be sent any more.
func TestInputIsReadAfterSendFails(t *testing.T) {
	s := newServer(t, nil)
	for i := range 20 {
		c := s.dialRaw(2)
		end := s.awaitConns(t, i+1)
		for range 50 {
			// its answer is never read
			c.send(frame([]byte{opEcho}, make([]byte, 1000)))
		}
		c.send(frame([]byte{opBye}, nil))
		unix.Shutdown(c.fd, unix.SHUT_WR)
		last := end[len(end)-1]
		s.lossOf(t, last)
		unix.Close(c.fd)
		if !last.gotGoodbye || !errors.Is(last.lossCause, errStop) {
			t.Fatalf("the goodbye was not read: %v", last.lossCause)
		}
	}
}

// Several clients with large transfers at a time, and small requests between.
func TestManyClients(t *testing.T) {
	t.Run("each with a workspace", func(t *testing.T) { testManyClients(t, 16<<20) })
	t.Run("too many", func(t *testing.T) { testManyClients(t, 0) })
}

// testManyClients is the test with this size of all buffers.
func testManyClients(t *testing.T, buffer int64) {
	s := newServer(t, func(f *fabric) { f.Buffer = buffer })
	var all sync.WaitGroup
	for i := range 6 {
		c := s.dial(t, transport.Rank(2+i%2))
		all.Go(func() {
			for range 20 {
				c.echo(t, 1, 1<<19+i)
				c.echo(t, 10, 100)
			}
		})
	}
	all.Wait()
}

// Requests of any size are served while all workspaces are with clients that have stopped in the
// middle of a frame.
func TestServesWithoutFreeWorkspaces(t *testing.T) {
	s := newServer(t, func(f *fabric) { f.Buffer = 0 })
	data := bytes.Repeat([]byte("Gedränge"), 1<<20/9+1)[:1<<20]
	put := frame([]byte{opPut}, data)
	var stopped []*rawClient
	for i := range 2 * minWorkspaces {
		c := s.dialRaw(transport.Rank(2 + i%2))
		c.send(put[:1<<19])
		stopped = append(stopped, c)
	}
	time.Sleep(20 * time.Millisecond)
	c, other := s.dialRaw(2), s.dialRaw(3)
	for _, n := range []int{8, 4 << 10, 20 << 10, 32 << 10, 63 << 10} {
		c.send(frame(getHead(n, 1), nil))
		if _, b := c.nextFrame(); len(b) != n {
			t.Errorf("a get of %d bytes gives %d", n, len(b))
		}
		c.checkEcho()
	}
	c.send(frame(getHead(1<<20, 2), nil))
	other.send(frame([]byte{opEcho}, data))
	const stored = 1<<19 - prefixBytes - 1
	if _, b := c.nextFrame(); len(b) != 2<<20 || !bytes.Equal(b[:stored], data[:stored]) {
		t.Error("a large get is wrong")
	}
	if _, b := other.nextFrame(); !bytes.Equal(b, data) {
		t.Error("a large echo is wrong")
	}
	for _, c := range stopped {
		c.send(put[1<<19:])
	}
	for _, c := range append(stopped, c, other) {
		c.checkEcho()
		c.closeWithGoodbye()
	}
	if !bytes.Equal(s.mem[:1<<20], data) {
		t.Error("a put that had stopped in the middle is wrong")
	}
}

// Puts of any shape over a connection that is cut at random places, where the server can notice.
func TestCutFrames(t *testing.T) {
	for name, gather := range map[string]int{"packed": 1 << 30, "gathered": 1,
		"by the model": 0} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, func(f *fabric) { f.options.Gather = gather })
			rnd := rand.New(rand.NewPCG(1, 2))
			c := s.dialRaw(2)
			for range 60 {
				row, rows := 1+rnd.IntN(1<<rnd.IntN(13)), 1+rnd.IntN(50)
				data := make([]byte, row*rows)
				for i := range data {
					data[i] = byte(rnd.Uint32())
				}
				s.configure(func() {
					s.putShape = func(int64) (count,
						stride []int32) {
						return rowShape(row, rows)
					}
				})
				c.sendCut(rnd, frame([]byte{opPut}, data))
				c.checkEcho()
				back := make([]byte, len(data))
				at := cursorOf(s.mem, row, rows)
				at.Pack(back)
				if !bytes.Equal(back, data) {
					t.Fatalf("%d rows of %d bytes differ", rows, row)
				}
			}
			c.closeWithGoodbye()
		})
	}
}

// sendCut sends in pieces of random sizes, with pauses that the server can notice.
func (r *rawClient) sendCut(rnd *rand.Rand, b []byte) {
	for len(b) > 0 {
		n := min(len(b), 1+rnd.IntN(1<<rnd.IntN(18)))
		r.send(b[:n])
		if b = b[n:]; rnd.IntN(4) == 0 {
			time.Sleep(time.Duration(rnd.IntN(200)) * time.Microsecond)
		}
	}
}

// FuzzReceiver feeds a receiver with random bytes, in pieces: it reports no more bytes than have
// arrived, and no frame twice.
func FuzzReceiver(f *testing.F) {
	f.Add(frame([]byte("head"), []byte("body")), uint8(3))
	f.Add(append(frame(nil, nil), frame([]byte("x"), make([]byte, 100))...), uint8(1))
	f.Add(appendPrefix(nil, transport.MaxHead+1, 5), uint8(7))
	f.Fuzz(func(t *testing.T, b []byte, step uint8) {
		n := &counter{}
		s := receiver{handler: n, gatherMin: 1 << 20}
		s.buffer = make([]byte, bufferBytes)
		for at := 0; at < len(b); {
			k := min(int(step)+1, len(b)-at, len(s.buffer)-s.end)
			if k == 0 {
				break
			}
			s.end += copy(s.buffer[s.end:], b[at:at+k])
			at += k
			if s.parseFrames() != nil {
				break
			}
			s.end = copy(s.buffer, s.buffer[s.start:s.end])
			s.start = 0
		}
		if n.bytes > int64(len(b)) || n.frames < n.ended {
			t.Errorf("%d bytes of %d, %d ends of %d frames", n.bytes, len(b), n.ended,
				n.frames)
		}
	})
}

// counter is a Receiver that counts.
type counter struct {
	frames, ended int
	bytes         int64
	into          kernel.Cursor
}

func (c *counter) BeginFrame(head []byte, n int64) (transport.Body, error) {
	c.frames++
	c.bytes += prefixBytes + int64(len(head))
	return transport.Body{Grain: 1 + c.frames%3}, nil
}

func (c *counter) Data(b []byte) error {
	c.bytes += int64(len(b))
	return nil
}

func (c *counter) EndFrame() error {
	c.ended++
	return nil
}

func (c *counter) Sent()          {}
func (c *counter) Finished() bool { return false }

func (c *counter) ExpectsBulk() bool { return false }
func (c *counter) Lost(error)        {}
