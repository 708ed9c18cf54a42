// SPDX-License-Identifier: BSD-3-Clause

// Who is still alive: every member keeps a connection to the leader, and a connection that ends without a goodbye is
// a death, however it came about. The kernel closes it, so nobody polls. One rank reports, all end (Options.Lost).
package shm

// #include "shm.h"
// static inline int claim_end(int me) {
// 	uint32_t none = 0;
// 	return atomic_compare_exchange_strong(&shm.head->dead, &none, 1u + (uint32_t)me);
// }
// static inline void leave_as(uint32_t how) {
// 	uint32_t was = atomic_exchange(&shm.rank[shm.me].left, how);
// 	atomic_fetch_add(&shm.head->departed, (uint32_t)(how != SHM_HERE) - (uint32_t)(was != SHM_HERE));
// }
// static inline uint32_t how_left(int local) { return atomic_load(&shm.rank[local].left); }
// static inline int leads_pid(int local) { return shm.rank[local].pid; }
import "C"

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
	"libarmci/internal/log"
	"libarmci/internal/transport"
)

func (m *Machine) watch() {
	defer log.Guard()
	if m.opt.Self != 0 {
		m.listen(0, m.leader)
		return
	}
	for i, c := range m.member {
		if c != nil {
			go m.listen(i, c)
		}
	}
}

// listen waits on a connection to a rank until it says goodbye or is gone.
func (m *Machine) listen(local int, c *net.UnixConn) {
	defer log.Guard()
	f, err := readFrame(c, 0)
	if err == nil && f.kind == fBye {
		return
	}
	m.gone(local, func() string { // asked only while the control block is still mapped
		if m.reporter >= 0 {
			C.claim_end(C.int(m.opt.Self)) // the reporter says so
		}
		return obituary(m.opt.Ranks[local], int(C.leads_pid(C.int(local))))
	})
}

// gone reports, once in this process and not after its own goodbye, that a rank is lost.
func (m *Machine) gone(local int, reason func() string) {
	m.lost.Do(func() { m.opt.Lost(m.opt.Ranks[local], reason()) })
}

// Ending tells who waits for this rank that it only enters one more barrier of the world, or that it is back.
func (m *Machine) Ending(yes bool) {
	if yes {
		C.leave_as(C.SHM_ENDING)
	} else {
		C.leave_as(C.SHM_HERE)
	}
}

// goodbye tells whoever watches this rank that its end is no accident.
func (m *Machine) goodbye(clean bool) {
	f := frame{kind: fBye, from: uint32(m.opt.Self)}
	if clean {
		f.a = 1
		C.leave_as(C.SHM_FINALISED)
		m.tellReporter(wordFinalised)
	} else {
		C.leave_as(C.SHM_EXITED)
		m.tellReporter(wordLeft)
	}
	m.lost.Do(func() {}) // from here on nobody's end concerns us
	for _, c := range append([]*net.UnixConn{m.leader}, m.member...) {
		if c != nil {
			c.Write(f.encode())
			if clean {
				c.Close()
			}
		}
	}
	if clean {
		m.door.Close()
		if m.reporter >= 0 {
			unix.Close(m.reporter)
		}
	}
}

// ClaimEnd is true for the first rank of the node that asks. The reporter need not speak then.
func (m *Machine) ClaimEnd() bool {
	first := C.claim_end(C.int(m.opt.Self)) != 0
	if first {
		m.tellReporter(wordTold)
	}
	return first
}

// armcigo_stuck is called by a waiter that has found that the rank it needs will never do what it waits for.
//
//export armcigo_stuck
func armcigo_stuck(what *C.char, peer C.int) {
	m := current
	if m == nil {
		return
	}
	how := "called"
	if C.how_left(peer) == C.SHM_EXITED {
		how = "exited without"
	}
	m.gone(int(peer), func() string {
		return fmt.Sprintf("rank %d has %s ARMCI_Finalize while rank %d waits for it in %s",
			m.opt.Ranks[peer], how, m.opt.Ranks[m.opt.Self], C.GoString(what))
	})
}

var _ transport.Node = (*Machine)(nil)
