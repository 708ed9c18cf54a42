// SPDX-License-Identifier: BSD-3-Clause

// A timer that ends a wait of another thread: that of the progress thread, and the data server's.
package sys

import (
	"time"

	"golang.org/x/sys/unix"
)

// Alarm is a timer of the kernel that ends a wait in an epoll. Each time that it goes off is one
// event, which nothing reads.
type Alarm int

// NoAlarm is no alarm: it may be closed.
const NoAlarm = Alarm(-1)

// NewAlarm makes one for an epoll.
func NewAlarm(epoll int) (Alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return -1, err
	}
	event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(fd)}
	return Alarm(fd), unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, fd, &event)
}

// Set has it go off after a time, instead of when it was set to before. Any thread.
func (a Alarm) Set(d time.Duration) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(max(d, 1)))}
	unix.TimerfdSettime(int(a), 0, &spec, nil)
}

// Close gives it back.
func (a Alarm) Close() {
	if a >= 0 {
		unix.Close(int(a))
	}
}
