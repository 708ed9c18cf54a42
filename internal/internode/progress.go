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
		found, open, p := t.look(wait > 0)
		if found > 0 || wait <= 0 || open == 0 {
			return found, nil
		}
		if deadline.IsZero() {
			deadline = time.Now().Add(wait)
		}
		left := min(time.Until(deadline), time.Millisecond/time.Duration(open))
		switch {
		case left <= 0:
			return 0, nil
		case tries < t.info.Looks || p == nil:
			yield()
		case p.tryAcquire():
			p.src.Sleep(left)
			p.poll(1)
			p.release()
		default:
			time.Sleep(min(left, 20*time.Microsecond))
		}
	}
}

// look polls every source once on which something is open, of which p polls one. all: queued stores are sent, too.
func (t *Transport) look(all bool) (found, open int, p *poller) {
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
	for _, next := range t.pollers.Range {
		if next := next.(*poller); next.later.Load() > 0 {
			open++
			p = next
			p.driven.Store(true)
			if p.pollOnce() {
				found++
			}
		}
	}
	return found, open, p
}
