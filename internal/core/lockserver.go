// SPDX-License-Identifier: BSD-3-Clause

// Mutexes and reader/writer locks of another node. The caller sends a message to the process that
// serves their owner, which locks on its behalf. A few callers of a lock at a time wait in the
// node's own queue; the others wait in a FIFO queue here. While ranks of other nodes pass a mutex
// among themselves, all wait here, and the thread that deals with the unlock hands it over: no
// other thread has to run.
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

func mutexMessage(m uintptr) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(m)) }

// lockRemoteMutex locks a mutex of another node and records that this rank holds it.
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
	s.Holds(i, proc)
	ms.rt.regionManager.allowFastRequests(proc, m)
	return true, nil
}

// Holds records that this rank holds a mutex of another node.
func (s *MutexSet) Holds(i, proc int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == nil {
		s.held = map[[2]int]bool{}
	}
	s.held[[2]int{i, proc}] = true
}

// clearHeld removes the record that this rank holds a mutex of another node; false if there is
// none.
func (s *MutexSet) clearHeld(i, proc int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	had := s.held[[2]int{i, proc}]
	delete(s.held, [2]int{i, proc})
	return had
}

// maxServers is how many ranks of other nodes wait in a mutex's own queue at a time. Each takes a
// thread of this process.
const maxServers = 8

// lockserver has a queue for each lock that ranks of other nodes wait for.
type lockServer struct {
	rt         *Runtime
	mu         sync.Mutex
	queues     map[uintptr]*lockQueue
	queueCount *atomic.Int32 // of queues, for C, which may unlock while there is none; may be nil
}

// CountLockQueues keeps the number of locks that ranks of other nodes wait for in n.
func (l *lockServer) CountLockQueues(n *atomic.Int32) {
	n.Store(0)
	l.queueCount = n
}

// addQueueCount notes that there is a queue more, or one less. The caller has the lock.
func (l *lockServer) addQueueCount(change int32) {
	if l.queueCount != nil {
		l.queueCount.Add(change)
	}
}

// lockQueue is the requests of ranks of other nodes for one lock.
type lockQueue struct {
	requests []lockRequest
	// goroutines that wait in the node's queue for some of them; 0: the holder's unlock is
	// theirs
	servers int
}

// lockMode is how a lock is taken.
type lockMode uint8

const (
	lockMutex lockMode = iota
	lockShared
	lockExclusive
)

// lockRequest is a rank's request of a lock that it waits for.
type lockRequest struct {
	rank  transport.Rank
	mode  lockMode
	reply func([]byte)
}

// lockOrTicket, lockByTicket and lockBlocking take a lock of this node for a rank
// (transport.Mutexes, transport.RWLocks).
func (l *lockServer) lockOrTicket(m uintptr, c lockRequest) (ticket uint64, got bool) {
	if c.mode == lockMutex {
		t, got := l.rt.Locks.LockSoon(m, c.rank)
		return uint64(t), got
	}
	return l.rt.rwlocks.RWLockSoon(m, c.rank, c.mode == lockExclusive)
}

func (l *lockServer) lockByTicket(m uintptr, c lockRequest, ticket uint64) {
	if c.mode == lockMutex {
		l.rt.Locks.LockQueued(m, c.rank, uint32(ticket))
	} else {
		l.rt.rwlocks.RWLockQueued(m, c.rank, c.mode == lockExclusive, ticket)
	}
}

func (l *lockServer) lockBlocking(m uintptr, c lockRequest) {
	if c.mode == lockMutex {
		l.rt.Locks.Lock(m, c.rank)
	} else {
		l.rt.rwlocks.RWLock(m, c.rank, c.mode == lockExclusive)
	}
}

// handleLock acts on a request of a rank of another node. The address is checked like any other; a
// mutex is in the arena.
func (l *lockServer) handleLock(from, to transport.Rank, m transport.Msg, reply func([]byte)) bool {
	if len(m.Body) != 8 || (reply == nil) != (m.Kind == msgUnlock) {
		return false
	}
	addr := uintptr(binary.LittleEndian.Uint64(m.Body))
	size := l.rt.Locks.MutexBytes()
	switch {
	case addr%uintptr(size) != 0 || !l.rt.Memory.Inside(addr) ||
		!l.rt.Memory.Owns(l.rt.Topo.Local(to),
			addr, size):
		if reply == nil {
			return false
		}
		reply(nil)
	case m.Kind == msgUnlock:
		who, held := l.rt.Locks.MutexOwner(addr)
		if !held || who != from {
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

func (l *lockServer) hasQueue(m uintptr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.queues[m] != nil
}

// requestLock grants the lock at once if no rank of another node waits and it is free, or becomes
// free within microseconds.
func (l *lockServer) requestLock(m uintptr, c lockRequest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.queues[m]
	if q != nil {
		q.requests = append(q.requests, c)
		if q.servers > 0 && q.servers < maxServers {
			q.servers++
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
		q.servers = 1
		go l.serveTicket(m, q, c, ticket)
	}
	if l.queues == nil {
		l.queues = map[uintptr]*lockQueue{}
	}
	l.queues[m] = q
	l.addQueueCount(1)
}

// heldByOtherNode tells whether a mutex is held by a rank of another node. This process has yet to
// deal with its unlock. The caller has the server's lock.
func (l *lockServer) heldByOtherNode(m uintptr, c lockRequest) bool {
	if c.mode != lockMutex {
		return false
	}
	owner, held := l.rt.Locks.MutexOwner(m)
	return held && !l.rt.Topo.SameNode(owner)
}

// releaseMutex gives back a mutex that a rank of another node held: to the one that has waited
// longest, if ranks of other nodes wait here and none in the node's queue.
func (l *lockServer) releaseMutex(m uintptr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.queues[m]
	if q == nil || q.servers > 0 {
		l.rt.Locks.Unlock(m)
		return
	}
	c := q.requests[0]
	if !l.rt.Locks.PassOn(m, c.rank) {
		// from now on they wait in the node's queue, like its own ranks
		q.servers = 1
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

// serveTicket waits for the lock with a ticket that was taken for one caller, then serves the
// queue.
func (l *lockServer) serveTicket(m uintptr, q *lockQueue, c lockRequest, ticket uint64) {
	defer log.Guard()
	l.lockByTicket(m, c, ticket)
	l.replyGranted(m, q, c)
}

// serveQueue takes the lock for the rank that has waited longest, if there is one, then for the
// others.
func (l *lockServer) serveQueue(m uintptr, q *lockQueue) {
	defer log.Guard()
	if c, some := l.nextRequest(m, q); some {
		l.lockBlocking(m, c)
		l.replyGranted(m, q, c)
	}
}

// replyGranted replies to a rank that has got the lock, then locks for the next of the queue, until
// the queue is empty. An empty queue is removed before the reply, so that the rank's next request,
// which may come at once, does not find it.
func (l *lockServer) replyGranted(m uintptr, q *lockQueue, c lockRequest) {
	for {
		next, some := l.nextRequest(m, q)
		c.reply([]byte{lockGranted})
		if !some {
			return
		}
		l.lockBlocking(m, next)
		c = next
	}
}

// nextRequest takes the rank that has waited longest from the queue. If there is none, the caller
// no longer serves it.
func (l *lockServer) nextRequest(m uintptr, q *lockQueue) (c lockRequest, some bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(q.requests) == 0 {
		if q.servers--; q.servers == 0 {
			delete(l.queues, m)
			l.addQueueCount(-1)
		}
		return c, false
	}
	c = q.requests[0]
	q.requests = q.requests[1:]
	return c, true
}
