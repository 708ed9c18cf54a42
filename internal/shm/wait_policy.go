// SPDX-License-Identifier: BSD-3-Clause

// The parameters of a node's wait policy that depend on the machine: the cost of a wake-up, and
// whether every rank has a core of its own. Launchers bind ranks to cores, so the union of all
// ranks' masks is counted. Nodes that share a machine do not see each other's masks, so the machine
// must also have cores enough for all of its ranks.
package shm

// #include "shm.h"
// static inline uint64_t *cpus_of(int local) { return shm.rank[local].cpus; }
// static inline void open_policy(uint64_t wake, uint64_t spin)
// {
// 	wait_policy_open(&shm.policy, wake, spin);
// 	wait_policy_open(&shm.remote_policy, wake, spin);
// }
// static inline void tune_policy(uint32_t quick, uint64_t own_yield)
// {
// 	wait_policy_tune(&shm.policy, quick, own_yield);
// 	wait_policy_tune(&shm.remote_policy, quick, own_yield);
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

// openPolicy sets the parameters of this rank's waits. It is collective over the node: each rank
// publishes its CPU mask, and the leader measures the cost of a wake-up for all.
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
	case len(m.opt.Ranks) > m.coresOfNode() || m.opt.MachineRanks > coresOfMachine():
		spin = wait.CrowdedSpin
	}
	C.open_policy(C.uint64_t(wake), C.uint64_t(spin))
	if m.opt.Spin == 0 {
		C.tune_policy(C.uint32_t(quick), C.uint64_t(wait.OwnYield()))
	}
}

// Polls of a network that a waiter makes before it yields, by default. A fabric that knows the cost
// of a poll derives its own number (Looks) from these.
const (
	defaultPolls     = 2000
	crowdedNodePolls = 20
)

// Polls returns how often a waiter of this rank polls a network before it yields.
func (m *Node) Polls() int {
	switch {
	case m.opt.Spin > 0:
		return m.opt.Spin
	case bool(C.shm_crowded()):
		return crowdedNodePolls
	}
	return defaultPolls
}

// placeOf returns the place that a wait assumes for a local rank. The wait may move this rank to
// another core. For tests.
func placeOf(peer int) wait.Place { return C.place_of(C.int(peer)) }

// yielded records a yield that took so long, and returns false if it cost a time slice. lostSlices
// reports whether this rank sleeps instead of yielding. For tests.
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

// coresOfNode counts the CPUs that the ranks of this node may use between them.
func (m *Node) coresOfNode() int {
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
