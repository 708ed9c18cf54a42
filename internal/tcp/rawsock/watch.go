// SPDX-License-Identifier: BSD-3-Clause

// Connections to a process that is stopped, as by a debugger: its kernel acknowledges what is sent
// until its buffers are full, and then answers probes of the full window. TCP_USER_TIMEOUT ends
// such a connection all the same. A Watch, asked often, extends that time as long as the other
// kernel answers, and leaves it to run out when it does not.
package rawsock

import (
	"time"

	"golang.org/x/sys/unix"
)

// looksPerTimeout is how often a connection is to be looked at within its timeout.
const looksPerTimeout = 8

// WatchPeriod is the time between two looks at a connection of this timeout.
func WatchPeriod(timeout time.Duration) time.Duration {
	return max(timeout, time.Second) / looksPerTimeout
}

// Watch is what is known of one connection. The zero value is a connection that was not looked at.
type Watch struct {
	acked    uint64    // bytes that the other side has taken
	since    time.Time // when that was last seen to change; zero: nothing is on its way
	extended bool      // the socket has another TCP_USER_TIMEOUT than Tune has set
}

// Look looks at a connection, every WatchPeriod.
func (w *Watch) Look(fd int, timeout time.Duration, now time.Time) {
	if Unsent(fd) == 0 {
		w.since = time.Time{}
		w.settle(fd, timeout)
		return
	}
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return
	}
	if w.since.IsZero() || info.Bytes_acked != w.acked {
		w.acked, w.since = info.Bytes_acked, now
		w.settle(fd, timeout)
		return
	}
	if answers(info, timeout) {
		w.extend(fd, timeout, now)
	}
}

// answers tells whether the other kernel has acknowledged something lately, or was not asked to:
// the window is full, and no probe of it is without an answer.
func answers(info *unix.TCPInfo, timeout time.Duration) bool {
	silent := time.Duration(info.Last_ack_recv) * time.Millisecond
	return silent < timeout*5/8 || info.Unacked == 0 && info.Probes == 0
}

// extend lets the connection go on for a quarter of the timeout from now on. The kernel counts from
// the time when it first met the full window, at most a period before since, and probes again
// before the time is over.
func (w *Watch) extend(fd int, timeout time.Duration, now time.Time) {
	until := now.Sub(w.since) + 2*WatchPeriod(timeout) + timeout/4
	if until > timeout {
		w.extended = setUserTimeout(fd, until) == nil
	}
}

// settle gives the connection its usual timeout again.
func (w *Watch) settle(fd int, timeout time.Duration) {
	if w.extended {
		w.extended = setUserTimeout(fd, timeout) != nil
	}
}

func setUserTimeout(fd int, timeout time.Duration) error {
	return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT,
		milliseconds(timeout))
}
