// SPDX-License-Identifier: BSD-3-Clause

// The conformance suite over TCP, with different settings: every protocol is once the only one.
package tcp

import (
	"testing"
	"time"
)

func TestConformance(t *testing.T) {
	for _, c := range []struct {
		name   string
		ranks  []int
		change func(*Options)
	}{
		{"1x1x1", []int{1, 1, 1}, nil},
		{"2x2", []int{2, 2}, nil},
		{"two servers", []int{2, 2}, func(o *Options) { o.Servers = 2 }},
		{"nothing eager", []int{1, 1}, func(o *Options) { o.Eager = 0 }},
		{"always gathered", []int{1, 1}, func(o *Options) { o.Eager, o.Gather = 0, 1 }},
		{"always packed", []int{1, 1}, func(o *Options) { o.Eager, o.Gather = 0, 1<<30 }},
		{"no polling", []int{1, 1}, func(o *Options) { o.Poll, o.Spin = 0, nil }},
		{"long polling", []int{1, 1}, func(o *Options) { o.Poll, o.Spin = time.Millisecond, func() int { return 10000 } }},
		{"few buffers", []int{1, 1, 1}, func(o *Options) { o.Buffer = 1 << 20 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := newJob(t, c.change, c.ranks...)
			j.Conform(t)
		})
	}
}
