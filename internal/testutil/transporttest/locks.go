// SPDX-License-Identifier: BSD-3-Clause

// Mutexes and reader/writer locks of a Cluster. They are not fair: waiters have no queue.
package transporttest

import (
	"fmt"

	"libarmci/internal/transport"
)

// nodeLocks implements transport.Mutexes and transport.RWLocks. The state of all locks is
// Cluster.state.locks.
type nodeLocks struct{ *member }

const (
	mutexBytes  = 64
	rwlockBytes = 128
	// What LockSoon and RWLockSoon return, and LockQueued and RWLockQueued want.
	mutexTicket = 7
	rwTicket    = 9
)

// MutexBytes is the size of a mutex.
func (n *nodeLocks) MutexBytes() int64 { return mutexBytes }

// RankMutex lies at the beginning of a rank's slice.
func (n *nodeLocks) RankMutex(local int) uintptr { return n.c.sliceBase(int(n.nodeRanks[local])) }

// Lock blocks until the mutex is free. Waiters have no order.
func (n *nodeLocks) Lock(m uintptr, owner transport.Rank) {
	n.c.waitUntil(func() bool { return n.tryMutex(m, owner) })
}

// tryMutex takes the mutex if it is free. The caller holds the cluster's lock.
func (n *nodeLocks) tryMutex(m uintptr, owner transport.Rank) bool {
	_, held := n.c.mutexes[m]
	if !held {
		n.c.mutexes[m] = owner
	}
	return !held
}

// LockSoon does not wait at all. The ticket gives no place in a queue.
func (n *nodeLocks) LockSoon(m uintptr, owner transport.Rank) (ticket uint32, got bool) {
	return mutexTicket, n.TryLock(m, owner)
}

// LockQueued is Lock. It panics if the ticket is not that of LockSoon.
func (n *nodeLocks) LockQueued(m uintptr, owner transport.Rank, ticket uint32) {
	if ticket != mutexTicket {
		panic("a ticket that LockSoon has not given")
	}
	n.Lock(m, owner)
}

// TryLock takes the mutex if it is free.
func (n *nodeLocks) TryLock(m uintptr, owner transport.Rank) (got bool) {
	n.c.changeState(func() { got = n.tryMutex(m, owner) })
	return got
}

// Unlock panics if the mutex is free.
func (n *nodeLocks) Unlock(m uintptr) {
	n.c.changeState(func() {
		if _, held := n.c.mutexes[m]; !held {
			panic(fmt.Sprintf("rank %d unlocks %#x, which is free", n.rank, m))
		}
		delete(n.c.mutexes, m)
	})
}

// PassOn does what is asked at every second call, and returns false at the others: it does not know
// whether ranks wait for the mutex.
func (n *nodeLocks) PassOn(m uintptr, to transport.Rank) (done bool) {
	n.c.changeState(func() {
		if _, held := n.c.mutexes[m]; !held {
			panic(fmt.Sprintf("rank %d passes %#x on, which is free", n.rank, m))
		}
		if n.c.passOns++; n.c.passOns%2 == 0 {
			n.c.mutexes[m] = to
			done = true
		}
	})
	return done
}

// MutexOwner is the rank that holds the mutex.
func (n *nodeLocks) MutexOwner(m uintptr) (owner transport.Rank, held bool) {
	n.c.changeState(func() { owner, held = n.c.mutexes[m] })
	return owner, held
}

// RWLockBytes is the size of a lock.
func (n *nodeLocks) RWLockBytes() int64 { return rwlockBytes }

// RWLock blocks until the lock can be taken.
func (n *nodeLocks) RWLock(l uintptr, owner transport.Rank, exclusive bool) {
	n.c.waitUntil(func() bool { return n.tryRWLock(l, owner, exclusive) })
}

// tryRWLock takes the lock if it can be taken. The caller holds the cluster's lock.
func (n *nodeLocks) tryRWLock(l uintptr, owner transport.Rank, exclusive bool) bool {
	if exclusive {
		return n.c.readers[l] == 0 && n.tryMutex(l, owner)
	}
	_, written := n.c.mutexes[l]
	if !written {
		n.c.readers[l]++
	}
	return !written
}

// RWLockSoon does not wait at all.
func (n *nodeLocks) RWLockSoon(l uintptr, owner transport.Rank, exclusive bool) (ticket uint64,
	got bool) {
	n.c.changeState(func() { got = n.tryRWLock(l, owner, exclusive) })
	return rwTicket, got
}

// RWLockQueued is RWLock. It panics if the ticket is not that of RWLockSoon.
func (n *nodeLocks) RWLockQueued(l uintptr, owner transport.Rank, exclusive bool, ticket uint64) {
	if ticket != rwTicket {
		panic("a ticket that RWLockSoon has not given")
	}
	n.RWLock(l, owner, exclusive)
}

// RWUnlock panics if the lock is free.
func (n *nodeLocks) RWUnlock(l uintptr, exclusive bool) {
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

// RWHeld tells whether the rank holds the lock exclusively, or whether any rank reads.
func (n *nodeLocks) RWHeld(l uintptr, owner transport.Rank, exclusive bool) (yes bool) {
	n.c.changeState(func() {
		writer, written := n.c.mutexes[l]
		yes = exclusive && written && writer == owner || !exclusive && n.c.readers[l] > 0
	})
	return yes
}
