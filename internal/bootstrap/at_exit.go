// SPDX-License-Identifier: BSD-3-Clause

// A process that exits with status 0 without ARMCI_Finalize says bye to its job server. A
// connection that ends without a bye is thus that of a process that was killed, has failed, or has
// called _exit. What a process does at exit is in C.

package bootstrap

/*
#include "at_exit.h"
*/
import "C"

import (
	"net"
	"syscall"
	"unsafe"

	"libarmci/internal/bootstrap/jobwire"
)

// leaveAtExit arranges for the bye at exit, until stayAtExit. The process then waits for the end of
// a pipe, which it owns, unless that is -1.
func (j *armcirunJob) leaveAtExit(wait int) {
	frame, _ := jobwire.Encode(jobwire.Bye, nil)
	C.boot_leave_at_exit(C.int(descriptorOf(j.conn)), unsafe.Pointer(&frame[0]),
		C.int(len(frame)), C.int(wait))
}

// stayAtExit ends that, because the process has said bye itself. The caller has not closed the
// connection yet.
func stayAtExit() { C.boot_has_left() }

// descriptorOf returns the descriptor of a connection, -1 if it is closed.
func descriptorOf(conn net.Conn) int {
	fd := -1
	if raw, err := conn.(syscall.Conn).SyscallConn(); err == nil {
		_ = raw.Control(func(c uintptr) { fd = int(c) })
	}
	return fd
}
