// SPDX-License-Identifier: BSD-3-Clause

// How often a waiter looks at a network before it sleeps. A look there costs what the fabric makes of it, so looks are
// counted; whether they were right is a matter of time, as everywhere in this package.
package wait

import (
	"sync/atomic"
	"time"
)

// leastLooks and socketWake bound polling before a sleep: a look takes about half a microsecond, and it may take socketWake
// until a thread runs that a network has woken, because a processor that has nothing else to do halts.
const (
	leastLooks = 4
	socketWake = 80 * time.Microsecond
)

// Looks is how often a waiter looks: fewer times after looking was in vain.
type Looks struct {
	most int32
	now  atomic.Int32
}

// Init sets how often a waiter looks at most.
func (l *Looks) Init(most int) {
	l.most = int32(max(most, leastLooks))
	l.Paid()
}

// Now is how often the next waiter looks.
func (l *Looks) Now() int { return int(l.now.Load()) }

// Few tells whether it hardly looks at all, since that was in vain.
func (l *Looks) Few() bool { return l.now.Load() <= leastLooks }

// Paid records that looking has found something.
func (l *Looks) Paid() {
	if l.now.Load() != l.most {
		l.now.Store(l.most)
	}
}

// Slept records how long a sleep was: if hardly longer than it takes to wake, looking would have been better.
func (l *Looks) Slept(d time.Duration) {
	if d < socketWake {
		l.Paid()
	} else {
		l.now.Store(max(l.now.Load()/2, leastLooks))
	}
}
