// SPDX-License-Identifier: BSD-3-Clause

// The queue of a listener of package net that serves each connection in a goroutine of its own.

package acceptqueue

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/sys"
)

// acceptPause is how long Accept waits when the system has no room for another connection.
const acceptPause = 10 * time.Millisecond

// Waiting holds the connections of one or several listeners that have not proved themselves. Any
// goroutine may call its methods.
type Waiting struct {
	mu    sync.Mutex // guards queue
	queue *Queue[net.Conn]
}

// NewWaiting makes an empty queue with so many places.
func NewWaiting(places int) *Waiting { return &Waiting{queue: New[net.Conn](places)} }

// Accept waits for connections and returns at least one. Each has a place until Leave. A connection
// of another user to a unix socket is closed and has none. The error says that the listener was
// closed, or that its deadline has passed.
func (w *Waiting) Accept(l net.Listener) ([]net.Conn, error) {
	for {
		time.Sleep(w.holdTime())
		conns, full, err := acceptWaiting(l, w.queue.places)
		if err != nil {
			return nil, err
		}
		if full && !w.closeVictim() {
			time.Sleep(acceptPause)
		}
		for _, conn := range conns {
			for !w.tryAdd(conn) {
				w.closeVictim()
			}
		}
		if len(conns) > 0 {
			return conns, nil
		}
	}
}

// AcceptUser waits for connections of this user and returns at least one. It is for listeners that
// need no queue, since they serve only processes of this user. The error is as that of Accept.
func AcceptUser(l *net.UnixListener) ([]net.Conn, error) {
	for {
		conns, full, err := acceptWaiting(l, maxDrained)
		if err != nil || len(conns) > 0 {
			return conns, err
		}
		if full {
			time.Sleep(acceptPause)
		}
	}
}

// acceptWaiting waits for a connection and returns it with those that wait behind it, as far as
// there are places. There may be none, since those of other users are closed. full tells that the
// system has no descriptor for another one.
func acceptWaiting(l net.Listener, places int) (conns []net.Conn, full bool, err error) {
	first, err := l.Accept()
	timeout := net.Error(nil)
	switch {
	case errors.Is(err, net.ErrClosed), errors.As(err, &timeout) && timeout.Timeout():
		return nil, false, err
	case err != nil:
		return nil, true, nil
	}
	raw, err := l.(syscall.Conn).SyscallConn()
	if err != nil {
		first.Close()
		return nil, false, err
	}
	if local, ok := first.(*net.UnixConn); ok && sys.SameUser(local) != nil {
		first.Close()
	} else {
		conns = append(conns, first)
	}
	err = raw.Control(func(fd uintptr) {
		kept, e := Drain(int(fd), places)
		for _, a := range kept {
			if conn := connOf(a.FD); conn != nil {
				conns = append(conns, conn)
			}
		}
		full = e != nil && e != unix.EAGAIN
	})
	if err != nil { // it was closed meanwhile
		for _, conn := range conns {
			conn.Close()
		}
		return nil, false, net.ErrClosed
	}
	return conns, full, nil
}

// connOf makes a connection of package net, which owns the descriptor; nil if that is not possible.
func connOf(fd int) net.Conn {
	file := os.NewFile(uintptr(fd), "accepted")
	defer file.Close()
	conn, err := net.FileConn(file)
	if err != nil {
		return nil
	}
	return conn
}

// remoteAddr is the address that a connection comes from: the zero address for a unix socket.
func remoteAddr(conn net.Conn) netip.Addr {
	if tcp, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}

func (w *Waiting) holdTime() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.queue.Hold()
}

// tryAdd adds a connection to the queue unless that is full. It locks mu.
func (w *Waiting) tryAdd(conn net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.queue.Full() {
		return false
	}
	w.queue.Add(conn, remoteAddr(conn))
	return true
}

// closeVictim closes the connection that has to make room, and tells whether there was one. It
// locks mu.
func (w *Waiting) closeVictim() bool {
	w.mu.Lock()
	victim, ok := w.queue.Victim()
	if ok {
		w.queue.Remove(victim)
	}
	w.mu.Unlock()
	if ok {
		victim.Close()
	}
	return ok
}

// Leave removes a connection that has proved itself or has ended, and tells whether it was waiting.
// Otherwise it was closed meanwhile, and the caller must not serve it. It locks mu.
func (w *Waiting) Leave(conn net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.queue.Remove(conn)
}
