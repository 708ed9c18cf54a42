// SPDX-License-Identifier: BSD-3-Clause

// Waiters receive. A thread of the application that waits polls the listener of its process's data
// server itself, because a wake-up by the server takes longer than receiving. Meanwhile the
// server's thread sleeps, and no frame wakes it. When the waiter leaves, frames that have come by
// then, or come later, wake the server again. Where waiters come back soon each time, this is put
// off (guard.go). Else each message between two waits would wake a thread in vain.
package internode

import (
	"sync/atomic"
	"time"

	"libarmci/internal/transport"
)

// incoming is the right to poll the listener, which one thread has at a time.
type incoming struct {
	listener      transport.SharedListener // nil: the server's thread alone polls
	owned         atomic.Bool
	waiters       atomic.Int32 // waiters that poll, or would as soon as they may
	closed        atomic.Bool
	serverSkipped atomic.Bool // the server's thread was woken while a waiter had the right

	guard guard

	// Of the thread that has the right.
	answered uint32 // answers of the fabric that the guard knows of
	diverted bool   // frames do not wake the server's thread
}

// tryAcquire takes the right to poll, unless another thread has it.
func (i *incoming) tryAcquire() bool {
	return !i.owned.Load() && i.owned.CompareAndSwap(false, true)
}

// tryAcquireForServer is tryAcquire for the server's thread. If a waiter has the right, it wakes
// the thread when it leaves. The waiter may have been held up before it set the alarm until that
// had gone off.
func (i *incoming) tryAcquireForServer() bool {
	if i.tryAcquire() {
		return true
	}
	i.serverSkipped.Store(true)
	return i.tryAcquire() // the waiter may have left before serverSkipped was set
}

// acquireForever takes the right for good: no waiter gets it any more.
func (i *incoming) acquireForever() {
	i.closed.Store(true)
	if i.listener != nil {
		i.listener.Interrupt()
	}
	for !i.tryAcquire() {
		time.Sleep(50 * time.Microsecond)
	}
}

// release gives the right back, and returns how soon the server's thread must poll: see
// transport.SharedListener.
func (i *incoming) release() (again time.Duration) {
	again = -1
	if i.listener != nil {
		again = i.listener.StopPolling()
	}
	i.owned.Store(false)
	return again
}

// poll polls the listener, and records that origins needed answers. The caller has the right.
func (i *incoming) poll(l transport.Listener, looks int) int {
	n := l.Poll(looks)
	if i.listener != nil {
		if now := i.listener.AnsweredRequests(); now != i.answered {
			i.answered = now
			i.guard.recordNeed()
		}
	}
	return n
}

// setDiverted keeps frames from waking the server's thread, or ends that. The caller has the right.
func (i *incoming) setDiverted(on bool) {
	if i.diverted != on {
		i.diverted = on
		i.listener.SetWaiterPolls(on)
	}
}

// beginVisit records that a waiter has got the right.
func (i *incoming) beginVisit() {
	i.guard.waiterArrived(time.Since(began))
	i.setDiverted(true)
}

// endVisit gives the right back for a waiter. If the next one is not expected soon, or the listener
// is inside a frame, frames wake the server's thread from now on. Else an alarm does, if no waiter
// has come by then.
func (i *incoming) endVisit(found bool) {
	now := time.Since(began)
	again := i.listener.StopPolling()
	expected := i.guard.waiterLeft(now)
	if !found || !expected || again >= 0 || !i.listener.FramesComplete() {
		i.setDiverted(false)
	} else if alarm := i.guard.extend(now); alarm > 0 {
		i.listener.SetAlarm(alarm)
	}
	i.owned.Store(false)
	if again >= 0 || i.serverSkipped.Load() && i.serverSkipped.Swap(false) {
		i.listener.Interrupt()
	}
}

// guardState is what the server's thread finds when it has the right to poll.
type guardState uint8

const (
	unguarded guardState = iota // frames wake the server's thread
	guarded                     // waiters still come, so the thread is not needed
	guardOver                   // frames wake the thread from now on
)

// endGuardIfOver ends the guard if it is over. The caller has the right.
func (i *incoming) endGuardIfOver() guardState {
	switch {
	case !i.diverted:
		return unguarded
	case i.guard.isActive(time.Since(began)):
		return guarded
	}
	i.setDiverted(false)
	return guardOver
}

// isWanted tells the server's thread that a waiter would rather poll.
func (i *incoming) isWanted() bool { return i.waiters.Load() > 0 }

// Shares reports whether waiters of this process may poll its listener.
func (t *Transport) Shares() bool { return t.server != nil && t.server.incoming.listener != nil }

// PollIncoming is transport.Incoming's. It takes the right to poll on the first call of a visit
// that can get it.
func (t *Transport) PollIncoming(v *transport.Visit) int {
	if !t.Shares() {
		return 0
	}
	in := &t.server.incoming
	switch {
	case in.closed.Load():
		v.Ready = -1
		return 0
	case v.Stage == transport.VisitAway:
		t.routes.flushAll()
		in.waiters.Add(1)
		v.Stage = transport.VisitWanting
		fallthrough
	case v.Stage == transport.VisitWanting:
		if !in.tryAcquire() {
			return 0
		}
		v.Stage = transport.VisitPolling
		in.beginVisit()
	}
	n := in.poll(in.listener, 1)
	if n == 0 {
		in.guard.recordPoll()
	}
	v.Ready = int32(in.listener.Ready())
	return n
}

// ReceiveAfter is transport.Incoming's.
func (t *Transport) ReceiveAfter() time.Duration {
	if t.WritesWords() {
		return 2 * time.Microsecond
	}
	return 0
}

// IncomingFD is transport.Incoming's.
func (t *Transport) IncomingFD() int { return t.server.incoming.listener.EpollFD() }

// LeaveIncoming ends a visit. It leaves further frames to the server's thread, which is woken if
// some are there, unless the waiter is expected back soon.
func (t *Transport) LeaveIncoming(v *transport.Visit, found bool) {
	if v.Stage == transport.VisitAway {
		return
	}
	in := &t.server.incoming
	if v.Stage == transport.VisitPolling {
		in.endVisit(found)
	}
	in.waiters.Add(-1)
	*v = transport.Visit{}
}

var _ transport.Incoming = (*Transport)(nil)
