// SPDX-License-Identifier: BSD-3-Clause

// The conformance suite over RDMA, with different settings: every protocol is once the only one. One run takes long where
// RDMA is software, so settings that do not meet share one.
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
		{"2x2", []int{2, 2}, nil, nil},
		{"few buffers", []int{1, 1, 1}, func(o *Options) { o.Buffer = 1 << 20 }, nil},
		{"unequal buffers", []int{1, 1, 1}, func(o *Options) { o.Buffer = 1 << 20 << (4 * (o.Me % 2)) }, nil},
		{"unequal buffers, host-atomic", []int{1, 1}, func(o *Options) {
			o.Strided, o.Buffer = hostAtomic, 1<<20<<(4*(o.Me%2))
		}, nil},
		{"buffered, host", []int{1, 1}, func(o *Options) { o.Contiguous, o.Strided = buffered, host }, nil},
		{"zerocopy, nic", []int{1, 1}, func(o *Options) { o.Contiguous, o.Strided, o.Eager = zerocopy, nic, 0 }, nil},
		{"host-atomic", []int{1, 1, 1}, func(o *Options) { o.Strided, o.Buffer = hostAtomic, 1<<20 }, nil},
		{"push, long polling", []int{1, 1}, func(o *Options) {
			o.Strided, o.Poll, o.Spin = push, time.Millisecond, func() int { return 10000 }
		}, nil},
		{"accumulates by the device, little stays pinned", []int{2, 1}, func(o *Options) { o.Guarded, o.Pin = true, 256<<10 }, nil},
		{"nothing stays pinned", []int{1, 1}, func(o *Options) { o.Pin = 1 }, nil},
		{"nothing can be pinned", []int{1, 1}, func(o *Options) { o.Guarded = true },
			func(tr *Transport) { tr.arena.domain = miser{} }},
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
