// SPDX-License-Identifier: BSD-3-Clause

// Connections that end while a waiter polls the listener of its process: a peer is lost, a third
// rank is, a peer disconnects, a connection is released. The waiter notices each, and goes on with
// the others. The tests check that the waiter polls: it has the right to, or what was sent has not
// come.
package internode

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"libarmci/internal/testutil/leaktest"
	"libarmci/internal/testutil/pipe"
	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// newIncomingNodes is newIncomingTest with nodes of so many ranks each. Rank `waits` has the
// waiters.
func newIncomingNodes(t *testing.T, waits int, change func(*Options), ranks ...int) *incomingTest {
	leaktest.Check(t)
	net := pipe.New(pipe.Options{})
	ends := newEnds(t, net, change, ranks...)
	ends.ConnectAll(t)
	return &incomingTest{t: t, net: net, ends: ends, tr: ends.Open[waits].(*Transport)}
}

// sendTo sends a message and waits until it has come, so that there is a connection.
func (w *incomingTest) sendTo(from, to int) {
	w.t.Helper()
	if err := w.ends.Open[from].Send(transport.Peer(to), transport.Msg{Kind: 9}); err != nil {
		w.t.Fatal(err)
	}
	w.until("the message has come",
		func() bool { return w.ends.Inbox[to].Has(transport.Rank(from), 1) }, func() {})
}

// until calls do, which may poll, until done.
func (w *incomingTest) until(what string, done func() bool, do func()) {
	w.t.Helper()
	for end := time.Now().Add(patience); !done(); do() {
		if time.Now().After(end) {
			w.t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// reports returns how often a rank was told that another is lost.
func (w *incomingTest) reports(me, lost int) (n int) {
	for _, l := range w.ends.Losses() {
		if strings.HasPrefix(l, fmt.Sprintf("rank %d was told about rank %d:", me, lost)) {
			n++
		}
	}
	return n
}

// expectReports fails unless a rank was told about one other rank, once.
func (w *incomingTest) expectReports(me, lost, ranks int) {
	w.t.Helper()
	for r := range ranks {
		want := 0
		if r == lost {
			want = 1
		}
		if n := w.reports(me, r); n != want {
			w.t.Errorf("rank %d was told %d times that rank %d is lost, expected %d: "+
				"%v", me, n, r, want, w.ends.Losses())
		}
	}
}

// TestThirdRankLostWhileWaiterPolls shows that a waiter that polls for messages of one rank reports
// the loss of another, once, and still receives what it waits for.
func TestThirdRankLostWhileWaiterPolls(t *testing.T) {
	w := newIncomingNodes(t, 1, nil, 1, 1, 1)
	w.sendTo(2, 1)
	w.send()
	w.awaitAll()
	var v transport.Visit
	w.begin(&v)
	w.net.Break(2, 1, 0)
	time.Sleep(5 * time.Millisecond)
	if n := w.reports(1, 2); n != 0 {
		t.Error("the server's thread has noticed what a waiter is to notice")
	}
	poll := func() { w.tr.PollIncoming(&v) }
	w.until("the loss is reported", func() bool { return w.reports(1, 2) > 0 }, poll)
	w.send()
	w.expectNoMessage()
	w.until("the message is received", w.hasAll, poll)
	w.tr.LeaveIncoming(&v, true)
	w.send()
	w.awaitAll()
	w.expectReports(1, 2, 3)
}

// driving waits as an origin does for an answer, which never comes, until done. It checks that the
// listener is polled meanwhile.
func (w *incomingTest) driving(done func() bool, meanwhile func()) {
	w.t.Helper()
	p := w.tr.routes.targets[0].link.Load().poller
	w.until("the waiter owns its poller", p.tryAcquire, func() {})
	ended := make(chan struct{})
	var failed atomic.Bool // so that closing the transport does not wait for the thread
	defer failed.Store(true)
	go func() {
		over := func() bool { return failed.Load() || done() }
		for !over() { // a yield that was long may end it
			p.spinPoll(1<<30, over)
		}
		p.release()
		close(ended)
	}()
	in := &w.tr.server.incoming
	w.until("the waiter polls", func() bool {
		return in.waiters.Load() == 1 &&
			in.owned.Load()
	},
		func() {})
	meanwhile()
	transporttest.Returns(w.t, "the wait", func() { <-ended })
	if n := in.waiters.Load(); n != 0 {
		w.t.Errorf("%d waiters are left", n)
	}
}

// TestLossWhileAnswerIsAwaited shows that a thread that waits for an answer notices that a third
// rank is lost, or that the peer disconnects.
func TestLossWhileAnswerIsAwaited(t *testing.T) {
	w := newIncomingNodes(t, 1, nil, 1, 1, 1)
	w.sendTo(2, 1)
	w.sendTo(1, 0)
	w.driving(func() bool { return w.reports(1, 2) > 0 }, func() { w.net.Break(2, 1, 0) })
	w.expectReports(1, 2, 3)
	bye := &w.tr.routes.targets[0].loss.goodbye
	w.driving(bye.Load, func() { w.ends.Open[0].Close() })
	w.expectReports(1, 2, 3)
}

// TestPeerLeavesWhileWaiterPolls shows that the last message before a goodbye is received, calls to
// that peer end, and no loss is reported.
func TestPeerLeavesWhileWaiterPolls(t *testing.T) {
	w := newIncomingNodes(t, 1, nil, 1, 1, 1)
	w.sendTo(1, 0)
	w.sendTo(2, 1)
	w.send()
	w.awaitAll()
	var v transport.Visit
	w.begin(&v)
	w.send()
	var closed sync.WaitGroup
	closed.Go(func() { w.ends.Open[0].Close() })
	w.until("the peer has left", func() bool { return w.tr.server.originOf(0) == nil },
		func() { w.tr.PollIncoming(&v) })
	if closed.Wait(); !w.hasAll() {
		t.Error("the last message is lost")
	}
	transporttest.Returns(t, "a call", func() {
		var err error
		for err == nil {
			_, err = w.tr.Call(0, transport.Msg{Kind: 9})
		}
		if !errors.Is(err, transport.ErrPeerDead) ||
			!strings.Contains(err.Error(), "has left") {
			t.Errorf("a call to a rank that has left: %v", err)
		}
	})
	w.tr.LeaveIncoming(&v, true)
	if _, err := w.ends.Open[2].Call(1, transport.Msg{Kind: 9}); err != nil {
		t.Error(err)
	}
	if l := w.ends.Losses(); len(l) > 0 {
		t.Error(l)
	}
}

// TestReleaseWhileWaiterPolls shows that a connection may be released and made again
// while a waiter polls.
func TestReleaseWhileWaiterPolls(t *testing.T) {
	w := newIncomingNodes(t, 1, nil, 1, 1)
	w.send()
	w.awaitAll()
	var v transport.Visit
	w.begin(&v)
	poll := func() { w.tr.PollIncoming(&v) }
	received := 1
	for range 3 {
		old := w.tr.server.originOf(0)
		var other sync.WaitGroup
		other.Go(func() { releaseLinkOf(t, w.ends.Open[0], 1, linkReleased) })
		w.until("the connection is given back",
			func() bool { return w.tr.server.originOf(0) != old }, poll)
		other.Wait()
		for range 2 { // the first one connects: the waiter accepts
			other.Go(w.send)
			received++
			w.until("the message is received",
				func() bool { return w.ends.Inbox[1].Has(0, received) }, poll)
			other.Wait()
		}
	}
	w.tr.LeaveIncoming(&v, true)
	if l := w.ends.Losses(); len(l) > 0 {
		t.Error(l)
	}
}

// TestLossWhileManyWait shows that of several threads that wait for answers and messages, those
// that wait for a lost rank get an error, and the others lose nothing.
func TestLossWhileManyWait(t *testing.T) {
	w := newIncomingNodes(t, 1, nil, 1, 1, 1)
	w.sendTo(2, 1)
	w.sendTo(1, 2)
	const messages = 300
	var threads sync.WaitGroup
	for range 2 {
		threads.Go(func() { // for messages
			for !w.ends.Inbox[1].Has(0, messages) {
				var v transport.Visit
				for range 20 {
					w.tr.PollIncoming(&v)
				}
				w.tr.LeaveIncoming(&v, true)
			}
		})
		threads.Go(func() { // for answers of the rank that stays
			for !w.ends.Inbox[1].Has(0, messages) {
				if _, err := w.tr.Call(0, transport.Msg{Kind: 9}); err != nil {
					t.Errorf("a call to a rank that is there: %v", err)
					return
				}
			}
		})
		threads.Go(func() { // for answers of the rank that is lost
			var err error
			for err == nil {
				_, err = w.tr.Call(2, transport.Msg{Kind: 9})
			}
			if !errors.Is(err, transport.ErrPeerDead) {
				t.Errorf("a call to a lost rank: %v", err)
			}
		})
	}
	for i := range messages {
		if i == messages/2 {
			w.net.Break(2, 1, 0)
			w.net.Break(1, 2, 0)
		}
		w.send()
	}
	transporttest.Returns(t, "waits", threads.Wait)
	if n := w.tr.server.incoming.waiters.Load(); n != 0 {
		t.Errorf("%d waiters are left", n)
	}
	w.until("the loss is reported", func() bool { return w.reports(1, 2) > 0 }, func() {})
	w.expectReports(1, 2, 3)
}

// TestWaitersOfServers shows that on a node with two servers each waiter receives what comes to its
// process. With one server, its waiter receives for the other rank, too, which has nothing to poll.
func TestWaitersOfServers(t *testing.T) {
	for _, servers := range []int{1, 2} {
		t.Run(fmt.Sprint(servers), func(t *testing.T) {
			w := newIncomingNodes(t, 2, func(o *Options) { o.Servers = servers }, 2, 2)
			other := w.ends.Open[3].(*Transport)
			if other.Shares() != (servers == 2) {
				t.Fatalf("with %d servers the second rank shares: %v", servers,
					other.Shares())
			}
			w.sendTo(0, 2)
			w.sendTo(1, 3)
			var v, u transport.Visit
			w.begin(&v)
			if other.PollIncoming(&u); servers == 1 && u.Stage != transport.VisitAway {
				t.Errorf("a waiter without a server is in state %d", u.Stage)
			}
			for u.Stage != transport.VisitPolling && servers == 2 {
				other.PollIncoming(&u)
			}
			w.net.Break(0, 2, 0)
			if err := w.ends.Open[1].Send(3, transport.Msg{Kind: 9}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * time.Millisecond)
			if w.reports(2, 0) > 0 || w.ends.Inbox[3].Has(1, 2) {
				t.Error("a server's thread has received what a waiter is to " +
					"receive")
			}
			both := func() { w.tr.PollIncoming(&v); other.PollIncoming(&u) }
			w.until("the loss and the message are received",
				func() bool {
					return w.reports(2, 0) > 0 &&
						w.ends.Inbox[3].Has(1, 2)
				}, both)
			other.LeaveIncoming(&u, true)
			w.tr.LeaveIncoming(&v, true)
			w.expectReports(2, 0, 4)
			if n := w.reports(3, 1) + w.reports(3, 0); n != 0 {
				t.Errorf("rank 3 was told: %v", w.ends.Losses())
			}
		})
	}
}
