// SPDX-License-Identifier: BSD-3-Clause

// What queue pairs make of a provider, without one: the order of requests and of messages, keys,
// and errors.
package ofi

import (
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"libarmci/internal/ofi/libfabric"
	"libarmci/internal/rdma/qp"
)

func newTestQueue(modes libfabric.Mode) *queue {
	d := &device{Device: &libfabric.Device{Info: &libfabric.Info{Provider: "test", Modes: modes,
		KeyBytes: 8}}, modes: modes,
		flight: mostRequests, secret: []byte("secret")}
	d.descs.init()
	return &queue{d: d, pairs: map[uint32]*pair{}, peers: map[string]*peer{},
		name: []byte("here")}
}

// A request waits for writes before it, but not for those of its own list, unless the provider
// keeps the order.
func TestOrder(t *testing.T) {
	const number = 7
	for _, c := range []struct {
		op    uint8
		keeps libfabric.Mode
		waits bool // if the writes are of another list
		own   bool // if they are of the same
	}{
		{qp.Send, libfabric.WriteSend, true, true}, {qp.Read, libfabric.WriteRead, true,
			true},
		{qp.Write, libfabric.WriteWrite, true, false},
		{qp.FetchAdd, libfabric.WriteWrite | libfabric.WriteRead, true, true},
	} {
		for _, keeps := range []bool{false, true} {
			q := newTestQueue(0)
			if keeps {
				q = newTestQueue(c.keeps)
			}
			p := &pair{q: q}
			r := &qp.Request{Op: c.op, Pieces: 1}
			if p.behind(r, number) {
				t.Errorf("operation %d waits for nothing", c.op)
			}
			p.writes, p.writing = 1, number-1
			if got := p.behind(r, number); got != (c.waits && !keeps) {
				t.Errorf("operation %d behind writes of another list (order "+
					"kept: %v): waits %v", c.op, keeps, got)
			}
			p.writing = number
			if got := p.behind(r, number); got != (c.own && !keeps) {
				t.Errorf("operation %d behind writes of its list (order kept: "+
					"%v): waits %v", c.op, keeps, got)
			}
		}
	}
}

// Messages that are completed in another order come in theirs; those of strangers and of closed
// connections do not.
func TestMessages(t *testing.T) {
	q := newTestQueue(0)
	made, err := q.NewPair(4, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := made.(*pair)
	p.next = pulseNumber - 2 // numbers begin again behind it
	memory := make([]byte, 64)
	q.taken = slots{size: contextBytes, users: make([]request, 8)}
	q.offered = make([]buffer, 8)
	come := func(at int32, to trailer) bool {
		to.encode(memory[16:])
		q.offered[at] = buffer{uint64(100 + at),
			qp.Data{Addr: uint64(uintptr(unsafe.Pointer(&memory[0]))), Bytes: 64}}
		return q.arrived(at, 16+trailerBytes)
	}
	mine := p.mine
	for _, stranger := range []trailer{{mine.pair + 1, p.next, mine.token},
		{mine.pair, p.next, mine.token + 1},
		{mine.pair, pulseNumber, mine.token}} {
		if come(0, stranger) {
			t.Errorf("%+v comes", stranger)
		}
	}
	for at, number := range []uint32{0, pulseNumber - 1, 1, pulseNumber - 2} {
		if !come(int32(at), trailer{mine.pair, number, mine.token}) {
			t.Fatalf("message %d does not come", number)
		}
	}
	var got []uint64
	for _, c := range q.ready {
		got = append(got, c.ID)
		if c.Bytes != 16 || c.Pair != mine.pair {
			t.Errorf("%+v", c)
		}
	}
	if len(got) != 4 || got[0] != 103 || got[1] != 101 || got[2] != 100 || got[3] != 102 {
		t.Errorf("messages come as %v", got)
	}
}

// A key that travels tells where its region is, and becomes the provider's key at both ends alike,
// not without the secret.
func TestKeys(t *testing.T) {
	const lo = 0x7f1234567000
	a, b := newTestQueue(0).d, newTestQueue(0).d
	key := uint64(lo>>pageShift)<<randomBits | 12345
	if p := b.placeOf(key); p.base != lo || p.key != a.newKey(key) || p.key == key {
		t.Errorf("%+v", p)
	}
	b.secret = []byte("another")
	if b.placeOf(key).key == a.newKey(key) {
		t.Error("the key does not depend on the secret")
	}
	short := newTestQueue(0).d
	short.Info.KeyBytes = 4
	if k := short.newKey(key); k>>32 != 0 {
		t.Errorf("a key of 4 bytes is %x", k)
	}
	if p := newTestQueue(libfabric.Virtual).d.placeOf(key); p.base != 0 ||
		p.key != a.newKey(key) {
		t.Errorf("by addresses: %+v", p)
	}
	both := newTestQueue(libfabric.Virtual | libfabric.ProviderKeys)
	if p := both.d.placeOf(key); p != (place{0, key}) {
		t.Errorf("with the provider's keys: %+v", p)
	}
	if a.sameModes(uint8(libfabric.Virtual), 8) == nil || a.sameModes(0, 4) == nil ||
		a.sameModes(uint8(libfabric.WriteSend), 8) != nil {
		t.Error("ends that name memory in different ways are connected, or others are not")
	}
}

func TestDescriptors(t *testing.T) {
	var d descs
	d.init()
	one, two := d.add(11), d.add(22)
	d.name(77, two)
	if d.of(0) != 0 || d.of(d.number(ownKey|uint64(one))) != 11 || d.of(d.number(77)) != 22 {
		t.Errorf("%+v", d.list)
	}
	d.remove(77, two)
	if three := d.add(33); three != two || d.of(three) != 33 || d.number(77) != 0 {
		t.Errorf("number %d", three)
	}
}

// Errors of the other end do not blame this host's device.
func TestFailures(t *testing.T) {
	d := newTestQueue(0).d
	for status, own := range map[int32]bool{int32(syscall.ECONNREFUSED): false, silent: false,
		int32(syscall.EINVAL): true} {
		if libfabric.Load() != nil {
			t.Skip("libfabric is not installed")
		}
		if err := d.Failure(&qp.Completion{Status: status}); strings.Contains(err.Error(),
			"of this host") != own {
			t.Errorf("status %d: %v", status, err)
		}
	}
}
