// SPDX-License-Identifier: BSD-3-Clause

// The conformance suite over RDMA, with different settings: every protocol is once the only one.
package rdma

import (
	"errors"
	"testing"
	"time"

	"libarmci/internal/rdma/verbs"
)

// miser registers nothing, as where too little memory may be pinned.
type miser struct{}

func (miser) Register(uintptr, int64, bool) (*verbs.Region, error) {
	return nil, errors.New("nothing may be pinned")
}

func (m miser) RegisterLocks(at uintptr, n int64) (*verbs.Region, error) {
	return m.Register(at, n, true)
}

func TestConformance(t *testing.T) {
	for _, c := range []struct {
		name   string
		ranks  []int
		change func(*Options)
		opened func(*Transport)
	}{
		{"1x1x1", []int{1, 1, 1}, nil, nil},
		{"2x2", []int{2, 2}, nil, nil},
		{"nothing eager", []int{1, 1}, func(o *Options) { o.Eager = 0 }, nil},
		{"buffered", []int{1, 1}, func(o *Options) { o.Contiguous = buffered }, nil},
		{"zerocopy", []int{1, 1}, func(o *Options) { o.Contiguous = zerocopy }, nil},
		{"nic", []int{1, 1}, func(o *Options) { o.Eager, o.Strided = 0, nic }, nil},
		{"host", []int{1, 1}, func(o *Options) { o.Strided = host }, nil},
		{"host-atomic", []int{1, 1, 1}, func(o *Options) { o.Strided, o.Buffer = hostAtomic, 1<<20 }, nil},
		{"push", []int{1, 1}, func(o *Options) { o.Strided = push }, nil},
		{"accumulates by the device", []int{2, 2}, func(o *Options) { o.Guarded = true }, nil},
		{"accumulates by the device, packed", []int{1, 1}, func(o *Options) { o.Guarded = true },
			func(tr *Transport) { tr.arena.domain = miser{} }},
		{"long polling", []int{1, 1}, func(o *Options) { o.Poll, o.Spin = time.Millisecond, func() int { return 10000 } }, nil},
		{"few buffers", []int{1, 1, 1}, func(o *Options) { o.Buffer = 1 << 20 }, nil},
		{"nothing stays pinned", []int{1, 1}, func(o *Options) { o.Pin = 1 }, nil},
		{"little stays pinned", []int{1, 1}, func(o *Options) { o.Pin = 256 << 10 }, nil},
		{"nothing can be pinned", []int{1, 1}, nil, func(tr *Transport) { tr.arena.domain = miser{} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := newJob(t, c.change, c.ranks...)
			if c.opened != nil {
				for _, tr := range j.tr {
					c.opened(tr)
				}
			}
			j.Conform(t)
		})
	}
}
