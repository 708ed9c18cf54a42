// SPDX-License-Identifier: BSD-3-Clause

// Package wait is how threads of the library wait: one policy for all of them. It says how long a
// thread looks for what it waits for, whether it yields its core, and when it sleeps; what it
// learns from each wait; and which core it moves to. It knows nothing of what is waited for.
package wait

// #cgo CFLAGS: -std=gnu11 -fvisibility=hidden -Wall -Wextra
// #cgo LDFLAGS: -lpthread
// #include "wait.h"
import "C"

import "time"

// AnySpin leaves it to the patience of a waiter how long it looks before it yields.
const AnySpin = C.WAIT_ANY_SPIN * time.Nanosecond

// CrowdedSpin is how long a waiter looks before it yields where waiters outnumber cores.
const CrowdedSpin = C.WAIT_CROWDED_SPIN * time.Nanosecond

// QuickTime is how long QuickLooks of looks take.
const QuickTime = C.WAIT_QUICK * time.Nanosecond

// WakeCost measures what sleeping and being woken costs on this machine. It takes a millisecond at
// most.
func WakeCost() time.Duration {
	cost := C.wait_measure_wake()
	if cost == 0 {
		return C.WAIT_USUAL_WAKE
	}
	return time.Duration(min(max(cost, C.WAIT_LEAST_WAKE), C.WAIT_MOST_WAKE))
}

// QuickLooks measures how many looks at a word of memory take QuickTime.
func QuickLooks() int { return int(C.wait_measure_quick()) }

// OwnYield measures of what length a yield has run another thread.
func OwnYield() time.Duration { return time.Duration(C.wait_measure_yield()) }
