// SPDX-License-Identifier: BSD-3-Clause

// Waiting for an answer. A caller takes the reader's role and reads the socket itself, because handing over from another
// thread costs more than the whole answer; if another one has the role, the caller sleeps until he has read the answer
// or gives the role up.
package tcp

import (
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// sleepers are callers that wait while another one reads.
type sleepers struct {
	mu   sync.Mutex
	list []*pending
	n    atomic.Int32
}

func (s *sleepers) add(p *pending) {
	s.mu.Lock()
	s.list = append(s.list, p)
	s.n.Store(int32(len(s.list)))
	s.mu.Unlock()
}

func (s *sleepers) remove(p *pending) {
	s.mu.Lock()
	for i, q := range s.list {
		if p == q {
			s.list = append(s.list[:i], s.list[i+1:]...)
			break
		}
	}
	s.n.Store(int32(len(s.list)))
	s.mu.Unlock()
}

// wakeOne tells one of them that the role is free: false if there is none.
func (s *sleepers) wakeOne() bool {
	if s.n.Load() == 0 {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.list) == 0 {
		return false
	}
	s.list[0].nudge()
	return true
}

// await returns when p is complete. What it found is read before p is released.
func (w *wire) await(p *pending) {
	for p.state.Load() != isDone {
		if !w.role.TryLock() {
			w.sleep(p)
			continue
		}
		w.readFor(p)
		w.leave()
	}
}

// sleep returns when p is complete, or perhaps when the role is free.
func (w *wire) sleep(p *pending) {
	if !p.state.CompareAndSwap(isOpen, isSleeping) {
		return
	}
	w.sleepers.add(p)
	free := w.role.TryLock() // since the caller looked: then nobody might give the word
	if !free {
		<-p.wake
	}
	w.sleepers.remove(p)
	p.state.CompareAndSwap(isSleeping, isOpen)
	if free || p.state.Load() == isDone && w.role.TryLock() { // the word may have been about the role: pass it on
		w.leave()
	}
}

// leave gives the role up: to a sleeper, else to the engine.
func (w *wire) leave() {
	w.role.Unlock()
	if !w.sleepers.wakeOne() && w.expects() {
		w.t.engine.attend(w)
	}
}

// Looking costs about half a microsecond, so these bound the time until a waiter sleeps: an answer that comes within
// about 100 microseconds is met awake, unless that was in vain lately.
const (
	mostPolls  = 200
	leastPolls = 4
)

// slept is told how long the reader has slept: if that was hardly longer than it takes to wake, looking would have been
// better.
func (w *wire) slept(d time.Duration) {
	if d < wakeTime {
		w.polls = w.t.polls
	} else {
		w.polls = max(w.polls/2, leastPolls)
	}
}

// longer is how much more often than usual to look because of the data that was sent: it takes its time, and to sleep
// would make it longer.
func (w *wire) longer() int {
	if w.polls <= leastPolls {
		return 0
	}
	const perPoll, most = 4 << 10, 4 << 20
	return int(min(w.afloat.Load(), most) / perPoll)
}

// readFor reads until p is complete. The caller has the role.
func (w *wire) readFor(p *pending) {
	tries := 0
	w.driven.Store(true)
	w.rest.take(time.Now())
	for p.state.Load() != isDone {
		got, err := w.receive()
		switch {
		case err != nil:
			w.fail(err)
			return
		case got:
			tries = 0
		case tries < w.polls+w.longer():
			tries++
			yield()
		default:
			begin := time.Now()
			waitFor(w.fd, unix.POLLIN, noDeadline)
			w.slept(time.Since(begin))
			tries = 0
		}
	}
	if tries > 0 {
		w.polls = w.t.polls
	}
}
