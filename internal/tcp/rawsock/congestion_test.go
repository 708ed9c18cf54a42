// SPDX-License-Identifier: BSD-3-Clause

// Which congestion control sockets and connections have; a wrong name is refused before anything is
// opened.
package rawsock

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func congestionOf(t *testing.T, fd int) string {
	t.Helper()
	name, err := unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// Sockets have the named algorithm, or by default the system's unless it paces.
func TestCongestionControl(t *testing.T) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	want := congestionOf(t, fd)
	if strings.HasPrefix(want, "bbr") {
		if want = "cubic"; setCongestionName(fd, want) != nil {
			want = "reno"
		}
		fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
	}
	if err := SetCongestion(fd, autoCongestion); err != nil || congestionOf(t, fd) != want {
		t.Errorf("by itself: %s, %v; want %s", congestionOf(t, fd), err, want)
	}
	if err := SetCongestion(fd, "reno"); err != nil || congestionOf(t, fd) != "reno" {
		t.Errorf("asked for reno: %s, %v", congestionOf(t, fd), err)
	}
	if err := ProbeCongestion("nosuch"); err == nil ||
		!strings.Contains(err.Error(), "ARMCI_TCP_CONGESTION=nosuch") {
		t.Errorf("no such algorithm: %v", err)
	}
}
