// SPDX-License-Identifier: BSD-3-Clause

// Puts the counters of all ranks together, at the end.
package recorder

import (
	"fmt"
	"slices"
	"time"
	"unsafe"

	"libarmci/internal/config"
	"libarmci/internal/core"
	"libarmci/internal/kernel"
	"libarmci/internal/profile"
)

func countsOf(rt *core.Runtime) (all []profile.Count) {
	for _, c := range rt.Counts() {
		all = append(all, profile.Count(c))
	}
	return all
}

// reduce combines longs of all ranks, in place. C is given a copy: x may lie in memory that has
// pointers of Go beside it.
func reduce(world *core.Group, x []int64, how kernel.Reduction) {
	all := slices.Clone(x)
	world.Team().Allreduce(unsafe.Pointer(&all[0]), int64(len(all)), int(kernel.Long), int(how))
	copy(x, all)
}

// longs is memory of Go as longs, for reductions.
func longs[T any](p *T) []int64 { return longsOf(unsafe.Slice(p, 1)) }

func longsOf[T any](s []T) []int64 {
	return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(s))),
		unsafe.Sizeof(s[0])/8*uintptr(len(s)))
}

// gatherSummary makes the summary of the job. Collective.
func (r *Recorder) gatherSummary(rt *core.Runtime) (*profile.Summary, error) {
	world, err := rt.Group(core.World)
	if err != nil {
		return nil, err
	}
	s := &profile.Summary{Size: rt.N}
	var by []profile.Cell
	if c := r.counters; c != nil {
		s.Table, by = c.Snapshot()
		s.Elapsed = profile.Now() - c.Started
	}
	s.Title = fmt.Sprintf("%s %s: statistics of %d rank(s) on %d node(s), %v from init to "+
		"finalize", r.library, config.Version, rt.N,
		len(rt.Topo.Nodes), time.Duration(s.Elapsed).Round(time.Microsecond))
	mine := s.Table.All()
	s.Here, s.There = profile.Split(by, rt.Topo.MyNode())
	me := profile.Rank{Calls: int64(mine.Calls), Here: int64(s.Here.Bytes),
		There: int64(s.There.Bytes), Nanos: int64(mine.Nanos),
		InC: int64(mine.InC), Peak: profile.PeakMemory()}
	gatherRanks(rt, world, s, me)
	gatherNodes(rt, world, s, by)
	reduce(world, longs(&s.Table), kernel.Sum)
	reduce(world, longs(&s.Elapsed), kernel.Sum)
	reduce(world, longs(&s.Here), kernel.Sum)
	reduce(world, longs(&s.There), kernel.Sum)
	s.Counts = countsOf(rt)
	for i := range s.Counts {
		reduce(world, longs(&s.Counts[i].Value), kernel.Sum)
	}
	return s, nil
}

// gatherRanks gathers the totals of each rank, or their extremes if there are too many ranks.
func gatherRanks(rt *core.Runtime, world *core.Group, s *profile.Summary, me profile.Rank) {
	if rt.N <= profile.MostRanks {
		s.Ranks = make([]profile.Rank, rt.N)
		s.Ranks[rt.Me] = me
		reduce(world, longsOf(s.Ranks), kernel.Sum)
		return
	}
	for _, v := range me.Values() {
		e := profile.Extremes{Least: v, Most: v, Sum: v, LeastRank: rt.N, MostRank: rt.N}
		reduce(world, longs(&e.Least), kernel.Min)
		reduce(world, longs(&e.Most), kernel.Max)
		reduce(world, longs(&e.Sum), kernel.Sum)
		if v == e.Least {
			e.LeastRank = int(rt.Me)
		}
		if v == e.Most {
			e.MostRank = int(rt.Me)
		}
		reduce(world, longs(&e.LeastRank), kernel.Min)
		reduce(world, longs(&e.MostRank), kernel.Min)
		s.Spread = append(s.Spread, e)
	}
}

func gatherNodes(rt *core.Runtime, world *core.Group, s *profile.Summary, by []profile.Cell) {
	n := len(rt.Topo.Nodes)
	if n < 2 || n > profile.MostNodes {
		return
	}
	cells := make([]profile.Cell, n*n)
	copy(cells[n*rt.Topo.MyNode():], by)
	reduce(world, longsOf(cells), kernel.Sum)
	s.Nodes = slices.Collect(slices.Chunk(cells, n))
}
