// SPDX-License-Identifier: BSD-3-Clause

// The arena: sparse memory files without names, mapped side by side at one address by every rank of
// the node: the control block, then each rank's slice. They disappear with the last process that
// maps them, however that process ends. This file maps, populates and unmaps. It does not allocate
// (alloc.go) or communicate with other ranks (join.go, files.go).
package shm

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// arenaPlace is a candidate for the arena: its bytes and its address.
type arenaPlace struct {
	bytes int64
	base  uintptr
}

const (
	smallestArena = int64(64 << 20)
	// bytes that are populated between two checks of how much memory is left
	populateStep = int64(256 << 20)
)

// arenaPlaces lists the places to be tried, in order: other addresses first, then smaller arenas.
// The default base, 64 TiB, is above where Go 1.26 puts its heap (at random below that) and below
// executables and libraries (from 85 TiB up).
func arenaPlaces(bytes int64, base uintptr) []arenaPlace {
	var all []arenaPlace
	most := bytes
	for bytes >= smallestArena {
		for i := range uintptr(4) {
			all = append(all, arenaPlace{bytes &^ (2<<20 - 1), base + i<<40})
		}
		if bytes >= 1<<40 {
			bytes /= 16
		} else {
			bytes /= 2 // few steps to what is left of a limit
		}
	}
	for _, low := range lowPlaces {
		if most >= smallestArena {
			all = append(all, arenaPlace{min(most, low.bytes) &^ (2<<20 - 1), low.base})
		}
	}
	return all
}

// lowPlaces are for kernels with addresses of 42, 39 and 38 bits (riscv64 with Sv39), where the
// others do not exist: below executables, and the second below Go's heap on aarch64 (256 GiB), too.
var lowPlaces = []arenaPlace{{1 << 40, 1 << 40}, {1 << 37, 1 << 37}, {1 << 36, 1 << 36}}

// reserveAddresses reserves the address space of an arena, without memory.
func reserveAddresses(p arenaPlace) error {
	flags := unix.MAP_PRIVATE | unix.MAP_ANON | unix.MAP_NORESERVE | unix.MAP_FIXED_NOREPLACE
	want := kernel.Ptr(p.base)
	got, err := unix.MmapPtr(-1, 0, want, uintptr(p.bytes), unix.PROT_NONE, flags)
	if err != nil {
		return err
	}
	if got != want {
		unix.MunmapPtr(got, uintptr(p.bytes))
		return unix.EEXIST // before 4.17 the kernel treats the address as a hint
	}
	return nil
}

// mapFile maps a whole file over the beginning of reserved address space, and returns the rest of
// the reservation.
func mapFile(fd int, left span) (span, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return left, fmt.Errorf("size of a file of the arena: %w", err)
	}
	if st.Size > left.size() {
		return left, fmt.Errorf("a file of %d bytes where %d are left", st.Size,
			left.size())
	}
	const access, flags = unix.PROT_READ | unix.PROT_WRITE,
		unix.MAP_SHARED | unix.MAP_NORESERVE | unix.MAP_FIXED
	mapped := span{left.lo, left.lo + uintptr(st.Size)}
	if _, err := unix.MmapPtr(fd, 0, kernel.Ptr(left.lo), uintptr(st.Size), access,
		flags); err != nil {
		return left, fmt.Errorf("map %d bytes of the arena: %w", st.Size, err)
	}
	unix.Madvise(bytesAt(mapped), unix.MADV_DONTDUMP)
	return span{mapped.hi, left.hi}, nil
}

func unmap(p arenaPlace) { unix.MunmapPtr(kernel.Ptr(p.base), uintptr(p.bytes)) }

// bytesAt is the memory of a span as a slice. Arena addresses are never Go objects.
func bytesAt(s span) []byte {
	return unsafe.Slice((*byte)(kernel.Ptr(s.lo)), s.hi-s.lo)
}

// zeros is written to new memory. It is never written to itself, so all of it is the kernel's one
// page of zeros.
var zeros [256 << 10]byte

// populate makes the pages of a span of a file that is mapped at base: zeroed, on the memory node
// of this rank. It leaves margin bytes to the machine, else it returns an error; then the caller
// drops the pages that were made.
func populate(fd int, base uintptr, s span, margin int64) error {
	for at := s.lo; at < s.hi; at += uintptr(populateStep) {
		step := span{at, min(at+uintptr(populateStep), s.hi)}
		if s.size() > populateStep {
			if err := checkReservation(step.size(), margin); err != nil {
				return err
			}
		}
		err := writeZeros(fd, base, step)
		if err == nil {
			err = enterPages(step)
		}
		if err != nil {
			return fmt.Errorf("%w: reserve %d bytes: %v", transport.ErrNoMemory,
				s.size(), err)
		}
	}
	return nil
}

// writeZeros makes pages by writing zeros to the file, which is faster than a page fault for each.
// If the program has lowered its limit of file size since, it does nothing: enterPages makes pages,
// too.
func writeZeros(fd int, base uintptr, s span) error {
	if rlimit(unix.RLIMIT_FSIZE) < int64(s.hi-base) {
		return nil
	}
	for at := s.lo; at < s.hi; {
		n := min(uintptr(len(zeros)), s.hi-at)
		wrote, e := kernelCall(s, unix.SYS_PWRITE64, uintptr(fd),
			uintptr(unsafe.Pointer(&zeros)), n, at-base)
		switch {
		case e == unix.EINTR || e == unix.EAGAIN:
		case e != 0:
			return e
		default:
			at += wrote
		}
	}
	return nil
}

// enterPages enters the pages of a span into the page table, many at a time. MADV_POPULATE_READ
// suffices: a page of a shared memory file that is entered for reading is writable, too.
func enterPages(s span) error {
	for {
		_, e := kernelCall(s, unix.SYS_MADVISE, s.lo, uintptr(s.size()),
			unix.MADV_POPULATE_READ, 0)
		switch e {
		case unix.EINTR, unix.EAGAIN:
		case 0, unix.EINVAL: // before 5.14 the kernel maps them when they are touched
			return nil
		default:
			return e
		}
	}
}

func punchHole(fd int, base uintptr, s span) {
	const mode = unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE
	kernelCall(s, unix.SYS_FALLOCATE, uintptr(fd), mode, s.lo-base, uintptr(s.size()))
}

// shortCall is the size up to which the kernel needs a millisecond or two. Such calls are made
// without telling Go's scheduler, which would wake another thread to replace the caller, on a core
// that another rank uses.
const shortCall = 4 << 20

func kernelCall(s span, what, a, b, c, d uintptr) (uintptr, unix.Errno) {
	call := unix.RawSyscall6
	if s.size() > shortCall {
		call = unix.Syscall6
	}
	r, _, e := call(what, a, b, c, d, 0, 0)
	return r, e
}
