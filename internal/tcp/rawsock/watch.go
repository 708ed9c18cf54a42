// SPDX-License-Identifier: BSD-3-Clause

// Connections to a process that is stopped, as by a debugger: its kernel acknowledges data until
// its buffers are full, and then answers probes of the full window. TCP_USER_TIMEOUT ends such a
// connection all the same. A Watch that is checked often extends that timeout while the other
// kernel answers, and lets it expire otherwise.
package rawsock

import (
	"time"

	"golang.org/x/sys/unix"
)

// checksPerTimeout is how often a connection is to be checked within its timeout.
const checksPerTimeout = 8

// WatchPeriod is the time between two checks of a connection with this timeout.
func WatchPeriod(timeout time.Duration) time.Duration {
	return max(timeout, time.Second) / checksPerTimeout
}

// Watch is the state of the checks of one connection. The zero value is that of one that was never
// checked. The caller serialises the checks.
type Watch struct {
	ackedBytes   uint64    // acknowledged by the other side
	stalledSince time.Time // when a check found ackedBytes changed; zero: all data is acked
	extended     bool      // the socket has another TCP_USER_TIMEOUT than Tune has set
}

// Check extends the timeout of a connection that has stalled while the other kernel answers, and
// restores it when data is acknowledged again. The caller calls it every WatchPeriod, with the
// timeout of Tune.
func (w *Watch) Check(fd int, timeout time.Duration, now time.Time) {
	if n, err := UnackedBytes(fd); n == 0 || err != nil {
		w.stalledSince = time.Time{}
		w.restoreTimeout(fd, timeout)
		return
	}
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return
	}
	if w.stalledSince.IsZero() || info.Bytes_acked != w.ackedBytes {
		w.ackedBytes, w.stalledSince = info.Bytes_acked, now
		w.restoreTimeout(fd, timeout)
		return
	}
	if kernelAnswers(info, timeout) {
		w.extendTimeout(fd, timeout, now)
	}
}

// answerPause is the time after an answer to a probe in which a kernel answers no other one
// (net.ipv4.tcp_invalid_ratelimit).
const answerPause = 500 * time.Millisecond

// kernelAnswers tells whether the other kernel has acknowledged data lately, or had nothing to
// acknowledge: the window is full, and all probes of it have been answered. One may be without an
// answer until the next one is due: it comes at most answerPause after the answer to the one
// before, and the next one after twice that pause. That matters for timeouts below 2.4 s.
func kernelAnswers(info *unix.TCPInfo, timeout time.Duration) bool {
	silent := time.Duration(info.Last_ack_recv) * time.Millisecond
	return silent < timeout*5/8 || info.Unacked == 0 &&
		(info.Probes == 0 || info.Probes == 1 && silent < 3*answerPause)
}

// extendTimeout keeps the connection for another quarter of the timeout from now on. The kernel
// counts from the time when it first found the window full, at most a period before stalledSince,
// and probes again before the timeout has passed.
func (w *Watch) extendTimeout(fd int, timeout time.Duration, now time.Time) {
	until := now.Sub(w.stalledSince) + 2*WatchPeriod(timeout) + timeout/4
	if until > timeout {
		w.extended = setUserTimeout(fd, until) == nil
	}
}

// restoreTimeout gives the connection the timeout of Tune again.
func (w *Watch) restoreTimeout(fd int, timeout time.Duration) {
	if w.extended {
		w.extended = setUserTimeout(fd, timeout) != nil
	}
}

func setUserTimeout(fd int, timeout time.Duration) error {
	return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT,
		milliseconds(timeout))
}
