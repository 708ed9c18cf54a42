// SPDX-License-Identifier: BSD-3-Clause

// What the policy of a node's waits is told of the machine: what a wake-up costs, and whether every
// rank has a core of its own. Launchers bind ranks to cores, so one rank's own mask says little:
// all masks together count. Nodes that share a machine do not see each other's masks: there must be
// cores enough for all ranks of the machine besides.
package shm

// #include "shm.h"
// static inline uint64_t *cpus_of(int local) { return shm.rank[local].cpus; }
// static inline void open_policy(uint64_t wake, uint64_t spin)
// {
// 	wait_policy_open(&shm.policy, wake, spin);
// 	wait_policy_open(&shm.far, wake, spin);
// }
// static inline void tune_policy(uint32_t quick, uint64_t own_yield)
// {
// 	wait_policy_tune(&shm.policy, quick, own_yield);
// 	wait_policy_tune(&shm.far, quick, own_yield);
// }
// static inline enum wait_place place_of(int peer)
// {
// 	struct wait w;
// 	shm_wait_begin(&w, peer);
// 	return w.place;
// }
// static inline bool yielded(uint64_t nanos)
// {
// 	return !wait_crowd_yielded(&shm.policy.crowd, nanos, wait_clock());
// }
import "C"

import (
	"math/bits"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
	"libarmci/internal/wait"
)

// openPolicy is collective over the node.
func (m *Node) openPolicy() {
	var mine unix.CPUSet
	if unix.SchedGetaffinity(0, &mine) == nil {
		for i, word := range mine[:C.SHM_CPUS/64] {
			cpusOf(m.opt.Self)[i] = uint64(word)
		}
	}
	if m.opt.Self == 0 {
		m.head.wake = C.uint64_t(wait.WakeCost())
	}
	m.world.Barrier()
	wake, quick := time.Duration(m.head.wake), wait.QuickLooks()
	spin := wait.AnySpin
	switch {
	case m.opt.Spin > 0:
		wake = max(time.Duration(m.opt.Spin)*wait.QuickTime/time.Duration(quick), 1)
	case len(m.opt.Ranks) > m.cores() || m.opt.MachineRanks > coresOfMachine():
		spin = wait.CrowdedSpin
	}
	C.open_policy(C.uint64_t(wake), C.uint64_t(spin))
	if m.opt.Spin == 0 {
		C.tune_policy(C.uint32_t(quick), C.uint64_t(wait.OwnYield()))
	}
}

// A look at a network costs what its fabric knows: these are what its Looks are made of.
const (
	polls        = 2000
	crowdedPolls = 20
)

// Polls is how often a waiter of this rank looks at a network before it yields.
func (m *Node) Polls() int {
	switch {
	case m.opt.Spin > 0:
		return m.opt.Spin
	case bool(C.shm_crowded()):
		return crowdedPolls
	}
	return polls
}

// placeOf is where a wait for a local rank believes it to be; this rank may move. For tests.
func placeOf(peer int) wait.Place { return C.place_of(C.int(peer)) }

// yielded has this rank believe that a yield took so long, and lostSlices tells whether it sleeps
// instead of yielding. For tests.
func yielded(d time.Duration) bool { return bool(C.yielded(C.uint64_t(d))) }
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
