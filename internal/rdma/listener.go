// SPDX-License-Identifier: BSD-3-Clause

// The data server's queue where any thread of the process may poll it (transport.SharedListener).
// The server's thread sleeps in an epoll of the queue's descriptor, its wake-up event and an alarm,
// without the poll lock. While another thread polls, the descriptor is switched off in that epoll:
// the queue is diverted.
package rdma

import (
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/sys"
	"libarmci/internal/transport"
	"libarmci/internal/wait"
)

// listener is the data server's queue with the epoll in which the server's thread sleeps.
type listener struct {
	*queue
	epoll    int
	alarm    sys.Alarm
	diverted atomic.Bool // another thread polls: completions do not end Sleep
}

// openListener makes the listener of a queue: one that threads share if the descriptor signals all
// completions, else the queue itself. The caller closes it.
func (q *queue) openListener() (transport.Listener, error) {
	if !q.cq.SignalsAll() {
		return q, nil
	}
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	l := &listener{queue: q, epoll: epoll, alarm: sys.NoAlarm}
	for _, fd := range []int{int(q.wakeup), q.cq.FD()} {
		event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}
		if err == nil {
			err = unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, fd, &event)
		}
	}
	if err == nil {
		l.alarm, err = sys.NewAlarm(epoll)
	}
	if err != nil {
		l.closeEpoll()
		return nil, err
	}
	return l, nil
}

// Poll handles completions. While diverted it handles one at a time, since its caller is a waiter:
// that checks its own condition after each. Otherwise messages for the waiter, which only it takes
// out of its mailbox, would fill the mailbox.
func (l *listener) Poll(looks int) int {
	if !l.diverted.Load() {
		return l.queue.Poll(looks)
	}
	l.lockPoll()
	defer l.unlockPoll()
	return l.pollUpTo(looks, 1)
}

// Sleep blocks until there are completions, Interrupt is called, the alarm goes off, or a time has
// passed (negative: no limit). While diverted completions do not end it.
func (l *listener) Sleep(limit time.Duration) {
	if l.handleAndArm() > 0 {
		// A thread that is about to poll may not have called SetWaiterPolls yet.
		wait.Yield()
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

// handleAndArm handles what is there, and returns how much that was; if there is nothing, it arms
// the descriptor. While diverted it only makes the calls that the poller was left: the thread that
// polls may be busy otherwise. It locks the poll lock.
func (l *listener) handleAndArm() int {
	l.lockPoll()
	defer l.unlockPoll()
	l.poller.unreported += l.handleAside()
	if l.diverted.Load() {
		return 0
	}
	l.repostReceives()
	if l.poller.unreported == 0 {
		l.armAndPoll()
	}
	return l.poller.unreported
}

// armAndPoll arms the descriptor for the next completion, and handles those that came before.
// Poller only.
func (l *listener) armAndPoll() {
	l.cq.DrainEvents()
	if err := l.cq.Arm(); err != nil {
		l.poller.unreported += l.handleCompletions(0, err)
		return
	}
	l.poller.unreported += l.pollCQ(pollBatch, 1, 0)
}

// StopPolling is negative: what is left to send waits for completions.
func (l *listener) StopPolling() time.Duration { return -1 }

// FramesComplete is true: a frame is one message, so none arrives in parts.
func (l *listener) FramesComplete() bool { return true }

// Ready is negative: no descriptor stays readable while there are completions.
func (l *listener) Ready() int { return -1 }

// EpollFD is negative: the epoll signals a completion only once after the queue is armed.
func (l *listener) EpollFD() int { return -1 }

// SetWaiterPolls switches the descriptor off for the server's thread, or on again. When it is
// switched on, completions that the other thread left end Sleep. It locks the poll lock then.
func (l *listener) SetWaiterPolls(on bool) {
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
	// The thread that polled may not have seen the latest calls.
	found := l.poller.unreported > 0 || l.calls.pending.Load()
	l.unlockPoll()
	if found {
		l.Interrupt()
	}
}

// AnsweredRequests counts the questions that C has answered, but for messages to this process's own
// rank.
func (l *listener) AnsweredRequests() uint32 { return l.answers.NeededCount() }

// SetAlarm sets the alarm, which ends Sleep after a time.
func (l *listener) SetAlarm(d time.Duration) { l.alarm.Set(d) }

// Close stops listening, and disconnects the endpoints that are left (queue.Close).
func (l *listener) Close() {
	l.queue.Close()
	l.closeEpoll()
}

func (l *listener) closeEpoll() {
	l.alarm.Close()
	unix.Close(l.epoll)
}

var _ transport.SharedListener = (*listener)(nil)
