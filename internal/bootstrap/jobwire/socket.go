// SPDX-License-Identifier: BSD-3-Clause

// The socket below the frames. On one machine an abstract unix socket, which
// leaves no file behind, with a check that the other end is the same user; TCP
// to other hosts, with keepalive, so that a silent host is noticed.

package jobwire

import (
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// silence is how long a host may not answer before its connection ends.
const silence = 10 * time.Second

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

// Trust prepares a new connection: the other end of a unix socket must be the
// same user, and a TCP connection ends when the other host does not answer.
func Trust(conn net.Conn) error {
	switch c := conn.(type) {
	case *net.UnixConn:
		return sameUser(c)
	case *net.TCPConn:
		return watch(c)
	}
	return nil
}

func sameUser(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var cred *syscall.Ucred
	var credErr error
	err = raw.Control(func(fd uintptr) {
		cred, credErr = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	if err == nil {
		err = credErr
	}
	if err != nil {
		return fmt.Errorf("whose socket: %w", err)
	}
	if int(cred.Uid) != os.Geteuid() {
		return fmt.Errorf("the other end belongs to user %d", cred.Uid)
	}
	return nil
}

// watch has the kernel probe an idle peer, and end the connection if it does not
// answer. A stopped process is no problem: its kernel answers.
func watch(conn *net.TCPConn) error {
	const pause, probes = 2 * time.Second, 3
	idle := net.KeepAliveConfig{Enable: true, Idle: silence - probes*pause, Interval: pause, Count: probes}
	if err := conn.SetKeepAliveConfig(idle); err != nil {
		return err
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var set error
	err = raw.Control(func(fd uintptr) {
		set = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(silence/time.Millisecond))
	})
	if err == nil {
		err = set
	}
	return err
}
