// SPDX-License-Identifier: BSD-3-Clause

// Who makes progress at the origin: whoever waits for something polls the source it comes from himself, because to be told
// by another thread takes longer than the whole answer. The seat is the right to poll a source. Who finds it taken sleeps
// until the owner has found something or leaves; when nobody waits, the progress thread takes it (thread.go).
package internode

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"libarmci/internal/transport"
)

type seat struct {
	t   *Transport
	src transport.Source

	mu      sync.Mutex
	turn    sync.Cond // the owner has found something, or has left
	taken   bool
	closed  bool
	waiting atomic.Int32 // who sleeps until turn

	later  atomic.Int32 // open requests that nobody waits for
	asleep atomic.Int32 // who waits for a message and has stopped looking (watch.go)
	driven atomic.Bool  // a caller has lately polled or sent: the progress thread need not
	afloat atomic.Int64 // bytes sent since something came
	events atomic.Uint64
	listed bool // with the progress thread: its lock

	// Of the owner.
	looks looks
	run   time.Time // when it last let Go's scheduler run
}

// Go's monitor takes the processor from a thread that has not been scheduled for 10 ms in each of its system calls, and
// looks for such threads 50,000 times a second. So who polls lets itself be scheduled before.
const scheduleEvery = 4 * time.Millisecond

// longSleep is how long an owner sleeps before it looks whether what it waits for came by other means.
const longSleep = 50 * time.Millisecond

func newSeat(t *Transport, src transport.Source) *seat {
	s := &seat{t: t, src: src, looks: looks{most: max(t.info.Looks, leastLooks), now: max(t.info.Looks, leastLooks)}}
	s.turn.L = &s.mu
	return s
}

// expects tells whether something is to come that nobody reads who waits for it.
func (s *seat) expects() bool { return s.later.Load() > 0 || s.asleep.Load() > 0 }

// await blocks until done; it polls meanwhile, if nobody else does.
func (s *seat) await(done func() bool) {
	if done() {
		return
	}
	s.mu.Lock()
	for {
		if !s.taken {
			s.taken = true
			s.mu.Unlock()
			s.drive(done, time.Time{})
			s.leave()
			return
		}
		s.waiting.Add(1) // before another look: who changes what it waits for looks here afterwards
		if !done() {
			s.turn.Wait()
		}
		s.waiting.Add(-1)
		if done() {
			if !s.taken { // the word may have been about the seat: pass it on
				s.turn.Signal()
			}
			s.mu.Unlock()
			return
		}
	}
}

// tryTake takes the seat if it is free.
func (s *seat) tryTake() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken || s.closed {
		return false
	}
	s.taken = true
	return true
}

// leave gives the seat up: to one who waits, else to the progress thread if something is to come.
func (s *seat) leave() {
	s.mu.Lock()
	s.taken = false
	next := s.waiting.Load() > 0
	if next {
		s.turn.Signal()
	}
	s.mu.Unlock()
	if !next && s.expects() {
		s.t.thread.attend(s)
	}
}

// tell wakes those who wait for what may have been found.
func (s *seat) tell() {
	if s.waiting.Load() > 0 {
		s.mu.Lock()
		s.turn.Broadcast()
		s.mu.Unlock()
	}
}

// poll looks, and tells others if something has come. For the owner.
func (s *seat) poll(looks int) int {
	n := s.src.Poll(looks)
	if n > 0 {
		s.events.Add(1)
		s.tell()
	}
	return n
}

// drive polls until done, or until a time that is not zero: then it returns false. For the owner.
func (s *seat) drive(done func() bool, until time.Time) bool {
	s.driven.Store(true)
	if now := time.Now(); now.Sub(s.run) > scheduleEvery {
		runtime.Gosched()
		s.run = now
	}
	looked := false
	for !done() {
		left := longSleep
		if !until.IsZero() {
			left = min(left, time.Until(until))
		}
		n := 0
		switch {
		case left <= 0:
			if n = s.poll(1); n == 0 {
				return false
			}
		case !looked:
			n = s.poll(s.looks.now + s.longer())
		default:
			begin := time.Now()
			s.src.Sleep(left)
			s.looks.slept(time.Since(begin))
			n = s.poll(1)
		}
		looked = n == 0
	}
	if !looked {
		s.looks.now = s.looks.most
	}
	return true
}

// longer is how much more often than usual to look because of the data that was sent: it takes its time, and to sleep
// would make it longer.
func (s *seat) longer() int {
	const perLook, most = 4 << 10, 4 << 20
	if s.looks.now <= leastLooks {
		return 0
	}
	return int(min(s.afloat.Load(), most) / perLook)
}

// close returns when nobody waits or polls any more. All targets have failed, so nobody begins to.
func (s *seat) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for s.taken || s.waiting.Load() > 0 {
		s.turn.Broadcast()
		s.mu.Unlock()
		s.src.Interrupt()
		time.Sleep(50 * time.Microsecond)
		s.mu.Lock()
	}
}

// leastLooks and wakeTime bound polling before a sleep: a look takes about half a microsecond, and it may take wakeTime
// until a thread runs that was woken, because a processor that has nothing else to do halts.
const (
	leastLooks = 4
	wakeTime   = 80 * time.Microsecond
)

// looks is how often a waiter looks before it sleeps: fewer times after looking was in vain.
type looks struct{ most, now int }

// slept is told how long a sleep was: if hardly longer than it takes to wake, looking would have been better.
func (l *looks) slept(d time.Duration) {
	if d < wakeTime {
		l.now = l.most
	} else {
		l.now = max(l.now/2, leastLooks)
	}
}
