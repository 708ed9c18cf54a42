// SPDX-License-Identifier: BSD-3-Clause

// Waiters that receive what comes to their process's data server.
package internode

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"libarmci/internal/testutil/pipe"
	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// incomingTest is two ranks on two nodes: rank 0 sends, rank 1 has the waiters.
type incomingTest struct {
	t    *testing.T
	net  *pipe.Net
	ends *transporttest.Ends
	tr   *Transport // of rank 1
	sent int
}

func newIncomingTest(t *testing.T) *incomingTest {
	net, ends, _ := newUser(t, pipe.Options{}, nil)
	w := &incomingTest{t: t, net: net, ends: ends, tr: ends.Open[1].(*Transport)}
	w.send() // connects
	w.awaitAll()
	return w
}

func (w *incomingTest) send() {
	w.t.Helper()
	if err := w.ends.Open[0].Send(1,
		transport.Msg{Kind: 9, Body: []byte("to a waiter")}); err != nil {
		w.t.Fatal(err)
	}
	w.sent++
}

func (w *incomingTest) hasAll() bool { return w.ends.Inbox[1].Has(0, w.sent) }

func (w *incomingTest) awaitAll() {
	w.t.Helper()
	for end := time.Now().Add(patience); !w.hasAll(); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			w.t.Fatalf("message %d has not come", w.sent)
		}
	}
}

// begin polls until the waiter has the right to, which the server's thread may have at the moment.
func (w *incomingTest) begin(v *transport.Visit) {
	for v.Stage != transport.VisitPolling {
		w.tr.PollIncoming(v)
	}
}

// expectNoMessage fails if what was sent has come although no waiter polled.
func (w *incomingTest) expectNoMessage() {
	w.t.Helper()
	if time.Sleep(20 * time.Millisecond); w.hasAll() {
		w.t.Error("the server's thread has received what a waiter is to receive")
	}
}

// TestWaiterReceives shows that while a waiter polls, it receives and the server's thread sleeps.
// When it leaves, the server's thread receives what has come by then, and what comes later.
func TestWaiterReceives(t *testing.T) {
	w := newIncomingTest(t)
	var v transport.Visit
	w.begin(&v)
	w.send()
	w.expectNoMessage()
	for end := time.Now().Add(patience); !w.hasAll() && time.Now().Before(end); {
		w.tr.PollIncoming(&v)
	}
	if !w.hasAll() {
		t.Fatal("the waiter does not receive")
	}
	w.send()
	w.expectNoMessage()
	w.tr.LeaveIncoming(&v, true)
	w.awaitAll()
	w.send()
	w.awaitAll()
	if v.Stage != transport.VisitAway {
		t.Errorf("the waiter that has left is in stage %d", v.Stage)
	}
	w.tr.LeaveIncoming(&v, true) // again: nothing happens
}

// TestWaitersTakeTurns shows that one waiter polls at a time, and that those that would poll are
// counted until they leave.
func TestWaitersTakeTurns(t *testing.T) {
	w := newIncomingTest(t)
	var a, b transport.Visit
	w.begin(&a)
	if w.tr.PollIncoming(&b); b.Stage != transport.VisitWanting {
		t.Fatalf("the second waiter is in stage %d", b.Stage)
	}
	w.tr.LeaveIncoming(&a, true)
	w.begin(&b)
	w.send()
	for end := time.Now().Add(patience); !w.hasAll() && time.Now().Before(end); {
		w.tr.PollIncoming(&b)
	}
	w.tr.LeaveIncoming(&b, true)
	if n := w.tr.server.incoming.waiters.Load(); !w.hasAll() || n != 0 {
		t.Errorf("received: %v; %d waiters are left", w.hasAll(), n)
	}
}

// TestManyWaiters shows that many threads that wait in short turns lose nothing, whichever thread
// receives.
func TestManyWaiters(t *testing.T) {
	w := newIncomingTest(t)
	const messages = 2000
	var last atomic.Bool
	var threads sync.WaitGroup
	for range 4 {
		threads.Go(func() {
			for !last.Load() {
				var v transport.Visit
				for range 10 {
					w.tr.PollIncoming(&v)
				}
				w.tr.LeaveIncoming(&v, true)
			}
		})
	}
	for range messages {
		w.send()
	}
	w.awaitAll()
	last.Store(true)
	threads.Wait()
	w.send()
	w.awaitAll()
}

// TestReceivesWhileItAwaitsAnswer shows that a thread receives while it waits for an answer of
// another rank.
func TestReceivesWhileItAwaitsAnswer(t *testing.T) {
	w := newIncomingTest(t)
	var v transport.Visit
	w.begin(&v) // so that the server's thread sleeps: it comes back when the visit ends
	w.send()
	answered := make(chan error)
	go func() {
		_, err := w.tr.Call(0, transport.Msg{Kind: 9})
		answered <- err
	}()
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	w.tr.LeaveIncoming(&v, true)
	w.awaitAll()
}

// TestLossWhileWaiterPolls shows that a rank that dies while a waiter polls is reported, and the
// waiter goes on.
func TestLossWhileWaiterPolls(t *testing.T) {
	w := newIncomingTest(t)
	var v transport.Visit
	w.begin(&v)
	w.net.Vanish(0)
	for end := time.Now().Add(patience); w.tr.server.originOf(0) != nil; {
		if w.tr.PollIncoming(&v); time.Now().After(end) {
			t.Fatal("the waiter does not notice that the connection is lost")
		}
	}
	w.tr.LeaveIncoming(&v, true)
}

// TestCloseWhileWaiterPolls shows that Close takes the listener from a thread that waits.
func TestCloseWhileWaiterPolls(t *testing.T) {
	w := newIncomingTest(t)
	var v transport.Visit
	w.begin(&v)
	closed := make(chan struct{})
	go func() {
		w.tr.Close()
		close(closed)
	}()
	for !w.tr.server.incoming.closed.Load() {
		w.tr.PollIncoming(&v)
	}
	w.tr.LeaveIncoming(&v, true)
	select {
	case <-closed:
	case <-time.After(patience):
		t.Fatal("the transport is not closed")
	}
	n := w.tr.PollIncoming(&v)
	if n != 0 || v != (transport.Visit{Ready: -1}) {
		// a waiter in C then looks at no descriptor
		t.Errorf("a closed transport has received %d, and the waiter is in state %+v", n, v)
	}
}

// TestWaiterThatComesBackSoon shows that waiters that come back soon leave the listener diverted,
// so that frames between two visits wake no thread. When they stay away, the server's thread
// receives all the same.
func TestWaiterThatComesBackSoon(t *testing.T) {
	w := newIncomingTest(t)
	in := &w.tr.server.incoming
	var v transport.Visit
	for in.guard.returns = maxReturns; ; { // a busy machine may part two visits for longer
		w.begin(&v)
		w.tr.LeaveIncoming(&v, true)
		if in.tryAcquire() {
			diverted := in.diverted
			in.owned.Store(false)
			if diverted {
				break
			}
		}
	}
	w.send()
	w.awaitAll()
	w.send()
	w.awaitAll()
	w.begin(&v)
	w.tr.LeaveIncoming(&v, false) // it goes to sleep
	for !in.tryAcquire() {
	}
	if in.diverted {
		t.Error("what comes does not wake the server's thread though the waiter sleeps")
	}
	in.owned.Store(false)
}

// slowAlarm delays a caller that sets the alarm until that has gone off, as a host does that takes
// the processor away.
type slowAlarm struct {
	transport.SharedListener
	missed func() bool
	woken  bool // by the waiter
}

func (l *slowAlarm) SetAlarm(d time.Duration) {
	l.SharedListener.SetAlarm(d)
	for end := time.Now().Add(patience); !l.missed() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

func (l *slowAlarm) Interrupt() {
	l.woken = true
	l.SharedListener.Interrupt()
}

// TestAlarmBeforeWaiterHasLeft shows that an alarm that goes off before its waiter has left is not
// lost: the waiter wakes the server's thread.
func TestAlarmBeforeWaiterHasLeft(t *testing.T) {
	w := newIncomingTest(t)
	in := &w.tr.server.incoming
	var v transport.Visit
	w.begin(&v)
	l := &slowAlarm{SharedListener: in.listener, missed: in.serverSkipped.Load}
	in.listener = l
	in.guard.returns = maxReturns
	w.send()
	if w.tr.LeaveIncoming(&v, true); !l.woken {
		t.Error("the alarm is lost")
	}
	w.awaitAll()
}

// alarms counts how often the alarm is set.
type alarms struct {
	transport.SharedListener
	set int
}

func (l *alarms) SetAlarm(d time.Duration) {
	l.set++
	l.SharedListener.SetAlarm(d)
}

// TestAlarmBehindSleep shows that a waiter that leaves without a guard, since it goes to sleep,
// sets no alarm, and that the next one does.
func TestAlarmBehindSleep(t *testing.T) {
	w := newIncomingTest(t)
	in := &w.tr.server.incoming
	var v transport.Visit
	w.begin(&v)
	l := &alarms{SharedListener: in.listener}
	in.listener = l
	for _, found := range []bool{false, true} {
		w.begin(&v)
		in.guard.returns = maxReturns
		w.tr.LeaveIncoming(&v, found)
	}
	if l.set != 1 {
		t.Errorf("the alarm was set %d times", l.set)
	}
	w.send()
	w.awaitAll()
}

// TestWaiterThatStaysAway shows that a waiter that stays away for longer each time is not expected.
func TestWaiterThatStaysAway(t *testing.T) {
	w := newIncomingTest(t)
	in := &w.tr.server.incoming
	var v transport.Visit
	for range 2 * maxReturns {
		w.begin(&v)
		w.tr.LeaveIncoming(&v, true)
		time.Sleep(maxGuard) // sooner may be soon, after a long time without need
	}
	w.begin(&v)
	returns := in.guard.returns
	w.tr.LeaveIncoming(&v, true)
	if returns != 0 {
		t.Errorf("it is expected back: %d", returns)
	}
}
