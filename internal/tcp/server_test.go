// SPDX-License-Identifier: BSD-3-Clause

// Clients that break frames, die, or do not read: each harms nobody but itself. And many at a time.
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

func TestLostClients(t *testing.T) {
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
			s.set(func() {
				s.lost = func(e *serverEnd, err error) {
					e.c.Post([]byte("because"),
						[]byte(err.Error()))
				}
			})
			me := s.raw(2)
			me.check()
			other := s.raw(3)
			me.send(c.say)
			if c.byServer {
				if h, why := me.answer(); string(h) != "because" ||
					!strings.Contains(string(why), c.words) {
					t.Errorf("%q: %q", h, why)
				}
				closedBy(t, me.fd)
			} else {
				unix.Close(me.fd)
			}
			if err := s.lossOf(t, s.ends(t, 2)[0]); !strings.Contains(err.Error(),
				c.words) {
				t.Errorf("lost: %v; want %q", err, c.words)
			}
			other.check()
			other.bye()
		})
	}
}

// Clients ask for more than any buffer holds and do not read; others are served, and they get
// everything when they read at last.
func TestSlowReaders(t *testing.T) {
	t.Run("few", func(t *testing.T) { testSlowReaders(t, 16<<20) })
	t.Run("more than workspaces", func(t *testing.T) { testSlowReaders(t, 0) })
}

func testSlowReaders(t *testing.T, buffer int64) {
	// a busy machine takes its time
	s := newServer(t, func(f *fabric) { f.Buffer, f.Timeout = buffer, time.Minute })
	const readers, gets, rows = 6, 10, 4 << 10
	for i := range s.mem {
		s.mem[i] = filler
	}
	var slow []*raw
	for i := range readers {
		c := s.raw(2)
		for range gets {
			if i%2 == 0 {
				c.send(frame(getHead(1<<20, 4), nil))
			} else {
				c.send(frame(getHead(64, rows), nil)) // packed
			}
		}
		slow = append(slow, c)
	}
	c := s.raw(3)
	for range 1000 {
		c.check()
	}
	c.bye()
	for i, c := range slow {
		want := []int{4 << 20, 64 * rows}[i%2]
		for range gets {
			if _, b := c.answer(); len(b) != want ||
				bytes.Count(b, []byte{filler}) != want {
				t.Fatalf("%d bytes have come, expected %d, or wrong ones", len(b),
					want)
			}
		}
		c.bye()
	}
}

const filler = 0x5a

// Frames that are posted wait for a client that does not read, not who posts them.
func TestStoppedReplies(t *testing.T) {
	const replies, size = 40, 1 << 20
	s := newServer(t, nil)
	c := s.raw(2)
	c.check()
	end := s.ends(t, 1)[0]
	var all sync.WaitGroup
	for i := range byte(replies) {
		all.Go(func() { end.c.Post([]byte{i}, bytes.Repeat([]byte{i}, size)) })
	}
	all.Wait()
	seen := map[byte]bool{}
	for range replies {
		h, b := c.answer()
		if len(b) != size || bytes.Count(b, h) != size || seen[h[0]] {
			t.Fatalf("reply %v: %d bytes, or wrong ones", h, len(b))
		}
		seen[h[0]] = true
	}
	c.check()
	c.bye()
}

// A server that ends says what was posted last, also to a client in the middle of something.
func TestGoodbye(t *testing.T) {
	s := newServer(t, nil)
	quiet, stuck := s.raw(2), s.raw(3)
	stuck.send(frame([]byte{opPut}, make([]byte, 1<<20))[:100])
	quiet.check()
	for _, e := range s.ends(t, 2) {
		e.c.Post([]byte("bye"), nil)
	}
	s.close()
	for _, c := range []*raw{quiet, stuck} {
		if h, _ := c.answer(); string(h) != "bye" {
			t.Errorf("%q", h)
		}
		closedBy(t, c.fd)
	}
	for _, e := range s.ends(t, 2) {
		if e.lost != nil {
			t.Errorf("told of a loss at its own end: %v", e.lost)
		}
	}
}

// A connection whose client takes no replies any more is still read to its end.
func TestReadToTheEnd(t *testing.T) {
	s := newServer(t, nil)
	for i := range 20 {
		c := s.raw(2)
		end := s.ends(t, i+1)
		for range 50 {
			// whose answers are never read
			c.send(frame([]byte{opEcho}, make([]byte, 1000)))
		}
		c.send(frame([]byte{opBye}, nil))
		unix.Shutdown(c.fd, unix.SHUT_WR)
		last := end[len(end)-1]
		s.lossOf(t, last)
		unix.Close(c.fd)
		if !last.bye || !errors.Is(last.lost, errStop) {
			t.Fatalf("the goodbye was not read: %v", last.lost)
		}
	}
}

// Several clients with large transfers at a time, and small requests between.
func TestManyClients(t *testing.T) {
	t.Run("each with a workspace", func(t *testing.T) { testManyClients(t, 16<<20) })
	t.Run("too many", func(t *testing.T) { testManyClients(t, 0) })
}

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
func TestLowMemory(t *testing.T) {
	s := newServer(t, func(f *fabric) { f.Buffer = 0 })
	data := bytes.Repeat([]byte("Gedränge"), 1<<20/9+1)[:1<<20]
	put := frame([]byte{opPut}, data)
	var stopped []*raw
	for i := range 2 * leastSpaces {
		c := s.raw(transport.Rank(2 + i%2))
		c.send(put[:1<<19])
		stopped = append(stopped, c)
	}
	time.Sleep(20 * time.Millisecond)
	c, other := s.raw(2), s.raw(3)
	for _, n := range []int{8, 4 << 10, 20 << 10, 32 << 10, 63 << 10} {
		c.send(frame(getHead(n, 1), nil))
		if _, b := c.answer(); len(b) != n {
			t.Errorf("a get of %d bytes gives %d", n, len(b))
		}
		c.check()
	}
	c.send(frame(getHead(1<<20, 2), nil))
	other.send(frame([]byte{opEcho}, data))
	const stored = 1<<19 - prefixBytes - 1
	if _, b := c.answer(); len(b) != 2<<20 || !bytes.Equal(b[:stored], data[:stored]) {
		t.Error("a large get is wrong")
	}
	if _, b := other.answer(); !bytes.Equal(b, data) {
		t.Error("a large echo is wrong")
	}
	for _, c := range stopped {
		c.send(put[1<<19:])
	}
	for _, c := range append(stopped, c, other) {
		c.check()
		c.bye()
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
			s := newServer(t, func(f *fabric) { f.opt.Gather = gather })
			rnd := rand.New(rand.NewPCG(1, 2))
			c := s.raw(2)
			for range 60 {
				row, rows := 1+rnd.IntN(1<<rnd.IntN(13)), 1+rnd.IntN(50)
				data := make([]byte, row*rows)
				for i := range data {
					data[i] = byte(rnd.Uint32())
				}
				s.set(func() {
					s.shape = func(int64) (count,
						stride []int32) {
						return patch(row, rows)
					}
				})
				c.sendCut(rnd, frame([]byte{opPut}, data))
				c.check()
				back := make([]byte, len(data))
				at := cursorOf(s.mem, row, rows)
				at.Pack(back)
				if !bytes.Equal(back, data) {
					t.Fatalf("%d rows of %d bytes differ", rows, row)
				}
			}
			c.bye()
		})
	}
}

// sendCut sends in pieces of random sizes, with pauses that the server can notice.
func (r *raw) sendCut(rnd *rand.Rand, b []byte) {
	for len(b) > 0 {
		n := min(len(b), 1+rnd.IntN(1<<rnd.IntN(18)))
		r.send(b[:n])
		if b = b[n:]; rnd.IntN(4) == 0 {
			time.Sleep(time.Duration(rnd.IntN(200)) * time.Microsecond)
		}
	}
}

// FuzzReceiver feeds a receiver with anything, in pieces: it never tells more than has come, and no
// frame twice.
func FuzzReceiver(f *testing.F) {
	f.Add(frame([]byte("head"), []byte("body")), uint8(3))
	f.Add(append(frame(nil, nil), frame([]byte("x"), make([]byte, 100))...), uint8(1))
	f.Add(appendPrefix(nil, transport.MaxHead+1, 5), uint8(7))
	f.Fuzz(func(t *testing.T, b []byte, step uint8) {
		n := &counter{}
		s := receiver{to: n, straight: 1 << 20, in: make([]byte, bufferBytes)}
		for at := 0; at < len(b); {
			k := min(int(step)+1, len(b)-at, len(s.in)-s.w)
			if k == 0 {
				break
			}
			s.w += copy(s.in[s.w:], b[at:at+k])
			at += k
			if s.parse() != nil {
				break
			}
			s.w = copy(s.in, s.in[s.r:s.w])
			s.r = 0
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

func (c *counter) Head(head []byte, n int64) (transport.Body, error) {
	c.frames++
	c.bytes += prefixBytes + int64(len(head))
	return transport.Body{Grain: 1 + c.frames%3}, nil
}

func (c *counter) Data(b []byte) error {
	c.bytes += int64(len(b))
	return nil
}

func (c *counter) End() error {
	c.ended++
	return nil
}

func (c *counter) Sent()         {}
func (c *counter) Expects() bool { return false }
func (c *counter) Lost(error)    {}
