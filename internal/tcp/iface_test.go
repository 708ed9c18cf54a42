// SPDX-License-Identifier: BSD-3-Clause

// The choice of the address to listen at, and ports.
package tcp

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"libarmci/internal/transport"
)

// withHints makes the fabric of nodes with one rank each; the first is this host.
func withHints(hosts ...hint) *fabric {
	o := &fabric{}
	for i, h := range hosts {
		o.Nodes = append(o.Nodes, []transport.Rank{transport.Rank(i)})
		o.Hosts = append(o.Hosts, "host"+string(rune('0'+i)))
		o.Hints = append(o.Hints, encodeHint(h))
	}
	return o
}

// An encoded hint is decoded again, and malformed ones are refused.
func TestHintRoundTrip(t *testing.T) {
	h := hint{hashIdentity("here"), prefixes("10.1.0.2/24", "fd00::3/64")}
	b := encodeHint(h)
	if got, err := decodeHint(b); err != nil || got.Host != h.Host ||
		!slices.Equal(got.Addrs, h.Addrs) || len(b) > 40 {
		t.Errorf("%+v became %+v in %d bytes, %v", h, got, len(b), err)
	}
	for n := range len(b) {
		if _, err := decodeHint(b[:n]); err == nil && n != 8 && n != 14 {
			t.Errorf("%d bytes are accepted", n)
		}
	}
	b[8] = 33
	if _, err := decodeHint(b); err == nil {
		t.Error("a network of 33 bits is accepted")
	}
	for _, long := range []byte{254, 255} {
		b = append(b[:8], make([]byte, 300)...)
		if b[9] = long; !errors.Is(errOf(decodeHint(b)), errHint) {
			t.Errorf("an address of %d bytes is accepted", long)
		}
	}
}

func errOf(_ hint, err error) error { return err }

func prefixes(texts ...string) (out []netip.Prefix) {
	for _, t := range texts {
		out = append(out, netip.MustParsePrefix(t))
	}
	return out
}

// Where all nodes are on this host the address is loopback, also by setting.
func TestSameHostUsesLoopback(t *testing.T) {
	mine, err := decodeHint(makeHint())
	if err != nil || mine.Host == 0 {
		t.Fatalf("%+v, %v", mine, err)
	}
	o := withHints(mine, mine, mine)
	if a, err := o.chooseAddr(); err != nil || !a.IsLoopback() {
		t.Errorf("%v, %v", a, err)
	}
	o.options.Interface = "127.0.0.0/8"
	if a, err := o.chooseAddr(); err != nil || !a.IsLoopback() {
		t.Errorf("by network: %v, %v", a, err)
	}
	o.options.Interface = "lo"
	if a, err := o.chooseAddr(); err != nil || !a.IsLoopback() {
		t.Errorf("by name: %v, %v", a, err)
	}
	for _, wrong := range []string{"nosuch0", "203.0.113.0/24"} {
		o.options.Interface = wrong
		if _, err := o.chooseAddr(); err == nil ||
			!strings.Contains(err.Error(), "ARMCI_TCP_INTERFACE") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

// A bad setting that one host can find is reported before anything is opened, so that core can
// report it once for all ranks.
func TestProbe(t *testing.T) {
	for _, o := range []Options{{}, {Interface: "lo"},
		{Interface: "127.0.0.0/8", Ports: "7000-7100"}} {
		if err := Driver(o).Probe(); err != nil {
			t.Errorf("%q, %q: %v", o.Interface, o.Ports, err)
		}
	}
	for setting, o := range map[string]Options{
		`ARMCI_TCP_INTERFACE="nosuch0"`:        {Interface: "nosuch0"},
		`ARMCI_TCP_INTERFACE="203.0.113.0/24"`: {Interface: "203.0.113.0/24"},
		`ARMCI_TCP_PORTS="9-8"`:                {Ports: "9-8"}} {
		if err := Driver(o).Probe(); err == nil ||
			!strings.HasPrefix(err.Error(), setting) {
			t.Errorf("%s: %v", setting, err)
		}
	}
}

// The address in the network of most other hosts is chosen, if there is one.
func TestMostSharedAddr(t *testing.T) {
	others := []hint{{Host: 1}, {2, prefixes("172.17.0.1/16", "10.1.0.2/24", "10.2.0.2/24")},
		{3, prefixes("172.17.0.1/16", "10.2.0.3/24", "fd00::3/64")}}
	o := withHints(others...)
	for want, own := range map[string][]netip.Prefix{
		// two hosts against one; equal addresses are none
		"10.2.0.1": prefixes("172.17.0.1/16", "10.1.0.1/24", "10.2.0.1/24"),
		"10.1.0.1": prefixes("10.1.0.1/24", "fd00::1/64"),
		"fd00::1":  prefixes("10.9.0.1/24", "fd00::1/64"),
		"":         prefixes("172.17.0.1/16", "10.9.0.1/24"),
	} {
		a, ok := o.mostSharedAddr(own, others)
		if ok != (want != "") || ok && a.String() != want {
			t.Errorf("of %v: %v, want %s", own, a, want)
		}
	}
}
