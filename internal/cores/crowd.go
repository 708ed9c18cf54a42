// SPDX-License-Identifier: BSD-3-Clause

// When not to poll: where somebody computes on the core, a yield gives away a whole time slice, a few milliseconds, whatever
// comes meanwhile. Who sleeps instead is woken when it comes, and may then run at once because he has not had his share.
package cores

import "time"

const (
	lostSlice    = 500 * time.Microsecond // a yield that takes longer was to somebody who computes
	firstSpell   = 2 * time.Millisecond   // how long that counts; twice as long every time that he still does
	longestSpell = 250 * time.Millisecond
)

// spell is a time for which something holds that was found out at a cost: the longer the more often it was found again.
type spell struct {
	long  time.Duration
	until time.Time
}

func (s *spell) begin(now time.Time) {
	if s.long *= 2; s.long == 0 || now.Sub(s.until) > s.long {
		s.long = firstSpell
	}
	s.long = min(s.long, longestSpell)
	s.until = now.Add(s.long)
}

// Crowd is what a thread that polls knows of others on its core. The zero value knows of nobody.
type Crowd struct {
	spell
	here bool
}

// Yield lets others run. false: not any more, or not even this time, because somebody computes here: the caller should sleep.
func (c *Crowd) Yield() bool {
	begin := time.Now()
	if c.Crowded(begin) {
		return false
	}
	Yield()
	end := time.Now()
	return !c.Took(end.Sub(begin), end)
}

// Took is told how long a yield was, and when it ended: true if somebody computes here.
func (c *Crowd) Took(d time.Duration, now time.Time) bool {
	if d < lostSlice {
		return false
	}
	c.begin(now)
	c.here = true
	return true
}

// Crowded tells whether somebody computes here, as far as is known.
func (c *Crowd) Crowded(now time.Time) bool {
	c.here = c.here && now.Before(c.until)
	return c.here
}
