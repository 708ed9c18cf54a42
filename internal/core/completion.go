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

// completion is the local completion of one operation; several threads may wait for it.
type completion struct {
	done atomic.Bool
	err  error
	// for Xfer.Done; created once, so that reusing a completion does not allocate
	onDone func(error)
}

func newCompletion() *completion {
	c := &completion{}
	c.onDone = func(err error) {
		c.err = err
		c.done.Store(true)
	}
	return c
}

// progressStep bounds one call of Progress: a waiting thread checks for completion at least this
// often.
const progressStep = time.Millisecond

// scheduleEvery is how long a thread that finds something again and again goes on without Go's
// scheduler.
const scheduleEvery = 4 * time.Millisecond

// waitDone waits until the operation is complete, and drives its transport meanwhile. If that has
// nothing to do, as while another goroutine sends, it yields. While messages arrive it does not: on
// a thread of the application a yield to Go's scheduler takes as long as many polls.
func (c *completion) waitDone(tr transport.Transport) error {
	const yields, pause = 50, 20 * time.Microsecond
	run := time.Now()
	for idle := 0; !c.done.Load(); idle++ {
		n, _ := tr.Progress(progressStep)
		if n > 0 {
			idle = 0
		}
		switch {
		case c.done.Load():
		case n > 0 && time.Since(run) < scheduleEvery:
		case idle < yields:
			run = time.Now()
			runtime.Gosched()
		default:
			time.Sleep(pause)
		}
	}
	return c.err
}

// completions are those of blocking operations, for reuse.
var completions = sync.Pool{New: func() any { return newCompletion() }}

func (c *completion) release() {
	c.err = nil
	c.done.Store(false)
	completions.Put(c)
}
