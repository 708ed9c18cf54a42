// SPDX-License-Identifier: BSD-3-Clause

// Processes of tests that speak in frames of their own making, right or wrong, to a transport over
// a network in memory: as an origin of its data server, or as the server that it has for a target.
package internode

import (
	"bytes"
	"encoding/binary"
	"strings"
	"sync"
	"testing"
	"time"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
	"libarmci/internal/transport/pipe"
	"libarmci/internal/transport/transporttest"
)

const patience = 60 * time.Second // far more than anything here takes, on a busy machine as well

// stranger is a rank of the job without a Transport: only a fabric.
type stranger struct {
	transport.Transport // none; for Ends
	t                   testing.TB
	info                transport.OpenInfo
	fabric              transport.Fabric
	listener            transport.Listener
	// what it does with a frame as a server
	serve func(s *stranger, e transport.TargetEndpoint, f reply)

	mu      sync.Mutex
	changed *sync.Cond
	ended   sync.WaitGroup
	closing bool
	calls   []*call
}

// reply is a frame that a stranger has got.
type reply struct {
	header
	rest, body []byte
}

// call is an end of a connection of a stranger.
type call struct {
	s       *stranger
	e       transport.Endpoint
	server  bool
	current reply
	got     []reply
	lost    error
}

// Info and Close are what Ends wants of a Transport.
func (s *stranger) Info() transport.Info { return transport.Info{Addr: s.fabric.Info().Addr} }

// Close ends it.
func (s *stranger) Close() error {
	s.mu.Lock()
	again := s.closing
	s.closing = true
	calls := s.calls
	s.mu.Unlock()
	if again {
		return nil
	}
	for _, c := range calls {
		if !c.server {
			c.e.(transport.OriginEndpoint).Source().Interrupt()
		}
	}
	s.listener.Interrupt()
	s.ended.Wait()
	for _, c := range calls {
		if !c.server {
			c.e.Close(0)
		}
	}
	s.listener.Close()
	return s.fabric.Close()
}

// poll runs until the stranger is closed.
func (s *stranger) poll(src transport.Source) {
	s.ended.Go(func() {
		for {
			s.mu.Lock()
			end := s.closing
			s.mu.Unlock()
			if end {
				return
			}
			if src.Poll(1) == 0 {
				src.Sleep(-1)
			}
		}
	})
}

// newStranger opens the network for a rank.
func newStranger(t testing.TB, net *pipe.Net, info transport.OpenInfo) (*stranger, error) {
	s := &stranger{t: t, info: info}
	s.changed = sync.NewCond(&s.mu)
	var err error
	s.fabric, err = net.Open(transport.FabricConfig{OpenInfo: info, Serves: true,
		Settings: transport.Settings{Timeout: time.Second, Eager: 8 << 10,
			Looks: func() int { return 20 }},
		Await: func(_ transport.OriginEndpoint, done func() bool) {
			for !done() {
				time.Sleep(50 * time.Microsecond)
			}
		}})
	if err != nil {
		return nil, err
	}
	s.listener, err = s.fabric.Listen(func(_ transport.Rank, e transport.TargetEndpoint) (
		transport.Receiver, error) {
		return &call{s: s, e: e, server: true}, nil
	})
	s.poll(s.listener)
	return s, err
}

// dial connects to the data server of a rank.
func (s *stranger) dial(to transport.Rank, addr []byte) *call {
	s.t.Helper()
	c := &call{s: s}
	e, err := s.fabric.Dial(to, addr, c)
	if err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	c.e = e
	s.calls = append(s.calls, c)
	s.mu.Unlock()
	s.poll(e.Source())
	return c
}

// Head keeps the header.
func (c *call) Head(head []byte, _ int64) (transport.Body, error) {
	c.current = reply{}
	rest, err := c.current.decode(head)
	c.current.rest = bytes.Clone(rest)
	return transport.Body{}, err
}

// Data keeps the body.
func (c *call) Data(b []byte) error {
	c.current.body = append(c.current.body, b...)
	return nil
}

// End keeps the frame, and has a server answer it.
func (c *call) End() error {
	if c.server {
		if c.s.serve != nil {
			c.s.serve(c.s, c.e.(transport.TargetEndpoint), c.current)
		}
		return nil
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.got = append(c.got, c.current)
	c.s.changed.Broadcast()
	return nil
}

// Sent, Expects and Lost complete the Receiver.
func (c *call) Sent() {}

// Expects is false.
func (c *call) Expects() bool { return false }

// Lost keeps the error.
func (c *call) Lost(err error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.lost = err
	c.s.changed.Broadcast()
}

// send sends a frame whose header has the lengths of what follows, unless they are set already.
func (c *call) send(h header, rest, body []byte) {
	c.s.t.Helper()
	if h.desc == 0 {
		h.desc = uint32(len(rest))
		if h.kind == kindAcc {
			h.desc -= scaleBytes
		}
	}
	if h.bytes == 0 {
		h.bytes = uint64(len(body))
	}
	c.sendFrame(append(h.append(nil), rest...), body)
}

// sendFrame sends any frame. Lost ones are looked at by the test.
func (c *call) sendFrame(head, body []byte) {
	var b kernel.Cursor
	b.SetContiguous(addressOf(body), int64(len(body)))
	c.e.Send(head, &b, int64(len(body)), transport.Now)
}

// answer waits for the next frame; ok is false if the connection is lost instead.
func (c *call) answer() (r reply, ok bool) {
	c.s.t.Helper()
	timer := time.AfterFunc(patience, c.s.changed.Broadcast)
	defer timer.Stop()
	begin := time.Now()
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	for len(c.got) == 0 && c.lost == nil {
		if time.Since(begin) >= patience {
			c.s.t.Error("there is no answer")
			return r, false
		}
		c.s.changed.Wait()
	}
	if len(c.got) == 0 {
		return r, false
	}
	r, c.got = c.got[0], c.got[1:]
	return r, true
}

// ask sends a frame and waits for the answer with its number.
func (c *call) ask(h header, rest, body []byte) (r reply) {
	c.s.t.Helper()
	h.id = 99<<32 | 7
	c.send(h, rest, body)
	for ok := true; ok; {
		if r, ok = c.answer(); ok && r.id == h.id {
			return r
		}
	}
	c.s.t.Fatalf("request %+v: the connection was lost: %v", h, c.lost)
	return r
}

// fence waits until all that was sent has been handled.
func (c *call) fence(rank transport.Rank) {
	c.s.t.Helper()
	if r := c.ask(header{kind: kindCall, rank: uint32(rank)}, nil, nil); r.kind != kindReply {
		c.s.t.Fatalf("%+v", r)
	}
}

// gone waits until the connection is lost and gives the frames that came before.
func (c *call) gone() (before []reply) {
	c.s.t.Helper()
	for {
		r, ok := c.answer()
		if !ok {
			return before
		}
		before = append(before, r)
	}
}

// newMixed opens nodes of one rank each, of which those in strangers have no Transport.
func newMixed(t testing.TB, net *pipe.Net, change func(*Options), n int,
	strangers ...int) (*transporttest.Ends, map[int]*stranger) {
	found, ranks := map[int]*stranger{}, make([]int, n)
	for i := range ranks {
		ranks[i] = 1
	}
	ends := transporttest.NewEnds(t, ranks, func(info transport.OpenInfo) (transport.Transport,
		error) {
		for _, r := range strangers {
			if transport.Rank(r) == info.Me {
				s, err := newStranger(t, net, info)
				found[r] = s
				return s, err
			}
		}
		return Open(net.Driver(), options(info, change))
	})
	for i, tr := range ends.Open {
		if found[i] == nil {
			if err := tr.Connect(ends.Peers()); err != nil {
				t.Fatal(err)
			}
		}
	}
	return ends, found
}

// options are those of a rank of a test.
func options(info transport.OpenInfo, change func(*Options)) Options {
	o := Options{OpenInfo: info, Poll: 20 * time.Microsecond,
		Settings: transport.Settings{Timeout: 5 * time.Second, Eager: 8 << 10,
			Buffer: 16 << 20, Looks: func() int { return 20 }}}
	if change != nil {
		change(&o)
	}
	return o
}

// plain is a contiguous transfer whose addresses are known to be good.
func plain(local, remote uintptr, n int) *transport.Xfer {
	return &transport.Xfer{Local: transport.Section{Base: local},
		Remote: transport.Section{Base: remote}, Count: []int32{int32(n)}}
}

// scaleOf is the factor of an accumulate.
func scaleOf(v uint64) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, v), 0)
}

// losses waits for at least one report of a loss.
func losses(t testing.TB, e *transporttest.Ends) string {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if l := e.Losses(); len(l) > 0 {
			return strings.Join(l, "; ")
		}
	}
	t.Error("no loss is reported")
	return ""
}
