// SPDX-License-Identifier: BSD-3-Clause

// Watching memory: a userfaultfd reports when addresses are unmapped, moved or emptied
// (MADV_DONTNEED). Memory is registered with it for write protection, which is never used. So no
// page fault has to be handled. A thread that changes a mapping waits until the event has been
// read. A child after a fork is not watched: its memory is its own.
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
	lo, hi, movedTo uintptr
	stillMapped     bool
}

// watch is one userfaultfd and the thread that reads it. The caller serialises its methods.
type watch struct {
	shared *C.struct_pin_watch
	wakeup *os.File // readable when there are events
}

// openWatch makes a watch, and tests that it works. The caller calls stopThread and free.
func openWatch() (*watch, error) {
	if err := checkForkKeepsPinned(); err != nil {
		return nil, err
	}
	fd, err := openUserfaultfd()
	if err != nil {
		return nil, err
	}
	w := &watch{shared: (*C.struct_pin_watch)(C.calloc(1, C.sizeof_struct_pin_watch))}
	if w.shared == nil {
		unix.Close(fd)
		return nil, unix.ENOMEM
	}
	w.shared.fd, w.shared.bell, w.shared.stop = C.int(fd), -1, -1
	if err = w.startThread(); err == nil {
		if err = w.testUnmap(); err == nil {
			return w, nil
		}
		w.stopThread()
	}
	w.free()
	return nil, err
}

// wantedEvents are the events that the kernel is to report.
const wantedEvents = C.UFFD_FEATURE_EVENT_UNMAP | C.UFFD_FEATURE_EVENT_REMAP |
	C.UFFD_FEATURE_EVENT_REMOVE

// openUserfaultfd opens a userfaultfd: one for faults of user code alone, which needs no
// privileges, where the kernel has that kind.
func openUserfaultfd() (fd int, err error) {
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
	api := C.struct_uffdio_api{api: C.UFFD_API, features: wantedEvents}
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

// startThread starts the thread. After an error the caller calls free.
func (w *watch) startThread() error {
	bell, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return err
	}
	w.wakeup, w.shared.bell = os.NewFile(uintptr(bell), "bell"), C.int(bell)
	stop, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		return err
	}
	w.shared.stop = C.int(stop)
	if code := C.pin_watch_start(w.shared); code != 0 {
		return fmt.Errorf("start a thread: %w", syscall.Errno(code))
	}
	return nil
}

// testUnmap tests that there is an event when a page is unmapped.
func (w *watch) testUnmap() error {
	page, err := unix.Mmap(-1, 0, pageBytes, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return err
	}
	lo := uintptr(unsafe.Pointer(&page[0]))
	err = w.watchRange(lo, lo+pageBytes)
	unix.Munmap(page)
	if err != nil {
		return err
	}
	w.awaitRaisedEvents()
	if e, ok := w.nextEvent(); !ok || e.lo != lo || e.hi != lo+pageBytes {
		return errors.New("userfaultfd does not tell what is unmapped")
	}
	return nil
}

// watchRange begins to watch memory. The kernel refuses some kinds of it, but not files in memory
// (tmpfs), even mapped as private. Only for these it accepts minor faults (Linux 5.14), which is
// how they are found and refused.
func (w *watch) watchRange(lo, hi uintptr) error {
	if w.registerRange(lo, hi, C.UFFDIO_REGISTER_MODE_MINOR) == 0 {
		w.unwatchRange(lo, hi) // which wakes threads that have had such a fault meanwhile
		return errors.New("memory of a file")
	}
	if errno := w.registerRange(lo, hi, C.UFFDIO_REGISTER_MODE_WP); errno != 0 {
		return fmt.Errorf("watch %d bytes: %w", hi-lo, errno)
	}
	return nil
}

func (w *watch) registerRange(lo, hi uintptr, mode C.__u64) syscall.Errno {
	r := C.struct_uffdio_register{mode: mode}
	r._range.start, r._range.len = C.__u64(lo), C.__u64(hi-lo)
	return ioctl(w.shared.fd, C.UFFDIO_REGISTER, unsafe.Pointer(&r))
}

// unwatchRange ends watching. The memory may have been unmapped.
func (w *watch) unwatchRange(lo, hi uintptr) {
	if lo < hi {
		r := C.struct_uffdio_range{start: C.__u64(lo), len: C.__u64(hi - lo)}
		ioctl(w.shared.fd, C.UFFDIO_UNREGISTER, unsafe.Pointer(&r))
	}
}

// awaitRaisedEvents returns when nextEvent has the events of all memory that was unmapped before
// the call. That includes memory which another thread is unmapping now, since a third one may
// already have mapped new memory there. The kernel counts such changes, and refuses to
// write-protect memory, even of no bytes, while the count is not zero.
func (w *watch) awaitRaisedEvents() {
	none := uintptr(unsafe.Pointer(&w.shared.none))
	for {
		_, _, errno := unix.RawSyscall(unix.SYS_IOCTL, uintptr(w.shared.fd),
			C.UFFDIO_WRITEPROTECT, none)
		if errno != unix.EAGAIN && !w.threadReading() {
			return
		}
		unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
	}
}

// threadReading tells whether the thread has read events that are not in the queue yet.
func (w *watch) threadReading() bool { return atomic.LoadUint64(word(&w.shared.reading))&1 != 0 }

func word(p *C.uint64_t) *uint64 { return (*uint64)(unsafe.Pointer(p)) }

// hasEvents tells whether nextEvent has an event.
func (w *watch) hasEvents() bool {
	return atomic.LoadUint64(word(&w.shared.lost)) != 0 ||
		atomic.LoadUint64(word(&w.shared.written)) != uint64(w.shared.taken)
}

// nextEvent takes an event from the queue. If events were lost, it returns one about all memory.
func (w *watch) nextEvent() (e event, ok bool) {
	if atomic.LoadUint64(word(&w.shared.lost)) != 0 {
		atomic.StoreUint64(word(&w.shared.lost), 0)
		return event{hi: ^uintptr(0), stillMapped: true}, true
	}
	taken := uint64(w.shared.taken)
	if atomic.LoadUint64(word(&w.shared.written)) == taken {
		return e, false
	}
	c := &w.shared.events[taken%C.PIN_EVENTS]
	e = event{uintptr(c.lo), uintptr(c.hi), uintptr(c.moved), c.kept != 0}
	atomic.StoreUint64(word(&w.shared.taken), taken+1)
	return e, true
}

// stopThread ends the thread. A thread that unmaps watched memory from then on is blocked until
// free, which the caller calls next.
func (w *watch) stopThread() {
	unix.Write(int(w.shared.stop), []byte{1, 0, 0, 0, 0, 0, 0, 0})
	C.pin_watch_join(w.shared)
}

func (w *watch) free() {
	unix.Close(int(w.shared.fd))
	if w.shared.stop >= 0 {
		unix.Close(int(w.shared.stop))
	}
	if w.wakeup != nil {
		w.wakeup.Close()
	}
	C.free(unsafe.Pointer(w.shared))
}
