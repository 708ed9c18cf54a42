// SPDX-License-Identifier: BSD-3-Clause

// Large stores that nobody waits for, over a fabric whose Send takes as long as the network: they are queued at their target
// and sent by one of a few threads, or by the next caller who posts something there, so that what is posted later arrives
// later.
package internode

import (
	"runtime"
	"sync"
	"sync/atomic"

	"libarmci/internal/log"
	"libarmci/internal/transport"
)

// queue is the stores of a target that wait for their turn, oldest first.
type queue struct {
	mu     sync.Mutex
	list   []*transfer
	length atomic.Int32
}

func (q *queue) push(f *transfer) {
	q.mu.Lock()
	q.list = append(q.list, f)
	q.length.Add(1)
	q.mu.Unlock()
}

// pop takes the oldest, nil if there is none. It counts until it has been sent.
func (q *queue) pop() *transfer {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.list) == 0 {
		return nil
	}
	f := q.list[0]
	q.list[0] = nil
	q.list = q.list[1:]
	return f
}

// drain sends what is queued. The caller has the lock.
func (g *target) drain() (first error) {
	for f := g.queue.pop(); f != nil; f = g.queue.pop() {
		r, err := g.carry(f, f.x.Bytes())
		g.queue.length.Add(-1)
		f.sent(r, err)
		if err != nil && first == nil {
			first = g.lossOf(err)
		}
	}
	return first
}

// lossOf is err if the target is lost, else nil: a refusal concerns nobody else.
func (g *target) lossOf(err error) error {
	if g.broken.Load() != nil {
		return err
	}
	return nil
}

// sent ends a store that was queued. Its caller is told by x.Done in any case.
func (f *transfer) sent(r *request, err error) {
	x := f.x
	f.release(r)
	if r == nil {
		x.Finish(err)
		return
	}
	r.Done(err)
}

// maxSenders bounds the threads that queued stores take, however many nodes they go to.
const maxSenders = 4

// senders send what is queued.
type senders struct {
	mu      sync.Mutex
	backlog []*target
	running int
	closed  bool // nothing is queued any more
	all     sync.WaitGroup
}

// enqueue queues a store and sees that it is sent.
func (g *target) enqueue(f *transfer) {
	s := &g.t.senders
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		f.x.Finish(transport.ErrClosed)
		return
	}
	g.queue.push(f)
	s.backlog = append(s.backlog, g)
	if s.running < maxSenders {
		s.running++
		s.all.Add(1)
		go g.t.sendQueued()
	}
}

// sendQueued sends until nothing is queued for any target.
func (t *Transport) sendQueued() {
	defer log.Guard()
	defer t.senders.all.Done()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	t.opt.unbind()
	for g := t.senders.next(); g != nil; g = t.senders.next() {
		err := g.lock()
		if err == nil {
			g.mu.Unlock()
			continue
		}
		for f := g.queue.pop(); f != nil; f = g.queue.pop() {
			g.queue.length.Add(-1)
			f.sent(nil, err)
		}
	}
}

// close waits until all that was queued has ended.
func (s *senders) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.all.Wait()
}

// next is a target with queued stores; nil, and the thread has to end, if there is none.
func (s *senders) next() *target {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.backlog) == 0 {
		s.running--
		return nil
	}
	g := s.backlog[0]
	s.backlog = s.backlog[1:]
	return g
}
