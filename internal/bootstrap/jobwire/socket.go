// SPDX-License-Identifier: BSD-3-Clause

// The socket under the frames. On one machine abstract unix addresses, which
// leave no file behind, and the check that the other end is the same user; TCP
// to other hosts, watched so that one that falls silent is noticed.

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

// Trust prepares a new connection: whoever is at the other end of a unix socket
// must be the same user, and a TCP connection ends when nobody answers.
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

// watch has the kernel ask an idle peer, and not wait for it for ever. A stopped
// process does no harm: its kernel answers.
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
