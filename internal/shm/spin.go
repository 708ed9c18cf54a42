// SPDX-License-Identifier: BSD-3-Clause

// How long a waiting rank polls before it yields: long while every rank has a core of its own, hardly at all when they
// share. Launchers bind ranks to cores, so one rank's own mask says little: all masks together count. Nodes that share a
// machine do not see each other's masks: there must be cores enough for all ranks of the machine besides.
package shm

// #include "shm.h"
// static inline uint64_t *cpus_of(int local) { return shm.rank[local].cpus; }
// static inline void set_spin(unsigned polls) { shm.spin = polls; }
// static inline unsigned get_spin(void) { return shm.spin; }
import "C"

import (
	"math/bits"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const spinPolls = 2000 // polls, some 30 microseconds

// setSpin is collective over the node.
func (m *Node) setSpin() {
	var mine unix.CPUSet
	if unix.SchedGetaffinity(0, &mine) == nil {
		for i, word := range mine[:C.SHM_CPUS/64] {
			cpusOf(m.opt.Self)[i] = uint64(word)
		}
	}
	m.world.Barrier()
	switch {
	case m.opt.Spin > 0:
		C.set_spin(C.uint(m.opt.Spin))
	case len(m.opt.Ranks) <= m.cores() && m.opt.MachineRanks <= coresOfMachine():
		C.set_spin(spinPolls)
	}
}

// Polls is how often a waiter of this rank looks before it yields.
func (m *Node) Polls() int { return int(C.get_spin()) }

// yielded has this rank believe that a yield took so long, and lostSlices tells whether it sleeps instead of yielding. For
// tests.
func yielded(d time.Duration) bool { return bool(C.shm_yielded(C.uint64_t(d))) }
func lostSlices() bool             { return bool(C.shm_lost_slices()) }

// coresOfMachine counts the CPUs that the job could use here if no rank were bound.
func coresOfMachine() int {
	set, err := allowed()
	if err != nil {
		return 0
	}
	return set.Count()
}

func cpusOf(local int) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Pointer(C.cpus_of(C.int(local)))), C.SHM_CPUS/64)
}

// cores counts the CPUs that the ranks of this node may use between them.
func (m *Node) cores() int {
	n := 0
	for word := range C.SHM_CPUS / 64 {
		var all uint64
		for local := range m.opt.Ranks {
			all |= cpusOf(local)[word]
		}
		n += bits.OnesCount64(all)
	}
	return n
}
