// SPDX-License-Identifier: BSD-3-Clause

// The conformance suite of transports over this fabric, with different settings.
package tcp

import (
	"testing"
	"time"

	"libarmci/internal/internode"
	"libarmci/internal/transport"
	"libarmci/internal/transport/transporttest"
)

// newEnds opens nodes of so many ranks each.
func newEnds(t testing.TB, opt Options, change func(*internode.Options), ranks ...int) *transporttest.Ends {
	var hints [][]byte
	for _, k := range ranks {
		for range k {
			hints = append(hints, makeHint())
		}
	}
	return transporttest.NewEnds(t, ranks, func(info transport.OpenInfo) (transport.Transport, error) {
		o := internode.Options{OpenInfo: info, Servers: 1, Poll: 20 * time.Microsecond, Settings: transport.Settings{
			Timeout: 5 * time.Second, Eager: 8 << 10, Buffer: 16 << 20, Looks: func() int { return 100 }}}
		o.Hints = hints
		if change != nil {
			change(&o)
		}
		return internode.Open(Driver(opt), o)
	})
}

func TestTransport(t *testing.T) {
	for _, c := range []struct {
		name   string
		ranks  []int
		opt    Options
		change func(*internode.Options)
	}{
		{"1x1x1", []int{1, 1, 1}, Options{}, nil},
		{"2x2", []int{2, 2}, Options{}, nil},
		{"two servers", []int{2, 2}, Options{}, func(o *internode.Options) { o.Servers = 2 }},
		{"nothing eager", []int{1, 1}, Options{}, func(o *internode.Options) { o.Eager = 0 }},
		{"always gathered", []int{1, 1}, Options{Gather: 1}, func(o *internode.Options) { o.Eager = 0 }},
		{"always packed", []int{1, 1}, Options{Gather: 1 << 30}, func(o *internode.Options) { o.Eager = 0 }},
		{"no polling", []int{1, 1}, Options{}, func(o *internode.Options) { o.Poll, o.Looks = 0, func() int { return 0 } }},
		{"long polling", []int{1, 1}, Options{}, func(o *internode.Options) {
			o.Poll, o.Looks = time.Millisecond, func() int { return 10000 }
		}},
		{"few buffers", []int{1, 1, 1}, Options{}, func(o *internode.Options) { o.Buffer = 1 << 20 }},
	} {
		t.Run(c.name, func(t *testing.T) { newEnds(t, c.opt, c.change, c.ranks...).Conform(t) })
	}
}
