// SPDX-License-Identifier: BSD-3-Clause

// Access to memory of other ranks that is not in the arena (expose.go): by the kernel, or by a
// thread of the owner where the kernel refuses. The way is probed once for each rank. Callers have
// checked the addresses.
package shm

/*
#include "shm.h"
#include "../kernel/kernel.h"
#define LOCKS void *word, uint32_t mask, uint32_t pitch, uint32_t owner, uint32_t device

static inline int foreign_acc(LOCKS, int local, bool via_owner, int type, const void *scale,
	const struct shm_run *r, size_t n)
{
	struct k_stripes st = {word, mask, pitch, owner, device};
	return shm_foreign_acc(local, via_owner, &st, type, scale, r, n);
}

static inline int foreign_one(int local, bool via_owner, void *mine, uint64_t theirs, int64_t bytes,
	bool write)
{
	struct shm_run r = {(uintptr_t)mine, theirs, bytes};
	return shm_foreign_move(local, via_owner, &r, 1, write);
}
*/
import "C"

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// kernel.Run and struct shm_run are one layout.
var _ [unsafe.Sizeof(kernel.Run{})]byte = [C.sizeof_struct_shm_run]byte{}

// foreignPath is the way by which the private memory of a rank is accessed.
type foreignPath = uint32

const (
	unknownPath  foreignPath = iota // not probed yet
	pathByKernel                    // process_vm_readv and process_vm_writev
	pathByOwner                     // a request to a thread of the owner (request.c)
)

// foreignMemory implements transport.ForeignMemory and transfers with private memory.
type foreignMemory struct {
	arenaMemory
	noVM  bool            // Options.NoVM
	paths []atomic.Uint32 // by local number: the way to the rank's private memory
}

// rankOf returns the record of a local rank in the control block.
func (m *foreignMemory) rankOf(local int) *C.struct_shm_rank {
	at := uintptr(m.head.rank_off) + uintptr(local)*C.sizeof_struct_shm_rank
	return (*C.struct_shm_rank)(unsafe.Add(unsafe.Pointer(m.head), at))
}

// exposes reports whether a local rank has exposed private memory.
func (m *foreignMemory) exposes(local int) bool {
	return atomic.LoadUint32((*uint32)(unsafe.Pointer(&m.rankOf(local).exposes))) != 0
}

// MappedHere reports whether this process can load and store at an address of a local rank.
func (m *arenaMemory) MappedHere(local int, addr uintptr) bool {
	return local == m.self || m.InArena(addr)
}

// pathTo returns the way to the private memory of a local rank, and probes it on first use. Threads
// that probe at the same time store the same result.
func (m *foreignMemory) pathTo(local int) (foreignPath, error) {
	if local < 0 || local >= len(m.paths) || !m.exposes(local) {
		return unknownPath, fmt.Errorf("%w: local rank %d has exposed no memory",
			transport.ErrBadAddr, local)
	}
	w := m.paths[local].Load()
	if w == unknownPath {
		w = pathByOwner
		if !m.noVM && bool(C.shm_vm_allowed(C.int(local))) {
			w = pathByKernel
		}
		m.paths[local].Store(w)
	}
	return w, nil
}

// ReadForeign copies memory of a local rank, private or of the arena, to into.
func (m *foreignMemory) ReadForeign(local int, addr uintptr, into []byte) error {
	return m.copyForeign(local, addr, into, false)
}

// WriteForeign copies from to memory of a local rank, private or of the arena.
func (m *foreignMemory) WriteForeign(local int, addr uintptr, from []byte) error {
	return m.copyForeign(local, addr, from, true)
}

// copyForeign copies between mine and memory of a local rank: by load and store where that is
// mapped here, else by the way to the rank.
func (m *foreignMemory) copyForeign(local int, addr uintptr, mine []byte, write bool) error {
	at := unsafe.Pointer(unsafe.SliceData(mine))
	switch {
	case len(mine) == 0:
		return nil
	case !m.MappedHere(local, addr):
		w, err := m.pathTo(local)
		if err != nil {
			return err
		}
		e := C.foreign_one(C.int(local), C.bool(w == pathByOwner), at, C.uint64_t(addr),
			C.int64_t(len(mine)), C.bool(write))
		return m.foreignError(e, local, addr, int64(len(mine)))
	case write:
		kernel.Copy(kernel.Ptr(addr), at, len(mine))
	default:
		kernel.Copy(at, kernel.Ptr(addr), len(mine))
	}
	return nil
}

// foreignError converts the errno of a transfer with private memory of a local rank; 0 is nil.
func (m *foreignMemory) foreignError(errno C.int, local int, addr uintptr, n int64) error {
	if errno == 0 {
		return nil
	}
	rank, what := m.ranks[local], syscall.Errno(errno)
	switch what {
	case unix.EFAULT:
		return fmt.Errorf("%w: %d bytes at %#x of rank %d are not mapped there",
			transport.ErrBadAddr, n, addr, rank)
	case unix.ESRCH:
		return fmt.Errorf("private memory of rank %d: %w", rank, transport.ErrPeerDead)
	case unix.EPERM, unix.ENOSYS:
		return fmt.Errorf("private memory of rank %d: %w: the kernel refuses (%v), and "+
			"the rank has no thread to help",
			rank, transport.ErrNotNative, what)
	}
	return fmt.Errorf("%d bytes at %#x of rank %d: %w", n, addr, rank, what)
}

// needsForeign reports whether some remote memory of a transfer with a local rank is not in the
// arena.
func (m *foreignMemory) needsForeign(local int, x *transport.Xfer) bool {
	if local == m.self || !m.exposes(local) {
		return false
	}
	if x.Vector == nil {
		return !m.InArena(x.Remote.Base) // a shape lies in one region
	}
	for i := range x.Vector {
		if slices.ContainsFunc(x.Vector[i].Remote,
			func(a uintptr) bool { return !m.InArena(a) }) {
			return true
		}
	}
	return false
}

// runLister lists the runs of a transfer. It is too large for the stack, so runListers pools it.
type runLister struct {
	left, right kernel.Cursor
	list        [2][]kernel.Group
	runs        [256]kernel.Run
}

var runListers = sync.Pool{New: func() any { return new(runLister) }}

// transferForeign carries out a transfer with private memory of another rank: it calls move with up
// to 256 runs at a time, then finishes x. The errno that move returns ends the transfer.
func (m *foreignMemory) transferForeign(local int, x *transport.Xfer,
	move func(viaOwner C.bool, r *C.struct_shm_run, n C.size_t) C.int) error {
	w, err := m.pathTo(local)
	if err != nil {
		return err
	}
	c := runListers.Get().(*runLister)
	defer runListers.Put(c)
	for x.Cursors(&c.left, &c.right, &c.list); c.right.Left() > 0; {
		runs := kernel.Runs(&c.left, &c.right, c.runs[:0], math.MaxInt64)
		first := (*C.struct_shm_run)(unsafe.Pointer(unsafe.SliceData(runs)))
		if errno := move(w == pathByOwner, first, C.size_t(len(runs))); errno != 0 {
			return m.foreignError(errno, local, runs[0].Remote, x.Bytes())
		}
	}
	x.Finish(nil)
	return nil
}

// moveForeign is Put (write) or Get with private memory of another rank.
func (m *foreignMemory) moveForeign(local int, x *transport.Xfer, write bool) error {
	return m.transferForeign(local, x,
		func(viaOwner C.bool, r *C.struct_shm_run, n C.size_t) C.int {
			return C.shm_foreign_move(C.int(local), viaOwner, r, n, C.bool(write))
		})
}

// accForeign is Acc in private memory of another rank.
func (m *foreignMemory) accForeign(local int, x *transport.Xfer, s transport.Scale,
	st *kernel.Stripes) error {
	device := C.uint32_t(0)
	if st.Device {
		device = 1
	}
	return m.transferForeign(local, x,
		func(viaOwner C.bool, r *C.struct_shm_run, n C.size_t) C.int {
			return C.foreign_acc(st.Word, C.uint32_t(st.Mask),
				C.uint32_t(st.PitchWords), C.uint32_t(st.Owner), device,
				C.int(local), viaOwner, C.int(s.Type), s.Value, r, n)
		})
}
