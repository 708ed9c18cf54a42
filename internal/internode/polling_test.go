// SPDX-License-Identifier: BSD-3-Clause

// How long a data server polls.
package internode

import (
	"testing"
	"time"

	"libarmci/internal/transport"
)

func TestPollPolicy(t *testing.T) {
	p := pollPolicy{longest: 200 * time.Microsecond}
	if p.patience() != 0 {
		t.Error("it polls before anything has come soon")
	}
	p.slept(10 * time.Millisecond)
	if p.event(1); p.patience() != 0 {
		t.Error("it polls after a long sleep")
	}
	p.slept(time.Microsecond)
	for range 10 {
		p.event(1)
	}
	if p.patience() != p.longest {
		t.Errorf("it polls for %v after many events, not for %v", p.patience(), p.longest)
	}
	if p.event(1 << 20); p.patience() < 2*p.longest || p.patience() > time.Millisecond {
		t.Errorf("it polls for %v after 1 MiB", p.patience())
	}
	for range 20 {
		p.inVain()
	}
	if p.patience() != 0 {
		t.Error("it polls although that is in vain")
	}
	p.slept(time.Microsecond)
	if p.crowded(); p.patience() != 0 {
		t.Error("it polls on although somebody computes on its core")
	}
	off := pollPolicy{}
	off.slept(0)
	if off.event(1); off.patience() != 0 {
		t.Error("it polls although the setting is 0")
	}
}

// lookout is a listener at which nothing comes; it counts who looks.
type lookout struct {
	transport.Listener
	looks int
}

func (l *lookout) Poll(int) int {
	l.looks++
	return 0
}

// A server looks once before it sleeps, even if it is not to poll: an origin on the same core has its next request ready.
func TestLooksOnce(t *testing.T) {
	l := &lookout{}
	s := &server{listener: l}
	if s.round(); l.looks != 1 {
		t.Errorf("it looks %d times before it sleeps", l.looks)
	}
	s.core.Took(time.Second, time.Now())
	if s.round(); l.looks != 1 {
		t.Error("it polls on a core where somebody computes")
	}
}
