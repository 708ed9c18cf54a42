// SPDX-License-Identifier: BSD-3-Clause

// Reader/writer locks and events of a Cluster. Who waits has no place in a queue: nothing here is
// fair.
package transporttest

import (
	"fmt"
	"sync/atomic"
	"time"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

const rwlockBytes, eventBytes = 128, 64

// RWLockBytes is the size of a lock.
func (n *Node) RWLockBytes() int64 { return rwlockBytes }

// RWLock waits.
func (n *Node) RWLock(l uintptr, who transport.Rank, exclusive bool) {
	n.c.waitUntil(func() bool { return n.tryRWLock(l, who, exclusive) })
}

// tryRWLock takes a lock if it is free.
func (n *Node) tryRWLock(l uintptr, who transport.Rank, exclusive bool) bool {
	if exclusive {
		return n.c.readers[l] == 0 && n.tryMutex(l, who)
	}
	_, written := n.c.mutexes[l]
	if !written {
		n.c.readers[l]++
	}
	return !written
}

// RWLockSoon does not wait at all here.
func (n *Node) RWLockSoon(l uintptr, who transport.Rank, exclusive bool) (ticket uint64, got bool) {
	n.c.changeState(func() { got = n.tryRWLock(l, who, exclusive) })
	return 9, got
}

// RWLockQueued is RWLock.
func (n *Node) RWLockQueued(l uintptr, who transport.Rank, exclusive bool, ticket uint64) {
	if ticket != 9 {
		panic("a ticket that RWLockSoon has not given")
	}
	n.RWLock(l, who, exclusive)
}

// RWUnlock of a free lock is a bug of the caller.
func (n *Node) RWUnlock(l uintptr, exclusive bool) {
	if exclusive {
		n.Unlock(l)
		return
	}
	n.c.changeState(func() {
		if n.c.readers[l]--; n.c.readers[l] < 0 {
			panic(fmt.Sprintf("rank %d unlocks %#x, which has no reader", n.rank, l))
		}
	})
}

// RWHeld tells whether a rank may hold it.
func (n *Node) RWHeld(l uintptr, who transport.Rank, exclusive bool) (yes bool) {
	n.c.changeState(func() {
		owner, written := n.c.mutexes[l]
		yes = exclusive && written && owner == who || !exclusive && n.c.readers[l] > 0
	})
	return yes
}

func countOf(e uintptr) *atomic.Uint32 { return (*atomic.Uint32)(kernel.Ptr(e)) }

// EventBytes is the size of an event.
func (n *Node) EventBytes() int64 { return eventBytes }

// EventAdd raises it.
func (n *Node) EventAdd(e uintptr, by uint32) { n.c.changeState(func() { countOf(e).Add(by) }) }

// EventCount is the count.
func (n *Node) EventCount(e uintptr) uint32 { return countOf(e).Load() }

// EventSent notes the count in a record; true: a waiter has asked. Its question stays until the
// count that it waits for is sent.
func (n *Node) EventSent(record uintptr, count uint32) (asked bool) {
	n.c.changeState(func() {
		countOf(record).Store(count)
		var want uint32
		if want, asked = n.c.eventMarks[record]; asked && int32(count-want) >= 0 {
			delete(n.c.eventMarks, record)
		}
	})
	return asked
}

// EventAsk asks; true: so many have been written.
func (n *Node) EventAsk(record uintptr, want uint32) (sent bool) {
	n.c.changeState(func() {
		sent = int32(countOf(record).Load()-want) >= 0
		if !sent {
			n.c.eventMarks[record] = want
		}
	})
	return sent
}

// EventTold wakes the waiters if the count is there. No lock guards that: a device writes it.
func (n *Node) EventTold(e uintptr, count uint32) (there bool) {
	if there = int32(countOf(e).Load()-count) >= 0; there {
		n.c.changeState(func() {})
	}
	return there
}

// EventSoon looks once.
func (n *Node) EventSoon(e uintptr, seen uint32) bool { return countOf(e).Load() != seen }

// EventWait waits for another count.
func (n *Node) EventWait(e uintptr, seen uint32, millis int, what string) bool {
	end := time.Now().Add(time.Duration(millis) * time.Millisecond)
	if millis >= 0 {
		defer time.AfterFunc(time.Until(end), func() { n.c.changeState(func() {}) }).Stop()
	}
	n.c.waitUntil(func() bool {
		return countOf(e).Load() != seen || millis >= 0 && !time.Now().Before(end)
	})
	return countOf(e).Load() != seen
}
