// SPDX-License-Identifier: BSD-3-Clause

// Watching memory: a userfaultfd tells when addresses are unmapped, moved or emptied
// (MADV_DONTNEED). Memory is registered with it for write protection, which is never used. So we
// never have to handle a page fault, and a thread waits for us only if it changes a mapping, and
// only until the event has been read. A fork copies nothing of this: the child's memory is its own.
package pin

// #cgo CFLAGS: -fvisibility=hidden -Wall -Wextra -std=c11
// #include <stdlib.h>
// #include <sys/ioctl.h>
// #include "watch.h"
import "C"

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// event says that memory [lo, hi) has changed. moved: its new address, or 0; kept: the addresses
// are still mapped.
type event struct {
	lo, hi, moved uintptr
	kept          bool
}

// watch is one userfaultfd and the thread that reads it. Its methods are for one caller at a time.
type watch struct {
	w    *C.struct_pin_watch
	bell *os.File // readable when there are events
}

// openWatch makes a watch, and tests that it works.
func openWatch() (*watch, error) {
	if err := keepsPinned(); err != nil {
		return nil, err
	}
	fd, err := openFaults()
	if err != nil {
		return nil, err
	}
	w := &watch{w: (*C.struct_pin_watch)(C.calloc(1, C.sizeof_struct_pin_watch))}
	w.w.fd, w.w.bell, w.w.stop = C.int(fd), -1, -1
	if err = w.start(); err == nil {
		if err = w.try(); err == nil {
			return w, nil
		}
		w.stop()
	}
	w.free()
	return nil, err
}

// wanted are the events to be told of.
const wanted = C.UFFD_FEATURE_EVENT_UNMAP | C.UFFD_FEATURE_EVENT_REMAP | C.UFFD_FEATURE_EVENT_REMOVE

// openFaults opens a userfaultfd: one for faults of user code alone, which needs no rights, where
// the kernel has that kind.
func openFaults() (fd int, err error) {
	const userModeOnly = 1
	r, _, errno := unix.Syscall(unix.SYS_USERFAULTFD, userModeOnly|unix.O_CLOEXEC|
		unix.O_NONBLOCK, 0, 0)
	if errno == unix.EINVAL {
		r, _, errno = unix.Syscall(unix.SYS_USERFAULTFD, unix.O_CLOEXEC|unix.O_NONBLOCK, 0,
			0)
	}
	if errno != 0 {
		return 0, fmt.Errorf("userfaultfd: %w", errno)
	}
	fd = int(r)
	api := C.struct_uffdio_api{api: C.UFFD_API, features: wanted}
	if errno := ioctl(C.int(fd), C.UFFDIO_API, unsafe.Pointer(&api)); errno != 0 {
		unix.Close(fd)
		return 0, fmt.Errorf("events of userfaultfd: %w", errno)
	}
	return fd, nil
}

func ioctl(fd C.int, request uintptr, arg unsafe.Pointer) syscall.Errno {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(arg))
	return errno
}

func (w *watch) start() error {
	bell, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return err
	}
	w.bell, w.w.bell = os.NewFile(uintptr(bell), "bell"), C.int(bell)
	stop, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		return err
	}
	w.w.stop = C.int(stop)
	if code := C.pin_watch_start(w.w); code != 0 {
		return fmt.Errorf("start a thread: %w", syscall.Errno(code))
	}
	return nil
}

// try tests that an event comes when a page is unmapped.
func (w *watch) try() error {
	page, err := unix.Mmap(-1, 0, pageBytes, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return err
	}
	lo := uintptr(unsafe.Pointer(&page[0]))
	err = w.add(lo, lo+pageBytes)
	unix.Munmap(page)
	if err != nil {
		return err
	}
	w.settle()
	if e, ok := w.next(); !ok || e.lo != lo || e.hi != lo+pageBytes {
		return errors.New("userfaultfd does not tell what is unmapped")
	}
	return nil
}

// add begins to watch memory. The kernel refuses some kinds of it, but not files in memory (tmpfs),
// even mapped as private. These are the only ones for which it accepts minor faults (Linux 5.14),
// so that is how they are found.
func (w *watch) add(lo, hi uintptr) error {
	if w.register(lo, hi, C.UFFDIO_REGISTER_MODE_MINOR) == 0 {
		w.remove(lo, hi) // which wakes threads that have had such a fault meanwhile
		return errors.New("memory of a file")
	}
	if errno := w.register(lo, hi, C.UFFDIO_REGISTER_MODE_WP); errno != 0 {
		return fmt.Errorf("watch %d bytes: %w", hi-lo, errno)
	}
	return nil
}

func (w *watch) register(lo, hi uintptr, mode C.__u64) syscall.Errno {
	r := C.struct_uffdio_register{mode: mode}
	r._range.start, r._range.len = C.__u64(lo), C.__u64(hi-lo)
	return ioctl(w.w.fd, C.UFFDIO_REGISTER, unsafe.Pointer(&r))
}

// remove ends watching. The memory may have been unmapped.
func (w *watch) remove(lo, hi uintptr) {
	if lo < hi {
		r := C.struct_uffdio_range{start: C.__u64(lo), len: C.__u64(hi - lo)}
		ioctl(w.w.fd, C.UFFDIO_UNREGISTER, unsafe.Pointer(&r))
	}
}

// settle returns when next knows of everything that was unmapped before the call, also of what
// another thread is just unmapping, since a third one may already have mapped something new there.
// The kernel counts such changes, and refuses to write-protect memory, even of no bytes, while the
// count is not zero.
func (w *watch) settle() {
	none := uintptr(unsafe.Pointer(&w.w.none))
	for {
		_, _, errno := unix.RawSyscall(unix.SYS_IOCTL, uintptr(w.w.fd),
			C.UFFDIO_WRITEPROTECT, none)
		if errno != unix.EAGAIN && !w.reading() {
			return
		}
		unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
	}
}

// reading tells whether the thread has events that are not in the queue yet.
func (w *watch) reading() bool { return atomic.LoadUint64(word(&w.w.reading))&1 != 0 }

func word(p *C.uint64_t) *uint64 { return (*uint64)(unsafe.Pointer(p)) }

// pending tells whether next has an event.
func (w *watch) pending() bool {
	return atomic.LoadUint64(word(&w.w.lost)) != 0 ||
		atomic.LoadUint64(word(&w.w.written)) != uint64(w.w.taken)
}

// next takes an event from the queue. If events were lost, it returns one about all memory.
func (w *watch) next() (e event, ok bool) {
	if atomic.LoadUint64(word(&w.w.lost)) != 0 {
		atomic.StoreUint64(word(&w.w.lost), 0)
		return event{hi: ^uintptr(0), kept: true}, true
	}
	taken := uint64(w.w.taken)
	if atomic.LoadUint64(word(&w.w.written)) == taken {
		return e, false
	}
	c := &w.w.events[taken%C.PIN_EVENTS]
	e = event{uintptr(c.lo), uintptr(c.hi), uintptr(c.moved), c.kept != 0}
	atomic.StoreUint64(word(&w.w.taken), taken+1)
	return e, true
}

// stop ends the thread. A thread that unmaps watched memory from now on is blocked until free,
// which must follow.
func (w *watch) stop() {
	unix.Write(int(w.w.stop), []byte{1, 0, 0, 0, 0, 0, 0, 0})
	C.pin_watch_join(w.w)
}

func (w *watch) free() {
	unix.Close(int(w.w.fd))
	if w.w.stop >= 0 {
		unix.Close(int(w.w.stop))
	}
	if w.bell != nil {
		w.bell.Close()
	}
	C.free(unsafe.Pointer(w.w))
}
