// SPDX-License-Identifier: BSD-3-Clause

// Collectives by messages that a device writes: their results, full rings, leaders that come late,
// and memory that is given back.
package core

import (
	"bytes"
	"sync"
	"testing"
	"time"
	"unsafe"

	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// withRings has the leaders of the world make rings over a device that is late by so long.
func (r *tr) withRings(late time.Duration) {
	r.internode.wordWriter = newWordDevice(r.internode.tr, late)
	for range ringAfter {
		r.barrier()
	}
}

// leads tells whether the caller is a leader of a group, and checks that it has rings then.
func (r *tr) leads(g *Group) bool {
	if g.leaders != nil && len(g.leaders.ranks) > 1 && g.leaders.rings == nil {
		r.wrong("group %v has no rings", g.Ranks)
	}
	return g.leaders != nil
}

// everyDevice runs f for all shapes over devices that write at once, and late.
func everyDevice(t *testing.T, f func(r *tr)) {
	const late = 50 * time.Microsecond
	for name, late := range map[string]time.Duration{"at once": 0, "late": late} {
		for _, s := range shapes {
			t.Run(name+" "+s.String(), func(t *testing.T) {
				s.run(t, nil, func(r *tr) {
					r.withRings(late)
					r.leads(r.groups.world)
					f(r)
				})
			})
		}
	}
}

func TestCollectivesByRings(t *testing.T) {
	everyDevice(t, func(r *tr) { r.collectives(r.groups.world, 3) })
}

// Blocks of which all leaders send more than a ring has room for before they receive.
func TestGatherMoreThanRings(t *testing.T) {
	everyDevice(t, func(r *tr) {
		if l := r.groups.world.leaders; l != nil {
			for _, size := range []int{ringBytes + 12345, ringPiece, 3} {
				var want []byte
				for i := range l.ranks {
					want = append(want, pattern(i, size)...)
				}
				got := l.Allgather(pattern(l.me, size))
				if !bytes.Equal(got, want) {
					r.wrong("blocks of %d bytes are wrong", size)
				}
			}
		}
		r.barrier()
	})
}

// deep is a transport with puts that need a large stack: it moves when a goroutine's first one has
// begun, and then others use the memory where it was.
type deep struct{ transport.Transport }

func (d deep) Put(p transport.Peer, x *transport.Xfer) error {
	fillStack(1000)
	var others sync.WaitGroup
	for range 100 {
		others.Go(func() { fillStack(5) })
	}
	others.Wait()
	return d.Transport.Put(p, x)
}

//go:noinline
func fillStack(n int) (sum int) {
	var frame [256]byte
	for i := range frame {
		frame[i] = byte(255 - n%2)
	}
	if n > 0 {
		sum = fillStack(n - 1)
	}
	return sum + int(frame[n%256])
}

// Rings work when the stack that holds the buffers moves during the call.
func TestRingsOnGrowingStacks(t *testing.T) {
	grow := func(c *transporttest.Cluster) {
		c.Wrap = func(_ int, t transport.Transport) transport.Transport { return deep{t} }
	}
	apart.run(t, grow, func(r *tr) {
		r.withRings(0)
		for n := range 10 {
			done := make(chan []byte)
			mine := []byte{byte(n), byte(r.Me)}
			go func() { done <- r.groups.world.leaders.Allgather(mine) }()
			if got := <-done; !bytes.Equal(got, []byte{byte(n), 0, byte(n), 1}) {
				r.wrong("block %d: %v", n, got)
			}
		}
	})
}

// A root that only sends, to receivers that come late: it waits where a ring is full.
func TestManyBroadcastsByRings(t *testing.T) {
	shape{nodes: 3, ranks: 3}.run(t, nil, func(r *tr) {
		r.withRings(0)
		x := make([]byte, 100<<10)
		for i := range 200 {
			if clear(x); r.Me == 1 {
				copy(x, pattern(i, len(x)))
			} else if i%50 == int(r.Me) {
				time.Sleep(5 * time.Millisecond)
			}
			r.groups.world.team.Bcast(unsafe.Pointer(&x[0]), int64(len(x)), 1)
			if !bytes.Equal(x, pattern(i, len(x))) {
				r.wrong("broadcast %d", i)
			}
		}
	})
}

// A leader without memory for rings: no leader uses any, and none keeps memory for them.
func TestNoMemoryForRings(t *testing.T) {
	for _, step := range []string{"room", "grow", "publish"} {
		f := &failingStep{step: step, rank: 1}
		fail := func(c *transporttest.Cluster) { c.Fail = f.fail }
		shape{nodes: 3, ranks: 3}.run(t, fail, func(r *tr) {
			f.armed.Store(true)
			r.withRings(0)
			live := len(r.regionManager.regions.live)
			if rings := r.groups.world.leaders.rings; rings != nil || live > 0 {
				r.wrong("%s fails: rings %v, %d regions", step, rings, live)
			}
			f.armed.Store(false)
			r.collectives(r.groups.world, 1)
		})
	}
}

// Rings of groups are freed with them, and no leader writes there afterwards.
func TestRingsOfGroups(t *testing.T) {
	everyDevice(t, func(r *tr) {
		reversed := make([]int32, r.N)
		for i := range reversed {
			reversed[i] = int32(r.N - 1 - i)
		}
		before := len(r.regionManager.regions.live)
		for range 3 {
			g, err := r.GroupCreate(r.groups.world, reversed)
			r.must(err)
			r.collectives(g, 2)
			several := r.leads(g) && len(g.leaders.ranks) > 1
			if live := len(r.regionManager.regions.live); several && live != before+1 {
				r.wrong("%d regions, %d before the group", live, before)
			}
			r.must(r.GroupFree(g.ID))
			if live := len(r.regionManager.regions.live); live != before {
				r.wrong("%d regions are left, %d before the group", live, before)
			}
		}
	})
}

func TestMismatchByRings(t *testing.T) { mismatch(t, func(r *tr) { r.withRings(0) }) }

// Both leaders of a pair that exchanges messages have a part of their memory for the other, and no
// part is for two leaders.
func TestRelations(t *testing.T) {
	for n := 2; n < 70; n++ {
		used := map[int]bool{}
		for other := 1; other < n; other++ {
			there, here := peerIndex(0, other, n), peerIndex(other, 0, n)
			if (there < 0) != (here < 0) || max(there, here) >= numPeers(n) {
				t.Errorf("%d leaders: %d has %d and %d", n, other, there, here)
			}
			if there >= 0 && used[there] {
				t.Errorf("%d leaders: part %d is used twice", n, there)
			}
			used[there] = true
		}
		for d := 1; d < n; d *= 2 {
			if peerIndex(0, d, n) < 0 || peerIndex(0, n-d, n) < 0 {
				t.Errorf("%d leaders: no part for those at a distance of %d", n, d)
			}
		}
	}
}
