// SPDX-License-Identifier: BSD-3-Clause

// Inquiries between hosts: which addresses a reporter publishes, and which answers count.

package tcp

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/tcp/rawsock"
)

// answerOnce is a reporter for one inquiry.
func answerOnce(fd int, text string) {
	unix.SetNonblock(fd, false)
	if c, _, err := unix.Accept(fd); err == nil {
		unix.Write(c, []byte(text))
		unix.Close(c)
	}
}

func isLoopback(a netip.AddrPort) bool { return a.Addr().IsLoopback() }

// Ask returns true for the whole answer only.
func TestInquiries(t *testing.T) {
	for _, c := range []struct {
		answer string
		want   bool
	}{{"known", true}, {"known here", true}, {"knows", false}, {"kno", false}, {"", false}} {
		i := Inquiries{Options: Options{Interface: "lo"}}
		fd, at, err := i.Listen()
		if err != nil {
			t.Fatal(err)
		}
		if all := decodeReporterAddrs(at); !slices.ContainsFunc(all, isLoopback) {
			t.Errorf("addresses: %v", all)
		}
		go answerOnce(fd, c.answer)
		if got := i.Ask(at, "known", time.Minute); got != c.want {
			t.Errorf("%q: %v", c.answer, got)
		}
		unix.Close(fd)
		if i.Ask(at, "known", time.Minute) {
			t.Error("an answer of a closed socket")
		}
	}
}

// The first port of a range stays free for the data server.
func TestInquiriesLeaveAPort(t *testing.T) {
	held, last, err := rawsock.Listen(netip.MustParseAddr("127.0.0.1"), "")
	if err != nil {
		t.Fatal(err)
	}
	unix.Close(held)
	port := int(last.Port())
	ports := fmt.Sprintf("%d-%d", port-1, port)
	fd, at, err := Inquiries{Options: Options{Interface: "lo", Ports: ports}}.Listen()
	if err == nil {
		defer unix.Close(fd)
		if got := decodeReporterAddrs(at)[0].Port(); int(got) != port {
			t.Errorf("port %d of %s", got, ports)
		}
	}
	only := Inquiries{Options: Options{Interface: "lo", Ports: "7000"}}
	if fd, _, err := only.Listen(); err == nil {
		unix.Close(fd)
		t.Error("it takes the only port")
	}
}

// A reporter that does not answer is waited for until the time is over.
func TestInquiriesWithoutAnswer(t *testing.T) {
	i := Inquiries{Options{Interface: "lo"}, 20 * time.Millisecond}
	fd, at, err := i.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if i.Ask(at, "known", time.Minute) {
		t.Error("an answer of nothing")
	}
	for _, bad := range []string{"", "x", "xy", "xy\x04abc", "xy\x05abcde", "xy\xff",
		"xy\xff" + strings.Repeat("a", 255)} {
		all := decodeReporterAddrs([]byte(bad))
		if len(all) > 0 || i.Ask([]byte(bad), "known", time.Minute) {
			t.Errorf("%q: %v", bad, all)
		}
	}
}
