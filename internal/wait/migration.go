// SPDX-License-Identifier: BSD-3-Clause

// How a thread of the library that polls moves to a core where it disturbs no other, and lets
// others run on its core.
//
// A data server that polls on the core where its origin polls answers half as fast, and the kernel
// leaves both there for tens of milliseconds. A long yield shows that another thread runs here: the
// server moves to another core, and avoids one where a program computes for a while. Threads of the
// application are never moved.
package wait

// #include "wait.h"
// #cgo nocallback wait_cpu
// #cgo nocallback wait_move
// #cgo noescape wait_move
import "C"

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	sharedYield = 2 * time.Microsecond   // longer than a yield that changes nothing
	slice       = 200 * time.Microsecond // longer than one to another that polls
	sharedScore = 4                      // for a yield to another, against 1 for a shorter one
	sharedAt    = 16                     // the thread moves
	slicedAt    = 2                      // it moves, too: a single slice may be chance
	firstStay   = time.Millisecond / 4   // before it may move again; doubled each vain time
	longestStay = 8 * time.Millisecond
	sleptStay   = time.Millisecond / 2
)

// Migration is what a thread knows of its core, and of others.
type Migration struct {
	score  int // grows while more than one yield in five is to another
	sliced int // yields that took a time slice, until it is 0
	stay   time.Duration
	moved  time.Time

	shunned unix.CPUSet // cores where a program computes
	shun    Crowd
	blocked bool // all other cores are among them
	Crowd        // for when it cannot move
}

// Yield lets others run, and moves the thread if that should help. It returns the time. crowded:
// the thread should sleep, because a program computes here and it has not moved.
func (m *Migration) Yield() (now time.Time, crowded bool) {
	begin := time.Now()
	Yield()
	now = time.Now()
	took := now.Sub(begin)
	return now, !m.judge(took, now, moveThread) && m.Took(took, now)
}

// judge is told how long a yield took, and calls move if the thread should move: true if it has.
func (m *Migration) judge(took time.Duration, now time.Time,
	move func(shunned *unix.CPUSet) bool) bool {
	if took < sharedYield {
		if m.score = max(m.score-1, 0); m.score == 0 {
			m.sliced = 0
		}
		return false
	}
	m.score = min(m.score+sharedScore, sharedAt)
	if took >= slice {
		m.sliced++
	}
	rested, computed := now.Sub(m.moved), m.sliced >= slicedAt
	if !computed && (m.score < sharedAt || rested < m.stay) {
		return false
	}
	if !m.shun.Crowded(now) {
		m.shunned.Zero()
		m.blocked = false
	}
	if computed {
		m.avoid(currentCore(), now)
	}
	if m.blocked = m.blocked || !move(&m.shunned); m.blocked {
		return false
	}
	if !computed {
		if rested < 4*max(m.stay, firstStay) {
			m.stay = min(2*m.stay, longestStay)
		} else {
			m.stay = firstStay
		}
	}
	m.score, m.sliced, m.moved = 0, 0, now
	return true
}

// avoid shuns a core for a while: of all cores that are known to be no better, it is the one that
// is known best.
func (m *Migration) avoid(core int, now time.Time) {
	if m.blocked {
		m.shunned.Zero()
		m.blocked = false
	}
	m.shunned.Set(core)
	m.shun.Took(lostSlice, now)
}

// AfterSleep is called when the thread has slept: the kernel may have put it elsewhere, which is no
// fault of the last move.
func (m *Migration) AfterSleep() { m.stay = min(m.stay, sleptStay) }

// Yield lets others run on this core, if there are any.
func Yield() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// moveThread moves the calling thread, which is locked to its goroutine, to another core it may use
// and that is not shunned: false if there is none.
func moveThread(shunned *unix.CPUSet) bool {
	return bool(C.wait_move((*C.uint64_t)(unsafe.Pointer(shunned))))
}

func currentCore() int { return max(int(C.wait_cpu()), 0) }
