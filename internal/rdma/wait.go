// SPDX-License-Identifier: BSD-3-Clause

// What the progress thread waits for: completions on the origins' queue if it was asked to attend to it, ends that were lost,
// and asynchronous events of the device. And bells: eventfds that end a wait.
package rdma

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/log"
	"libarmci/internal/transport"
)

func newBell() (int, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return -1, fmt.Errorf("eventfd: %w", err)
	}
	return fd, nil
}

func ringBell(fd int) { unix.Write(fd, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }

func drainBell(fd int) {
	var b [8]byte
	unix.Read(fd, b[:])
}

// Attend asks Wait for the origins' queue; a data server sleeps on its own.
func (f *Fabric) Attend(transport.Source) {
	if err := f.origins.cq.Arm(); err != nil { // every time: a thread in Sleep may have taken the event meanwhile
		log.Errorf("%v", err)
		return
	}
	if !f.attended.Swap(true) && f.waiting.Load() {
		f.Wake()
	}
}

// Wait blocks until something has happened.
func (f *Fabric) Wait(limit time.Duration, ready []transport.Source) []transport.Source {
	ready = ready[:0]
	f.waiting.Store(true)
	defer f.waiting.Store(false)
	q := f.origins
	fds := [3]unix.PollFd{{Fd: int32(f.bell), Events: unix.POLLIN},
		{Fd: int32(f.base.Context.AsyncFD()), Events: unix.POLLIN}, {Fd: -1}}
	if f.attended.Load() {
		fds[2] = unix.PollFd{Fd: int32(q.cq.Channel().FD()), Events: unix.POLLIN}
	}
	var until *unix.Timespec
	if limit >= 0 {
		ts := unix.NsecToTimespec(int64(limit))
		until = &ts
	}
	unix.Ppoll(fds[:], until, nil)
	if fds[0].Revents != 0 {
		drainBell(f.bell)
	}
	if fds[1].Revents != 0 {
		f.hear()
	}
	if fds[2].Revents != 0 {
		f.attended.Store(false)
		q.cq.Channel().Take()
	}
	if fds[2].Revents != 0 || q.urgent.Load() {
		ready = append(ready, q)
	}
	return ready
}

// Wake ends Wait.
func (f *Fabric) Wake() { ringBell(f.bell) }

// hear handles asynchronous events of the device.
func (f *Fabric) hear() {
	for {
		text, fatal, some := f.base.Context.Async()
		if !some {
			return
		}
		log.Infof("%s: %s", f.base.Name, text)
		if fatal && f.cfg.Fatal != nil {
			f.cfg.Fatal(fmt.Errorf("device %s of this host: %s", f.base.Name, text))
		}
	}
}
