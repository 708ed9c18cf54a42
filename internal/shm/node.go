// SPDX-License-Identifier: BSD-3-Clause

// Node is one rank's view of its node: it joins, owns the mapping and implements transport.Node.
// A process has at most one Node at a time, since C has one view of the control block (shm.h).
package shm

// #include "shm.h"
// void shm_install_stuck(void);
// #cgo nocallback shm_region_add
// #cgo nocallback shm_region_drop
// #cgo nocallback shm_find
// #cgo noescape shm_find
import "C"

import (
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
	"libarmci/internal/config"
	"libarmci/internal/eventfd"
	"libarmci/internal/kernel"
	"libarmci/internal/log"
	"libarmci/internal/transport"
)

// Options are what a rank needs to join its node.
type Options struct {
	Ranks     []transport.Rank // world ranks of the node, ascending
	Listeners []string         // names of their listening sockets
	Self      int              // my local number
	World     int              // ranks of the job
	// ranks of the job on this machine, those of pretended other nodes included
	MachineRanks int
	NetnsRanks   int     // ranks of the job in this network namespace
	NetnsNode    int     // number of this node among those of the network namespace
	Secret       []byte  // of the job, secretLen bytes
	Arena        int64   // bytes of address space
	Base         uintptr // where to try first
	Keep         int64   // bytes of freed memory that a rank keeps
	Margin       int64   // bytes always left to the machine
	// looks before yielding; 0 = by the number of cores and the cost of a wake-up
	Spin   int
	Device bool // network devices will take accumulate locks of this node
	// Reporter: the leader starts a process that names a dead rank even if the launcher ends
	// all others at once.
	Reporter bool
	// NoVM: private memory of a rank is copied by a thread of that rank, as if the kernel
	// refused process_vm_readv and process_vm_writev.
	NoVM bool
	// Lost is called once, from a goroutine, when a rank of the node has died, or left although
	// it was needed. The reason is empty if the reporter prints it.
	Lost func(rank transport.Rank, reason string)
	// Inquiries lets other hosts ask this one's reporter; nil: they cannot.
	Inquiries Inquiries
}

// Node implements transport.Node.
type Node struct {
	opt      Options
	listener *Listener
	fd       int // of the file my slice is
	place    place
	own      *slice
	head     *C.struct_shm_head
	world    *team
	leader   *net.UnixConn   // a member's connection to the leader
	member   []*net.UnixConn // the leader's connections
	conns    connections
	once     sync.Once
	lost     sync.Once
	// The connection to the reporter, -1 if there is none, and whether this rank has written
	// its byte.
	reporter    int
	statusOnce  sync.Once
	inquiries   []byte     // where the reporter that this rank has started can be asked
	mu          sync.Mutex // region table, and the next two
	detached    bool
	exposed     exposures
	ways        []atomic.Uint32 // by local number: how its private memory is reached
	memoryCheck memoryCheck
	wakeFD      eventfd.FD // ends the sleep of a waiter that receives (receive.c)
}

var current *Node // for the C callback; set while joined

// SecretBytes is the length of a job's secret.
const SecretBytes = secretLen

// Join creates (leader) or receives (member) the node's arena and attaches to it. It is collective
// over the ranks of the node. The caller ends it with Leave.
func (d *Listener) Join(o Options) (*Node, error) {
	m := &Node{opt: o, listener: d, fd: -1, reporter: -1, wakeFD: eventfd.None,
		ways: make([]atomic.Uint32, len(o.Ranks))}
	var err error
	if o.Self == 0 {
		m.fd, m.place, m.member, err = d.lead(&o)
	} else {
		m.fd, m.place, m.leader, err = follow(&o)
	}
	if err != nil {
		return nil, err
	}
	if err := m.attach(); err != nil {
		m.tellReporter(statusReported) // the error that follows
		closeAll(append(m.member, m.leader))
		unmap(m.place)
		unix.Close(m.fd)
		return nil, err
	}
	current = m
	C.shm_install_stuck()
	go m.watch()
	go m.accept()
	return m, nil
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

// attach formats the control block (leader) or waits until the leader has done so (members), then
// attaches this process to it. It returns when every rank of the node has attached.
func (m *Node) attach() error {
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
		m.release()
	} else if err := m.awaitRelease(m.leader); err != nil {
		return fmt.Errorf("wait for rank %d to lay out the arena: %w", m.opt.Ranks[0], err)
	}
	me := m.opt.Self
	if C.shm_attach(base, C.int(me), C.int(m.opt.Ranks[me]), C.int(os.Getpid())) != 0 {
		return fmt.Errorf("the arena of rank %d is of another version of this library",
			m.opt.Ranks[0])
	}
	m.head = (*C.struct_shm_head)(base)
	lo := m.place.base + uintptr(m.head.slice_off) + uintptr(me)*uintptr(m.head.slice_bytes)
	m.own = newSlice(span{lo, lo + uintptr(m.head.slice_bytes)}, m.opt.Keep,
		func(s span) error { return populate(m.fd, lo, s, m.opt.Margin) },
		func(s span) { punch(m.fd, lo, s) })
	m.own.ranks = len(m.opt.Ranks)
	m.world = m.attachTeam(transport.TeamStart{}, m.localNumbers(), me) // world has context 0
	if me == 0 {
		C.shm_context_alloc()
	}
	m.openPolicy()
	return nil
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

// Base returns the address of the arena, which is the same in every rank of the node.
func (m *Node) Base() uintptr { return m.place.base }

// Bytes returns the size of the arena's address space in bytes.
func (m *Node) Bytes() int64 { return m.place.bytes }

// SliceBytes returns the bytes of the arena that each rank allocates from.
func (m *Node) SliceBytes() int64 { return int64(m.head.slice_bytes) }

// Reuse allocates memory that this rank has freed and kept; false: none is large enough.
func (m *Node) Reuse(nbytes int64) (uintptr, bool) { return m.own.reuse(nbytes) }

// Room returns an error unless the ranks of this node together may reserve nbytes more. Before it
// refuses, it returns the kept memory of this rank to the machine.
func (m *Node) Room(nbytes int64) error {
	if nbytes > 0 && m.memoryCheck.room(nbytes, m.opt.Margin) != nil {
		m.own.dropKept()
		return roomFor(nbytes, m.opt.Margin)
	}
	return nil
}

// Grow allocates new memory with its pages.
func (m *Node) Grow(nbytes int64) (uintptr, error) { return m.own.grow(nbytes) }

// GrowOnTouch allocates new memory without pages. A page is made when it is touched first, on the
// memory node of the toucher.
func (m *Node) GrowOnTouch(nbytes int64) (uintptr, error) { return m.own.growOnTouch(nbytes) }

// Return frees an allocation.
func (m *Node) Return(addr uintptr) { m.own.free(addr) }

// MemoryUse returns this rank's bytes: allocated, freed but kept, and the most ever allocated.
func (m *Node) MemoryUse() (live, kept, high int64) { return m.own.use() }

// Enter enters new memory of another rank into the page table of this process, which saves a page
// fault for each page.
func (m *Node) Enter(addr uintptr, nbytes int64) {
	if err := enter(span{addr, addr + pagesOf(nbytes)}); err != nil {
		// Page faults enter it instead.
		log.Infof("memory of another rank is not entered into the page table: %v", err)
	}
}

// Publish makes an allocation accessible to all ranks of the node.
func (m *Node) Publish(addr uintptr, nbytes int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if C.shm_region_add(C.uint64_t(addr), C.uint64_t(addr)+C.uint64_t(nbytes)) != 0 {
		return fmt.Errorf("%w: more than %d allocations", transport.ErrNoMemory,
			m.head.region_cap)
	}
	return nil
}

// Withdraw makes an allocation that was published inaccessible again.
func (m *Node) Withdraw(addr uintptr) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if C.shm_region_drop(C.uint64_t(addr)) != 0 {
		return transport.ErrBadAddr
	}
	return nil
}

// Owns reports whether n bytes at addr lie in one live allocation of a rank. It ends the job if
// that rank has exited without finalising and its memory has been withdrawn.
func (m *Node) Owns(local int, addr uintptr, n int64) bool {
	var f C.struct_shm_found
	if n < 0 || !bool(C.shm_find(C.int(local), C.uint64_t(addr), &f)) {
		m.checkWithdrawn(local)
		return false
	}
	return uint64(n) <= uint64(f.hi)-uint64(addr)
}

// Inside reports whether addr is an arena address.
func (m *Node) Inside(addr uintptr) bool {
	return addr >= m.place.base && addr-m.place.base < uintptr(m.place.bytes)
}

// Arena returns the address range of the arena.
func (m *Node) Arena() (lo uintptr, n int64) { return m.place.base, m.place.bytes }

// DeviceLocks returns the accumulate locks if devices may take them; else n is 0.
func (m *Node) DeviceLocks() (at uintptr, n int) {
	if m.head.device == 0 {
		return 0, 0
	}
	return m.place.base + uintptr(m.head.stripe_off), int(m.head.stripes)
}

// Declare declares that devices do all 8-byte read-modify-writes of this memory from now on; false:
// there are too many declared ranges.
func (m *Node) Declare(addr uintptr, n int64) bool {
	return bool(C.shm_declare(C.uint64_t(addr), C.uint64_t(addr)+C.uint64_t(n)))
}

// Declared returns the declared range around an address; n is 0 if there is none.
func (m *Node) Declared(addr uintptr) (lo uintptr, n int64) {
	var r C.struct_shm_region
	if atomic.LoadUint32((*uint32)(unsafe.Pointer(&m.head.declared))) == 0 ||
		!bool(C.shm_declared(C.uint64_t(addr), &r)) {
		return 0, 0
	}
	return uintptr(r.lo), int64(r.hi - r.lo)
}

// Extent returns the live allocation around an address; n is 0 if there is none. The slice in
// which the address lies determines the owner.
func (m *Node) Extent(addr uintptr) (lo uintptr, n int64) {
	first := m.place.base + uintptr(m.head.slice_off)
	if !m.Inside(addr) || addr < first {
		return 0, 0
	}
	var f C.struct_shm_found
	local := (addr - first) / uintptr(m.head.slice_bytes)
	if local >= uintptr(len(m.opt.Ranks)) ||
		!bool(C.shm_find(C.int(local), C.uint64_t(addr), &f)) {
		return 0, 0
	}
	return uintptr(f.lo), int64(f.hi - f.lo)
}

// KeepPages keeps the pages of all memory of this rank from now on, freed memory included: devices
// have them pinned.
func (m *Node) KeepPages() { m.own.keepPages() }

// Leave announces that this rank ends and releases everything; the Node may not be used afterwards.
// clean: the rank has finalised; else the process exits, and its mapping stays. It is idempotent.
func (m *Node) Leave(clean bool) {
	m.once.Do(func() {
		m.goodbye(clean)
		if !clean {
			return // the process is exiting: other threads may still touch the arena
		}
		m.conns.close()
		m.world.Release(false)
		m.mu.Lock()
		m.detached = true
		C.shm_request_thread_stop()
		C.shm_detach()
		m.mu.Unlock()
		unmap(m.place)
		unix.Close(m.fd)
		m.wakeFD.Close()
		current = nil
	})
}

// localOf returns the local number of a world rank; false if it is not of this node.
func (m *Node) localOf(r transport.Rank) (int, bool) {
	i, ok := slices.BinarySearch(m.opt.Ranks, r)
	return i, ok
}
