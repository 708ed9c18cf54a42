// SPDX-License-Identifier: BSD-3-Clause

// The arena: a sparse memory file without a name, mapped at one address by every rank of the node. It disappears with
// the last process that maps it, however that process ends. This file maps, populates and gives back; it hands out
// nothing (alloc.go) and agrees on nothing (join.go).
package shm

import (
	"errors"
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
	var lim unix.Rlimit
	shrink := int64(16)
	if unix.Getrlimit(unix.RLIMIT_AS, &lim) == nil && lim.Cur != unix.RLIM_INFINITY {
		bytes = min(bytes, int64(lim.Cur/4))
		shrink = 2 // what is left of the limit is soon found
	}
	var all []place
	for ; bytes >= smallestArena; bytes /= shrink {
		for i := range uintptr(4) {
			all = append(all, place{bytes &^ (2<<20 - 1), base + i<<40})
		}
	}
	return all
}

func newFile(bytes int64) (int, error) {
	fd, err := unix.MemfdCreate("armci", unix.MFD_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("create the memory file: %w", err)
	}
	if err := unix.Ftruncate(fd, bytes); err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("size the memory file to %d bytes: %w", bytes, err)
	}
	return fd, nil
}

func mapAt(fd int, p place) error {
	flags := unix.MAP_SHARED | unix.MAP_NORESERVE | unix.MAP_FIXED_NOREPLACE
	want := kernel.Ptr(p.base)
	got, err := unix.MmapPtr(fd, 0, want, uintptr(p.bytes), unix.PROT_READ|unix.PROT_WRITE, flags)
	if err != nil {
		return err
	}
	if got != want {
		unix.MunmapPtr(got, uintptr(p.bytes))
		return unix.EEXIST // a kernel before 4.17 takes the address for a hint
	}
	unix.Madvise(bytesAt(span{p.base, p.base + uintptr(p.bytes)}), unix.MADV_DONTDUMP)
	return nil
}

func unmap(p place) { unix.MunmapPtr(kernel.Ptr(p.base), uintptr(p.bytes)) }

// bytesAt is the memory of a span. Arena addresses are never Go objects.
func bytesAt(s span) []byte {
	return unsafe.Slice((*byte)(kernel.Ptr(s.lo)), s.hi-s.lo)
}

// populate gives a span its pages, zeroed, on this rank's memory node. margin is left to the machine.
func populate(fd int, base uintptr, s span, margin int64) error {
	for at := s.lo; at < s.hi; at += uintptr(populateStep) {
		step := span{at, min(at+uintptr(populateStep), s.hi)}
		if s.size() > populateStep {
			if err := roomFor(step.size(), margin); err != nil {
				return err
			}
		}
		if err := populateOne(fd, base, step); err != nil {
			return fmt.Errorf("%w: reserve %d bytes: %v", transport.ErrNoMemory, s.size(), err)
		}
	}
	return nil
}

func populateOne(fd int, base uintptr, s span) error {
	for {
		err := populateCall(s)
		switch {
		case errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN):
			continue
		case errors.Is(err, unix.EINVAL): // a kernel before 5.14
			return unix.Fallocate(fd, 0, int64(s.lo-base), s.size())
		default:
			return err
		}
	}
}

func punch(fd int, base uintptr, s span) {
	const mode = unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE
	if s.size() > shortCall {
		unix.Fallocate(fd, mode, int64(s.lo-base), s.size())
		return
	}
	unix.RawSyscall6(unix.SYS_FALLOCATE, uintptr(fd), mode, s.lo-base, uintptr(s.size()), 0, 0)
}

// shortCall is the size up to which the kernel needs a millisecond or two. Such calls are made without telling Go's
// scheduler, which would otherwise wake a thread to stand in for the caller: on a core that another rank works on.
const shortCall = 4 << 20

func populateCall(s span) error {
	if s.size() > shortCall {
		return unix.Madvise(bytesAt(s), unix.MADV_POPULATE_WRITE)
	}
	if _, _, e := unix.RawSyscall(unix.SYS_MADVISE, s.lo, uintptr(s.size()), unix.MADV_POPULATE_WRITE); e != 0 {
		return e
	}
	return nil
}
