// SPDX-License-Identifier: BSD-3-Clause

// A disconnect notice is a datagram of the connection manager. It says that a disconnect message is
// on its way, or that none will come, in case the receiving process is idle and polls no queue.
// Datagrams may be lost, and nothing answers a notice: it is sent again after a while, unless the
// process ends before.
package rdma

import (
	"sync"
	"time"

	"libarmci/internal/rdma/qp"
	"libarmci/internal/transport"
)

// disconnectNotice is the private data of the hello in a notice.
type disconnectNotice struct {
	Pair uint32 // the receiver's queue pair
	From uint32 // the sender's
	// NoDisconnect: no disconnect message will come. Otherwise it is on its way.
	NoDisconnect bool
}

// noticePauses are the times between the datagrams that carry the same notice.
var noticePauses = [...]time.Duration{20 * time.Millisecond, 200 * time.Millisecond}

// noticeQueue is the notices that the manager's thread will send again.
type noticeQueue struct {
	mu   sync.Mutex // guards list
	list []pendingNotice
}

// pendingNotice is a notice that was sent and will be sent again.
type pendingNotice struct {
	resendAt time.Time
	resends  int // times that it was sent again
	id       nonce
	sealed   []byte
	to       *qp.Address
}

// announceDisconnect sends a notice, and has the manager's thread send it again. Any thread may
// call it; it locks notices.mu.
func (m *connManager) announceDisconnect(n *disconnectNotice, to *qp.Address) {
	h := transport.Hello{From: m.fabric.cfg.Me, Nonce: transport.NewNonce(), Extra: encode(n)}
	x := pendingNotice{id: h.Nonce, to: to,
		sealed: h.Seal(m.fabric.cfg.Secret, "leaving", nil)}
	m.sendDatagram(disconnecting, x.id, x.sealed, x.to)
	x.resendAt = time.Now().Add(noticePauses[0])
	m.notices.mu.Lock()
	m.notices.list = append(m.notices.list, x)
	m.notices.mu.Unlock()
	m.wakeup.Signal()
}

// resendNotices sends the notices that are due. It returns after what time the manager's thread
// must call it again; negative: only after the next announceDisconnect. It locks notices.mu.
func (m *connManager) resendNotices(now time.Time) time.Duration {
	m.notices.mu.Lock()
	defer m.notices.mu.Unlock()
	next, rest := time.Duration(-1), m.notices.list[:0]
	for _, x := range m.notices.list {
		if !now.Before(x.resendAt) {
			m.sendDatagram(disconnecting, x.id, x.sealed, x.to)
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

// handleNotice handles a peer's notice: the progress thread polls for the disconnect message, or,
// if none will come, the endpoint is lost at once. The caller is the manager's thread.
func (f *Fabric) handleNotice(sealed []byte) {
	var h transport.Hello
	var n disconnectNotice
	if h.Unseal(sealed, f.cfg.Secret, "leaving", nil) != nil || decode(h.Extra, &n) != nil {
		return
	}
	for _, q := range f.queues {
		e := q.endpointOf(n.Pair)
		switch {
		case e == nil || e.peer.pair.Load() != n.From: // destroyed, or not connected yet
		case n.NoDisconnect:
			e.markLost(errPeerClosed)
		case e.state.CompareAndSwap(int32(connected), int32(peerLeaving)):
			q.peersLeaving.Add(1)
		}
	}
	f.Attend(f.originQueue)
	f.originQueue.calls.pending.Store(true)
	f.Wake()
}
