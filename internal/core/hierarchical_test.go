// SPDX-License-Identifier: BSD-3-Clause

// Collectives across nodes, of the world and of groups, on several shapes: what arrives, that a
// barrier is one, and that all members get the same bits.
package core

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// collectives tries them all on a group, with its members numbered from 0.
func (r *tr) collectives(g *Group, seed int) {
	n := g.Size()
	for root := range n {
		for _, size := range []int{1, 8, 3000, 70000, 200001} {
			want := pattern(seed+root, size)
			got := make([]byte, size)
			if g.Me == root {
				copy(got, want)
			}
			g.team.Bcast(unsafe.Pointer(&got[0]), int64(size), root)
			if !bytes.Equal(got, want) {
				r.wrong("group %v: broadcast of %d bytes from member %d", g.Ranks,
					size, root)
			}
		}
	}
	for _, size := range []int{1, 24, 256} {
		var want []byte
		for i := range n {
			want = append(want, pattern(seed+i, size)...)
		}
		if got := g.team.Allgather(pattern(seed+g.Me, size)); !bytes.Equal(got, want) {
			r.wrong("group %v: allgather of %d bytes: %x", g.Ranks, size, got)
		}
	}
	r.reductions(g)
}

func pattern(seed, size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(seed*31 + i*7 + i>>8)
	}
	return b
}

// reductions checks sums of integers and of floats, which are bitwise equal at all members.
func (r *tr) reductions(g *Group) {
	for _, nelem := range []int{1, 5, 8192, 20000} {
		x := make([]int64, nelem)
		f := make([]float64, nelem)
		for i := range x {
			x[i] = int64(g.Me+1) * int64(i+1)
			f[i] = math.Pow(10, float64((g.Me*7+i)%17)) / 3
		}
		g.team.Allreduce(unsafe.Pointer(&x[0]), int64(nelem), int(kernel.Long),
			int(kernel.Sum))
		n := int64(g.Size())
		for i := range x {
			if x[i] != n*(n+1)/2*int64(i+1) {
				r.wrong("group %v: sum %d of %d is %d", g.Ranks, i, nelem, x[i])
				break
			}
		}
		g.team.Allreduce(unsafe.Pointer(&f[0]), int64(nelem), int(kernel.Double),
			int(kernel.Sum))
		var h uint64
		for _, v := range f {
			h = h*1099511628211 + math.Float64bits(v)
		}
		all := g.team.Allgather(binary.LittleEndian.AppendUint64(nil, h))
		for i := range g.Size() {
			if !bytes.Equal(all[8*i:8*i+8], all[:8]) {
				r.wrong("group %v: member %d has other bits than member 0", g.Ranks,
					i)
			}
		}
		x[0] = -int64(g.Me + 1)
		g.team.Allreduce(unsafe.Pointer(&x[0]), 1, int(kernel.Long), int(kernel.AbsMax))
		if x[0] != n {
			r.wrong("group %v: absmax is %d", g.Ranks, x[0])
		}
	}
}

func TestCollectivesAcrossNodes(t *testing.T) {
	everyShape(t, func(r *tr) {
		if r.c.Wire.Ordered {
			r.collectives(r.groups.world, 1)
		} else {
			r.reductions(r.groups.world)
		}
	})
}

// No rank leaves a barrier before all have entered it.
func TestBarrierAcrossNodes(t *testing.T) {
	for _, s := range shapes {
		t.Run(s.String(), func(t *testing.T) {
			var come atomic.Int64
			s.run(t, nil, func(r *tr) {
				for round := range int64(200) {
					come.Add(1)
					r.barrier()
					if got := come.Load(); got < (round+1)*int64(r.N) {
						r.wrong("round %d: only %d have come", round, got)
					}
					r.barrier()
				}
			})
		})
	}
}

// Groups across nodes in any order of members, two at a time that share ranks, made and freed many
// times.
func TestGroupsAcrossNodes(t *testing.T) {
	everyShape(t, func(r *tr) {
		reversed := make([]int32, r.N)
		for i := range reversed {
			reversed[i] = int32(r.N - 1 - i)
		}
		for round := range 3 {
			back, err := r.GroupCreate(r.groups.world, reversed)
			r.must(err)
			odd, err := r.GroupSplit(r.groups.world, int32(r.Me)%2, -int32(r.Me))
			r.must(err)
			for i, w := range back.Ranks {
				if int(w) != r.N-1-i {
					r.wrong("member %d is rank %d", i, w)
				}
			}
			r.reductions(back)
			if r.c.Wire.Ordered && round == 0 {
				r.collectives(odd, 5)
			}
			dup, err := r.GroupDup(odd)
			r.must(err)
			dup.team.Barrier()
			mem, err := r.Malloc(odd, 64)
			r.must(err)
			*long(mem[odd.Me]) = int64(r.Me)
			odd.team.Barrier()
			buf := r.local(8)
			for i, w := range odd.Ranks {
				r.must(r.Do(op(Get, int(w), buf, mem[i], 8)))
				if *long(buf) != int64(w) {
					r.wrong("word of rank %d is %d", w, *long(buf))
				}
			}
			r.must(r.Free(odd, mem[odd.Me]))
			for _, g := range []*Group{back, dup, odd} {
				r.must(r.GroupFree(g.ID))
			}
		}
		r.barrier()
		if r.Me == 0 && r.c.Teams() != 0 {
			r.wrong("%d collective contexts are in use", r.c.Teams())
		}
		r.barrier()
	})
}

// A node without a collective context fails the group on all its nodes, and nothing is kept.
func TestNoTeamOnOneNode(t *testing.T) {
	for _, s := range shapes {
		f := &failingStep{step: "team", rank: s.ranks - 1}
		t.Run(s.String(), func(t *testing.T) {
			s.run(t, func(c *transporttest.Cluster) { c.Fail = f.fail }, func(r *tr) {
				f.armed.Store(true)
				r.barrier()
				pids := make([]int32, r.N)
				for i := range pids {
					// so that the last rank leads its node
					pids[i] = int32(r.N - 1 - i)
				}
				_, err := r.GroupCreate(r.groups.world, pids)
				wantArg(r, "GroupCreate", err, "group", CodeInternal,
					"no more groups")
				r.barrier()
				f.armed.Store(false)
				r.barrier()
				g, err := r.GroupCreate(r.groups.world, pids)
				r.must(err)
				r.reductions(g)
				r.must(r.GroupFree(g.ID))
				r.barrier()
				if r.c.Teams() != 0 {
					r.wrong("%d collective contexts are in use", r.c.Teams())
				}
				r.barrier()
			})
		})
	}
}

// The number of messages each rank sends in a barrier grows with the logarithm of the number of
// nodes.
func TestStepsOfCollectives(t *testing.T) {
	for _, nodes := range []int{2, 3, 4, 5, 8, 9, 16} {
		t.Run(fmt.Sprint(nodes), func(t *testing.T) {
			sent := make([]atomic.Int64, nodes)
			wrap := func(c *transporttest.Cluster) {
				c.Wrap = func(rank int, t transport.Transport) transport.Transport {
					return &transporttest.Flaky{Transport: t,
						Fail: func(what string, _ transport.Peer) error {
							if what == "send" {
								sent[rank].Add(1)
							}
							return nil
						}}
				}
			}
			shape{nodes, nodes, false}.run(t, wrap, func(r *tr) {
				steps := int64(bits.Len(uint(nodes - 1)))
				for _, do := range []func(){r.groups.world.team.Barrier,
					func() { r.groups.world.team.Allgather([]byte{1}) }} {
					before := sent[r.Me].Load()
					do()
					if got := sent[r.Me].Load() - before; got != steps {
						r.wrong("%d messages, expected %d", got, steps)
					}
				}
			})
		})
	}
}

// Two nodes in different collectives: a line names both ranks and what they do, and the job ends.
func TestMismatch(t *testing.T) { mismatch(t, func(*tr) {}) }

// mismatch lets two leaders call different collectives and checks the line that ends the job.
func mismatch(t *testing.T, prepare func(r *tr)) {
	lines := logged(t)
	stopped := make(chan bool, 8)
	blockForever = func() {
		stopped <- true
		runtime.Goexit()
	}
	defer func() { blockForever = func() { select {} } }()
	apart.run(t, nil, func(r *tr) {
		prepare(r)
		team, done := r.groups.world.team, make(chan bool, 1)
		x := []int64{1, 2}
		go func() {
			defer func() { done <- true }()
			if r.Me == 0 {
				team.Allreduce(unsafe.Pointer(&x[0]), 2, int(kernel.Long),
					int(kernel.Sum))
			} else {
				team.Barrier()
			}
		}()
		<-done
		awaitEnds(r)
		if got := lines(); strings.Count(got, "\n") != 1 ||
			!strings.Contains(got, "is in a ") ||
			!strings.Contains(got, "rank 0 (host n0)") ||
			!strings.Contains(got, "rank 1 (host n1)") ||
			!strings.Contains(got,
				"call different collectives, or with different sizes: the job "+
					"ends") {
			r.wrong("%q", got)
		}
		// that the test can go on where a job has ended
		team.(*hierarchicalTeam).leaders.nextNumber = 1000
	})
}
