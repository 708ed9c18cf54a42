// SPDX-License-Identifier: BSD-3-Clause

// Both ends of a connection have the congestion control that was chosen.
package tcp

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestCongestionOfConnections(t *testing.T) {
	s := newServer(t, func(f *fabric) { f.opt.Congestion = "reno" })
	c := s.dial(t, 2)
	c.echo(t, 1, 8)
	for _, fd := range []int{c.e.fd, s.ends(t, 1)[0].c.fd} {
		if name, err := unix.GetsockoptString(fd, unix.IPPROTO_TCP,
			unix.TCP_CONGESTION); err != nil || name != "reno" {
			t.Errorf("%q, %v", name, err)
		}
	}
}
