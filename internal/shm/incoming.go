// SPDX-License-Identifier: BSD-3-Clause

// Waiters in C receive what comes from other nodes themselves: they call the transport between
// nodes.
package shm

// #include <stdbool.h>
// #include "shm.h"
// void shm_install_receive(void);
import "C"

import (
	"unsafe"

	"libarmci/internal/log"
	"libarmci/internal/transport"
)

var _ = [1]int{}[unsafe.Sizeof(transport.Visit{})-C.sizeof_struct_shm_visit]

var incoming transport.Incoming // set once, before waiters in C are told

// ReceiveBy: see transport.Notifications.
func (m *Node) ReceiveBy(in transport.Incoming) {
	incoming = in
	C.shm_install_receive()
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
