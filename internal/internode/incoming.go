// SPDX-License-Identifier: BSD-3-Clause

// A waiter receives: a thread of the application that waits polls the listener of its process's
// data server itself, because to be woken by the server takes longer than to receive. Meanwhile the
// server's thread sleeps, and nothing that comes wakes it. When the waiter leaves, what has come by
// then, and what comes later, wakes the server again. Where waiters soon come back each time, this
// is put off (guard.go), else each message that comes between two waits wakes a thread for nothing.
package internode

import (
	"sync/atomic"
	"time"

	"libarmci/internal/transport"
)

// incoming is the right to poll the listener, which one thread has at a time.
type incoming struct {
	listener transport.SharedListener // nil: the server's thread alone polls
	held     atomic.Bool
	waiters  atomic.Int32 // waiters that poll, or would as soon as they may
	closed   atomic.Bool
	missed   atomic.Bool // the server's thread was woken while a waiter had the right

	guard    guard
	answered uint32 // requests that the fabric has answered, of which the guard knows
	diverted bool   // no data wakes the server's thread; of the thread that has the right
}

// tryAcquire takes the right to poll, if no other thread has it.
func (i *incoming) tryAcquire() bool { return !i.held.Load() && i.held.CompareAndSwap(false, true) }

// serve takes it for the server's thread. If a waiter has it, that one wakes the thread when it
// leaves: it may have been held up behind setting the alarm until that had gone off.
func (i *incoming) serve() bool {
	if i.tryAcquire() {
		return true
	}
	i.missed.Store(true)
	return i.tryAcquire() // it has left without looking at missed, perhaps
}

// acquire takes it for good: no waiter gets it any more.
func (i *incoming) acquire() {
	i.closed.Store(true)
	if i.listener != nil {
		i.listener.Interrupt()
	}
	for !i.tryAcquire() {
		time.Sleep(50 * time.Microsecond)
	}
}

// release gives it back, and tells how soon the server's thread must poll: see
// transport.SharedListener.
func (i *incoming) release() (again time.Duration) {
	again = -1
	if i.listener != nil {
		again = i.listener.Rest()
	}
	i.held.Store(false)
	return again
}

// poll polls, and notes what origins needed. For the thread that has the right.
func (i *incoming) poll(l transport.Listener, looks int) int {
	n := l.Poll(looks)
	if i.listener != nil {
		if now := i.listener.Answered(); now != i.answered {
			i.answered = now
			i.guard.note()
		}
	}
	return n
}

// divert keeps what comes from waking the server's thread, or ends that. For the thread that has
// the right.
func (i *incoming) divert(on bool) {
	if i.diverted != on {
		i.diverted = on
		i.listener.Divert(on)
	}
}

// begin notes that a waiter has got the right.
func (i *incoming) begin() {
	i.guard.begin(time.Since(began))
	i.divert(true)
}

// leave gives the right back for a waiter. If the next one is not expected soon, or the listener is
// in the middle of something, what comes wakes the server's thread from now on; else an alarm does
// if no waiter has come by then.
func (i *incoming) leave(found bool) {
	now := time.Since(began)
	again := i.listener.Rest()
	expected := i.guard.leave(now)
	if !found || !expected || again >= 0 || !i.listener.Whole() {
		i.divert(false)
	} else if alarm := i.guard.extend(now); alarm > 0 {
		i.listener.WakeIn(alarm)
	}
	i.held.Store(false)
	if again >= 0 || i.missed.Load() && i.missed.Swap(false) {
		i.listener.Interrupt()
	}
}

// guardState is what the server's thread finds when it has the right to poll.
type guardState uint8

const (
	unguarded guardState = iota // data wakes it
	guarded                     // waiters still come, so that it is not needed
	guardOver                   // data wakes it again, but has not done so until now
)

// endGuard ends the guard if it is over.
func (i *incoming) endGuard() guardState {
	switch {
	case !i.diverted:
		return unguarded
	case i.guard.lasts(time.Since(began)):
		return guarded
	}
	i.divert(false)
	return guardOver
}

// wanted tells the server's thread that a waiter would rather poll.
func (i *incoming) wanted() bool { return i.waiters.Load() > 0 }

// Shares tells whether waiters of this process may poll its listener.
func (t *Transport) Shares() bool { return t.server != nil && t.server.incoming.listener != nil }

// PollIncoming: see transport.Incoming.
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
		t.flushAll()
		in.waiters.Add(1)
		v.Stage = transport.VisitWanting
		fallthrough
	case v.Stage == transport.VisitWanting:
		if !in.tryAcquire() {
			return 0
		}
		v.Stage = transport.VisitPolling
		in.begin()
	}
	n := in.poll(in.listener, 1)
	if n == 0 {
		in.guard.hasPolled()
	}
	v.Ready = int32(in.listener.Ready())
	return n
}

// ReceiveAfter: see transport.Incoming.
func (t *Transport) ReceiveAfter() time.Duration {
	if t.WritesWords() {
		return 2 * time.Microsecond
	}
	return 0
}

// SleepIn: see transport.Incoming.
func (t *Transport) SleepIn() int { return t.server.incoming.listener.SleepIn() }

// LeaveIncoming leaves what comes to the server's thread, which is woken if something is there,
// unless the waiter is expected to be back soon.
func (t *Transport) LeaveIncoming(v *transport.Visit, found bool) {
	if v.Stage == transport.VisitAway {
		return
	}
	in := &t.server.incoming
	if v.Stage == transport.VisitPolling {
		in.leave(found)
	}
	in.waiters.Add(-1)
	*v = transport.Visit{}
}

var _ transport.Incoming = (*Transport)(nil)
