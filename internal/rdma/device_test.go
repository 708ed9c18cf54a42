// SPDX-License-Identifier: BSD-3-Clause

// The choice of device, port and address, from directories that look like the kernel's.
package rdma

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"libarmci/internal/transport"
)

// host writes files below a directory: "path: contents".
func someHost(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		name, text, _ := strings.Cut(f, ": ")
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestWays(t *testing.T) {
	down := []string{"a0/ports/1/state: 1: DOWN", "a0/ports/1/link_layer: InfiniBand", "a0/ports/1/lid: 0x5"}
	roce := []string{"b0/ports/1/state: 4: ACTIVE", "b0/ports/1/link_layer: Ethernet", "b0/ports/1/lid: 0x0",
		"b0/ports/1/gids/0: fe80:0000:0000:0000:0000:00ff:fe00:0001", "b0/ports/1/gid_attrs/types/0: IB/RoCE v1",
		"b0/ports/1/gids/1: fe80:0000:0000:0000:0000:00ff:fe00:0001", "b0/ports/1/gid_attrs/types/1: RoCE v2",
		"b0/ports/1/gids/2: 0000:0000:0000:0000:0000:ffff:0a4d:0001", "b0/ports/1/gid_attrs/types/2: IB/RoCE v1",
		"b0/ports/1/gids/3: 0000:0000:0000:0000:0000:ffff:0a4d:0001", "b0/ports/1/gid_attrs/types/3: RoCE v2",
		"b0/ports/1/gids/4: 0000:0000:0000:0000:0000:0000:0000:0000",
		"b0/ports/1/gids/20: 0000:0000:0000:0000:0000:ffff:0a4e:0001", "b0/ports/1/gid_attrs/types/20: RoCE v2"}
	bare := []string{"c0/ports/1/state: 4: ACTIVE", "c0/ports/1/link_layer: Ethernet"}
	ib := []string{"d0/ports/2/state: 4: ACTIVE", "d0/ports/2/link_layer: InfiniBand", "d0/ports/2/lid: 0x11"}
	for _, c := range []struct {
		files            []string
		device, gid      string
		ways, complaints string
	}{
		{nil, "", "", "", "no RDMA device"},
		{down, "", "", "", "a0 port 1: the port is DOWN"},
		{bare, "", "", "", "no usable GID"},
		{roce, "", "", "b0 port 1, GID 3 (RoCE v2, 10.77.0.1)", ""},
		{roce, "", "1", "b0 port 1, GID 1 (RoCE v2, fe80000000000000:000000fffe000001)", ""},
		{roce, "", "20", "b0 port 1, GID 20 (RoCE v2, 10.78.0.1)", ""},
		{roce, "", "9", "", "it has no GID 9"},
		{append(append(down, roce...), ib...), "", "", "b0 port 1, GID 3 (RoCE v2, 10.77.0.1); d0 port 2, LID 17", ""},
		{append(append(down, roce...), ib...), "d0", "", "d0 port 2, LID 17", ""},
		{append(append(down, roce...), ib...), "d0:1", "", "", "there is no device d0:1"},
		{append(down, roce...), "a0:1", "", "", "DOWN"},
	} {
		got, _, err := ways(listPorts(someHost(t, c.files...)), c.device, c.gid)
		text := ""
		for i := range got {
			text += "; " + got[i].String()
		}
		if text = strings.TrimPrefix(text, "; "); text != c.ways {
			t.Errorf("%s %s: %q, expected %q", c.device, c.gid, text, c.ways)
		}
		if (err != nil) != (c.complaints != "") || err != nil && !strings.Contains(err.Error(), c.complaints) {
			t.Errorf("%s %s: %v, expected %q", c.device, c.gid, err, c.complaints)
		}
	}
}

func ipv4(last ...byte) [16]byte {
	a := [16]byte{10: 0xff, 11: 0xff}
	copy(a[12:], last)
	return a
}

func TestNearest(t *testing.T) {
	mine := []way{{gid: &gid{index: 1, addr: ipv4(10, 1, 0, 1)}}, {gid: &gid{index: 2, addr: ipv4(10, 2, 0, 1)}}}
	for _, c := range []struct {
		others [][16]byte
		index  int
	}{
		{nil, 1}, {[][16]byte{ipv4(10, 1, 0, 2)}, 1}, {[][16]byte{ipv4(10, 2, 0, 2), ipv4(10, 2, 0, 3)}, 2},
	} {
		if got := nearest(mine, c.others); got.gid.index != c.index {
			t.Errorf("%v: GID %d, expected %d", c.others, got.gid.index, c.index)
		}
	}
}

func TestHello(t *testing.T) {
	secret := []byte("secret")
	q := hello{kind: question, from: 3, to: 4, nonce: 1 << 60, pair: 17, psn: 0xabcdef, reads: 16, mtu: 3, room: mostBytes,
		back: endpoint{pair: 99, lid: 5, gid: ipv4(10, 0, 0, 9), mtu: 4}}
	b := q.encode(secret)
	if len(b) != helloBytes || len(b) > porterSize-routeHeader {
		t.Fatalf("%d bytes", len(b))
	}
	var got hello
	if err := got.decode(b, secret); err != nil || got != q {
		t.Errorf("%v: %+v became %+v", err, q, got)
	}
	if got.decode(b, []byte("another")) == nil {
		t.Error("another job's secret was accepted")
	}
	for i := range b {
		b[i] ^= 1
		if got.decode(b, secret) == nil || got.decode(b[:i], secret) == nil {
			t.Errorf("a datagram with a wrong byte %d, or only %d bytes, was accepted", i, i)
		}
		b[i] ^= 1
	}
}

// Retries end before a host is given up, though a device may take four times as long as it is told.
func TestRetryExponent(t *testing.T) {
	for limit, want := range map[time.Duration]uint8{time.Second: 12, 10 * time.Second: 16, time.Hour: 18} {
		if got := retryExponent(limit); got != want {
			t.Errorf("%v: %d, expected %d", limit, got, want)
		}
	}
}

func TestCover(t *testing.T) {
	var c cover
	c.add(piece{lo: 100, hi: 200, key: 1}, piece{lo: 300, hi: 400, key: 2})
	c.add(piece{lo: 50, hi: 350, key: 3}) // what overlaps stays as it was
	for addr, key := range map[uintptr]uint32{49: 0, 50: 3, 99: 3, 100: 1, 199: 1, 200: 3, 299: 3, 300: 2, 399: 2, 400: 0} {
		p := c.find(addr)
		if p == nil && key != 0 || p != nil && p.key != key {
			t.Errorf("%d: %+v, expected key %d", addr, p, key)
		}
	}
	if g := c.gaps(0, 500); len(g) != 2 || g[0] != (piece{hi: 50}) || g[1] != (piece{lo: 400, hi: 500}) {
		t.Errorf("gaps %+v", g)
	}
	if g := c.gaps(60, 390); g != nil {
		t.Errorf("gaps %+v", g)
	}
}

// TestFlight: shipments come back in order, once, and the ring is used again.
func TestFlight(t *testing.T) {
	var f flight
	f.init(4)
	f.head, f.tail = 1<<32-3, 1<<32-3 // numbers begin again at 0
	next := int32(0)
	for round := range int32(10) {
		var last uint32
		for i := range int32(3) {
			last = f.push(&shipment{requests: 3*round + i, op: newOp(&transport.Xfer{})})
		}
		if !f.open(f.next()) {
			t.Fatal("nothing is open")
		}
		for s, ok := f.pop(last); ok; s, ok = f.pop(last) {
			if s.requests != next {
				t.Fatalf("shipment %d came back where %d was the oldest", s.requests, next)
			}
			next++
		}
		if f.open(f.next()) || next != 3*round+3 {
			t.Fatalf("%d came back", next)
		}
	}
}
