// SPDX-License-Identifier: BSD-3-Clause

// A notice is the datagram which tells the other process of a farewell, in case that process is
// idle. Datagrams may be lost, and nothing answers a notice: it is sent again after a while,
// unless the process ends before.
package rdma

import (
	"sync"
	"time"

	"libarmci/internal/rdma/qp"
	"libarmci/internal/transport"
)

// notice is what a process that ends a connection tells the other end.
type disconnectNotice struct {
	Pair         uint32 // the receiver's queue pair
	From         uint32 // the sender's
	NoDisconnect bool   // no farewell comes; otherwise it is on its way
}

// noticePauses are the times between the datagrams that carry the same notice.
var noticePauses = [...]time.Duration{20 * time.Millisecond, 200 * time.Millisecond}

// notices is the notices that the manager's thread will send again.
type noticeQueue struct {
	mu   sync.Mutex
	list []pendingNotice
}

type pendingNotice struct {
	resendAt time.Time
	resends  int // times before
	id       nonce
	sealed   []byte
	to       *qp.Address
}

// announce sends a notice, now and again.
func (m *connManager) announceDisconnect(n *disconnectNotice, to *qp.Address) {
	h := transport.Hello{From: m.fabric.cfg.Me, Nonce: transport.NewNonce(), Extra: encode(n)}
	x := pendingNotice{id: h.Nonce, sealed: h.Seal(m.fabric.cfg.Secret, "leaving", nil), to: to}
	m.sendDatagram(disconnectRequest, x.id, x.sealed, x.to)
	x.resendAt = time.Now().Add(noticePauses[0])
	m.notices.mu.Lock()
	m.notices.list = append(m.notices.list, x)
	m.notices.mu.Unlock()
	m.wakeup.Ring()
}

// repeat sends the notices that are due, and returns when it must be called again; negative: after
// announce.
func (m *connManager) resendNotices(now time.Time) time.Duration {
	m.notices.mu.Lock()
	defer m.notices.mu.Unlock()
	next, rest := time.Duration(-1), m.notices.list[:0]
	for _, x := range m.notices.list {
		if !now.Before(x.resendAt) {
			m.sendDatagram(disconnectRequest, x.id, x.sealed, x.to)
			if x.resends++; x.resends == len(noticePauses) {
				continue
			}
			x.resendAt = now.Add(noticePauses[x.resends])
		}
		if pause := x.resendAt.Sub(now); next < 0 || pause < next {
			next = pause
		}
		rest = append(rest, x)
	}
	clear(m.notices.list[len(rest):])
	m.notices.list = rest
	return next
}

// noticed handles a notice: the progress thread polls for the farewell, or, if none comes, the end
// is lost at once.
func (f *Fabric) handleNotice(sealed []byte) {
	var h transport.Hello
	var n disconnectNotice
	if h.Unseal(sealed, f.cfg.Secret, "leaving", nil) != nil || decode(h.Extra, &n) != nil {
		return
	}
	for _, q := range f.queues {
		e := q.endpointOf(n.Pair)
		switch {
		case e == nil || e.peerPair.Load() != n.From: // it has ended, or is not connected yet
		case n.NoDisconnect:
			e.markLost(errPeerClosed)
		case !e.disconnecting.Swap(true):
			q.disconnectsExpected.Add(1)
		}
	}
	f.Attend(f.originQueue)
	f.originQueue.callsPending.Store(true)
	f.Wake()
}
