// SPDX-License-Identifier: BSD-3-Clause

// Node is one rank's view of its node: it joins, owns the mapping and implements transport.Node.
// A process has at most one Node at a time, since C has one view of the control block (shm.h).
package shm

// #include "shm.h"
// void shm_install_stuck(void);
import "C"

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
	"libarmci/internal/config"
	"libarmci/internal/kernel"
	"libarmci/internal/sys"
	"libarmci/internal/transport"
)

// Node implements transport.Node: each of its parts implements one of the interfaces of which that
// consists.
type Node struct {
	opt Options
	foreignMemory
	mutexes
	rwLocks
	events
	notifications
	mailbox
	teams
	liveness
	activeMessages
	leaveOnce sync.Once
}

var current *Node // for the C callback; set while joined

// SecretBytes is the length of a job's secret.
const SecretBytes = secretLen

// Join creates (leader) or receives (member) the node's arena and attaches to it. It is collective
// over the ranks of the node. The caller ends it with Leave; after an error it prints that, since
// the reporter does not, and closes the Listener.
func (d *Listener) Join(o Options) (*Node, error) {
	m := newNode(d, o)
	var err error
	if o.Self == 0 {
		m.sliceFD, m.place, m.memberConns, err = d.createAsLeader(&o)
	} else {
		m.sliceFD, m.place, m.leaderConn, err = d.joinAsMember(&o)
	}
	if err != nil {
		return nil, err
	}
	if err := m.attach(); err != nil {
		m.tellReporter(statusReported) // the error that follows
		closeAll(append(m.memberConns, m.leaderConn))
		unmap(m.place)
		unix.Close(m.sliceFD)
		return nil, err
	}
	current = m
	C.shm_install_stuck()
	go m.watchForDeaths()
	go m.acceptConnections()
	return m, nil
}

// newNode returns a Node of these options that has joined nothing yet.
func newNode(d *Listener, o Options) *Node {
	m := &Node{opt: o}
	m.foreignMemory = foreignMemory{noVM: o.NoVM, paths: make([]atomic.Uint32, len(o.Ranks)),
		arenaMemory: arenaMemory{ranks: o.Ranks, self: o.Self, margin: o.Margin,
			sliceFD: -1, withdrawn: m.checkWithdrawn}}
	m.notifications = notifications{wakeFD: sys.NoEventFD}
	m.liveness = liveness{opt: &m.opt, listener: d, withdraw: m.withdrawRank,
		reporterLink: reporterLink{reporterFD: -1}}
	m.activeMessages = activeMessages{opt: &m.opt, listener: d, lose: m.liveness.reportDeath}
	return m
}

// planOf computes the layout of an arena; an error says that it is too small.
func planOf(arena int64, ranks, world int) (plan C.struct_shm_head, err error) {
	if C.shm_plan(&plan, C.uint64_t(arena), C.uint32_t(ranks), C.uint32_t(world)) == 0 {
		err = fmt.Errorf("an arena of %s is too small for %d ranks; set ARMCI_SHM_ARENA "+
			"to more", config.SizeText(arena), ranks)
	}
	return plan, err
}

// fileSizes returns the bytes of an arena's files: the control block, then each rank's slice.
func fileSizes(arena int64, ranks, world int) ([]int64, error) {
	plan, err := planOf(arena, ranks, world)
	if err != nil {
		return nil, err
	}
	sizes := []int64{int64(plan.slice_off)}
	for range ranks {
		sizes = append(sizes, int64(plan.slice_bytes))
	}
	return sizes, nil
}

// attach attaches this process to the arena. It returns when every rank of the node has attached.
func (m *Node) attach() error {
	err := m.attachAlone()
	if err == nil {
		err = m.agreeAttached()
	}
	if err != nil {
		if m.world != nil {
			m.world.Release(false)
		}
		C.shm_detach()
		return err
	}
	if m.opt.Self == 0 {
		C.shm_context_alloc()
	}
	m.contexts = int(m.head.contexts)
	m.openPolicy()
	return nil
}

// attachAlone formats the control block (leader) or waits until the leader has done so (members),
// then attaches this process to it.
func (m *Node) attachAlone() error {
	base := kernel.Ptr(m.place.base)
	if m.opt.Self == 0 {
		plan, err := planOf(int64(m.place.bytes), len(m.opt.Ranks), m.opt.World)
		if err != nil {
			return err
		}
		if m.opt.Device {
			plan.device = 1
		}
		C.shm_format(base, &plan)
		if err := m.releaseMembers(); err != nil {
			return err
		}
	} else if err := m.awaitRelease(m.leaderConn); err != nil {
		return fmt.Errorf("wait for rank %d to lay out the arena: %w", m.opt.Ranks[0], err)
	}
	me := m.opt.Self
	switch C.shm_attach(base, C.int(me), C.int(m.opt.Ranks[me]), C.int(os.Getpid())) {
	case -1:
		return fmt.Errorf("the arena of rank %d is of another version of this library",
			m.opt.Ranks[0])
	case -2:
		C.shm_detach()
		return fmt.Errorf("%w for messages", transport.ErrNoMemory)
	}
	m.head = (*C.struct_shm_head)(base)
	lo := m.place.base + uintptr(m.head.slice_off) + uintptr(me)*uintptr(m.head.slice_bytes)
	m.alloc = newSliceAllocator(span{lo, lo + uintptr(m.head.slice_bytes)}, m.opt.Keep,
		func(s span) error { return populate(m.sliceFD, lo, s, m.opt.Margin) },
		func(s span) { punchHole(m.sliceFD, lo, s) })
	m.alloc.ranks = len(m.opt.Ranks)
	var err error
	m.world, err = m.worldTeam(m.localNumbers(), me)
	return err
}

func (m *Node) localNumbers() []int {
	all := make([]int, len(m.opt.Ranks))
	for i := range all {
		all[i] = i
	}
	return all
}

// Ranks returns the world ranks of the node, in ascending order.
func (m *Node) Ranks() []transport.Rank { return m.opt.Ranks }

// Self returns the local number of this rank.
func (m *Node) Self() int { return m.opt.Self }

// Leave announces that this rank ends and releases everything; the Node may not be used afterwards.
// clean: the rank has finalised; else the process exits, and its mapping stays. It is idempotent.
func (m *Node) Leave(clean bool) {
	m.leaveOnce.Do(func() {
		m.announceEnd(clean)
		if !clean {
			return // the process is exiting: other threads may still touch the arena
		}
		m.closeConnections()
		m.world.Release(false)
		m.foreignMemory.detach()
		unmap(m.place)
		unix.Close(m.sliceFD)
		m.wakeFD.Close()
		current = nil
	})
}

// localOf returns the local number of a world rank; false if it is not of this node.
func (m *Node) localOf(r transport.Rank) (int, bool) {
	i, ok := slices.BinarySearch(m.opt.Ranks, r)
	return i, ok
}
