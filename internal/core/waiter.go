// SPDX-License-Identifier: BSD-3-Clause

// Waiting for the local completion of an operation: whoever waits drives the transport.
package core

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"libarmci/internal/transport"
)

// waiter is told the end of one operation; several may wait for it.
type waiter struct {
	done   atomic.Bool
	err    error
	finish func(error) // for Xfer.Done; made once, so that a waiter can be used again without allocating
}

func newWaiter() *waiter {
	w := &waiter{}
	w.finish = func(err error) {
		w.err = err
		w.done.Store(true)
	}
	return w
}

// progressStep bounds one call of Progress: who waits looks again at least this often.
const progressStep = time.Millisecond

// wait drives the transport. Where that finds nothing to do, as while another goroutine sends, the core goes to others.
func (w *waiter) wait(tr transport.Transport) error {
	const yields, pause = 50, 20 * time.Microsecond
	for idle := 0; !w.done.Load(); idle++ {
		if n, _ := tr.Progress(progressStep); n > 0 {
			idle = 0
		}
		switch {
		case w.done.Load():
		case idle < yields:
			runtime.Gosched()
		default:
			time.Sleep(pause)
		}
	}
	return w.err
}

// waiters of blocking operations, which only their caller waits for.
var waiters = sync.Pool{New: func() any { return newWaiter() }}

func (w *waiter) release() {
	w.err = nil
	w.done.Store(false)
	waiters.Put(w)
}
