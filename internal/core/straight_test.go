// SPDX-License-Identifier: BSD-3-Clause

// Messages that are copied to where they are wanted: none is overlooked, whether its receiver
// looks, sleeps or has not come yet.
package core

import (
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// watched is a transport with a Watcher that looks for a moment only.
type watched struct{ transport.Transport }

func (watched) Watch(_ transport.Peer, met func() bool, _ bool) (end func()) {
	for range rand.IntN(200) {
		if met() {
			break
		}
		runtime.Gosched()
	}
	return func() {}
}

func watch(c *transporttest.Cluster) {
	c.Wrap = func(_ int, t transport.Transport) transport.Transport { return watched{t} }
}

// Collectives whose messages are received in place leave none expected.
func TestCollectivesWithWatcher(t *testing.T) {
	for _, s := range shapes {
		t.Run(s.String(), func(t *testing.T) {
			s.run(t, watch, func(r *tr) {
				r.collectives(r.groups.world, 3)
				r.twoSided.expected.mu.Lock()
				defer r.twoSided.expected.mu.Unlock()
				if len(r.twoSided.expected.byKey) > 0 {
					r.wrong("%d messages are still wanted",
						len(r.twoSided.expected.byKey))
				}
			})
		})
	}
}

// Many broadcasts whose root never receives, with receivers that come late.
func TestManyBroadcasts(t *testing.T) {
	shape{nodes: 3, ranks: 3}.run(t, watch, func(r *tr) {
		for i := range 5 * maxUnheardMessages {
			x := [2]int64{int64(i), -1}
			if r.Me != 1 {
				x[0] = -1
				if i%50 == int(r.Me) {
					time.Sleep(5 * time.Millisecond)
				}
			}
			if r.groups.world.team.Bcast(unsafe.Pointer(&x), 8, 1); x[0] != int64(i) {
				r.wrong("broadcast %d: %d", i, x[0])
			}
		}
		r.barrier()
	})
}

// Long reductions, by halves, of elements of all sizes.
func TestLongReductions(t *testing.T) {
	for _, nodes := range []int{2, 3, 4, 5, 7, 8} {
		shape{nodes: nodes, ranks: nodes}.run(t, watch, func(r *tr) {
			for _, n := range []int{5000, 8191, 8192, 8193, 50001, 300000} {
				x := make([]int32, n)
				z := make([]complex128, n)
				for i := range x {
					x[i] = int32(int(r.Me)*7 + i)
					z[i] = complex(float64(int(r.Me)+i), float64(i))
				}
				r.groups.world.team.Allreduce(unsafe.Pointer(&x[0]), int64(n),
					int(kernel.Int), int(kernel.Max))
				r.groups.world.team.Allreduce(unsafe.Pointer(&z[0]), int64(n),
					int(kernel.DoubleComplex), int(kernel.Sum))
				for i := range x {
					ranks := nodes * (nodes - 1) / 2
					if x[i] != int32((nodes-1)*7+i) ||
						z[i] != complex(float64(ranks+nodes*i),
							float64(nodes*i)) {
						r.wrong("%d elements: element %d is %d, %v", n, i,
							x[i], z[i])
						break
					}
				}
			}
		})
	}
}

// refusing is a transport over which messages do not always go straight.
type refusing struct {
	watched
	sent *atomic.Int32
}

func (p refusing) Send(to transport.Peer, m transport.Msg) error {
	if m.ToProcess && p.sent.Add(1)%3 > 0 {
		return transport.ErrNotNative
	}
	return p.watched.Send(to, m)
}

// Connections over which messages would go straight come and go: a long message then travels in
// fragments.
func TestLongMessagesNotStraight(t *testing.T) {
	var sent atomic.Int32
	refuse := func(c *transporttest.Cluster) {
		c.Wrap = func(_ int,
			t transport.Transport) transport.Transport {
			return refusing{watched{t}, &sent}
		}
	}
	shape{nodes: 4, ranks: 4}.run(t, refuse, func(r *tr) {
		x := make([]int64, 4*reduceBytes/8)
		for i := range x {
			x[i] = int64(i) << r.Me
		}
		r.groups.world.team.Allreduce(unsafe.Pointer(&x[0]), int64(len(x)),
			int(kernel.Long),
			int(kernel.Sum))
		for i := range x {
			if x[i] != int64(i)*15 {
				r.wrong("element %d is %d", i, x[i])
				break
			}
		}
	})
	if sent.Load() < 3 {
		t.Errorf("%d long messages", sent.Load())
	}
}

// counted counts the messages that a rank sends.
type counted struct {
	watched
	sent *atomic.Int32
}

func (c counted) Send(p transport.Peer, m transport.Msg) error {
	c.sent.Add(1)
	return c.watched.Send(p, m)
}

// Of three leaders one gives its part to another and sends nothing else: it does not fill the
// memory of one that is late.
func TestLateInReduction(t *testing.T) {
	const n = 64 * reduceBytes / 8
	var sent [3]atomic.Int32
	count := func(c *transporttest.Cluster) {
		c.Wrap = func(i int,
			t transport.Transport) transport.Transport {
			return counted{watched{t}, &sent[i]}
		}
	}
	shape{nodes: 3, ranks: 3}.run(t, count, func(r *tr) {
		x := make([]int64, n)
		for i := range x {
			x[i] = int64(i) << r.Me
		}
		r.barrier()
		before := sent[2].Load()
		if r.barrier(); r.Me == 0 {
			time.Sleep(100 * time.Millisecond)
			if more := sent[2].Load() - before; more > 2*maxUnheardFragments {
				r.wrong("rank 2 has sent %d messages to rank 0, which has "+
					"received none", more)
			}
		}
		r.groups.world.team.Allreduce(unsafe.Pointer(&x[0]), n, int(kernel.Long),
			int(kernel.Sum))
		for i := range x {
			if x[i] != 7*int64(i) {
				r.wrong("element %d is %d", i, x[i])
				break
			}
		}
	})
}
