// SPDX-License-Identifier: BSD-3-Clause

// The Go functions by which waiters in C receive from other nodes: they call the transport between
// nodes.
package shm

// #include <stdbool.h>
// #include "shm.h"
// void shm_install_receive(uint64_t after, int sleep_in, int wake_fd);
import "C"

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"libarmci/internal/log"
	"libarmci/internal/sys"
	"libarmci/internal/transport"
)

var _ = [1]int{}[unsafe.Sizeof(transport.Visit{})-C.sizeof_struct_shm_visit]

var incoming transport.Incoming // set once, before C has the functions that use it

// ReceiveBy has waiters in C receive by in (transport.Notifications).
func (m *notifications) ReceiveBy(in transport.Incoming) {
	incoming = in
	sleepIn := in.IncomingFD()
	if sleepIn >= 0 {
		sleepIn = m.openWakeFD(sleepIn)
	}
	C.shm_install_receive(C.uint64_t(in.ReceiveAfter()), C.int(sleepIn), C.int(m.wakeFD))
}

// openWakeFD adds an eventfd, which wakes a waiter, to the epoll that the waiter sleeps in. It
// returns that epoll, or -1 if no waiter may sleep there.
func (m *notifications) openWakeFD(epoll int) int {
	fd, err := sys.NewEventFD()
	if err != nil {
		return -1
	}
	event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET} // it is not read
	if unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, int(fd), &event) != nil {
		fd.Close()
		return -1
	}
	m.wakeFD = fd
	return epoll
}

//export armcigo_poll_incoming
func armcigo_poll_incoming(visit *C.struct_shm_visit) C.int {
	defer log.Guard()
	return C.int(incoming.PollIncoming((*transport.Visit)(unsafe.Pointer(visit))))
}

//export armcigo_leave_incoming
func armcigo_leave_incoming(visit *C.struct_shm_visit, found C.bool) {
	defer log.Guard()
	incoming.LeaveIncoming((*transport.Visit)(unsafe.Pointer(visit)), bool(found))
}
