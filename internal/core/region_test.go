// SPDX-License-Identifier: BSD-3-Clause

// Allocation in two phases: all members get their memory, or none keeps anything, wherever it fails
// and on whichever rank; and freeing.
package core

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// held is what a rank holds: bytes handed out, allocations published.
func (r *tr) held() (live int64, published int) {
	live, _, _ = r.allocator.MemoryUse()
	return live, r.c.Node(int(r.Me)).Published()
}

// Malloc gives each rank its own size, usable by all, and Free allows it to be used again.
func TestMalloc(t *testing.T) {
	world(t, 3, func(r *tr) {
		g := r.group(World)
		for round := range int64(3) {
			sizes := []int64{100 + round, 0, 5000}
			addrs, err := r.Malloc(g, sizes[r.Me])
			r.must(err)
			for i, a := range addrs {
				if (a != 0) != (sizes[i] > 0) || a != 0 &&
					!r.Memory.InRegionOf(i, a, sizes[i]) {
					r.wrong("address of rank %d: %#x", i, a)
				}
			}
			*long(addrs[0] + uintptr(8*r.Me)) = int64(r.Me) + round
			r.barrier()
			for i := range int64(3) {
				if got := *long(addrs[0] + uintptr(8*i)); got != i+round {
					r.wrong("word of rank %d is %d", i, got)
				}
			}
			r.must(r.Free(g, addrs[r.Me]))
			if live, published := r.held(); live != 0 || published != 0 {
				r.wrong("after Free: %d bytes, %d published", live, published)
			}
		}
	})
}

// failingStep makes one step fail at one rank while it is armed.
type failingStep struct {
	armed atomic.Bool
	step  string
	rank  int
}

var errBroken = errors.New("broken")

func (f *failingStep) fail(step string, rank int) error {
	if f.armed.Load() && step == f.step && rank == f.rank {
		return fmt.Errorf("%w: %v", transport.ErrNoMemory, errBroken)
	}
	return nil
}

// A step that fails on one rank fails the call on all, and no rank keeps memory: neither those that
// had to reserve new memory nor those that could reuse freed memory.
func TestMallocFailsTogether(t *testing.T) {
	for _, step := range []string{"room", "grow", "publish"} {
		for rank := range 3 {
			t.Run(fmt.Sprintf("%s at %d", step, rank), func(t *testing.T) {
				f := &failingStep{step: step, rank: rank}
				worldOf(t, 3, func(c *transporttest.Cluster) { c.Fail = f.fail },
					func(r *tr) {
						mallocFails(r, f)
					})
			})
		}
	}
}

// mallocFails fails one step of Malloc at one rank and checks that no rank keeps memory.
func mallocFails(r *tr, f *failingStep) {
	g := r.group(World)
	if r.Me != 1 { // these have something to use again
		addrs, err := r.MallocLocal(7000)
		r.must(err)
		r.must(r.FreeLocal(addrs))
	}
	keep := r.alloc(100)
	live, published := r.held()
	r.barrier()
	f.armed.Store(f.step == "publish" || f.rank == 1)
	r.barrier()
	addrs, err := r.Malloc(g, 7000)
	failed := f.armed.Load()
	r.barrier()
	if failed {
		if addrs != nil || CodeOf(err) != CodeInternal {
			r.wrong("Malloc: %#x, %v", addrs, err)
		}
		text := "of 3 ranks could not allocate: nothing was allocated"
		if int(r.Me) == f.rank && f.step != "publish" {
			text = "7000 bytes cannot be allocated: not enough memory: broken"
		}
		if int(r.Me) != f.rank || f.step != "publish" {
			wantArg(r, "Malloc", err, "bytes", CodeInternal, text)
		}
	} else {
		r.must(err)
		r.must(r.Free(g, addrs[r.Me]))
	}
	if l, p := r.held(); l != live || p != published {
		r.wrong("before: %d bytes, %d published; after: %d, %d", live, published, l, p)
	}
	r.barrier()
	f.armed.Store(false)
	again := r.alloc(7000)
	r.must(r.Free(g, again[r.Me]))
	r.must(r.Free(g, keep[r.Me]))
}

// A negative size fails the call on all ranks; the rank that made the mistake prints it.
func TestNegativeMalloc(t *testing.T) {
	world(t, 2, func(r *tr) {
		g := r.group(World)
		_, err := r.Malloc(g, 64-65*int64(r.Me))
		if r.Me == 1 {
			wantArg(r, "Malloc", err, "bytes", CodeBytes, "-1 is negative")
		} else {
			wantArg(r, "Malloc", err, "bytes", CodeInternal, "1 of 2 ranks")
		}
		if IsQuiet(err) != (r.Me == 0) {
			r.wrong("quiet: %v; the rank that made the mistake is to print it",
				IsQuiet(err))
		}
		_, err = r.Malloc(g, -1)
		wantArg(r, "Malloc", err, "bytes", CodeBytes,
			"-1 is negative (1 other ranks have failed, too)")
		if IsQuiet(err) != (r.Me == 1) {
			r.wrong("quiet: %v; the lowest rank is to print what all did wrong",
				IsQuiet(err))
		}
		if live, published := r.held(); live != 0 || published != 0 {
			r.wrong("%d bytes, %d published", live, published)
		}
	})
}

// A kind of memory that is not known fails the call on all ranks, and the text lists the kinds.
func TestMallocKind(t *testing.T) {
	world(t, 2, func(r *tr) {
		g := r.group(World)
		_, err := r.MallocKind(g, 64, []string{"dram", "hbm"}[r.Me])
		if r.Me == 1 {
			wantArg(r, "MallocKind", err, "device", CodeArgument, `"hbm" is no kind `+
				`of memory here: there are "dram" and "rdma-atomics"`)
		} else {
			wantArg(r, "MallocKind", err, "bytes", CodeInternal, "1 of 2 ranks")
		}
		for _, kind := range []string{"", "dram", "rdma-atomics"} {
			mem, err := r.MallocKind(g, 64, kind)
			r.must(err)
			r.must(r.Free(g, mem[r.Me]))
		}
		if live, published := r.held(); live != 0 || published != 0 {
			r.wrong("%d bytes, %d published", live, published)
		}
	})
}

// More than there is, on all ranks at once.
func TestMallocTooMuch(t *testing.T) {
	world(t, 2, func(r *tr) {
		_, err := r.Malloc(r.group(World), 1<<40)
		wantArg(r, "Malloc", err, "bytes", CodeInternal, "not enough memory")
		// There is room for both together, but in neither one's own part.
		_, err = r.Malloc(r.group(World), 56<<20)
		wantArg(r, "Malloc", err, "bytes", CodeInternal, "not enough memory")
		if live, _ := r.held(); live != 0 {
			r.wrong("%d bytes are kept", live)
		}
	})
}

// Free refuses addresses of other groups, functions and places on all ranks.
func TestFreeMistakes(t *testing.T) {
	world(t, 2, func(r *tr) {
		g := r.group(World)
		mem := r.alloc(64)
		mine := mem[r.Me]
		other, err := r.GroupCreate(g, []int32{0, 1})
		r.must(err)
		local, err := r.MallocLocal(64)
		r.must(err)
		err = r.Free(g, mine+8)
		wantArg(r, "inside", err, "ptr", CodeAddress,
			"not the start of an allocation of this rank")
		if IsQuiet(err) != (r.Me != 0) {
			r.wrong("a mistake of all ranks: quiet %v", IsQuiet(err))
		}
		if r.Me == 1 { // the only one that is wrong prints it
			err = r.Free(g, mine+8)
			wantArg(r, "one wrong", err, "ptr", CodeAddress, "not the start")
			if IsQuiet(err) {
				r.wrong("a mistake of one rank is quiet")
			}
		} else {
			r.must(r.Free(g, 0))
		}
		wantArg(r, "other rank's", r.Free(g, mem[1-r.Me]), "ptr", CodeAddress,
			"not the start")
		wantArg(r, "other group", r.Free(other, mine), "ptr", CodeArgument, "another group")
		wantArg(r, "local memory", r.Free(g, local), "ptr", CodeArgument,
			"another function")
		wantArg(r, "not local", r.FreeLocal(mine), "ptr", CodeArgument, "another function")
		wantArg(r, "local inside", r.FreeLocal(local+8), "ptr", CodeAddress,
			"not the start")
		r.must(r.FreeLocal(0))
		r.must(r.FreeLocal(local))
		wantArg(r, "local twice", r.FreeLocal(local), "ptr", CodeAddress, "not the start")
		r.must(r.Free(g, mine))
		wantArg(r, "twice", r.Free(g, mine), "ptr", CodeAddress, "not the start")
		r.must(r.Free(g, 0))
		r.must(r.GroupFree(other.ID))
	})
}

// MallocLocal refuses sizes that are not positive and keeps nothing when a step fails.
func TestMallocLocal(t *testing.T) {
	f := &failingStep{rank: 0}
	worldOf(t, 1, func(c *transporttest.Cluster) { c.Fail = f.fail }, func(r *tr) {
		for _, n := range []int64{0, -5} {
			_, err := r.MallocLocal(n)
			wantArg(r, "size", err, "bytes", CodeBytes, "is not positive")
		}
		for _, f.step = range []string{"room", "grow", "publish"} {
			f.armed.Store(true)
			_, err := r.MallocLocal(100)
			wantArg(r, f.step, err, "bytes", CodeInternal, "not enough memory")
			f.armed.Store(false)
			if live, published := r.held(); live != 0 || published != 0 {
				r.wrong("%s: %d bytes, %d published", f.step, live, published)
			}
		}
		addr, err := r.MallocLocal(100)
		r.must(err)
		r.must(r.Do(op(Put, 0, addr, addr+50, 8))) // it is as good as any other memory
		r.must(r.FreeLocal(addr))
	})
}

// Free is safe with respect to everything a member has started before it.
func TestFreeCompletes(t *testing.T) {
	world(t, 2, func(r *tr) {
		mem, buf := r.alloc(4096), r.local(8)
		g := r.group(World)
		for range 20 {
			_, err := r.Start(op(Put, 1-int(r.Me), buf, mem[1-r.Me], 8), true)
			r.must(err)
		}
		r.SetAggregate(agg)
		r.collect(op(Put, 1-int(r.Me), buf, mem[1-r.Me], 8))
		r.must(r.Free(g, mem[r.Me]))
		if r.open() != 0 {
			r.wrong("%d operations are open", r.open())
		}
	})
}

// rooms notes what an Allocator is asked to have room for.
type rooms struct {
	transport.Allocator
	asked *atomic.Int64
}

func (a rooms) CheckReservation(nbytes int64) error {
	a.asked.Store(nbytes)
	return a.Allocator.CheckReservation(nbytes)
}

// Nodes of one machine add up what they want to reserve there.
func TestRoomOnOneMachine(t *testing.T) {
	shape{2, 4, false}.run(t, nil, func(r *tr) {
		var asked atomic.Int64
		r.allocator = rooms{r.allocator, &asked}
		r.alloc(4096 << r.Me)
		if got := asked.Load(); got != 4096*15 {
			r.wrong("there must be room for %d bytes, not %d", 4096*15, got)
		}
		r.barrier()
	})
}
