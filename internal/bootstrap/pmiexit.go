// SPDX-License-Identifier: BSD-3-Clause

// A process that ends without ARMCI_Finalize says bye, as exit status 0 tells armcirun; rank 0 then stays until the others
// have left. What a process does at exit is in C.

package bootstrap

/*
#include "pmi_exit.h"
*/
import "C"

import (
	"net"
	"syscall"
	"unsafe"

	"libarmci/internal/bootstrap/jobwire"
	"libarmci/internal/log"
)

// leaveAtExit arranges for that, until stayAtExit.
func (j *pmiJob) leaveAtExit() {
	frame, _ := jobwire.Encode(jobwire.Bye, nil)
	fd := duplicateOf(j.conn)
	wait := [2]int{-1, -1}
	if h := j.host; h != nil && syscall.Pipe2(wait[:], syscall.O_CLOEXEC) == nil {
		go func() {
			defer log.Guard()
			<-h.server.Empty()
			syscall.Close(wait[1])
		}()
	}
	C.boot_pmi_leave(C.int(fd), unsafe.Pointer(&frame[0]), C.int(len(frame)), C.int(wait[0]))
}

// stayAtExit: the process has said bye itself.
func stayAtExit() { C.boot_pmi_left() }

// duplicateOf returns another descriptor of a connection, -1 if there is none to be had.
func duplicateOf(conn net.Conn) int {
	fd := -1
	if raw, err := conn.(syscall.Conn).SyscallConn(); err == nil {
		_ = raw.Control(func(c uintptr) { fd = int(C.boot_pmi_duplicate(C.int(c))) })
	}
	return fd
}
