// SPDX-License-Identifier: BSD-3-Clause

// ARMCI_STATS and ARMCI_TRACE=FILE: when recording begins and ends, and whose counters are put together. C records (profile.h);
// package profile prints.
package main

// #include <stdlib.h>
// #include <string.h>
// #include "front.h"
// void profile_start(struct profile_counters *counters, int *node_of, int me, int ranks, bool traced);
// void profile_stop(void);
import "C"

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"
	"unsafe"

	"libarmci/internal/config"
	"libarmci/internal/core"
	"libarmci/internal/kernel"
	"libarmci/internal/log"
	"libarmci/internal/profile"
	"libarmci/internal/transport"
)

// profiling is what is wanted, and the counters while there are some.
type profiling struct {
	stats    bool
	file     string // of ARMCI_TRACE, "" for none
	counters *profile.Counters
	running  bool
}

func (p *profiling) wanted() bool { return p.stats || p.file != "" }

// tracing is what ARMCI_TRACE and ARMCI_STATS ask for: a line per call, or recording.
func tracing(cfg *config.Set) (lines bool, p profiling) {
	on, file := cfg.BoolOrText("ARMCI_TRACE")
	return on && file == "", profiling{stats: cfg.Bool("ARMCI_STATS"), file: file}
}

// startProfile begins to record, before the fast path is opened. Collective.
func startProfile(rt *core.Runtime) {
	p := &lib.profile
	if !p.wanted() {
		return
	}
	topo := rt.Topo
	if p.stats {
		var err error
		if p.counters, err = profile.Create(int(rt.Me), rt.N, topo.MyNode(), len(topo.Nodes), topo.Hosts[topo.MyNode()]); err != nil {
			log.Errorf("nothing is counted: %v", err)
		}
	}
	traced := p.file != "" && openTrace(rt, profile.Part(p.file, int(rt.Me)))
	nodeOf := unsafe.Slice((*C.int)(C.malloc(C.size_t(rt.N)*C.sizeof_int)), rt.N)
	for i := range nodeOf {
		nodeOf[i] = C.int(topo.Node(transport.Rank(i)))
	}
	C.profile_start((*C.struct_profile_counters)(unsafe.Pointer(p.counters)), &nodeOf[0], C.int(rt.Me), C.int(rt.N), C.bool(traced))
	p.running = true
}

// openTrace is collective: the clocks of all nodes are compared.
func openTrace(rt *core.Runtime, path string) bool {
	zero, err := rt.CommonClock(profile.Now)
	if err != nil {
		log.Errorf("ARMCI_TRACE: the clocks of the nodes cannot be compared: %v", err)
	}
	name, host := C.CString(path), C.CString(rt.Topo.Hosts[rt.Topo.MyNode()])
	defer C.free(unsafe.Pointer(name))
	defer C.free(unsafe.Pointer(host))
	if e := C.trace_open(name, C.int(rt.Me), host, C.int64_t(zero), C.uint64_t(rt.Cfg.Size("ARMCI_TRACE_LIMIT"))); e != 0 {
		log.Errorf("ARMCI_TRACE: nothing is traced: %s: %v", path, syscall.Errno(e))
		return false
	}
	return true
}

// endProfile ends recording and prints. Collective; C is closed.
func endProfile(rt *core.Runtime) {
	p := &lib.profile
	if !p.running {
		return
	}
	p.running = false
	C.profile_stop()
	if p.file != "" {
		closeTrace()
		rt.Barrier()
		if rt.Me == 0 {
			mergeTrace(p.file, rt.N)
		}
	}
	if p.stats {
		if s := gather(rt, p.counters); rt.Me == 0 {
			print(s)
		}
	}
	if p.counters != nil {
		p.counters.Close()
		p.counters = nil
	}
}

func closeTrace() {
	left := C.trace_close()
	if e := C.trace_error(); e != 0 {
		log.Errorf("ARMCI_TRACE: the trace ends early: %v", syscall.Errno(e))
	} else if left > 0 {
		log.Warnf("ARMCI_TRACE: %d calls were left out beyond ARMCI_TRACE_LIMIT", uint64(left))
	}
}

func mergeTrace(file string, ranks int) {
	missing, err := profile.Merge(file, ranks)
	if err != nil {
		log.Errorf("ARMCI_TRACE: %v", err)
	} else if missing > 0 {
		log.Warnf("ARMCI_TRACE: %d of %d files are not on this host: bring %s.* together and run armci_info -m %s", missing, ranks, file, file)
	}
}

// reportAlone prints what this rank has counted, when the job will not finalise.
func reportAlone(why string) {
	p := &lib.profile
	rt := lib.rt.Load()
	if !p.running || rt == nil {
		return
	}
	p.running = false
	if p.file != "" {
		closeTrace()
	}
	if p.counters == nil {
		return
	}
	table, by := p.counters.Snapshot()
	s := profile.Summary{Title: fmt.Sprintf("libarmci %s: statistics of rank %d alone, since %s", config.Version, rt.Me, why), Table: table, Size: 1}
	s.Here, s.There = profile.Split(by, rt.Topo.MyNode())
	s.Counts = countsOf(rt)
	print(&s)
}

func print(s *profile.Summary) {
	var text bytes.Buffer
	s.Write(&text)
	os.Stderr.Write(text.Bytes())
}

func countsOf(rt *core.Runtime) (all []profile.Count) {
	for _, c := range rt.Counts() {
		all = append(all, profile.Count(c))
	}
	return all
}

// reduce combines longs of all ranks, in place. C is given a copy: x may lie in memory that has pointers of Go beside it.
func reduce(rt *core.Runtime, x []int64, how kernel.Reduction) {
	world, err := rt.Group(core.World)
	must("ARMCI_Finalize", err)
	all := slices.Clone(x)
	world.Team().Allreduce(unsafe.Pointer(&all[0]), int64(len(all)), int(kernel.Long), int(how))
	copy(x, all)
}

// longs is memory of Go as longs, for reductions.
func longs[T any](p *T) []int64 { return longsOf(unsafe.Slice(p, 1)) }

func longsOf[T any](s []T) []int64 {
	return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(s))), unsafe.Sizeof(s[0])/8*uintptr(len(s)))
}

// gather makes the summary of the job. Collective.
func gather(rt *core.Runtime, c *profile.Counters) *profile.Summary {
	s := &profile.Summary{Size: rt.N}
	var by []profile.Cell
	elapsed := int64(0)
	if c != nil {
		s.Table, by = c.Snapshot()
		elapsed = profile.Now() - c.Started
	}
	s.Title = fmt.Sprintf("libarmci %s: statistics of %d rank(s) on %d node(s), %v from init to finalize", config.Version, rt.N, len(rt.Topo.Nodes),
		time.Duration(elapsed).Round(time.Microsecond))
	mine := s.Table.All()
	s.Here, s.There = profile.Split(by, rt.Topo.MyNode())
	me := profile.Rank{Calls: int64(mine.Calls), Here: int64(s.Here.Bytes), There: int64(s.There.Bytes), Nanos: int64(mine.Nanos),
		InC: int64(mine.InC), Peak: profile.PeakMemory()}
	gatherRanks(rt, s, me)
	gatherNodes(rt, s, by)
	reduce(rt, longs(&s.Table), kernel.Sum)
	reduce(rt, longs(&s.Here), kernel.Sum)
	reduce(rt, longs(&s.There), kernel.Sum)
	s.Counts = countsOf(rt)
	for i := range s.Counts {
		reduce(rt, longs(&s.Counts[i].Value), kernel.Sum)
	}
	return s
}

func gatherRanks(rt *core.Runtime, s *profile.Summary, me profile.Rank) {
	if rt.N <= profile.MostRanks {
		s.Ranks = make([]profile.Rank, rt.N)
		s.Ranks[rt.Me] = me
		reduce(rt, longsOf(s.Ranks), kernel.Sum)
		return
	}
	for _, v := range me.Values() {
		e := profile.Extremes{Least: v, Most: v, Sum: v, LeastRank: rt.N, MostRank: rt.N}
		reduce(rt, longs(&e.Least), kernel.Min)
		reduce(rt, longs(&e.Most), kernel.Max)
		reduce(rt, longs(&e.Sum), kernel.Sum)
		if v == e.Least {
			e.LeastRank = int(rt.Me)
		}
		if v == e.Most {
			e.MostRank = int(rt.Me)
		}
		reduce(rt, longs(&e.LeastRank), kernel.Min)
		reduce(rt, longs(&e.MostRank), kernel.Min)
		s.Spread = append(s.Spread, e)
	}
}

func gatherNodes(rt *core.Runtime, s *profile.Summary, by []profile.Cell) {
	n := len(rt.Topo.Nodes)
	if n < 2 || n > profile.MostNodes {
		return
	}
	cells := make([]profile.Cell, n*n)
	copy(cells[n*rt.Topo.MyNode():], by)
	reduce(rt, longsOf(cells), kernel.Sum)
	s.Nodes = slices.Collect(slices.Chunk(cells, n))
}

// C and Go have the same layouts.
var (
	_ [unsafe.Sizeof(profile.Counters{})]byte           = [C.sizeof_struct_profile_counters]byte{}
	_ [unsafe.Sizeof(profile.Table{})]byte              = [C.PROFILE_OPS * C.PROFILE_CLASSES * C.sizeof_struct_profile_cell]byte{}
	_ [unsafe.Offsetof(profile.Counters{}.Started)]byte = [unsafe.Offsetof(C.struct_profile_counters{}.started)]byte{}
)
