// SPDX-License-Identifier: BSD-3-Clause

// Which user a unix socket's other end belongs to.

package sys

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// PeerCredentials is the process that made a connection, and its user.
func PeerCredentials(c *net.UnixConn) (cred *unix.Ucred, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	ask := func(fd uintptr) {
		cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET,
			unix.SO_PEERCRED)
	}
	if bad := raw.Control(ask); bad != nil {
		return nil, bad
	}
	return cred, err
}

// SameUser is an error unless the other end belongs to the user of this process.
func SameUser(c *net.UnixConn) error {
	cred, err := PeerCredentials(c)
	if err != nil {
		return fmt.Errorf("the user of the other end: %w", err)
	}
	if int(cred.Uid) != os.Geteuid() {
		return fmt.Errorf("the other end belongs to user %d", cred.Uid)
	}
	return nil
}
