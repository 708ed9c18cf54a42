// SPDX-License-Identifier: BSD-3-Clause

// Who polls next: whoever has owned a poller passes it on to a caller that waits, or to the
// progress thread.
package internode

import (
	"sync/atomic"
	"testing"
	"time"

	"libarmci/internal/transport"
)

// nothing is a source from which nothing comes.
type nothing struct{ transport.Source }

// Who gets the poller when it is not needed any more leaves it to the progress thread, if something
// is to come.
func TestPollerIsPassedOn(t *testing.T) {
	tr := &Transport{}
	p := tr.pollerOf(&nothing{})
	if !p.tryAcquire() {
		t.Fatal("somebody has the poller")
	}
	var done atomic.Bool
	ended := make(chan struct{})
	go func() {
		p.pollUntil(done.Load)
		close(ended)
	}()
	for p.waiting.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	p.sleepers.Add(1) // somebody waits for a message
	done.Store(true)
	p.release()
	<-ended
	tr.thread.mu.Lock()
	defer tr.thread.mu.Unlock()
	if !p.requested {
		t.Error("nobody polls")
	}
}

// A caller that leaves while the owner releases the poller found it owned, so it passes nothing on.
// The owner must not count on it. done runs under the poller's lock, where it holds the caller
// until the owner waits for that lock.
func TestPollerIsNotLeftToCallerThatLeaves(t *testing.T) {
	tr := &Transport{}
	p := tr.pollerOf(&nothing{})
	if !p.tryAcquire() {
		t.Fatal("the new poller has an owner")
	}
	p.sleepers.Add(1) // a thread waits for a message
	var calls int
	counted, leave, left := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(left)
		p.pollUntil(func() bool {
			if calls++; calls == 2 { // the caller has counted itself and holds the lock
				close(counted)
				<-leave
			}
			return calls > 1
		})
	}()
	<-counted
	released := make(chan struct{})
	go func() {
		defer close(released)
		p.release()
	}()
	time.Sleep(50 * time.Millisecond) // until release waits for the lock
	close(leave)
	<-left
	<-released
	tr.thread.mu.Lock()
	defer tr.thread.mu.Unlock()
	if !p.requested {
		t.Error("the poller is free, a message is to come, and no thread was told")
	}
}
