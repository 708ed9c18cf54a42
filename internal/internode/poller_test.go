// SPDX-License-Identifier: BSD-3-Clause

// Who polls next: whoever has owned a poller passes it on to a caller that waits, or to the progress thread.
package internode

import (
	"sync/atomic"
	"testing"
	"time"

	"libarmci/internal/transport"
)

// nothing is a source from which nothing comes.
type nothing struct{ transport.Source }

// Who gets the poller when it is not needed any more leaves it to the progress thread, if something is to come.
func TestPollerIsPassedOn(t *testing.T) {
	tr := &Transport{}
	p := tr.pollerOf(&nothing{})
	if !p.tryAcquire() {
		t.Fatal("somebody has the poller")
	}
	var done atomic.Bool
	ended := make(chan struct{})
	go func() {
		p.await(done.Load)
		close(ended)
	}()
	for p.waiting.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	p.asleep.Add(1) // somebody waits for a message
	done.Store(true)
	p.release()
	<-ended
	tr.thread.mu.Lock()
	defer tr.thread.mu.Unlock()
	if !p.listed {
		t.Error("nobody polls")
	}
}
