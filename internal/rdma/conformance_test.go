// SPDX-License-Identifier: BSD-3-Clause

// The conformance suite over RDMA, with different settings: every protocol is once the only one.
package rdma

import (
	"testing"
	"time"

	"libarmci/internal/transport/transporttest"
)

func TestConformance(t *testing.T) {
	for _, c := range []struct {
		name   string
		ranks  []int
		change func(*Options)
	}{
		{"1x1x1", []int{1, 1, 1}, nil},
		{"2x2", []int{2, 2}, nil},
		{"nothing eager", []int{1, 1}, func(o *Options) { o.Eager = 0 }},
		{"always chained", []int{1, 1}, func(o *Options) { o.Eager, o.Gather = 0, 1 }},
		{"always packed", []int{1, 1}, func(o *Options) { o.Gather = 1 << 30 }},
		{"long polling", []int{1, 1}, func(o *Options) { o.Poll, o.Spin = time.Millisecond, func() int { return 10000 } }},
		{"few buffers", []int{1, 1, 1}, func(o *Options) { o.Buffer = 1 << 20 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := newJob(t, c.change, c.ranks...)
			ends := j.ends(t)
			served := make(chan error, len(ends))
			for _, e := range ends[1:] {
				go func() { served <- transporttest.Serve(e) }()
			}
			transporttest.Run(t, ends[0])
			for range ends[1:] {
				if err := <-served; err != nil {
					t.Error(err)
				}
			}
			j.close()
			for _, l := range j.losses() {
				t.Errorf("nobody was lost, but %s", l)
			}
		})
	}
}
