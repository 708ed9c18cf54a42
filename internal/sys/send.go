// SPDX-License-Identifier: BSD-3-Clause

// Package sys has the system calls that several packages need: sending on sockets without SIGPIPE,
// the user of a peer, errors of a closed one, descriptors that wake threads, and what this host is
// to a network.
//
// This file sends on stream sockets. Package net writes with write(2), which raises SIGPIPE when
// the peer has closed; in a shared library the program's handler, or its default action, decides
// what follows. What the library sends on sockets of package net goes through Send.
package sys

import (
	"io"
	"syscall"

	"golang.org/x/sys/unix"
)

// Send sends all of b, and with its first byte the file descriptors in rights (see
// unix.UnixRights). It waits as Write of the connection would, until its deadline at most.
func Send(c syscall.Conn, b, rights []byte) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	for len(b) > 0 {
		var n int
		var failed error
		err := raw.Write(func(fd uintptr) bool {
			for {
				n, failed = unix.SendmsgN(int(fd), b, rights, nil,
					unix.MSG_NOSIGNAL)
				if failed != unix.EINTR {
					return failed != unix.EAGAIN
				}
			}
		})
		switch {
		case err != nil:
			return err
		case failed != nil:
			return failed
		case n == 0:
			return io.ErrUnexpectedEOF
		}
		b, rights = b[n:], nil
	}
	return nil
}
