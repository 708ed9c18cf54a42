// SPDX-License-Identifier: BSD-3-Clause

// The socket under the frames: abstract unix addresses, which leave no file
// behind, and the check that the other end is the same user.

package jobwire

import (
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"syscall"
)

// NewAddress makes an unused abstract address. Its first byte, a NUL for the
// kernel, is written '@'.
func NewAddress() string {
	return "@armci-job-" + rand.Text()
}

// SameUser checks that the process at the other end runs as the same user.
func SameUser(conn *net.UnixConn) error {
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
