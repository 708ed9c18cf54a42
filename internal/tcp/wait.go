// SPDX-License-Identifier: BSD-3-Clause

// The progress thread's wait for all connections of an origin: one epoll, which always tells of those that are lost, and
// of what has come where that was asked for.
package tcp

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/tcp/rawsock"
	"libarmci/internal/transport"
)

// What epoll looks for at an endpoint. An event ends that.
const (
	forLoss = unix.EPOLLRDHUP | unix.EPOLLONESHOT
	forData = unix.EPOLLIN | forLoss
)

// progress is the origin's endpoints that are connected.
type progress struct {
	epoll, bell int // bell: eventfd
	mu          sync.Mutex
	all         map[int32]*endpoint // by descriptor
}

// newEpoll makes an epoll, and an eventfd that it looks at.
func newEpoll() (epoll, bell int, err error) {
	if epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return -1, -1, err
	}
	if bell, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		unix.Close(epoll)
		return -1, -1, err
	}
	return epoll, bell, control(epoll, unix.EPOLL_CTL_ADD, bell, unix.EPOLLIN, 0)
}

// control changes what an epoll looks for at a descriptor; about is for who made the epoll.
func control(epoll, op, fd int, events uint32, about int32) error {
	return unix.EpollCtl(epoll, op, fd, &unix.EpollEvent{Events: events, Fd: int32(fd), Pad: about})
}

// ring makes an eventfd readable, and silence ends that.
func ring(bell int) { unix.Write(bell, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }

func silence(bell int) {
	var b [8]byte
	unix.Read(bell, b[:])
}

// add begins to look after a new connection.
func (p *progress) add(e *endpoint) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all[int32(e.fd)] = e
	return control(p.epoll, unix.EPOLL_CTL_ADD, e.fd, forLoss, 0)
}

// remove ends that.
func (p *progress) remove(e *endpoint) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all[int32(e.fd)] == e {
		delete(p.all, int32(e.fd))
		control(p.epoll, unix.EPOLL_CTL_DEL, e.fd, 0, 0)
	}
}

// Attend has Wait tell what comes on an endpoint.
func (f *fabric) Attend(s transport.Source) {
	p, e := &f.progress, s.(*endpoint)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all[int32(e.fd)] == e {
		control(p.epoll, unix.EPOLL_CTL_MOD, e.fd, forData, 0)
	}
}

// Wait waits for all endpoints.
func (f *fabric) Wait(limit time.Duration, ready []transport.Source) []transport.Source {
	p := &f.progress
	if limit != 0 { // epoll_wait counts milliseconds
		var deadline time.Time
		if limit > 0 {
			deadline = time.Now().Add(limit)
		}
		rawsock.WaitFor(p.epoll, unix.POLLIN, deadline)
	}
	var events [16]unix.EpollEvent
	n, _ := unix.EpollWait(p.epoll, events[:], 0)
	p.mu.Lock()
	defer p.mu.Unlock()
	ready = ready[:0]
	for _, ev := range events[:max(n, 0)] {
		if e := p.all[ev.Fd]; e != nil {
			control(p.epoll, unix.EPOLL_CTL_MOD, e.fd, forLoss, 0)
			ready = append(ready, e)
		} else if int(ev.Fd) == p.bell {
			silence(p.bell)
		}
	}
	return ready
}

// Wake ends Wait.
func (f *fabric) Wake() { ring(f.progress.bell) }
