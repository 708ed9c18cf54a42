// SPDX-License-Identifier: BSD-3-Clause

// Detection of deaths. Every member has a connection to the leader. A connection that ends without
// a goodbye frame is a death, whatever the cause: the kernel closes the connections of a dead
// process, so no thread polls. The rank that sees it reports, and all ranks end (Options.Lost).
package shm

// #include "shm.h"
// static inline int claim_report(int me) {
// 	uint32_t none = 0;
// 	return atomic_compare_exchange_strong(&shm.head->dead, &none, 1u + (uint32_t)me);
// }
// static inline void set_departure(uint32_t now) {
// 	uint32_t was = atomic_exchange(&shm.rank[shm.me].departure, now);
// 	uint32_t now_away = now != SHM_HERE, was_away = was != SHM_HERE;
// 	atomic_fetch_add(&shm.head->departed, now_away - was_away);
// }
// static inline uint32_t departure_of(int local)
// {
// 	return atomic_load(&shm.rank[local].departure);
// }
// static inline int pid_of_rank(int local) { return shm.rank[local].pid; }
import "C"

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"libarmci/internal/log"
	"libarmci/internal/sys"
	"libarmci/internal/transport"
)

// liveness implements transport.Liveness. Its fields are set before Join returns.
type liveness struct {
	opt         *Options
	listener    *Listener
	leaderConn  *net.UnixConn   // a member's connection to the leader
	memberConns []*net.UnixConn // the leader's connections, by local number
	lossOnce    sync.Once       // done when a loss has been reported, or none is to be any more
	withdraw    func(local int) // withdraws the memory of a rank that has exited
	reporterLink
}

// watchForDeaths starts a goroutine per watched rank: the leader watches every member, a member
// watches the leader.
func (m *liveness) watchForDeaths() {
	defer log.Guard()
	if m.opt.Self != 0 {
		m.awaitGoodbye(0, m.leaderConn)
		return
	}
	for i, c := range m.memberConns {
		if c != nil {
			go m.awaitGoodbye(i, c)
		}
	}
}

// awaitGoodbye waits for the goodbye of a watched rank. A connection that ends without it is
// reported as the rank's death.
func (m *liveness) awaitGoodbye(local int, c *net.UnixConn) {
	defer log.Guard()
	f, err := readFrame(c, 0)
	if err == nil && f.kind == frameGoodbye {
		if f.a == 0 {
			m.withdrawAfterGrace(local)
		}
		return
	}
	m.reportDeath(local, func() string { // called only while the control block is mapped
		if m.reporterFD >= 0 {
			// The reporter prints the reason once it has seen the death itself.
			C.claim_report(C.int(m.opt.Self))
			return ""
		}
		return deathText(m.opt.Ranks[local], int(C.pid_of_rank(C.int(local))))
	})
}

// exitGrace is how long the memory of a rank that has exited without ARMCI_Finalize can still be
// used, for programs whose ranks exit one after the other without finalising.
const exitGrace = 2 * time.Second

// withdrawAfterGrace withdraws the memory of a rank that has exited without finalising, after
// exitGrace. A rank that uses it afterwards ends the job (InRegionOf).
func (m *liveness) withdrawAfterGrace(local int) {
	time.Sleep(exitGrace)
	m.withdraw(local)
}

// checkWithdrawn ends the job if the memory of local has been withdrawn because that rank has
// exited. The caller has found no live allocation of it.
func (m *liveness) checkWithdrawn(local int) {
	if C.departure_of(C.int(local)) != C.SHM_WITHDRAWN {
		return
	}
	m.reportDeath(local, func() string {
		return fmt.Sprintf("rank %d has exited without ARMCI_Finalize while others use "+
			"its memory", m.opt.Ranks[local])
	})
}

// reportDeath reports a rank as lost to Options.Lost: only the first one of this process, and none
// after this rank's own goodbye.
func (m *liveness) reportDeath(local int, reason func() string) {
	m.lossOnce.Do(func() { m.opt.Lost(m.opt.Ranks[local], reason()) })
}

// AnnounceFinalBarrier(true) announces that this rank will only enter the final barrier;
// AnnounceFinalBarrier(false) revokes it.
func (m *liveness) AnnounceFinalBarrier(yes bool) {
	if yes {
		C.set_departure(C.SHM_ENDING)
	} else {
		C.set_departure(C.SHM_HERE)
	}
}

// announceEnd announces the regular end of this rank to the ranks that watch it and to the
// reporter. clean: it has finalised, and the connections are closed; else the end of the process
// closes them.
func (m *liveness) announceEnd(clean bool) {
	f := frame{kind: frameGoodbye, from: uint32(m.opt.Self)}
	if clean {
		f.a = 1
		C.set_departure(C.SHM_FINALISED)
		m.tellReporter(statusFinalised)
	} else {
		C.set_departure(C.SHM_EXITED)
		m.tellReporter(statusLeft)
	}
	m.lossOnce.Do(func() {}) // no loss is reported from here on
	for _, c := range append([]*net.UnixConn{m.leaderConn}, m.memberConns...) {
		if c != nil {
			sys.Send(c, f.marshal(), nil)
			if clean {
				c.Close()
			}
		}
	}
	if clean {
		m.listener.Close()
		if m.reporterFD >= 0 {
			unix.Close(m.reporterFD)
		}
	}
}

// Exited reports whether a rank of the node has exited without finalising.
func (m *liveness) Exited() bool {
	for local := range m.opt.Ranks {
		if left := C.departure_of(C.int(local)); left == C.SHM_EXITED ||
			left == C.SHM_WITHDRAWN {
			return true
		}
	}
	return false
}

// ClaimNodeReport claims the right to report the end of the job; true for the first caller of the
// node.
func (m *liveness) ClaimNodeReport() bool { return C.claim_report(C.int(m.opt.Self)) != 0 }

// ClaimMachineReport claims the right to print why the job ends. It is false if the reporter, or a
// rank of another node with the same reporter, has claimed it before. The bound socket name is the
// claim until this process ends; after that the status byte keeps the reporter from printing.
func (m *liveness) ClaimMachineReport() bool {
	if m.reporterFD < 0 {
		return true
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrUnix{Name: "@" + claimName(m.opt.Secret)})
	}
	if errors.Is(err, unix.EADDRINUSE) {
		return false
	}
	m.tellReporter(statusClaimed)
	return true
}

// MarkReported keeps the reporter from printing, since the cause has been printed elsewhere.
func (m *liveness) MarkReported() { m.tellReporter(statusReported) }

// armcigo_stuck is called by a thread of C that waits in vain: local rank peer has left and will
// never end the wait. what names the call that waits.
//
//export armcigo_stuck
func armcigo_stuck(what *C.char, peer C.int) {
	m := current
	if m == nil {
		return
	}
	how := "called"
	if left := C.departure_of(peer); left == C.SHM_EXITED || left == C.SHM_WITHDRAWN {
		how = "exited without"
	}
	m.reportDeath(int(peer), func() string {
		return fmt.Sprintf("rank %d has %s ARMCI_Finalize while rank %d waits for it in %s",
			m.opt.Ranks[peer], how, m.opt.Ranks[m.opt.Self], C.GoString(what))
	})
}

// armcigo_no_memory is called by a thread of C that has no memory for something, which it cannot do
// without. The job ends.
//
//export armcigo_no_memory
func armcigo_no_memory(what *C.char) {
	m := current
	if m == nil {
		return
	}
	self := m.opt.Ranks[m.opt.Self]
	m.opt.Lost(self, fmt.Sprintf("rank %d has no memory for %s", self, C.GoString(what)))
	select {} // until the process ends
}

var _ transport.Node = (*Node)(nil)
