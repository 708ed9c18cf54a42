// SPDX-License-Identifier: BSD-3-Clause

// The socket below the frames. On one machine it is an abstract unix socket, which leaves no file
// behind; the other end must be the same user. To other hosts it is TCP with keepalive, so that a
// silent host is noticed.

package jobwire

import (
	"cmp"
	"crypto/rand"
	"net"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/acceptqueue"
	"libarmci/internal/sys"
)

// defaultOutage is how long another host may be out of reach, unless SetOutage has said otherwise.
const defaultOutage = 10 * time.Second

// NewAddress makes an unused abstract address. Its first byte, a NUL for the
// kernel, is written '@'.
func NewAddress() string {
	return "@armci-job-" + rand.Text()
}

// Dial connects to a job server: "@name" is on this machine, "host:port" may be
// anywhere. The first must belong to the same user; the second proves itself by
// its Welcome.
func Dial(addr string, timeout time.Duration) (net.Conn, error) {
	network := "tcp"
	if strings.HasPrefix(addr, "@") {
		network = "unix"
	}
	conn, err := net.DialTimeout(network, addr, timeout)
	if err != nil {
		return nil, err
	}
	if err := Trust(conn); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// Join connects to a job server or to the parent in a node, and greets it. A connection that was
// dropped before it had proved itself is made again until limit has passed.
func Join(addr string, limit time.Duration, s Secret, kind Kind, number, of int) (net.Conn, error) {
	return JoinBy(func(wait time.Duration) (net.Conn, error) { return Dial(addr, wait) }, limit,
		s, kind, number, of)
}

// JoinBy is Join by a function that connects.
func JoinBy(dial func(wait time.Duration) (net.Conn, error), limit time.Duration, s Secret,
	kind Kind, number, of int) (
	conn net.Conn, err error) {
	err = acceptqueue.Redial(limit, nil, func(patience time.Time) error {
		if conn, err = dial(time.Until(patience)); err != nil {
			return err
		}
		if _, local := conn.(*net.UnixConn); local {
			patience = time.Time{} // the kernel loses no connection
		}
		if err := greetUntil(conn, patience, s, kind, number, of); err != nil {
			conn.Close()
			return err
		}
		return nil
	})
	return conn, err
}

// Trust prepares a new connection: the other end of a unix socket must be the
// same user, and a TCP connection ends when the other host does not answer.
func Trust(conn net.Conn) error {
	switch c := conn.(type) {
	case *net.UnixConn:
		return sys.SameUser(c)
	case *net.TCPConn:
		return setKeepAlive(c, defaultOutage)
	}
	return nil
}

// SetOutage sets for how long the other end's host may be out of reach without the connection being
// lost; 0 is defaultOutage.
func SetOutage(conn net.Conn, longest time.Duration) error {
	if c, ok := conn.(*net.TCPConn); ok {
		return setKeepAlive(c, cmp.Or(longest, defaultOutage))
	}
	return nil
}

// setKeepAlive has the kernel probe an idle peer, and end the connection if it does not answer. The
// kernel of a stopped process answers. The time until then is longer than the outage: the last
// answer was before it, and what was sent is repeated after ever longer pauses.
func setKeepAlive(conn *net.TCPConn, outage time.Duration) error {
	pause := min(max(outage/5, time.Second), 2*time.Second)
	silence := max(outage*7/5, outage+2*pause)
	idle := net.KeepAliveConfig{Enable: true, Idle: pause, Interval: pause,
		Count: int(silence / pause)}
	if err := conn.SetKeepAliveConfig(idle); err != nil {
		return err
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var set error
	err = raw.Control(func(fd uintptr) {
		set = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT,
			int(silence/time.Millisecond))
	})
	if err == nil {
		err = set
	}
	return err
}
