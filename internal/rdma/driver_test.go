// SPDX-License-Identifier: BSD-3-Clause

// The choice of device, port and address, from directories that look like the kernel's.
package rdma

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"libarmci/internal/rdma/lab"
	"libarmci/internal/rdma/qp"
	"libarmci/internal/rdma/verbs"
	"libarmci/internal/transport"
)

// someHost writes files below a directory: "path: contents".
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

// TestWays: of the ports and addresses that sysfs lists the right ones are usable, the best one
// comes first, and the reason against each other one is named.
func TestWays(t *testing.T) {
	down := []string{"a0/ports/1/state: 1: DOWN", "a0/ports/1/link_layer: InfiniBand",
		"a0/ports/1/lid: 0x5"}
	roce := []string{"b0/ports/1/state: 4: ACTIVE", "b0/ports/1/link_layer: Ethernet",
		"b0/ports/1/lid: 0x0",
		"b0/ports/1/gids/0: fe80:0000:0000:0000:0000:00ff:fe00:0001",
		"b0/ports/1/gid_attrs/types/0: IB/RoCE v1",
		"b0/ports/1/gids/1: fe80:0000:0000:0000:0000:00ff:fe00:0001",
		"b0/ports/1/gid_attrs/types/1: RoCE v2",
		"b0/ports/1/gids/2: 0000:0000:0000:0000:0000:ffff:0a4d:0001",
		"b0/ports/1/gid_attrs/types/2: IB/RoCE v1",
		"b0/ports/1/gids/3: 0000:0000:0000:0000:0000:ffff:0a4d:0001",
		"b0/ports/1/gid_attrs/types/3: RoCE v2",
		"b0/ports/1/gids/4: 0000:0000:0000:0000:0000:0000:0000:0000",
		"b0/ports/1/gids/20: 0000:0000:0000:0000:0000:ffff:0a4e:0001",
		"b0/ports/1/gid_attrs/types/20: RoCE v2"}
	bare := []string{"c0/ports/1/state: 4: ACTIVE", "c0/ports/1/link_layer: Ethernet"}
	ib := []string{"d0/ports/2/state: 4: ACTIVE", "d0/ports/2/link_layer: InfiniBand",
		"d0/ports/2/lid: 0x11"}
	for _, c := range []struct {
		files            []string
		device, gid      string
		ways, complaints string
	}{
		{nil, "", "", "", "no RDMA device"},
		{down, "", "", "", "a0 port 1: the port is DOWN"},
		{bare, "", "", "", "no usable GID"},
		{roce, "", "", "b0 port 1, GID 3 (RoCE v2, 10.77.0.1)", ""},
		{roce, "", "1", "b0 port 1, GID 1 (RoCE v2, fe80000000000000:000000fffe000001)",
			""},
		{roce, "", "20", "b0 port 1, GID 20 (RoCE v2, 10.78.0.1)", ""},
		{roce, "", "9", "", "it has no GID 9"},
		{append(append(down, roce...), ib...), "", "",
			"b0 port 1, GID 3 (RoCE v2, 10.77.0.1); d0 port 2, LID 17", ""},
		{append(append(down, roce...), ib...), "d0", "", "d0 port 2, LID 17", ""},
		{append(append(down, roce...), ib...), "d0:1", "", "", "there is no device d0:1"},
		{append(down, roce...), "a0:1", "", "", "DOWN"},
	} {
		all := verbs.ListPorts(someHost(t, c.files...))
		got, reasons := usablePorts(all, c.device, c.gid)
		text := ""
		for i := range got {
			text += "; " + got[i].String()
		}
		if text = strings.TrimPrefix(text, "; "); text != c.ways {
			t.Errorf("%s %s: %q, expected %q", c.device, c.gid, text, c.ways)
		}
		why := strings.Join(reasons, "; ")
		if got == nil && why == "" || (got == nil) != (c.complaints != "") ||
			!strings.Contains(why, c.complaints) {
			t.Errorf("%s %s: %q, expected %q", c.device, c.gid, why, c.complaints)
		}
	}
}

func ipv4(last ...byte) [16]byte {
	a := [16]byte{10: 0xff, 11: 0xff}
	copy(a[12:], last)
	return a
}

// TestNearest: the port is chosen whose address has most leading bits in common with the peers'.
func TestNearest(t *testing.T) {
	mine := []portAddress{{gid: &verbs.GID{Index: 1, Addr: ipv4(10, 1, 0, 1)}},
		{gid: &verbs.GID{Index: 2, Addr: ipv4(10, 2, 0, 1)}}}
	for _, c := range []struct {
		others [][16]byte
		index  int
	}{
		{nil, 1}, {[][16]byte{ipv4(10, 1, 0, 2)}, 1},
		{[][16]byte{ipv4(10, 2, 0, 2), ipv4(10, 2, 0, 3)}, 2},
	} {
		hints := [][]byte{nil, {1, 2, 3}} // of ranks that have no address
		for i := range c.others {
			hints = append(hints, c.others[i][:])
		}
		if got := nearestPort(mine, hints); got.gid.Index != c.index {
			t.Errorf("%v: GID %d, expected %d", c.others, got.gid.Index, c.index)
		}
	}
}

// TestHello: the private data of a hello fits into a datagram, survives encoding, and is refused
// where bytes are missing.
func TestHello(t *testing.T) {
	locks := lab.Place{Lo: 1 << 40, Hi: 1<<40 + 64, Key: 1<<64 - 1}
	x := privateData{UsesLocks: true, Places: lab.Places{Locks: locks}}
	x.Link[3], x.Back[qp.AddressBytes-1] = 17, 99
	b := encode(&x)
	if helloOffset+transport.HelloBytes(len(b)) > datagramBytes-40 {
		t.Fatalf("%d bytes", len(b))
	}
	var got privateData
	if err := decode(b, &got); err != nil || got != x {
		t.Errorf("%v: %+v became %+v", err, x, got)
	}
	for i := range b {
		if decode(b[:i], &got) == nil {
			t.Errorf("%d bytes were accepted", i)
		}
	}
}

// TestRing: chains complete in order, once; their places are used again; and a closed ring takes no
// chains.
func TestRing(t *testing.T) {
	r := inflightRing{chains: make([]postedChain, 4)}
	next := int32(0)
	for round := range int32(10) {
		var last uint64
		for i := range int32(3) {
			last, _ = r.appendChain(&postedChain{requests: 3*round + i})
		}
		if !r.isOpen(r.nextNumber()) {
			t.Fatal("nothing is open")
		}
		for p, ok := r.popUpTo(last); ok; p, ok = r.popUpTo(last) {
			if p.requests != next {
				t.Fatalf("chain %d came back where %d was the oldest", p.requests,
					next)
			}
			next++
		}
		if r.isOpen(r.nextNumber()) || next != 3*round+3 {
			t.Fatalf("%d came back", next)
		}
	}
	w := &chainCounter{}
	r.appendChain(&postedChain{done: w})
	ended := r.failAll()
	if len(ended) != 1 || ended[0].done != w || !r.isOpen(r.nextNumber()) {
		t.Errorf("%+v has ended", ended)
	}
	if _, ok := r.appendChain(&postedChain{done: w}); ok || w.n != 1 {
		t.Error("a closed ring takes chains")
	}
	r.setClosed(false)
	if _, ok := r.appendChain(&postedChain{}); !ok {
		t.Error("a ring that is open again takes no chains")
	}
	for range 2 {
		if p, ok := r.popUpTo(math.MaxUint64); !ok || p.done != nil {
			t.Errorf("%+v came back after it has failed", p)
		}
	}
	if _, ok := r.popUpTo(math.MaxUint64); ok || r.isOpen(r.nextNumber()) {
		t.Error("there is a third chain")
	}
}

// chainCounter is a transport.Completion that counts chains in flight.
type chainCounter struct{ n int32 }

func (c *chainCounter) AddParts(n int32)   { c.n += n }
func (c *chainCounter) CompletePart(error) { c.n-- }

// TestOptionsCheck: settings that mean nothing on any host are refused.
func TestOptionsCheck(t *testing.T) {
	for text, good := range map[string]bool{"": true, "mlx5_0": true, "mlx5_0:1": true,
		"a:999": true,
		"a:0":   false, "a:01": false, "a:1000": false, "a:": false, ":1": false,
		"a:b": false, "a:1:2": false,
		"a b": false, "a/b": false, "a,b": false, "a;b": false, "a\tb": false,
		"a:+1": false} {
		if err := (&Options{Device: text}).Check(); (err == nil) != good {
			t.Errorf("device %q: %v", text, err)
		}
	}
	for text, good := range map[string]bool{"": true, "0": true, "3": true, "99999": true,
		"100000": false, "-1": false, "+1": false, "01": false, "x": false, "1 ": false} {
		if err := (&Options{GID: text}).Check(); (err == nil) != good {
			t.Errorf("GID %q: %v", text, err)
		}
	}
}
