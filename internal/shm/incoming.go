// SPDX-License-Identifier: BSD-3-Clause

// Waiters in C receive what comes from other nodes themselves: they call the transport between
// nodes.
package shm

// #include <stdbool.h>
// #include "shm.h"
// void shm_install_receive(uint64_t after, int sleep_in, int wake_fd);
import "C"

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"libarmci/internal/eventfd"
	"libarmci/internal/log"
	"libarmci/internal/transport"
)

var _ = [1]int{}[unsafe.Sizeof(transport.Visit{})-C.sizeof_struct_shm_visit]

var incoming transport.Incoming // set once, before waiters in C are told

// ReceiveBy: see transport.Notifications.
func (m *Node) ReceiveBy(in transport.Incoming) {
	incoming = in
	sleepIn := in.SleepIn()
	if sleepIn >= 0 {
		sleepIn = m.openWakeFD(sleepIn)
	}
	C.shm_install_receive(C.uint64_t(in.ReceiveAfter()), C.int(sleepIn), C.int(m.wakeFD))
}

// openWakeFD adds an eventfd to the epoll that a waiter sleeps in. It returns that, or -1.
func (m *Node) openWakeFD(epoll int) int {
	fd, err := eventfd.New()
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
