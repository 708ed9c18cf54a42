// SPDX-License-Identifier: BSD-3-Clause

// Both ends of a connection have the congestion control that was chosen.
package tcp

import (
	"testing"

	"golang.org/x/sys/unix"
)

// Options.Congestion is set on the sockets of the origin and of the target.
func TestCongestionOfConnections(t *testing.T) {
	s := newServer(t, func(f *fabric) { f.options.Congestion = "reno" })
	c := s.dial(t, 2)
	c.echo(t, 1, 8)
	for _, fd := range []int{c.endpoint.fd, s.awaitConns(t, 1)[0].conn.fd} {
		if name, err := unix.GetsockoptString(fd, unix.IPPROTO_TCP,
			unix.TCP_CONGESTION); err != nil || name != "reno" {
			t.Errorf("%q, %v", name, err)
		}
	}
}
