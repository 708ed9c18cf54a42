// SPDX-License-Identifier: BSD-3-Clause

// Processes of tests that send frames of their own making, right or wrong, to a transport over a
// network in memory: as an origin of its data server, or as the server of one of its targets.
package internode

import (
	"bytes"
	"encoding/binary"
	"strings"
	"sync"
	"testing"
	"time"

	"libarmci/internal/kernel"
	"libarmci/internal/testutil/pipe"
	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

const patience = 60 * time.Second // far more than anything here takes, on a busy machine as well

// rawProcess is a rank of the job that has a fabric but no Transport.
type rawProcess struct {
	transport.Transport // none; for Ends
	t                   testing.TB
	info                transport.OpenInfo
	fabric              transport.Fabric
	listener            transport.Listener
	// what it does with a frame as a server
	serve func(s *rawProcess, e transport.TargetEndpoint, f rawFrame)

	mu      sync.Mutex
	changed *sync.Cond
	ended   sync.WaitGroup
	closing bool
	links   []*rawLink
}

// rawFrame is a frame that a raw process has received.
type rawFrame struct {
	header
	rest, body []byte
}

// rawLink is a connection of a raw process.
type rawLink struct {
	s       *rawProcess
	e       transport.Endpoint
	server  bool
	frame   rawFrame
	frames  []rawFrame
	lossErr error
}

// Info is for transporttest.Ends.
func (s *rawProcess) Info() transport.Info { return transport.Info{Addr: s.fabric.Info().Addr} }

// Close ends the process, once.
func (s *rawProcess) Close() error {
	s.mu.Lock()
	again := s.closing
	s.closing = true
	calls := s.links
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

// poll polls a source until the process is closed.
func (s *rawProcess) poll(src transport.Source) {
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

// newRawProcess opens the network for a rank.
func newRawProcess(t testing.TB, net *pipe.Net, info transport.OpenInfo) (*rawProcess, error) {
	s := &rawProcess{t: t, info: info}
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
		return &rawLink{s: s, e: e, server: true}, nil
	})
	s.poll(s.listener)
	return s, err
}

// dial connects to the data server of a rank.
func (s *rawProcess) dial(to transport.Rank, addr []byte) *rawLink {
	s.t.Helper()
	c := &rawLink{s: s}
	e, err := s.fabric.Dial(to, addr, c)
	if err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	c.e = e
	s.links = append(s.links, c)
	s.mu.Unlock()
	s.poll(e.Source())
	return c
}

// BeginFrame records the header.
func (c *rawLink) BeginFrame(head []byte, _ int64) (transport.Body, error) {
	c.frame = rawFrame{}
	rest, err := c.frame.decode(head)
	c.frame.rest = bytes.Clone(rest)
	return transport.Body{}, err
}

// Data records the body.
func (c *rawLink) Data(b []byte) error {
	c.frame.body = append(c.frame.body, b...)
	return nil
}

// EndFrame records the frame, and has a server answer it.
func (c *rawLink) EndFrame() error {
	if c.server {
		if c.s.serve != nil {
			c.s.serve(c.s, c.e.(transport.TargetEndpoint), c.frame)
		}
		return nil
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.frames = append(c.frames, c.frame)
	c.s.changed.Broadcast()
	return nil
}

// Sent is a part of transport.Receiver.
func (c *rawLink) Sent() {}

// ExpectsBulk is false.
func (c *rawLink) Finished() bool { return false }

func (c *rawLink) ExpectsBulk() bool { return false }

// Lost records the error.
func (c *rawLink) Lost(err error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.lossErr = err
	c.s.changed.Broadcast()
}

// send sends a frame. It sets the lengths in the header, unless the test has.
func (c *rawLink) send(h header, rest, body []byte) {
	c.s.t.Helper()
	if h.desc == 0 {
		h.desc = uint32(len(rest))
		if h.kind == kindAcc {
			h.desc -= map[uint8]uint32{opScaledSum: scaleBytes,
				opCompareSwap: operandBytes}[h.op]
		}
	}
	if h.bytes == 0 {
		h.bytes = uint64(len(body))
	}
	c.sendFrame(append(h.append(nil), rest...), body)
}

// sendFrame sends any frame. It ignores errors: the test looks at lossErr.
func (c *rawLink) sendFrame(head, body []byte) {
	var b kernel.Cursor
	b.SetContiguous(addressOf(body), int64(len(body)))
	c.e.Send(head, &b, int64(len(body)), transport.Now)
}

// nextFrame waits for the next frame; ok is false if the connection is lost instead.
func (c *rawLink) nextFrame() (r rawFrame, ok bool) {
	c.s.t.Helper()
	timer := time.AfterFunc(patience, c.s.changed.Broadcast)
	defer timer.Stop()
	begin := time.Now()
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	for len(c.frames) == 0 && c.lossErr == nil {
		if time.Since(begin) >= patience {
			c.s.t.Error("there is no answer")
			return r, false
		}
		c.s.changed.Wait()
	}
	if len(c.frames) == 0 {
		return r, false
	}
	r, c.frames = c.frames[0], c.frames[1:]
	return r, true
}

// request sends a frame and waits for the answer with its id.
func (c *rawLink) request(h header, rest, body []byte) (r rawFrame) {
	c.s.t.Helper()
	h.id = 99<<32 | 7
	c.send(h, rest, body)
	for ok := true; ok; {
		if r, ok = c.nextFrame(); ok && r.id == h.id {
			return r
		}
	}
	c.s.t.Fatalf("request %+v: the connection was lost: %v", h, c.lossErr)
	return r
}

// fence waits until all that was sent has been handled.
func (c *rawLink) fence(rank transport.Rank) {
	c.s.t.Helper()
	if r := c.request(header{kind: kindCall, rank: uint32(rank)}, nil,
		nil); r.kind != kindReply {
		c.s.t.Fatalf("%+v", r)
	}
}

// awaitLoss waits until the connection is lost, and returns the frames that came before.
func (c *rawLink) awaitLoss() (before []rawFrame) {
	c.s.t.Helper()
	for {
		r, ok := c.nextFrame()
		if !ok {
			return before
		}
		before = append(before, r)
	}
}

// newMixed opens nodes of one rank each; those in strangers are raw processes.
func newMixed(t testing.TB, net *pipe.Net, change func(*Options), n int,
	strangers ...int) (*transporttest.Ends, map[int]*rawProcess) {
	found, ranks := map[int]*rawProcess{}, make([]int, n)
	for i := range ranks {
		ranks[i] = 1
	}
	ends := transporttest.NewEnds(t, ranks, func(info transport.OpenInfo) (transport.Transport,
		error) {
		for _, r := range strangers {
			if transport.Rank(r) == info.Me {
				s, err := newRawProcess(t, net, info)
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

// options returns the options of a rank.
func options(info transport.OpenInfo, change func(*Options)) Options {
	o := Options{OpenInfo: info, Poll: 20 * time.Microsecond,
		Settings: transport.Settings{Timeout: 5 * time.Second, Eager: 8 << 10,
			Buffer: 16 << 20, Looks: func() int { return 20 }}}
	if change != nil {
		change(&o)
	}
	return o
}

// plain returns a contiguous transfer whose addresses are known to be good.
func plain(local, remote uintptr, n int) *transport.Xfer {
	return &transport.Xfer{Local: transport.Section{Base: local},
		Remote: transport.Section{Base: remote}, Count: []int32{int32(n)}}
}

// scaleOf returns the factor of an accumulate.
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
