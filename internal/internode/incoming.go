// SPDX-License-Identifier: BSD-3-Clause

// A waiter receives: a thread of the application that waits polls the listener of its process's data
// server itself, because to be woken by the server takes longer than to receive. Meanwhile the
// server's thread sleeps, and nothing that comes wakes it. When the waiter leaves, what has come by
// then, and what comes later, wakes the server again.
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
}

// tryAcquire takes the right to poll, if no other thread has it.
func (i *incoming) tryAcquire() bool { return !i.held.Load() && i.held.CompareAndSwap(false, true) }

// acquire takes it for good: no waiter gets it any more.
func (i *incoming) acquire() {
	i.closed.Store(true)
	for !i.tryAcquire() {
		time.Sleep(50 * time.Microsecond)
	}
}

// release gives it back, and tells how soon the server's thread must poll: see transport.SharedListener.
func (i *incoming) release() (again time.Duration) {
	again = -1
	if i.listener != nil {
		again = i.listener.Rest()
	}
	i.held.Store(false)
	return again
}

// wanted tells the server's thread that a waiter would rather poll.
func (i *incoming) wanted() bool { return i.waiters.Load() > 0 }

// What a waiter does.
const (
	away    = transport.Visit(iota) // nothing
	wanting                         // it would poll, but another thread does
	polling
)

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
		return 0
	case *v == away:
		in.waiters.Add(1)
		*v = wanting
		fallthrough
	case *v == wanting:
		if !in.tryAcquire() {
			return 0
		}
		*v = polling
		in.listener.Divert(true)
	}
	return in.listener.Poll(1)
}

// LeaveIncoming leaves what comes to the server's thread, which is woken if something is there.
func (t *Transport) LeaveIncoming(v *transport.Visit) {
	if *v == away {
		return
	}
	in := &t.server.incoming
	if *v == polling {
		in.listener.Divert(false)
		if in.release() >= 0 {
			in.listener.Interrupt()
		}
	}
	in.waiters.Add(-1)
	*v = away
}

var _ transport.Incoming = (*Transport)(nil)
