// SPDX-License-Identifier: BSD-3-Clause

// The conformance suite of transports over this fabric, with different settings.
package tcp

import (
	"bytes"
	"testing"
	"time"
	"unsafe"

	"libarmci/internal/internode"
	"libarmci/internal/kernel"
	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// newEnds opens a transport for each rank, on nodes with so many ranks each.
func newEnds(t testing.TB, opt Options, change func(*internode.Options),
	ranks ...int) *transporttest.Ends {
	var hints [][]byte
	for range ranks {
		hints = append(hints, makeHint())
	}
	return transporttest.NewEnds(t, ranks, func(info transport.OpenInfo) (transport.Transport,
		error) {
		o := internode.Options{OpenInfo: info, Servers: 1, Poll: 20 * time.Microsecond,
			Settings: transport.Settings{
				Timeout: 5 * time.Second, Eager: 8 << 10, Buffer: 16 << 20,
				Looks: func() int { return 100 }}}
		o.Hints = hints
		if change != nil {
			change(&o)
		}
		return internode.Open(Driver(opt), o)
	})
}

// The transport passes the suite with every setting.
func TestTransport(t *testing.T) {
	for i, c := range []struct {
		name   string
		ranks  []int
		opt    Options
		change func(*internode.Options)
	}{
		{"1x1x1", []int{1, 1, 1}, Options{}, nil},
		{"2x2", []int{2, 2}, Options{}, nil},
		{"two servers", []int{2, 2}, Options{},
			func(o *internode.Options) { o.Servers = 2 }},
		{"nothing eager", []int{1, 1}, Options{},
			func(o *internode.Options) { o.Eager = 0 }},
		{"always gathered", []int{1, 1}, Options{Gather: 1},
			func(o *internode.Options) { o.Eager = 0 }},
		{"always packed", []int{1, 1}, Options{Gather: 1 << 30},
			func(o *internode.Options) { o.Eager = 0 }},
		{"no polling", []int{1, 1}, Options{}, func(o *internode.Options) {
			o.Poll, o.Looks = 0, func() int { return 0 }
		}},
		{"long polling", []int{1, 1}, Options{}, func(o *internode.Options) {
			o.Poll, o.Looks = time.Millisecond, func() int { return 10000 }
		}},
		{"few buffers", []int{1, 1, 1}, Options{},
			func(o *internode.Options) { o.Buffer = 1 << 20 }},
	} {
		if !transporttest.Sampled(i) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			newEnds(t, c.opt, c.change,
				c.ranks...).Conform(t)
		})
	}
}

// The transport passes the suite with hardly any connections, which are closed and made again.
func TestTransportBounded(t *testing.T) {
	for name, change := range map[string]func(*internode.Options){
		"one": func(o *internode.Options) { o.Connections = 1 },
		"one, blocks": func(o *internode.Options) {
			o.Connections, o.Eager, o.Looks = 1, 0,
				func() int { return 0 }
		},
		"two servers": func(o *internode.Options) { o.Connections, o.Servers = 2, 2 },
	} {
		t.Run(name, func(t *testing.T) {
			newEnds(t, Options{}, change, 2, 1, 2).Conform(t)
			newEnds(t, Options{}, change, 2, 1, 1, 2).Mix(t, 1, 100)
		})
	}
}

// Private memory of the server's own process, and of another one, of which gets are answered in
// pieces.
func TestTransportPrivate(t *testing.T) {
	newEnds(t, Options{}, nil, 1, 1).ConformPrivate(t, true)
	newEnds(t, Options{}, nil, 2, 2).ConformPrivate(t, false)
	const n = 3<<20 + 5
	e := newEnds(t, Options{}, nil, 2, 1)
	e.ConnectAll(t)
	far, near := e.Expose(t, 1, n), e.Private(2, n)
	there, here := unsafe.Slice((*byte)(kernel.Ptr(far)), n),
		unsafe.Slice((*byte)(kernel.Ptr(near)), n)
	for i := range there {
		there[i] = byte(i*31 + i>>8)
	}
	for range 5 {
		clear(here)
		x := &transport.Xfer{Local: transport.Section{Base: near},
			Remote: transport.Section{Base: far}, Count: []int32{n}}
		c := transporttest.Caller{T: t, Patience: patience}
		if err := c.Within(transporttest.Started(e.Open[2].Get, x)); err != nil ||
			!bytes.Equal(here, there) {
			t.Fatalf("a get of several pieces: %v", err)
		}
	}
}
