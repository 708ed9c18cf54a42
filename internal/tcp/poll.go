// SPDX-License-Identifier: BSD-3-Clause

// Polling before sleeping: for a short while after a request the loop asks again and again, if that has lately paid.
package tcp

import (
	"time"

	"golang.org/x/sys/unix"
)

// poller decides how long.
type poller struct {
	longest time.Duration
	window  time.Duration
	moved   int // bytes, when a connection was served last
}

// patience is how long the loop polls now. Who sends or receives much data takes time to do so before the next request.
func (p *poller) patience() time.Duration {
	const bytesPerNano = 4
	return p.window + time.Duration(p.moved/bytesPerNano)
}

// paid is told whether a round of polling was of use.
func (p *poller) paid(yes bool) {
	if yes {
		p.window = p.longest
		return
	}
	if p.window /= 2; p.window < p.longest/16 {
		p.window = 0
	}
}

// wakeTime is what it may take until a thread runs that was woken: a processor that has nothing else to do halts.
const wakeTime = 80 * time.Microsecond

// slept is told how long the loop has slept: if that was short, polling would have been better.
func (p *poller) slept(d time.Duration) {
	if d < p.longest+wakeTime {
		p.window = p.longest
	}
}

// maxRounds ends a round of polling that always pays, so that the loop comes to its other duties.
const maxRounds = 1000

// pollLast asks the connection that was served last, and at times all others.
func (s *server) pollLast() {
	if s.last == nil || s.poll.window == 0 || s.w.c != nil && s.w.status == busy {
		return
	}
	var events [1]unix.EpollEvent
	start := time.Now()
	for round := 0; round < maxRounds && time.Since(start) < s.poll.patience(); round++ {
		for range 4 {
			if s.last == nil || s.closing.Load() {
				return
			}
			if s.serve(s.last) {
				s.poll.paid(true)
				start = time.Now()
			}
		}
		if n, _ := unix.EpollWait(s.ep, events[:], 0); n > 0 {
			s.poll.paid(true)
			s.event(events[0].Pad, int(events[0].Fd))
			start = time.Now()
		}
		s.rest.take(s.sharing.yield())
	}
	s.poll.paid(time.Since(start) < s.poll.patience())
}
