// SPDX-License-Identifier: BSD-3-Clause

// Active messages between nodes, at the receiver: one process of each node receives them for all
// its ranks, and acts on memory that the node shares. Nothing here may block; what blocks runs in a
// goroutine.
package core

import (
	"encoding/binary"

	"libarmci/internal/log"
	"libarmci/internal/transport"
)

// Kinds of active messages. They are used between nodes; procedure calls also between ranks of a
// node.
const (
	msgProcedure = 1 // gpc.go
	msgReply     = 2
	// a call or reply passed on by another rank of the node: uint32 from, uint8 kind, its body
	msgForward    = 3
	msgFragment   = transport.FragmentMessage
	msgAckRequest = 5
	msgLock       = 6 // lockserver.go
	msgTryLock    = 7
	msgUnlock     = transport.UnlockMessage
	msgNotify     = 9  // no body
	msgOwns       = 10 // verify.go
	msgEnding     = 11 // failure.go; no body; the answer: 1 byte
	msgNotified   = 12 // notify.go
	msgAwait      = 13
	msgRWLock     = 14 // rwlock.go
	msgRWUnlock   = 15
	msgEventAdd   = 16 // event.go
	msgEventAsk   = 19 // event_word.go
	msgEventTold  = 20
)

const forwardHead = 5

// handleMessage handles every active message from a rank to a rank of this node. reply sends the
// answer, nil if none is expected. It must not block: it runs on the thread that receives.
func (r *Runtime) handleMessage(from, to transport.Rank, m transport.Msg, reply func([]byte)) {
	handled := false
	switch m.Kind {
	case msgProcedure, msgReply:
		handled = r.procedures.handleProcedure(from, to, m)
	case msgForward:
		if handled = len(m.Body) >= forwardHead &&
			int(binary.LittleEndian.Uint32(m.Body)) < r.N; handled {
			origin := transport.Rank(binary.LittleEndian.Uint32(m.Body))
			handled = r.procedures.handleProcedure(origin, to,
				transport.Msg{Kind: m.Body[4],
					Body: m.Body[forwardHead:], Lent: m.Lent})
		}
	case msgFragment, msgAckRequest:
		handled = r.twoSided.handleTwoSided(from, to, m, reply)
	case msgLock, msgTryLock, msgUnlock:
		handled = r.lockServer.handleLock(from, to, m, reply)
	case msgRWLock, msgRWUnlock:
		handled = r.windowLocks.handleRWLock(from, to, m, reply)
	case msgEventAdd:
		handled = r.eventCounters.handleEventAdd(from, to, m)
	case msgEventAsk:
		handled = r.eventCounters.handleEventAsk(from, to, m, reply)
	case msgEventTold:
		handled = r.eventCounters.handleEventTold(to, m)
	case msgOwns:
		handled = r.regionManager.handleOwns(to, m, reply)
	case msgEnding:
		handled = r.jobEnd.handleEnding(reply)
	case msgNotify:
		r.notifications.Notify(r.Topo.Local(to), from)
		handled = true
	case msgNotified, msgAwait:
		handled = r.notifier.handleNotified(from, to, m)
	}
	if handled {
		return
	}
	log.Warnf("message of unknown kind %d (%d bytes) from rank %d dropped", m.Kind, len(m.Body),
		from)
	if reply != nil {
		reply(nil)
	}
}

// handleProcedure handles calls and replies for this rank, and forwards those for other ranks of
// the node. It returns false for a malformed message.
func (ps *procedures) handleProcedure(from, to transport.Rank, m transport.Msg) bool {
	switch {
	case m.Kind == msgProcedure && len(m.Body) >= callHead && to == ps.rt.Me:
		go ps.serveCall(from, m.OwnedBody()) // a procedure may block
	case m.Kind == msgReply && len(m.Body) >= replyHead && to == ps.rt.Me:
		ps.handleReply(m.OwnedBody())
	case (m.Kind == msgProcedure || m.Kind == msgReply) && to != ps.rt.Me:
		m.Body, m.Lent = m.OwnedBody(), false
		go ps.forwardToRank(from, to, m)
	default:
		return false
	}
	return true
}

// forwardToRank sends a message of rank from on to rank to, of this node.
func (ps *procedures) forwardToRank(from, to transport.Rank, m transport.Msg) {
	defer log.Guard()
	body := binary.LittleEndian.AppendUint32(nil, uint32(from))
	if err := ps.rt.sendActive(to, msgForward,
		append(append(body, m.Kind), m.Body...)); err != nil {
		log.Warnf("message from rank %d to rank %d: %v", from, to, err)
	}
}

// sendActive sends an active message without an answer to a rank. The body may be reused when it
// returns.
func (r *Runtime) sendActive(to transport.Rank, kind uint8, body []byte) error {
	dest := r.route(to)
	return dest.tr.Send(dest.peer, transport.Msg{Kind: kind, Body: body})
}

// callActive sends an active message to a rank and waits for the answer.
func (r *Runtime) callActive(to transport.Rank, kind uint8, body []byte) ([]byte, error) {
	return r.callActiveMsg(to, transport.Msg{Kind: kind, Body: body})
}

// callActiveMsg is callActive with all fields of the message.
func (r *Runtime) callActiveMsg(to transport.Rank, m transport.Msg) ([]byte, error) {
	dest := r.route(to)
	return dest.tr.Call(dest.peer, m)
}
