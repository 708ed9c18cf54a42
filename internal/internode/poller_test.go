// SPDX-License-Identifier: BSD-3-Clause

// The next owner of a poller: a caller that waits, or the progress thread.
package internode

import (
	"sync/atomic"
	"testing"
	"time"

	"libarmci/internal/transport"
)

// emptySource is a source from which no frame comes.
type emptySource struct{ transport.Source }

// TestPollerIsPassedOn shows that a caller that gets the poller, and does not need it any more,
// leaves it to the progress thread if answers are due.
func TestPollerIsPassedOn(t *testing.T) {
	tr := &Transport{}
	tr.pollers.t = tr
	p := tr.pollers.pollerOf(&emptySource{})
	if !p.tryAcquire() {
		t.Fatal("the new poller has an owner")
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
	p.sleepers.Add(1) // a thread waits for a message
	done.Store(true)
	p.release()
	<-ended
	tr.thread.mu.Lock()
	defer tr.thread.mu.Unlock()
	if p.attention != attentionDue {
		t.Error("no thread polls")
	}
}

// TestPollerIsNotLeftToCallerThatLeaves shows that an owner does not count on a caller that is just
// leaving. That caller found the poller owned, so it passes nothing on. done runs under the
// poller's lock, where it holds the caller until the owner waits for that lock.
func TestPollerIsNotLeftToCallerThatLeaves(t *testing.T) {
	tr := &Transport{}
	tr.pollers.t = tr
	p := tr.pollers.pollerOf(&emptySource{})
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
	if p.attention != attentionDue {
		t.Error("the poller is free, a message is to come, and no thread was told")
	}
}
