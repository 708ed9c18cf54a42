// SPDX-License-Identifier: BSD-3-Clause

// Accepting connections faster than strangers make them.

package acceptqueue

import (
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// maxDrained bounds the connections that one Drain accepts, and so its time to a few milliseconds.
const maxDrained = 1024

// Accepted is a connection of which no byte was received, and the address that it comes from.
type Accepted struct {
	FD   int
	From netip.Addr
}

// Drain accepts the connections that wait at a listening socket. It returns at most as many as
// there are places, chosen as in Queue, and closes the others. Closing is much cheaper than a
// hello: so the kernel's backlog stays short, and connections of the job's own processes are not
// lost in it. Connections of other users to a unix socket are closed, too. The caller closes those
// that are kept. The error is unix.EAGAIN if none is left, or says why no more could be accepted.
func Drain(listener, places int) (kept []Accepted, err error) {
	q := New[Accepted](places)
	for range maxDrained {
		fd, from, e := unix.Accept4(listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if e == unix.EINTR || e == unix.ECONNABORTED {
			continue
		}
		if err = e; e != nil {
			break
		}
		if _, local := from.(*unix.SockaddrUnix); local && !ofThisUser(fd) {
			unix.Close(fd)
			continue
		}
		if victim, ok := q.Victim(); ok && q.Full() {
			q.Remove(victim)
			unix.Close(victim.FD)
		}
		a := Accepted{fd, addressOf(from)}
		q.Add(a, a.From)
	}
	for _, p := range q.waiting {
		kept = append(kept, p.conn)
	}
	return kept, err
}

// addressOf is the address of a peer, the zero address if it is connected by a unix socket.
func addressOf(a unix.Sockaddr) netip.Addr {
	switch a := a.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrFrom4(a.Addr)
	case *unix.SockaddrInet6:
		return netip.AddrFrom16(a.Addr).Unmap()
	}
	return netip.Addr{}
}

// ofThisUser tells whether a unix socket's other end belongs to the user of this process.
func ofThisUser(fd int) bool {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	return err == nil && int(cred.Uid) == os.Geteuid()
}
