// SPDX-License-Identifier: BSD-3-Clause

// A waiter sleeps where input from other nodes wakes it, and threads of its process wake it there,
// too.
package shm

import (
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/sys"
	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// fakeIncoming stands for the data server. Input at its descriptors is a notification.
type fakeIncoming struct {
	r              *rank
	ready, sleepIn int
	come           sys.EventFD // an event of ready
	polls, leaves  atomic.Int32
	after          time.Duration
}

func (f *fakeIncoming) Shares() bool                { return true }
func (f *fakeIncoming) IncomingFD() int             { return f.sleepIn }
func (f *fakeIncoming) ReceiveAfter() time.Duration { return f.after }

// PollIncoming receives one notification if there is input.
func (f *fakeIncoming) PollIncoming(v *transport.Visit) int {
	f.polls.Add(1)
	v.Stage, v.Ready = transport.VisitPolling, int32(f.ready)
	var events [1]unix.EpollEvent
	if n, _ := unix.EpollWait(f.ready, events[:], 0); n <= 0 {
		return 0
	}
	f.come.Drain()
	f.r.Notify(f.r.order.Self, remoteRank)
	return 1
}

func (f *fakeIncoming) LeaveIncoming(v *transport.Visit, found bool) {
	f.leaves.Add(1)
	*v = transport.Visit{}
}

const remoteRank = transport.Rank(1) // a rank of another node

// newFakeIncoming makes descriptors as the data server has them, and has waiters receive by them.
func newFakeIncoming(r *rank, after time.Duration) *fakeIncoming {
	f := &fakeIncoming{r: r, after: after}
	var err error
	if f.come, err = sys.NewEventFD(); err != nil {
		r.Fatal(err)
	}
	f.ready = newEpoll(r, int(f.come))
	f.sleepIn = newEpoll(r, f.ready)
	r.ReceiveBy(f)
	return f
}

// newEpoll makes an epoll of one descriptor; the caller closes it.
func newEpoll(r *rank, fd int) int {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err == nil {
		event := unix.EpollEvent{Events: unix.EPOLLIN}
		err = unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, fd, &event)
	}
	if err != nil {
		r.Fatal(err)
	}
	return epoll
}

func (f *fakeIncoming) close() {
	unix.Close(f.sleepIn)
	unix.Close(f.ready)
	f.come.Close()
}

// afterSleep calls wake after a delay in which the waiter has most likely gone to sleep.
func afterSleep(wake func()) {
	go func() {
		time.Sleep(20 * time.Millisecond)
		wake()
	}()
}

// waiterSleepsInEpoll waits for a counter that input raises, then for a counter, an event and a
// message from another thread of the process. A wait that nothing wakes lasts for a second.
func waiterSleepsInEpoll(r *rank) {
	f := newFakeIncoming(r, 0)
	defer f.close()
	me := r.order.Self
	event, err := r.AllocatePopulated(transporttest.MemBytes)
	if err != nil {
		r.Fatal(err)
	}
	for _, c := range []struct {
		name       string
		wake, wait func()
	}{
		{"input", f.come.Signal, func() { r.NotifyWait(remoteRank, 1) }},
		{"a notification by another thread", func() { r.Notify(me, remoteRank) },
			func() { r.NotifyWait(remoteRank, 2) }},
		{"an event by another thread", func() { r.EventAdd(event, 1) },
			func() { r.EventWait(event, 0, -1, "the test") }},
		{"a message by another thread",
			func() { r.Deliver(me, remoteRank, 7, 0, nil, false) },
			func() {
				if _, err := r.Recv(remoteRank, 7, nil); err != nil {
					r.Error(err)
				}
			}},
	} {
		polls, leaves, begin := f.polls.Load(), f.leaves.Load(), time.Now()
		afterSleep(c.wake)
		c.wait()
		if took := time.Since(begin); took > 900*time.Millisecond {
			r.Errorf("%s does not wake the waiter: %s", c.name, took)
		}
		if n := f.polls.Load() - polls; n == 0 || n > 10 {
			r.Errorf("%s: the waiter has entered Go %d times", c.name, n)
		}
		if n := f.leaves.Load() - leaves; n != 1 {
			r.Errorf("%s: the waiter has left %d times", c.name, n)
		}
	}
}

func TestWaiterSleepsInEpoll(t *testing.T) { run(t, 1, "sleep") }

// waiterLooksAtMemory waits for a counter that a device writes a little later: it is found without
// receiving, which a waiter of C's would have to enter Go for.
func waiterLooksAtMemory(r *rank) {
	f := newFakeIncoming(r, time.Minute)
	defer f.close()
	go func() {
		time.Sleep(5 * time.Millisecond)
		r.Notify(r.order.Self, remoteRank)
	}()
	if !r.notifySoon(remoteRank, 1) {
		r.Error("the notification is not found")
	}
	if n := f.polls.Load(); n != 0 {
		r.Errorf("the waiter has received %d times", n)
	}
}

func TestWaiterLooksAtMemory(t *testing.T) { run(t, 1, "look") }
