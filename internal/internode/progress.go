// SPDX-License-Identifier: BSD-3-Clause

// Progress: a caller that waits for operations nobody waited for so far drives them itself, which is faster than to be told
// by the progress thread.
package internode

import "time"

// Progress sends what was put off, deals with what has come, and returns how often it found something. With wait it waits
// until then, at most so long, and not longer than something is open.
func (t *Transport) Progress(wait time.Duration) (int, error) {
	var deadline time.Time
	for tries := 0; ; tries++ {
		found, open, s := t.look(wait > 0)
		if found > 0 || wait <= 0 || open == 0 {
			return found, nil
		}
		if deadline.IsZero() {
			deadline = time.Now().Add(wait)
		}
		left := time.Until(deadline)
		switch {
		case left <= 0:
			return 0, nil
		case tries < t.info.Looks || s == nil:
			yield()
		default:
			s.rest(min(left, time.Millisecond/time.Duration(open)))
		}
	}
}

// look polls every source once on which something is open, of which s is one. all: queued stores are sent, too.
func (t *Transport) look(all bool) (found, open int, s *seat) {
	for _, g := range t.targets {
		g.flush()
		if g.queue.length.Load() > 0 {
			open++
			if all && g.lock() == nil { // which sends them
				g.mu.Unlock()
				found++
			}
		}
	}
	for _, next := range *t.seats.Load() {
		if next.later.Load() == 0 {
			continue
		}
		open++
		s = next
		s.driven.Store(true)
		if s.tryTake() {
			if s.poll(1) > 0 {
				found++
			}
			s.leave()
		}
	}
	return found, open, s
}

// rest sleeps until something comes from a source.
func (s *seat) rest(limit time.Duration) {
	if !s.tryTake() {
		time.Sleep(min(limit, 20*time.Microsecond))
		return
	}
	s.src.Sleep(limit)
	s.poll(1)
	s.leave()
}
