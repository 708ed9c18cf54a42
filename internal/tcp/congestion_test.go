// SPDX-License-Identifier: BSD-3-Clause

// Which congestion control sockets and connections have; a wrong name is refused before anything is opened.
package tcp

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"libarmci/internal/transport"
)

func controlOf(t *testing.T, fd int) string {
	t.Helper()
	name, err := unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func TestCongestionControl(t *testing.T) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	want := controlOf(t, fd)
	if strings.HasPrefix(want, "bbr") {
		if want = "cubic"; setControl(fd, want) != nil {
			want = "reno"
		}
		fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
	}
	if err := control(fd, autoControl); err != nil || controlOf(t, fd) != want {
		t.Errorf("by itself: %s, %v; want %s", controlOf(t, fd), err, want)
	}
	if err := control(fd, "reno"); err != nil || controlOf(t, fd) != "reno" {
		t.Errorf("asked for reno: %s, %v", controlOf(t, fd), err)
	}
	o := Options{Congestion: "nosuch"}
	if err := o.probe(); err == nil || !strings.Contains(err.Error(), "ARMCI_TCP_CONGESTION=nosuch") {
		t.Errorf("no such algorithm: %v", err)
	}
}

// Both ends of a connection have what was chosen.
func TestCongestionOfConnections(t *testing.T) {
	j := newJob(t, func(o *Options) { o.Congestion = "reno" }, 1, 1)
	j.ConnectAll(t)
	old := transport.RMW{Bytes: 8, Addr: j.Alloc(t, 1, 64)}
	if err := j.tr[0].RMW(1, &old); err != nil {
		t.Fatal(err)
	}
	client, server := j.tr[0].wires[1].fd, j.tr[1].server.at(0).fd
	if c, s := controlOf(t, client), controlOf(t, server); c != "reno" || s != "reno" {
		t.Errorf("the client has %s, the server %s", c, s)
	}
}
