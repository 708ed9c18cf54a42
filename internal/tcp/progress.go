// SPDX-License-Identifier: BSD-3-Clause

// Progress: a caller that waits for operations nobody waited for so far drives them itself, which is faster than to be
// told by the engine.
package tcp

import (
	"time"

	"golang.org/x/sys/unix"
)

// Progress sends what was put off, reads answers that have come, and returns how often it found some. With wait it
// waits until then, at most so long, and not longer than something is open.
func (t *Transport) Progress(wait time.Duration) (int, error) {
	var deadline time.Time
	for tries := 0; ; tries++ {
		found, open := t.poll(wait > 0)
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
		case tries < t.polls:
			yield()
		default:
			t.pause(min(left, time.Millisecond))
		}
	}
}

// poll looks at every wire once. open is the number of those on which something is. wait: for large stores too.
func (t *Transport) poll(wait bool) (found, open int) {
	for _, w := range t.wires {
		if !w.live.Load() {
			continue
		}
		w.push()
		if w.queue.length.Load() > 0 {
			open++
			if wait && w.lock() == nil { // which sends them
				w.mu.Unlock()
				found++
			}
		}
		if w.table.later.Load() == 0 {
			continue
		}
		open++
		w.driven.Store(true)
		if !w.role.TryLock() {
			continue
		}
		got, err := w.receive()
		if err != nil {
			w.fail(err)
		}
		w.leave()
		if got {
			found++
		}
	}
	return found, open
}

// pause sleeps until an answer comes on some wire.
func (t *Transport) pause(limit time.Duration) {
	var fds []unix.PollFd
	for _, w := range t.wires {
		if w.live.Load() && w.broken.Load() == nil && w.table.later.Load() > 0 {
			fds = append(fds, unix.PollFd{Fd: int32(w.fd), Events: unix.POLLIN})
		}
	}
	ts := unix.NsecToTimespec(int64(limit))
	unix.Ppoll(fds, &ts, nil)
}
