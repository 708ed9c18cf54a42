// SPDX-License-Identifier: BSD-3-Clause

// Waiters that handle messages to their process's data server, while the server's thread sleeps.
package rdma

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// waiterJob is two ranks on two nodes: rank 0 sends, rank 1 has the waiters.
type waiterJob struct {
	*job
	t    *testing.T
	in   transport.Incoming
	sent int
}

func newWaiterJob(t *testing.T) *waiterJob {
	w := &waiterJob{job: newJob(t, nil, 1, 1), t: t}
	w.in = w.Open[1].(transport.Incoming)
	if !w.in.Shares() {
		t.Fatal("waiters may not receive")
	}
	w.send() // connects
	w.await(func() {})
	return w
}

func (w *waiterJob) send() {
	w.t.Helper()
	m := transport.Msg{Kind: 9, Body: []byte("to a waiter")}
	if err := w.Open[0].Send(1, m); err != nil {
		w.t.Fatal(err)
	}
	w.sent++
}

func (w *waiterJob) allReceived() bool { return w.Inbox[1].Has(0, w.sent) }

// await waits until all that was sent has been received, and calls poll meanwhile.
func (w *waiterJob) await(poll func()) {
	w.t.Helper()
	for end := time.Now().Add(10 * time.Second); !w.allReceived(); poll() {
		if time.Now().After(end) {
			w.t.Fatalf("message %d has not come", w.sent)
		}
	}
}

// TestWaiterReceives: while a waiter polls, messages do not wake the server's thread. Later ones
// do, and so do those that the waiter has not seen.
func TestWaiterReceives(t *testing.T) {
	w := newWaiterJob(t)
	for range 50 {
		var v transport.Visit
		for v.Stage != transport.VisitPolling {
			w.in.PollIncoming(&v)
		}
		w.send()
		if time.Sleep(2 * time.Millisecond); w.allReceived() {
			t.Fatal("the server's thread has received what a waiter is to receive")
		}
		w.await(func() { w.in.PollIncoming(&v) })
		w.send()
		w.in.LeaveIncoming(&v, true)
		w.await(func() {})
		w.send()
		w.await(func() {})
	}
}

// TestManyWaiters: no message is lost where several threads wait in short turns, at any moments.
func TestManyWaiters(t *testing.T) {
	w := newWaiterJob(t)
	var end atomic.Bool
	var threads sync.WaitGroup
	for i := range 3 {
		threads.Go(func() {
			for n := 0; !end.Load(); n++ {
				var v transport.Visit
				for range n % 50 {
					w.in.PollIncoming(&v)
				}
				w.in.LeaveIncoming(&v, n%3 > 0)
				time.Sleep(time.Duration(n%7*(i+1)) * 20 * time.Microsecond)
			}
		})
	}
	for n := range 3000 {
		w.send()
		if n%10 == 0 {
			w.await(func() { time.Sleep(10 * time.Microsecond) })
		}
	}
	w.await(func() {})
	end.Store(true)
	threads.Wait()
}

// TestServerSleepsBesideWaiter: the server's thread sleeps while a waiter polls, even if it has
// unreported completions: it would take the waiter's core.
func TestServerSleepsBesideWaiter(t *testing.T) {
	w := newWaiterJob(t)
	q := w.fabrics[1].originQueue // no other thread polls it
	made, err := q.openListener()
	if err != nil {
		t.Fatal(err)
	}
	l := made.(*listener)
	defer l.closeEpoll()
	l.lockPoll()
	l.poller.unreported++
	l.unlockPoll()
	l.SetWaiterPolls(true)
	const limit = 30 * time.Millisecond
	begin := time.Now()
	if l.Sleep(limit); time.Since(begin) < limit/2 {
		t.Errorf("Sleep ended after %v", time.Since(begin))
	}
	l.SetWaiterPolls(false)
	begin = time.Now()
	if l.Sleep(time.Minute); time.Since(begin) > time.Second {
		t.Error("Sleep does not end although something was found")
	}
	if n := l.Poll(1); n != 1 {
		t.Errorf("Poll has found %d, expected 1", n)
	}
}

// TestCallsBesideWaiter: calls for the poller that were listed while a waiter handled completions
// are made when it leaves, and all others at once.
func TestCallsBesideWaiter(t *testing.T) {
	w := newWaiterJob(t)
	q := w.fabrics[1].serverQueue
	for _, dealing := range []bool{true, false} {
		var v transport.Visit
		for v.Stage != transport.VisitPolling {
			w.in.PollIncoming(&v)
		}
		made := make(chan bool)
		q.calls.pollerActive.Store(dealing) // a waiter is handling completions
		q.callFromPoller(func() { close(made) })
		if q.calls.pollerActive.Store(false); dealing {
			w.in.LeaveIncoming(&v, false)
		}
		select {
		case <-made:
		case <-time.After(1500 * time.Millisecond): // less than between two looks at peers
			t.Errorf("dealing %v: the call is not made", dealing)
		}
		w.in.LeaveIncoming(&v, false)
	}
}

// TestWaitForDisconnect: while a disconnect message is expected, Wait lists the queue from time to
// time, since the descriptor may have signalled an earlier completion.
func TestWaitForDisconnect(t *testing.T) {
	j := newJob(t, nil, 1, 1)
	f := j.fabrics[0]
	f.originQueue.peersLeaving.Add(1)
	defer f.originQueue.peersLeaving.Add(-1)
	f.progress.attendOrigins.Store(false)
	transporttest.Returns(t, "waiting", func() {
		for len(f.Wait(-1, nil)) == 0 {
		}
	})
}

// TestNoticeLost: an idle process learns of a disconnect even if the first datagram is lost.
func TestNoticeLost(t *testing.T) {
	j := newWaiterJob(t)
	m, lost := j.fabrics[1].connManager, j.fabrics[0].originQueue.listEndpoints()[0]
	var taken []int32
	for i := m.buffers.TakeBuffer(); i != noBuffer; i = m.buffers.TakeBuffer() {
		taken = append(taken, i)
	}
	for _, e := range j.fabrics[1].serverQueue.listEndpoints() {
		e.Break()
	}
	unsent := func() int {
		m.notices.mu.Lock()
		defer m.notices.mu.Unlock()
		return len(m.notices.list)
	}
	for unsent() == 0 {
		time.Sleep(time.Millisecond)
	}
	for _, i := range taken {
		m.buffers.Put(i)
	}
	transporttest.Returns(t, "waiting for the loss", func() {
		for lost.lossReason.Load() == nil {
			time.Sleep(time.Millisecond)
		}
	})
	transporttest.Returns(t, "repeating the notice", func() {
		for unsent() > 0 {
			time.Sleep(time.Millisecond)
		}
	})
}
