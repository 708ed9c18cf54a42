// SPDX-License-Identifier: BSD-3-Clause

// Ports and addresses to listen at.
package rawsock

import (
	"net/netip"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

var loopback = netip.MustParseAddr("127.0.0.1")

// Listen refuses bad ranges and ports that are not free.
func TestListenChecksPorts(t *testing.T) {
	for _, bad := range []string{"x", "0", "1-", "9-8", "70000", "1-2-3"} {
		if _, err := ParsePorts(bad); err == nil {
			t.Errorf("%q passes", bad)
		}
	}
	fd, at, err := Listen(loopback, "")
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	text := at.String()[strings.LastIndex(at.String(), ":")+1:]
	if _, _, err := Listen(loopback, text); err == nil ||
		!strings.Contains(err.Error(), "ARMCI_TCP_PORTS") {
		t.Errorf("a taken port: %v", err)
	}
	if fd6, at, err := Listen(netip.IPv6Loopback(), ""); err != nil {
		t.Logf("no IPv6 here: %v", err)
	} else if unix.Close(fd6); at.Port() == 0 {
		t.Error("no port")
	}
}
