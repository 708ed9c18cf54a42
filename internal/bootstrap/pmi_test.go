// SPDX-License-Identifier: BSD-3-Clause

// How ranks of a launcher with PMI meet. The launchers themselves are in tests/slurm, tests/pmi1
// and tests/pmix.
package bootstrap

import (
	"net"
	"strings"
	"testing"
	"time"

	"libarmci/internal/bootstrap/jobserver"
	"libarmci/internal/bootstrap/jobwire"
	"libarmci/internal/bootstrap/pmi"
	"libarmci/internal/sys"
)

// rendezvous lets rank 0 listen with these settings, and returns what the others get to know.
func rendezvous(t *testing.T, oneHost bool, environ ...string) meetingPoint {
	t.Helper()
	listeners, err := listenFor(settings(t, environ...), oneHost)
	if err != nil {
		t.Fatal(err)
	}
	s := jobserver.NewWithin(2, 0, func(int, int, []int) {}, func(int) {}, listeners)
	t.Cleanup(func() { s.Close() })
	line := encodeMeetingPoint(s.Secret(), listeners)
	if len(line) > pmi.MaxValue {
		t.Errorf("%d bytes are more than a launcher takes", len(line))
	}
	var m meetingPoint
	if err := m.parse(line); err != nil {
		t.Fatal(err)
	}
	return m
}

// join connects a rank and returns by which network.
func (m *meetingPoint) join(t *testing.T, rank int) string {
	t.Helper()
	conn, err := m.connect(time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := jobwire.Greet(conn, m.secret, jobwire.Hello, rank, 2); err != nil {
		t.Fatal(err)
	}
	return conn.LocalAddr().Network()
}

// On one host ranks connect by the unix socket alone.
func TestMeetingOnOneHost(t *testing.T) {
	m := rendezvous(t, true)
	if len(m.addresses) != 1 {
		t.Errorf("rank 0 listens for other hosts: %v", m.addresses)
	}
	if by := m.join(t, 1); by != "unix" {
		t.Errorf("met by %s", by)
	}
	m.host = "another"
	if _, err := m.connect(time.Second); err == nil {
		t.Error("met from another host")
	}
}

// A rank of another host connects by TCP, to an address of the set interface.
func TestMeetingFromAnotherHost(t *testing.T) {
	m := rendezvous(t, false, "ARMCI_TCP_INTERFACE=lo", "ARMCI_TCP_PORTS=20000-60000")
	if by := m.join(t, 0); by != "unix" {
		t.Errorf("on the same host, met by %s", by)
	}
	m.host = "another"
	if by := m.join(t, 1); by != "tcp" {
		t.Errorf("from another host, met by %s", by)
	}
	for _, a := range m.addresses[1:] {
		if host, _, err := net.SplitHostPort(a); err != nil ||
			!net.ParseIP(host).IsLoopback() {
			t.Errorf("listens on %s", a)
		}
	}
}

// An interface that does not exist is refused.
func TestMeetingWithoutThatInterface(t *testing.T) {
	_, err := listenFor(settings(t, "ARMCI_TCP_INTERFACE=nosuch0"), false)
	if err == nil || !strings.Contains(err.Error(), `ARMCI_TCP_INTERFACE="nosuch0"`) {
		t.Errorf("error %v", err)
	}
}

// A malformed meeting point is refused.
func TestMalformedMeetingPoint(t *testing.T) {
	for _, text := range []string{"", "x", "x y @z", strings.Repeat("0", 64) + " host"} {
		if (&meetingPoint{}).parse(text) == nil {
			t.Errorf("%q is read", text)
		}
	}
}

// A malformed range of ports means any port.
func TestPortsForOtherHosts(t *testing.T) {
	for text, want := range map[string]sys.Ports{
		"": {}, "7000": {Low: 7000, High: 7000}, "7000-7100": {Low: 7000, High: 7100},
		"70-7": {}, "x": {}, "1-70000": {},
	} {
		if got := portsOf(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// A limit of open files that is too low for the ranks is reported.
func TestTooFewDescriptors(t *testing.T) {
	if err := checkFileLimit(4096, 4096-otherFiles); err != nil {
		t.Errorf("refused: %v", err)
	}
	err := checkFileLimit(4096, 4096)
	if err == nil || !strings.Contains(err.Error(), "each of 4096 ranks") ||
		!strings.Contains(err.Error(), "ulimit") {
		t.Errorf("error %v", err)
	}
}
