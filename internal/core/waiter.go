// SPDX-License-Identifier: BSD-3-Clause

// Waiting for the local completion of an operation. The waiting thread drives the transport.
package core

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"libarmci/internal/transport"
)

// waiter is notified of the completion of one operation; several threads may wait for it.
type waiter struct {
	done   atomic.Bool
	err    error
	finish func(error) // for Xfer.Done; created once, so that reusing a waiter does not allocate
}

func newWaiter() *waiter {
	w := &waiter{}
	w.finish = func(err error) {
		w.err = err
		w.done.Store(true)
	}
	return w
}

// progressStep bounds one call of Progress: a waiting thread checks for completion at least this often.
const progressStep = time.Millisecond

// wait blocks until completion and drives the transport. If that has nothing to do, as while another goroutine sends, it
// yields.
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

// waiters are those of blocking operations, for reuse.
var waiters = sync.Pool{New: func() any { return newWaiter() }}

func (w *waiter) release() {
	w.err = nil
	w.done.Store(false)
	waiters.Put(w)
}
