// SPDX-License-Identifier: BSD-3-Clause

// How many processors Go has: a thread of the application that has called the library keeps one
// while it computes, until Go's monitor takes it away, which may be some milliseconds later
// (monitor.c). So there are more than such threads.
package guest

import "C"

import (
	"runtime"
	"sync"
)

const (
	fewThreads = 4 // for these the base is enough
	mostProcs  = 256
)

var procs struct {
	mu      sync.Mutex // guards the rest
	base    int        // 0: not set yet
	threads int
}

// SetProcs sets how many processors Go has where few threads call the library.
func SetProcs(base int) {
	procs.mu.Lock()
	defer procs.mu.Unlock()
	procs.base = base
	runtime.GOMAXPROCS(procsFor(base, procs.threads))
}

// procsFor leaves room for twice the threads: to change the number stops all goroutines.
func procsFor(base, threads int) int {
	if threads <= fewThreads {
		return base
	}
	return min(base+2*threads, mostProcs)
}

// armcigo_threads is called by procs.c when more threads of the application call the library. It
// returns for how many threads there are processors.
//
//export armcigo_threads
func armcigo_threads(n C.int) C.int { return C.int(enterThreads(int(n))) }

// enterThreads sees to it that there are processors for so many threads, and returns for how many
// there are. Their number is not lowered: the threads may come back.
func enterThreads(n int) (enough int) {
	procs.mu.Lock()
	defer procs.mu.Unlock()
	if n > procs.threads {
		procs.threads = n
		if most := procsFor(procs.base, n); procs.base > 0 && most > runtime.GOMAXPROCS(0) {
			runtime.GOMAXPROCS(most)
		}
	}
	return max(2*procs.threads, fewThreads)
}
