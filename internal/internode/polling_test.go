// SPDX-License-Identifier: BSD-3-Clause

// How long a data server polls.
package internode

import (
	"testing"
	"time"

	"libarmci/internal/transport"
)

// lookout is a listener at which nothing comes; it counts who looks.
type lookout struct {
	transport.Listener
	looks int
}

func (l *lookout) Poll(int) int {
	l.looks++
	return 0
}

// A server looks once before it sleeps, even if it is not to poll: an origin on the same core has
// its next request ready.
func TestLooksOnce(t *testing.T) {
	l := &lookout{}
	s := &server{listener: l}
	if s.pollWhilePaying(); l.looks != 1 {
		t.Errorf("it looks %d times before it sleeps", l.looks)
	}
	s.core.Took(time.Second, time.Now())
	if s.pollWhilePaying(); l.looks != 1 {
		t.Error("it polls on a core where somebody computes")
	}
}
