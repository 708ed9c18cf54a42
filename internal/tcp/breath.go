// SPDX-License-Identifier: BSD-3-Clause

// Keeping Go's scheduler quiet. Its monitor looks every 20 microseconds while it finds work, else up to 10 milliseconds
// apart; and it finds work whenever it sees a thread in a system call that has not been scheduled for 10 milliseconds.
// A thread that polls is such a one: the monitor would then interrupt it, or who polls on the other side, for a sixth
// of the time. So it lets itself be scheduled before. Nothing here waits for others.
package tcp

import (
	"runtime"
	"time"
)

const breathAfter = 5 * time.Millisecond // half of what the scheduler grants

// breath is when a thread that polls was scheduled last.
type breath struct{ last time.Time }

// take is called when there is nothing better to do.
func (b *breath) take(now time.Time) {
	if b.due(now) {
		runtime.Gosched()
	}
}

// due tells whether it is time. A thread that has not been here for long has not polled all the time.
func (b *breath) due(now time.Time) bool {
	since := now.Sub(b.last)
	if since >= breathAfter {
		b.last = now
	}
	return since >= breathAfter && since < 2*breathAfter
}
