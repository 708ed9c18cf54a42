// SPDX-License-Identifier: BSD-3-Clause

// The data server's queue where any thread of the process may poll it (transport.SharedListener).
// The server's thread sleeps in an epoll of the queue's descriptor, its bell and an alarm, and
// holds nothing there. While another thread polls, the descriptor is switched off in that epoll.
package rdma

import (
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/eventfd"
	"libarmci/internal/transport"
	"libarmci/internal/wait"
)

type listener struct {
	*queue
	epoll    int
	alarm    eventfd.Alarm
	diverted atomic.Bool // what comes is another thread's
}

// share makes a queue's listener, one that threads share if its descriptor tells of all that comes.
func (q *queue) openListener() (transport.Listener, error) {
	if !q.cq.Tells() {
		return q, nil
	}
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	l := &listener{queue: q, epoll: epoll, alarm: eventfd.NoAlarm}
	for _, fd := range []int{int(q.wakeup), q.cq.FD()} {
		event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}
		if err == nil {
			err = unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, fd, &event)
		}
	}
	if err == nil {
		l.alarm, err = eventfd.NewAlarm(epoll)
	}
	if err != nil {
		l.closeEpoll()
		return nil, err
	}
	return l, nil
}

// Poll handles completions. A waiter handles one and then looks for what it waits for: messages for
// it, which it alone takes out of its mailbox, would fill that.
func (l *listener) Poll(looks int) int {
	if !l.diverted.Load() {
		return l.queue.Poll(looks)
	}
	l.lockPoll()
	defer l.unlockPoll()
	return l.pollUpTo(looks, 1)
}

// Sleep sleeps until something comes, unless that is another thread's, or Interrupt or the alarm
// ends it.
func (l *listener) Sleep(limit time.Duration) {
	if l.handleAndArm() > 0 {
		wait.Yield() // the thread that polls may not have called Divert yet
		return
	}
	timeout := -1
	if limit >= 0 {
		timeout = int((limit + time.Millisecond - 1) / time.Millisecond)
	}
	var events [3]unix.EpollEvent
	n, err := unix.EpollWait(l.epoll, events[:], timeout)
	if err != nil && err != unix.EINTR && l.fabric.cfg.Fatal != nil {
		l.fabric.cfg.Fatal(fmt.Errorf("the data server cannot wait for requests: %w", err))
	}
	for _, e := range events[:max(n, 0)] {
		if e.Fd == int32(l.wakeup) {
			l.wakeup.Drain()
		}
	}
}

// prepare has the queue tell of what comes, and handles what has come before: how much. Where that
// is another thread's it only makes the calls that Interrupt was for: that thread may be away.
func (l *listener) handleAndArm() int {
	l.lockPoll()
	defer l.unlockPoll()
	l.unreported += l.handleAside()
	if l.diverted.Load() {
		return 0
	}
	l.repostReceives()
	if l.unreported == 0 {
		l.armAndPoll()
	}
	return l.unreported
}

// arm has the descriptor tell of the next completion. Those before are handled. Poller only.
func (l *listener) armAndPoll() {
	l.cq.Take()
	if err := l.cq.Arm(); err != nil {
		l.unreported += l.handleCompletions(0, err)
		return
	}
	l.unreported += l.pollCQ(pollBatch, 1, 0)
}

// Rest: what is left waits for completions.
func (l *listener) Rest() time.Duration { return -1 }

// Whole: frames come whole.
func (l *listener) Whole() bool { return true }

// Ready and SleepIn: the descriptor tells of what comes only once, if asked for.
func (l *listener) Ready() int   { return -1 }
func (l *listener) SleepIn() int { return -1 }

// Divert switches the descriptor off for the server's thread, or on again.
func (l *listener) Divert(on bool) {
	l.diverted.Store(on)
	event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(l.cq.FD())}
	if on {
		event.Events = 0
	}
	unix.EpollCtl(l.epoll, unix.EPOLL_CTL_MOD, l.cq.FD(), &event)
	if on {
		return
	}
	l.lockPoll()
	l.armAndPoll()
	found := l.unreported > 0 || l.callsPending.Load() // which the thread that polled may not have seen
	l.unlockPoll()
	if found {
		l.Interrupt()
	}
}

// Answered is how many requests C has answered for which this process's rank was needed.
func (l *listener) Answered() uint32 { return l.answers.Needed() }

// WakeIn ends Sleep after a time.
func (l *listener) WakeIn(d time.Duration) { l.alarm.Set(d) }

// Close stops listening, and closes the ends that are left.
func (l *listener) Close() {
	l.queue.Close()
	l.closeEpoll()
}

func (l *listener) closeEpoll() {
	l.alarm.Close()
	unix.Close(l.epoll)
}

var _ transport.SharedListener = (*listener)(nil)
