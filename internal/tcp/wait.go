// SPDX-License-Identifier: BSD-3-Clause

// Waiting for many sockets: an epoll for the connections of a data server, and one for those of an origin, by which the
// progress thread waits. The latter always tells of connections that are lost, and of what has come where that was asked
// for.
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

// poller is an epoll, the connections that it looks at, and an eventfd that ends its wait.
type poller[T any] struct {
	epoll, bell int
	mu          sync.Mutex
	all         map[int32]T // by descriptor
}

func (p *poller[T]) open() (err error) {
	p.bell, p.all = -1, map[int32]T{}
	if p.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err == nil {
		p.bell, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	}
	if err == nil {
		err = p.control(unix.EPOLL_CTL_ADD, p.bell, unix.EPOLLIN|unix.EPOLLET) // each write is one event: nobody reads it
	}
	return err
}

func (p *poller[T]) close() {
	unix.Close(p.epoll)
	unix.Close(p.bell)
}

// control changes what is looked for at a descriptor.
func (p *poller[T]) control(op, fd int, events uint32) error {
	return unix.EpollCtl(p.epoll, op, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
}

// add begins to look after a connection, and remove ends that.
func (p *poller[T]) add(fd int, x T, events uint32) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all[int32(fd)] = x
	return p.control(unix.EPOLL_CTL_ADD, fd, events)
}

func (p *poller[T]) remove(fd int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.all, int32(fd))
	p.control(unix.EPOLL_CTL_DEL, fd, 0)
}

// find gives the connection of an event, or nil.
func (p *poller[T]) find(fd int32) T {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all[fd]
}

// Interrupt ends a wait, or the next one.
func (p *poller[T]) Interrupt() { unix.Write(p.bell, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }

// Attend has Wait tell what comes on an endpoint.
func (f *fabric) Attend(s transport.Source) {
	f.ends.control(unix.EPOLL_CTL_MOD, s.(*endpoint).fd, forData)
}

// Wait waits for all endpoints.
func (f *fabric) Wait(limit time.Duration, ready []transport.Source) []transport.Source {
	if limit != 0 { // epoll_wait counts milliseconds
		var deadline time.Time
		if limit > 0 {
			deadline = time.Now().Add(limit)
		}
		rawsock.WaitFor(f.ends.epoll, unix.POLLIN, deadline)
	}
	var events [16]unix.EpollEvent
	n, _ := unix.EpollWait(f.ends.epoll, events[:], 0)
	ready = ready[:0]
	for _, ev := range events[:max(n, 0)] {
		if e := f.ends.find(ev.Fd); e != nil {
			f.ends.control(unix.EPOLL_CTL_MOD, e.fd, forLoss)
			ready = append(ready, e)
		}
	}
	return ready
}

// Wake ends Wait.
func (f *fabric) Wake() { f.ends.Interrupt() }
