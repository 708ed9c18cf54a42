// SPDX-License-Identifier: BSD-3-Clause

// The server of mutexes and reader/writer locks for ranks of other nodes. The origin sends a
// message to the process that serves the lock's owner, which locks on behalf of the origin. Up to
// maxServingGoroutines goroutines wait for a lock in the lock's own queue on the node; the other
// requests wait in a FIFO queue here. While ranks of other nodes pass a mutex among themselves, all
// requests wait here, and the thread that handles the unlock grants the next one: no other thread
// has to run.
package core

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"

	"libarmci/internal/log"
	"libarmci/internal/transport"
)

// The body of a message is the mutex's address; the answer one byte.
const (
	lockGranted = 1
	lockBusy    = 2
)

// mutexMessage is the body of a message about a mutex.
func mutexMessage(m uintptr) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(m)) }

// lockRemoteMutex locks mutex i of rank proc, on another node, at address m, by a message of a kind
// (msgLock, msgTryLock). It records that this rank holds it; false: a try found it locked.
func (ms *mutexes) lockRemoteMutex(s *MutexSet, kind uint8, m uintptr, i, proc int) (bool, error) {
	answer, err := ms.rt.callActive(transport.Rank(proc), kind, mutexMessage(m))
	switch {
	case err != nil:
		return false, fmt.Errorf("mutex %d of rank %d: %w", i, proc, err)
	case len(answer) != 1:
		return false, argErr(CodeAddress, "mutex",
			"mutex %d of rank %d does not exist any more", i, proc)
	case answer[0] != lockGranted:
		return false, nil
	}
	s.RecordHeld(i, proc)
	ms.rt.regionManager.allowFastRequests(proc, m)
	return true, nil
}

// RecordHeld records that this rank holds mutex i of rank proc, which is on another node. It locks
// s.mu.
func (s *MutexSet) RecordHeld(i, proc int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == nil {
		s.held = map[[2]int]bool{}
	}
	s.held[[2]int{i, proc}] = true
}

// clearHeld removes the record of RecordHeld; false if there is none: this rank does not hold the
// mutex. It locks s.mu.
func (s *MutexSet) clearHeld(i, proc int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	had := s.held[[2]int{i, proc}]
	delete(s.held, [2]int{i, proc})
	return had
}

// maxServingGoroutines bounds the goroutines that serve one queue. Each waits in the lock's own
// queue on the node and takes a thread of this process.
const maxServingGoroutines = 8

// lockServer locks on behalf of ranks of other nodes, for owners that this process serves. It has a
// queue for each lock that such ranks wait for.
type lockServer struct {
	rt *Runtime
	mu sync.Mutex // guards queues
	// queues are by the lock's address, without empty ones. mu guards it.
	queues map[uintptr]*lockQueue
	// queueCount is len(queues), for C. nil: C does not read it.
	queueCount *atomic.Int32
}

// CountLockQueues has the number of queues kept in n, for C: it may unlock a mutex by itself while
// n is 0. The caller makes the call before the first lock.
func (l *lockServer) CountLockQueues(n *atomic.Int32) {
	n.Store(0)
	l.queueCount = n
}

// addQueueCount counts a queue more (1) or less (-1) for C. The caller holds l.mu.
func (l *lockServer) addQueueCount(change int32) {
	if l.queueCount != nil {
		l.queueCount.Add(change)
	}
}

// lockQueue is the requests of ranks of other nodes for one lock. lockServer.mu guards it.
type lockQueue struct {
	requests []lockRequest // oldest first
	// servers is the number of goroutines that take the lock for requests. 0: it is held by a
	// rank of another node, and releaseMutex grants the next request.
	servingGoroutines int
}

// lockMode is which lock is requested, and how.
type lockMode uint8

const (
	lockMutex lockMode = iota
	lockShared
	lockExclusive
)

// lockRequest is a rank's request for a lock; reply sends it the answer.
type lockRequest struct {
	rank  transport.Rank
	mode  lockMode
	reply func([]byte)
}

// lockOrTicket takes the lock if it is free or becomes free within microseconds. Otherwise it
// returns a ticket, a place in the lock's own queue on the node, with which the caller must call
// lockByTicket.
func (l *lockServer) lockOrTicket(m uintptr, c lockRequest) (ticket uint64, got bool) {
	if c.mode == lockMutex {
		t, got := l.rt.Locks.LockSoon(m, c.rank)
		return uint64(t), got
	}
	return l.rt.rwlocks.RWLockSoon(m, c.rank, c.mode == lockExclusive)
}

// lockByTicket waits for the lock in the place of a ticket of lockOrTicket.
func (l *lockServer) lockByTicket(m uintptr, c lockRequest, ticket uint64) {
	if c.mode == lockMutex {
		l.rt.Locks.LockQueued(m, c.rank, uint32(ticket))
	} else {
		l.rt.rwlocks.RWLockQueued(m, c.rank, c.mode == lockExclusive, ticket)
	}
}

// lockBlocking waits for the lock, behind the ranks in its own queue on the node.
func (l *lockServer) lockBlocking(m uintptr, c lockRequest) {
	if c.mode == lockMutex {
		l.rt.Locks.Lock(m, c.rank)
	} else {
		l.rt.rwlocks.RWLock(m, c.rank, c.mode == lockExclusive)
	}
}

// handleLock executes the request of rank from, on another node, for a mutex of rank to: lock, try
// or unlock. It returns false for a malformed message. The address is checked, since the origin
// cannot know whether it is a mutex.
func (l *lockServer) handleLock(from, to transport.Rank, m transport.Msg, reply func([]byte)) bool {
	if len(m.Body) != 8 || (reply == nil) != (m.Kind == msgUnlock) {
		return false
	}
	addr := uintptr(binary.LittleEndian.Uint64(m.Body))
	size := l.rt.Locks.MutexBytes()
	switch {
	case addr%uintptr(size) != 0 || !l.rt.Memory.InArena(addr) ||
		!l.rt.Memory.InRegionOf(l.rt.Topo.Local(to),
			addr, size):
		if reply == nil {
			return false
		}
		reply(nil)
	case m.Kind == msgUnlock:
		owner, held := l.rt.Locks.MutexOwner(addr)
		if !held || owner != from {
			return false
		}
		l.releaseMutex(addr)
	case m.Kind == msgTryLock:
		got := []byte{lockBusy}
		if !l.hasQueue(addr) && l.rt.Locks.TryLock(addr, from) {
			got[0] = lockGranted
		}
		reply(got)
	default:
		l.requestLock(addr, lockRequest{from, lockMutex, reply})
	}
	return true
}

// hasQueue tells whether ranks of other nodes wait for a lock. It locks l.mu.
func (l *lockServer) hasQueue(m uintptr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.queues[m] != nil
}

// requestLock requests a lock, which the caller has checked to be one, and returns without waiting
// for it. It holds l.mu meanwhile, and replies under it if the lock is granted at once: no other
// rank of another node waits, and the lock is free or becomes free within microseconds. Otherwise
// the request is queued, and a goroutine of the queue or the holder's unlock replies.
func (l *lockServer) requestLock(m uintptr, c lockRequest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.queues[m]
	if q != nil {
		q.requests = append(q.requests, c)
		if q.servingGoroutines > 0 && q.servingGoroutines < maxServingGoroutines {
			q.servingGoroutines++
			go l.serveQueue(m, q)
		}
		return
	}
	q = &lockQueue{}
	if l.heldByOtherNode(m, c) {
		q.requests = append(q.requests, c)
	} else if ticket, got := l.lockOrTicket(m, c); got {
		c.reply([]byte{lockGranted})
		return
	} else {
		q.servingGoroutines = 1
		go l.serveTicket(m, q, c, ticket)
	}
	if l.queues == nil {
		l.queues = map[uintptr]*lockQueue{}
	}
	l.queues[m] = q
	l.addQueueCount(1)
}

// heldByOtherNode tells whether a mutex is held by a rank of another node: then this process will
// receive its unlock, and grants the lock at that. The caller holds l.mu.
func (l *lockServer) heldByOtherNode(m uintptr, c lockRequest) bool {
	if c.mode != lockMutex {
		return false
	}
	owner, held := l.rt.Locks.MutexOwner(m)
	return held && !l.rt.Topo.SameNode(owner)
}

// releaseMutex unlocks a mutex for a rank of another node, which the caller has checked to hold it.
// If no goroutine serves the mutex's queue, the mutex is passed to the first request, without a
// goroutine. It locks l.mu, and replies under it.
func (l *lockServer) releaseMutex(m uintptr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.queues[m]
	if q == nil || q.servingGoroutines > 0 {
		l.rt.Locks.Unlock(m)
		return
	}
	c := q.requests[0]
	if !l.rt.Locks.PassOn(m, c.rank) {
		// a rank of this node waits: the requests wait behind it, by a goroutine
		q.servingGoroutines = 1
		go l.serveQueue(m, q)
		l.rt.Locks.Unlock(m)
		return
	}
	if q.requests = q.requests[1:]; len(q.requests) == 0 {
		delete(l.queues, m)
		l.addQueueCount(-1)
	}
	c.reply([]byte{lockGranted})
}

// serveTicket is a goroutine of a queue. It waits for the lock with a ticket for the first request,
// replies, and serves the others.
func (l *lockServer) serveTicket(m uintptr, q *lockQueue, c lockRequest, ticket uint64) {
	defer log.Guard()
	l.lockByTicket(m, c, ticket)
	l.replyGranted(m, q, c)
}

// serveQueue is a goroutine of a queue. It waits for the lock for the first request, replies, and
// serves the others.
func (l *lockServer) serveQueue(m uintptr, q *lockQueue) {
	defer log.Guard()
	if c, found := l.nextRequest(m, q); found {
		l.lockBlocking(m, c)
		l.replyGranted(m, q, c)
	}
}

// replyGranted replies to a rank for which the calling goroutine has got the lock, then locks for
// the next requests until the queue is empty. An empty queue is removed before the reply: the
// rank's next message must not find it.
func (l *lockServer) replyGranted(m uintptr, q *lockQueue, c lockRequest) {
	for {
		next, found := l.nextRequest(m, q)
		c.reply([]byte{lockGranted})
		if !found {
			return
		}
		l.lockBlocking(m, next)
		c = next
	}
}

// nextRequest removes the oldest request from the queue and returns it. If there is none, found is
// false: the calling goroutine is counted out and must end. It locks l.mu.
func (l *lockServer) nextRequest(m uintptr, q *lockQueue) (c lockRequest, found bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(q.requests) == 0 {
		if q.servingGoroutines--; q.servingGoroutines == 0 {
			delete(l.queues, m)
			l.addQueueCount(-1)
		}
		return c, false
	}
	c = q.requests[0]
	q.requests = q.requests[1:]
	return c, true
}
