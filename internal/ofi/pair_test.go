// SPDX-License-Identifier: BSD-3-Clause

// Queue pairs without a provider: the order of requests and of messages, keys, and errors.
package ofi

import (
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"libarmci/internal/ofi/libfabric"
	"libarmci/internal/rdma/qp"
)

func newTestQueue(modes libfabric.Mode) *queue {
	d := &device{Device: &libfabric.Device{Info: &libfabric.Info{Provider: "test", Modes: modes,
		KeyBytes: 8}}, modes: modes,
		maxPosted: maxRequests, secret: []byte("secret")}
	d.descs.initTable()
	return &queue{device: d, pairs: map[uint32]*pair{}, peers: map[string]*peer{},
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
			p := &pair{queue: q}
			r := &qp.Request{Op: c.op, Pieces: 1}
			if p.mustWaitForWrites(r, number) {
				t.Errorf("operation %d waits for nothing", c.op)
			}
			p.postedWrites, p.writesOfList = 1, number-1
			if got := p.mustWaitForWrites(r, number); got != (c.waits && !keeps) {
				t.Errorf("operation %d behind writes of another list (order "+
					"kept: %v): waits %v", c.op, keeps, got)
			}
			p.writesOfList = number
			if got := p.mustWaitForWrites(r, number); got != (c.own && !keeps) {
				t.Errorf("operation %d behind writes of its list (order kept: "+
					"%v): waits %v", c.op, keeps, got)
			}
		}
	}
}

// Messages that the provider completes in another order arrive in order; those of strangers and of
// closed connections are dropped.
func TestMessages(t *testing.T) {
	q := newTestQueue(0)
	made, err := q.NewPair(4, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := made.(*pair)
	p.nextMessage = pulseNumber - 2 // numbers begin again behind it
	memory := make([]byte, 64)
	q.bufferSlots = slots{size: contextBytes, users: make([]slotUser, 8)}
	q.offeredBuffers = make([]buffer, 8)
	come := func(at int32, to trailer) bool {
		to.encode(memory[16:])
		q.offeredBuffers[at] = buffer{uint64(100 + at),
			qp.Data{Addr: uint64(uintptr(unsafe.Pointer(&memory[0]))), Bytes: 64}}
		return q.messageArrived(at, 16+trailerBytes)
	}
	mine := p.local
	for _, stranger := range []trailer{{mine.pair + 1, p.nextMessage, mine.token},
		{mine.pair, p.nextMessage, mine.token + 1},
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
	for _, c := range q.completions {
		got = append(got, c.ID)
		if c.Bytes != 16 || c.Pair != mine.pair {
			t.Errorf("%+v", c)
		}
	}
	if len(got) != 4 || got[0] != 103 || got[1] != 101 || got[2] != 100 || got[3] != 102 {
		t.Errorf("messages come as %v", got)
	}
}

// A message that a pulse misses for the limit is lost; one that comes meanwhile is not, nor one
// that was sent after the pulse.
func TestLostMessage(t *testing.T) {
	const limit = 10 * time.Second
	o := messageOrder{earlyMessages: map[uint32]qp.Completion{}, lossLimit: limit}
	arrive := func(number uint32) { o.messageArrived(number, qp.Completion{}, nil) }
	now := time.Now()
	pulse := func(sent uint32, lost bool) {
		t.Helper()
		if o.pulseArrived(sent, now); o.messageLost.Load() != lost {
			t.Errorf("after %d of %d messages, at %v: lost %v", o.nextMessage, sent,
				now, !lost)
		}
		now = now.Add(limit)
	}
	o.nextMessage = pulseNumber - 1
	pulse(pulseNumber-1, false)
	pulse(0, false) // pulseNumber - 1 is missed
	arrive(pulseNumber - 1)
	pulse(0, false)
	pulse(2, false)
	arrive(0)
	pulse(2, false) // it is another one now
	arrive(1)
	pulse(0, false) // a pulse that is late
	pulse(3, false)
	arrive(3)
	now = now.Add(-time.Nanosecond)
	pulse(4, false)
	pulse(4, true)
}

// A key that travels has the address of its region, and becomes the same provider's key at both
// ends, but only with the secret.
func TestKeys(t *testing.T) {
	const lo = 0x7f1234567000
	a, b := newTestQueue(0).device, newTestQueue(0).device
	key := uint64(lo>>pageShift)<<randomBits | 12345
	if p := b.remoteRegionOf(key); p.base != lo || p.key != a.providerKey(key) || p.key == key {
		t.Errorf("%+v", p)
	}
	b.secret = []byte("another")
	if b.remoteRegionOf(key).key == a.providerKey(key) {
		t.Error("the key does not depend on the secret")
	}
	short := newTestQueue(0).device
	short.Info.KeyBytes = 4
	if k := short.providerKey(key); k>>32 != 0 {
		t.Errorf("a key of 4 bytes is %x", k)
	}
	if p := newTestQueue(libfabric.Virtual).device.remoteRegionOf(key); p.base != 0 ||
		p.key != a.providerKey(key) {
		t.Errorf("by addresses: %+v", p)
	}
	chosen := newTestQueue(libfabric.Virtual | libfabric.ProviderKeys).device
	if p := chosen.remoteRegionOf(key); p != (remoteRegion{0, key}) {
		t.Errorf("with the provider's keys: %+v", p)
	}
	if a.checkModes(uint8(libfabric.Virtual), 8) == nil || a.checkModes(0, 4) == nil ||
		a.checkModes(uint8(libfabric.WriteSend), 8) != nil {
		t.Error("ends that name memory in different ways are connected, or others are not")
	}
}

// A descriptor is found by number and by key until it is removed; then its number is used again.
func TestDescriptors(t *testing.T) {
	var d descTable
	d.initTable()
	one, two := d.addDesc(11), d.addDesc(22)
	d.nameKey(77, two)
	if d.descOf(0) != 0 || d.descOf(d.numberOf(ownKey|uint64(one))) != 11 ||
		d.descOf(d.numberOf(77)) != 22 {
		t.Errorf("%+v", d.descriptors)
	}
	d.removeDesc(77, two)
	if three := d.addDesc(33); three != two || d.descOf(three) != 33 || d.numberOf(77) != 0 {
		t.Errorf("number %d", three)
	}
}

// Errors of the other end do not blame the device of this host.
func TestFailures(t *testing.T) {
	d := newTestQueue(0).device
	for status, own := range map[int32]bool{int32(syscall.ECONNREFUSED): false,
		statusSilent: false, int32(syscall.EINVAL): true} {
		if libfabric.Load() != nil {
			t.Skip("libfabric is not installed")
		}
		err := d.RequestError(&qp.Completion{Status: status})
		if strings.Contains(err.Error(), "of this host") != own {
			t.Errorf("status %d: %v", status, err)
		}
	}
}
