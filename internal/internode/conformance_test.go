// SPDX-License-Identifier: BSD-3-Clause

// The conformance suite of transports over a network in memory, with settings under which each
// protocol is the only one once.
package internode

import (
	"testing"
	"time"

	"libarmci/internal/testutil/pipe"
	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// newEnds opens nodes of so many ranks each over a network.
func newEnds(t testing.TB, net *pipe.Net, change func(*Options), ranks ...int) *transporttest.Ends {
	return transporttest.NewEnds(t, ranks, func(info transport.OpenInfo) (transport.Transport,
		error) {
		return Open(net.Driver(), options(info, change))
	})
}

// TestConformancePrivate runs the suite on memory outside the arena, which frames reach: of the
// server's own process, and of another one of its node.
func TestConformancePrivate(t *testing.T) {
	for i, c := range []struct {
		name   string
		ranks  []int
		net    pipe.Options
		change func(*Options)
	}{
		{"own", []int{1, 1}, pipe.Options{}, nil},
		{"own, direct", []int{1, 1, 1}, pipe.Options{Direct: true, Atomics: true,
			Shared: true, MaxFrame: 16 << 10, Credits: 16}, setModel},
		{"other", []int{2, 2}, pipe.Options{}, nil},
		{"other, small frames", []int{2, 1}, pipe.Options{MaxFrame: 4096, Credits: 4}, nil},
		{"other, delays", []int{2, 2}, pipe.Options{Delay: 200 * time.Microsecond,
			Divide: true, Defer: true, Room: 64 << 10}, nil},
		{"other, direct", []int{2, 2}, pipe.Options{Direct: true, Atomics: true,
			Shared: true, MaxFrame: 16 << 10, Credits: 16}, setModel},
		{"other, direct, pushed", []int{2, 1}, pipe.Options{Direct: true, Shared: true,
			MaxFrame: 16 << 10, Credits: 16},
			stridedBy(transport.ByTargetSide)},
	} {
		if !transporttest.Sampled(i) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			e := newEnds(t, pipe.New(c.net), c.change, c.ranks...)
			own := c.ranks[0] == 1
			e.ConformPrivate(t, own)
			if moved := e.Nodes[0].Moved(); (moved > 0) == own {
				t.Errorf("the first node's transport has moved %d bytes", moved)
			}
		})
	}
}

// stridedBy sets the protocol of strided transfers, and a cost model.
func stridedBy(protocol string) func(*Options) {
	return func(o *Options) { o.Strided, o.Model = protocol, someModel }
}

// TestConformance runs the suite over all networks and protocols. The first device measures what
// protocols cost; the others are told.
func TestConformance(t *testing.T) {
	for i, c := range []struct {
		name   string
		ranks  []int
		net    pipe.Options
		change func(*Options)
	}{
		{"1x1x1", []int{1, 1, 1}, pipe.Options{}, nil},
		{"2x2", []int{2, 2}, pipe.Options{}, nil},
		{"two servers", []int{2, 2}, pipe.Options{}, func(o *Options) { o.Servers = 2 }},
		{"nothing eager", []int{1, 1}, pipe.Options{Blocks: true},
			func(o *Options) { o.Eager = 0 }},
		{"small frames", []int{1, 1}, pipe.Options{MaxFrame: 4096, Credits: 4}, nil},
		{"delays", []int{1, 1, 1}, pipe.Options{Delay: 200 * time.Microsecond, Divide: true,
			Defer: true, Room: 64 << 10}, nil},
		{"direct", []int{1, 1, 1}, pipe.Options{Direct: true, Atomics: true, Shared: true,
			MaxFrame: 16 << 10, Credits: 16}, nil},
		{"direct, delays", []int{2, 2}, pipe.Options{Direct: true, Atomics: true,
			Shared: true, MaxFrame: 16 << 10, Credits: 16,
			Delay: 200 * time.Microsecond, Divide: true, Room: 256 << 10}, setModel},
		{"direct, many keys", []int{1, 1}, pipe.Options{Direct: true, Shared: true,
			Keys: pipe.KeyOptions{Range: 16 << 10}}, setModel},
		{"direct, packed", []int{1, 1}, pipe.Options{Direct: true, Shared: true,
			MaxFrame: 16 << 10, Credits: 16},
			stridedBy(transport.ByPacking)},
		{"direct, rows", []int{1, 1}, pipe.Options{Direct: true, Shared: true,
			MaxFrame: 16 << 10, Credits: 16},
			stridedBy(transport.ByDevice)},
		{"direct, pushed", []int{1, 1}, pipe.Options{Direct: true, Shared: true,
			MaxFrame: 16 << 10, Credits: 16},
			stridedBy(transport.ByTargetSide)},
		{"direct, holes", []int{1, 1}, pipe.Options{Direct: true, Shared: true,
			MaxFrame: 16 << 10, Credits: 16,
			Keys: pipe.KeyOptions{Range: 4096, Holes: 3, NoLend: true}}, setModel},
	} {
		if !transporttest.Sampled(i) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			newEnds(t, pipe.New(c.net), c.change, c.ranks...).Conform(t)
		})
	}
}
