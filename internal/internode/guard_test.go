// SPDX-License-Identifier: BSD-3-Clause

// How long the listener stays diverted after a waiter has left, in virtual time.
package internode

import (
	"errors"
	"testing"
	"time"

	"libarmci/internal/testutil/eventually"
	"libarmci/internal/testutil/pipe"
	"libarmci/internal/transport"
)

// guardTest has a waiter come and leave.
type guardTest struct {
	guard
	now time.Duration
}

const noGuard = time.Duration(-1)

// visits has n visits, each a time after the one before. It returns the last alarm that was set;
// noGuard if no waiter is expected back after the last visit.
func (g *guardTest) visits(n int, away time.Duration) (last time.Duration) {
	for range n {
		g.now += away
		g.waiterArrived(g.now)
		if !g.waiterLeft(g.now) {
			last = noGuard
		} else if alarm := g.extend(g.now); alarm != 0 {
			last = alarm
		}
	}
	return last
}

// TestGuardGrows shows that the alarm is early where an origin needed an answer lately, else late,
// and that each is set once for many visits.
func TestGuardGrows(t *testing.T) {
	var g guardTest
	g.now = time.Second
	g.recordNeed()
	if alarm := g.visits(maxReturns, 10*time.Microsecond); alarm != minGuard {
		t.Errorf("an origin needed an answer: the alarm is %v, not %v", alarm, minGuard)
	}
	alarm := g.visits(500, soonReturn-time.Microsecond)
	if alarm < 4*time.Millisecond || alarm > 5*time.Millisecond {
		t.Errorf("100 ms without such an origin: the alarm is %v", alarm)
	}
	if alarm := g.visits(1000, soonReturn-time.Microsecond); alarm != maxGuard {
		t.Errorf("without such an origin the alarm is %v, not %v", alarm, maxGuard)
	}
	g.extend(g.now)
	if n := g.visits(3, time.Millisecond); n != 0 && n != maxGuard {
		t.Errorf("the alarm is set to %v though it is far away", n)
	}
	if !g.isActive(g.now) || g.isActive(g.now+maxGuard) {
		t.Error("the guard ends too soon, or never")
	}
	g.recordPoll()
	g.recordNeed()
	if g.needed.Load() {
		t.Error("an origin is said to need an answer though a waiter was there")
	}
	g.visits(1, 10*time.Microsecond)
	g.recordNeed()
	if alarm := g.visits(1, 10*time.Microsecond); alarm != minGuard {
		t.Errorf("again an origin needed one: the alarm is %v, not %v", alarm, minGuard)
	}
	if alarm := g.visits(maxReturns, 10*soonReturn); alarm != noGuard {
		t.Errorf("the alarm is set to %v though waiters come seldom", alarm)
	}
}

// TestGuardWhereOriginsAsk shows when a waiter is expected back: after less than the guard where no
// origin asks for answers, else after a quarter of that, even if waiters have answered all.
func TestGuardWhereOriginsAsk(t *testing.T) {
	for _, asks := range []bool{false, true} {
		var g guardTest
		g.now = time.Second
		for range 3 * maxReturns {
			g.recordPoll()
			if asks {
				g.recordNeed()
			}
			g.visits(1, maxGuard-time.Millisecond)
		}
		if expected := g.visits(1, time.Microsecond) != noGuard; expected == asks {
			t.Errorf("origins ask: %v; a waiter is expected back: %v", asks, expected)
		}
		if g.needed.Load() {
			t.Error("an origin is said to need an answer though waiters were there")
		}
	}
}

// TestWhatShortensTheGuard shows that a get, a call and a message that is acted on make the next
// guards short. A message that only a waiter needs does not, nor does a call without a caller that
// waits.
func TestWhatShortensTheGuard(t *testing.T) {
	_, ends, u := newUser(t, pipe.Options{}, nil)
	g := &ends.Open[1].(*Transport).server.incoming.guard
	if err := u.operate(1); err != nil { // connects
		t.Fatal(err)
	}
	call := func(late bool) error {
		_, err := u.tr.Call(1, transport.Msg{Kind: 9, Unhurried: late})
		return err
	}
	send := func(late bool) error {
		sent := 1
		for ends.Inbox[1].Has(0, sent) {
			sent++
		}
		err := u.tr.Send(1, transport.Msg{Kind: 9, Body: []byte("message"),
			Unhurried: late})
		for end := time.Now().Add(patience); !ends.Inbox[1].Has(0, sent); {
			if time.Sleep(100 * time.Microsecond); time.Now().After(end) {
				return errors.New("it has not come")
			}
		}
		return err
	}
	for _, c := range []struct {
		what   string
		do     func() error
		needed bool
	}{
		{"get", func() error { return done(t, u.tr.Get, plain(u.mine, u.there, 8)) }, true},
		{"call", func() error { return call(false) }, true},
		{"message", func() error { return send(false) }, true},
		{"message for a waiter", func() error { return send(true) }, false},
		{"call without a waiting caller", func() error { return call(true) }, false},
	} {
		g.needed.Store(false)
		if err := c.do(); err != nil {
			t.Fatalf("%s: %v", c.what, err)
		}
		if g.needed.Load() != c.needed {
			t.Errorf("a %s: an origin needs an answer: %v", c.what, !c.needed)
		}
	}
}

// TestLateDataShortensTheGuard shows that frames that came during the guard, and are received when
// it is over, make the next ones short.
func TestLateDataShortensTheGuard(t *testing.T) {
	w := newIncomingTest(t)
	in := &w.tr.server.incoming
	var v transport.Visit
	w.begin(&v)
	w.send()
	in.guard.needed.Store(false)
	in.guard.returns = maxReturns
	w.tr.LeaveIncoming(&v, true)
	w.awaitAll()
	eventually.True(t, in.guard.needed.Load, "what waited for the alarm leaves the guard long")
}
