// SPDX-License-Identifier: BSD-3-Clause

// Who is still alive: every member keeps a connection to the leader, and a connection that ends without a goodbye is
// a death, however it came about. The kernel closes it, so nobody polls. One rank reports, all end (Options.Lost).
package shm

// #include "shm.h"
// static inline int claim_end(int me) {
// 	uint32_t none = 0;
// 	return atomic_compare_exchange_strong(&shm.head->dead, &none, 1u + (uint32_t)me);
// }
// static inline void depart(void) {
// 	atomic_store(&shm.rank[shm.me].left, 1);
// 	atomic_fetch_add(&shm.head->departed, 1);
// }
// static inline int has_left(int local) { return atomic_load(&shm.rank[local].left); }
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

// goodbye tells whoever watches this rank that its end is no accident.
func (m *Machine) goodbye(clean bool) {
	f := frame{kind: fBye, from: uint32(m.opt.Self)}
	if clean {
		f.a = 1
		m.tellReporter(wordFinalised)
	} else {
		C.depart()
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

// armcigo_stuck is called by a waiter that needs a rank while some rank has left the job without finalising.
//
//export armcigo_stuck
func armcigo_stuck(what *C.char, peer C.int) {
	m := current
	if m == nil || C.has_left(peer) == 0 {
		return
	}
	m.gone(int(peer), func() string {
		return fmt.Sprintf("rank %d has exited without ARMCI_Finalize while rank %d waits for it in %s",
			m.opt.Ranks[peer], m.opt.Ranks[m.opt.Self], C.GoString(what))
	})
}

var _ transport.Node = (*Machine)(nil)
