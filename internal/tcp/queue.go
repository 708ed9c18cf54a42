// SPDX-License-Identifier: BSD-3-Clause

// Large stores that nobody waits for: they are queued on their wire and sent by one of a few goroutines, or by the next
// caller who wants to send something there, so that what is posted later arrives later.
package tcp

import (
	"runtime"
	"sync"
	"sync/atomic"

	"libarmci/internal/log"
)

// queue is the stores of a wire that wait for their turn, oldest first.
type queue struct {
	mu     sync.Mutex
	list   []*transfer
	length atomic.Int32
}

func (q *queue) push(r *transfer) {
	q.mu.Lock()
	q.list = append(q.list, r)
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
	r := q.list[0]
	q.list[0] = nil
	q.list = q.list[1:]
	return r
}

// drain sends what is queued. The caller has the lock.
func (w *wire) drain() error {
	for r := w.queue.pop(); r != nil; r = w.queue.pop() {
		err := w.send(r)
		if err == nil {
			err = w.flush()
		}
		w.queue.length.Add(-1)
		r.sent(err)
		if err != nil {
			return err
		}
	}
	return nil
}

// maxWorkers bounds the threads and buffers that queued stores take, however many nodes they go to.
const maxWorkers = 4

// workers send what is queued.
type workers struct {
	mu      sync.Mutex
	backlog []*wire
	running int
	all     sync.WaitGroup
}

// enqueue queues a store and sees that it is sent.
func (w *wire) enqueue(r *transfer) {
	w.queue.push(r)
	s := &w.t.workers
	s.mu.Lock()
	defer s.mu.Unlock()
	s.backlog = append(s.backlog, w)
	if s.running < maxWorkers {
		s.running++
		s.all.Add(1)
		go w.t.work()
	}
}

// work sends until nothing is queued on any wire.
func (t *Transport) work() {
	defer log.Guard()
	defer t.workers.all.Done()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	t.opt.unbind()
	for w := t.workers.next(); w != nil; w = t.workers.next() {
		err := w.lock()
		if err == nil {
			w.mu.Unlock()
			continue
		}
		for r := w.queue.pop(); r != nil; r = w.queue.pop() {
			w.queue.length.Add(-1)
			r.sent(err)
		}
	}
}

// next is a wire with queued stores; nil, and the worker has to end, if there is none.
func (s *workers) next() *wire {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.backlog) == 0 {
		s.running--
		return nil
	}
	w := s.backlog[0]
	s.backlog = s.backlog[1:]
	return w
}
