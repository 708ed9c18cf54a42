// SPDX-License-Identifier: BSD-3-Clause

// A timer that ends a wait of another thread: that of the progress thread, and the data server's.
package tcp

import (
	"time"

	"golang.org/x/sys/unix"
)

// alarm is a timer of the kernel that ends a wait in an epoll. Each time that it goes off is one
// event, which nothing reads.
type alarm int

func newAlarm(epoll int) (alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return -1, err
	}
	event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(fd)}
	return alarm(fd), unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, fd, &event)
}

// set has it go off after a time, instead of when it was set to before. Any thread.
func (a alarm) set(d time.Duration) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(max(d, 1)))}
	unix.TimerfdSettime(int(a), 0, &spec, nil)
}

func (a alarm) close() {
	if a >= 0 {
		unix.Close(int(a))
	}
}
