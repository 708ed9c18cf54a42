// SPDX-License-Identifier: BSD-3-Clause

// The loop of a data server: how long it looks for the next message before it sleeps. What is done with one is in server.go.
package rdma

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/log"
)

// runEvery is how often the loop goes through Go's scheduler. From whoever does not for 10 ms it takes the processor in each
// system call, and it looks for such 20 000 times a second, which on a busy core costs more than the messages.
const runEvery = 4 * time.Millisecond

// A server keeps looking for shortPoll before it sleeps, and for as long as it may where that has paid: where so many times
// in a row the next message has come within that time. Where a look takes long, somebody computes on its processor and got
// it when the server yielded: then it sleeps at once for some messages, since who is woken goes first.
const (
	shortPoll = 20 * time.Microsecond
	quickOnes = 2
	crowded   = 500 * time.Microsecond
	sleepy    = 100
)

// patience is how long to look, after so many messages in a row that came soon, or before so many more have come.
func (s *server) patience(quick int) time.Duration {
	switch {
	case quick < 0:
		return 0
	case quick < quickOnes:
		return min(shortPoll, s.opt.Poll)
	}
	return s.opt.Poll
}

// loop serves until close.
func (s *server) loop() {
	defer log.Guard()
	defer close(s.finished)
	last, beat := time.Now(), time.Now()
	var run time.Time
	quick := 0
	for !s.closing.Load() {
		if time.Since(run) > runEvery {
			runtime.Gosched()
			s.opt.unbind() // whatever thread this is now
			run = time.Now()
		}
		if time.Since(beat) > s.opt.pulseEvery() {
			beat = time.Now()
			s.pulses()
		}
		found, took := s.look()
		if took > crowded {
			quick = -sleepy
		}
		now := time.Now()
		if !found {
			if now.Sub(last) < s.patience(quick) {
				continue
			}
			s.sleep()
			now = time.Now()
		}
		if quick++; quick > 0 && now.Sub(last) >= s.opt.Poll {
			quick = 0
		}
		last = now
	}
	s.farewell()
}

// yields between two looks at the clock.
const yields = 4

// look looks for a moment, and tells how long that took. false: nothing has been completed.
func (s *server) look() (found bool, took time.Duration) {
	begin := time.Now()
	n, err := s.h.cq.Look(s.done[:], 1, yields)
	took = time.Since(begin)
	return s.deal(n, err), took
}

// sleep returns when something has happened.
func (s *server) sleep() {
	n, rang, err := s.h.cq.Sleep(s.done[:], s.h.channel, s.wake, s.untilPulse())
	if rang {
		var b [8]byte
		unix.Read(s.wake, b[:])
		s.payDebts()
	}
	s.deal(n, err)
}
