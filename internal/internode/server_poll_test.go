// SPDX-License-Identifier: BSD-3-Clause

// How long a data server polls.
package internode

import (
	"testing"
	"time"

	"libarmci/internal/transport"
)

// countingListener is a listener at which no frame comes; it counts polls.
type countingListener struct {
	transport.Listener
	polls int
}

func (l *countingListener) Poll(int) int {
	l.polls++
	return 0
}

// TestServerPollsOnceBeforeSleep shows that a server polls once before it sleeps, even if it must
// not spin: an origin on the same core has its next request ready.
func TestServerPollsOnceBeforeSleep(t *testing.T) {
	l := &countingListener{}
	s := &server{listener: l}
	if s.pollWhilePaying(); l.polls != 1 {
		t.Errorf("it looks %d times before it sleeps", l.polls)
	}
	s.core.Took(time.Second, time.Now())
	if s.pollWhilePaying(); l.polls != 1 {
		t.Error("it polls on a core where another thread computes")
	}
}
