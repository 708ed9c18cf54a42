// SPDX-License-Identifier: BSD-3-Clause

// The arena: sparse memory files without names, mapped side by side at one address by every rank of the node: the
// control block, then each rank's slice. They disappear with the last process that maps them, however that process ends.
// This file maps, populates and gives back; it hands out nothing (alloc.go) and agrees on nothing (join.go, files.go).
package shm

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// place is where an arena may go: how large and at which address.
type place struct {
	bytes int64
	base  uintptr
}

const (
	smallestArena = int64(64 << 20)
	populateStep  = int64(256 << 20) // memory is reserved in steps of this, each after a new look at what is left
)

// places lists what to try in turn: other addresses first, then smaller arenas. The default base, 64 TiB, is above
// where Go 1.26 puts its heap (at random below that) and below executables and libraries (from 85 TiB up).
func places(bytes int64, base uintptr) []place {
	shrink := int64(16)
	if space := rlimit(unix.RLIMIT_AS); space != unlimited {
		bytes = min(bytes, space/4)
		shrink = 2 // what is left of the limit is soon found
	}
	bytes = min(bytes, rlimit(unix.RLIMIT_FSIZE)) // who makes a larger file is killed
	var all []place
	for ; bytes >= smallestArena; bytes /= shrink {
		for i := range uintptr(4) {
			all = append(all, place{bytes &^ (2<<20 - 1), base + i<<40})
		}
	}
	return all
}

func rlimit(what int) int64 {
	var lim unix.Rlimit
	if unix.Getrlimit(what, &lim) != nil || lim.Cur > uint64(unlimited) {
		return unlimited
	}
	return int64(lim.Cur)
}

// reserve takes the address space of an arena, without memory behind it.
func reserve(p place) error {
	flags := unix.MAP_PRIVATE | unix.MAP_ANON | unix.MAP_NORESERVE | unix.MAP_FIXED_NOREPLACE
	want := kernel.Ptr(p.base)
	got, err := unix.MmapPtr(-1, 0, want, uintptr(p.bytes), unix.PROT_NONE, flags)
	if err != nil {
		return err
	}
	if got != want {
		unix.MunmapPtr(got, uintptr(p.bytes))
		return unix.EEXIST // a kernel before 4.17 takes the address for a hint
	}
	return nil
}

// mapFile maps a whole file over the beginning of reserved address space and returns what is left of that.
func mapFile(fd int, left span) (span, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return left, err
	}
	if st.Size > left.size() {
		return left, fmt.Errorf("a file of %d bytes where %d are left", st.Size, left.size())
	}
	const access, flags = unix.PROT_READ | unix.PROT_WRITE, unix.MAP_SHARED | unix.MAP_NORESERVE | unix.MAP_FIXED
	mapped := span{left.lo, left.lo + uintptr(st.Size)}
	if _, err := unix.MmapPtr(fd, 0, kernel.Ptr(left.lo), uintptr(st.Size), access, flags); err != nil {
		return left, err
	}
	unix.Madvise(bytesAt(mapped), unix.MADV_DONTDUMP)
	return span{mapped.hi, left.hi}, nil
}

func unmap(p place) { unix.MunmapPtr(kernel.Ptr(p.base), uintptr(p.bytes)) }

// bytesAt is the memory of a span. Arena addresses are never Go objects.
func bytesAt(s span) []byte {
	return unsafe.Slice((*byte)(kernel.Ptr(s.lo)), s.hi-s.lo)
}

// zeros is what new memory is written with. As nobody writes to it, all of it is the kernel's one page of zeros.
var zeros [256 << 10]byte

// populate gives a span of a file mapped at base its pages, zeroed, on this rank's memory node. margin is left to the
// machine.
func populate(fd int, base uintptr, s span, margin int64) error {
	for at := s.lo; at < s.hi; at += uintptr(populateStep) {
		step := span{at, min(at+uintptr(populateStep), s.hi)}
		if s.size() > populateStep {
			if err := roomFor(step.size(), margin); err != nil {
				return err
			}
		}
		err := fill(fd, base, step)
		if err == nil {
			err = enter(step)
		}
		if err != nil {
			return fmt.Errorf("%w: reserve %d bytes: %v", transport.ErrNoMemory, s.size(), err)
		}
	}
	return nil
}

// fill makes pages by writing zeros to the file: that is quicker than one page fault each. Where the program has since
// forbidden itself to write so far, it does nothing: enter makes pages too.
func fill(fd int, base uintptr, s span) error {
	if rlimit(unix.RLIMIT_FSIZE) < int64(s.hi-base) {
		return nil
	}
	for at := s.lo; at < s.hi; {
		n := min(uintptr(len(zeros)), s.hi-at)
		wrote, e := kernelCall(s, unix.SYS_PWRITE64, uintptr(fd), uintptr(unsafe.Pointer(&zeros)), n, at-base)
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

// enter maps the pages, many at a time: of a shared memory file, even those that are only read are writable at once.
func enter(s span) error {
	for {
		_, e := kernelCall(s, unix.SYS_MADVISE, s.lo, uintptr(s.size()), unix.MADV_POPULATE_READ, 0)
		switch e {
		case unix.EINTR, unix.EAGAIN:
		case 0, unix.EINVAL: // a kernel before 5.14 maps them when they are touched
			return nil
		default:
			return e
		}
	}
}

func punch(fd int, base uintptr, s span) {
	const mode = unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE
	kernelCall(s, unix.SYS_FALLOCATE, uintptr(fd), mode, s.lo-base, uintptr(s.size()))
}

// shortCall is the size up to which the kernel needs a millisecond or two. Such calls are made without telling Go's
// scheduler, which would otherwise wake a thread to stand in for the caller: on a core that another rank works on.
const shortCall = 4 << 20

func kernelCall(s span, what, a, b, c, d uintptr) (uintptr, unix.Errno) {
	call := unix.RawSyscall6
	if s.size() > shortCall {
		call = unix.Syscall6
	}
	r, _, e := call(what, a, b, c, d, 0, 0)
	return r, e
}
