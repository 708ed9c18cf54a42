// SPDX-License-Identifier: BSD-3-Clause

// Private memory that a device reaches: only where its owner is alone on the node, only while a
// peer knows a key, and by each protocol.
package internode

import (
	"bytes"
	"errors"
	"testing"
	"time"
	"unsafe"

	"libarmci/internal/testutil/pipe"
	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// deviceNet is a network of a device that may be late.
func deviceNet() *pipe.Net {
	return pipe.New(pipe.Options{Direct: true, Shared: true, MaxFrame: 16 << 10, Credits: 16,
		Delay: 100 * time.Microsecond})
}

// frames returns how many frames rank 0 has sent to rank 1.
func frames(e *transporttest.Ends) uint64 {
	g := e.Open[0].(*Transport).routes.targets[1]
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.tx.sentFrames
}

// learn shares memory of rank 1 with rank 0.
func learn(t *testing.T, e *transporttest.Ends, lo uintptr, n int64) (transport.Range, func()) {
	t.Helper()
	key, release, ok := e.Open[1].(*Transport).Share(lo, lo+uintptr(n))
	if !ok {
		t.Fatal("the memory cannot be shared")
	}
	r := transport.Range{Lo: lo, Hi: lo + uintptr(n), Key: key}
	e.Open[0].(*Transport).AddSharedRange(1, r)
	return r, release
}

// check puts from near to far, fences, gets it again, and returns how many frames that took.
func check(t *testing.T, e *transporttest.Ends, near, far uintptr, n int, stamp byte) uint64 {
	t.Helper()
	before := frames(e)
	data, got := memory(near, n), memory(near+uintptr(n), n)
	for i := range data {
		data[i] = stamp + byte(i*31+i>>8)
	}
	err := errors.Join(done(t, e.Open[0].Put, plain(near, far, n)), e.Open[0].Fence(1))
	if err != nil || !bytes.Equal(memory(far, n), data) {
		t.Fatalf("put: %v", err)
	}
	if err := done(t, e.Open[0].Get, plain(near+uintptr(n), far, n)); err != nil ||
		!bytes.Equal(got, data) {
		t.Fatalf("get: %v", err)
	}
	return frames(e) - before
}

// someModel is a cost model. With a given one no frames measure it, for seconds on some networks.
const someModel = "copy=0,0,0.1"

func setModel(o *Options) { o.Model = someModel }

// TestShare shows that transfers go by the device from AddSharedRange to RemoveSharedRange, by
// frames before and after, and again with another key.
func TestShare(t *testing.T) {
	for _, n := range []int{8, 300 << 10} {
		e := newEnds(t, deviceNet(), setModel, 1, 1)
		e.ConnectAll(t)
		far, near := e.Expose(t, 1, int64(n)), e.Private(0, 2*n)
		for stamp := byte(0); stamp < 3; stamp++ {
			if check(t, e, near, far, n, stamp) == 0 {
				t.Error("no peer knew a key, and no frame was sent")
			}
			r, release := learn(t, e, far, int64(n))
			if sent := check(t, e, near, far, n, 10+stamp); sent != 0 {
				t.Errorf("%d bytes: %d frames were sent", n, sent)
			}
			e.Open[0].(*Transport).RemoveSharedRange(1, r)
			release() // a key that is used from now on would break the connection
		}
		if check(t, e, near, far, n, 99) == 0 {
			t.Error("all keys were forgotten, and no frame was sent")
		}
	}
}

// TestOverlappingShares shows that overlapping shared memory stays reachable until the last of it
// is forgotten, and that a transfer may begin or end outside.
func TestOverlappingShares(t *testing.T) {
	const n = 64 << 10
	e := newEnds(t, deviceNet(), setModel, 1, 1)
	e.ConnectAll(t)
	far, near := e.Expose(t, 1, 3*n), e.Private(0, 6*n)
	one, release := learn(t, e, far, 2*n)
	other, releaseOther := learn(t, e, far+n, n)
	check(t, e, near, far, 3*n, 1) // the end is by frames
	if check(t, e, near, far+n, n, 2) != 0 {
		t.Error("frames were sent for what is shared twice")
	}
	e.Open[0].(*Transport).RemoveSharedRange(1, one)
	release()
	if check(t, e, near, far+n, n, 3) != 0 {
		t.Error("frames were sent for what is shared still")
	}
	check(t, e, near, far, 3*n, 4)
	e.Open[0].(*Transport).RemoveSharedRange(1, other)
	releaseOther()
	check(t, e, near, far, 3*n, 5)
}

// TestShareRows shows rows, also where gets are the target's work, which cannot reach such memory
// by its device; and accumulates and read-modify-writes before and after them.
func TestShareRows(t *testing.T) {
	for _, way := range []string{transport.Auto, transport.ByDevice, transport.ByPacking,
		transport.ByTargetSide} {
		e := newEnds(t, deviceNet(), func(o *Options) { o.Strided = way }, 1, 1)
		e.ConnectAll(t)
		far, near, tr := e.Expose(t, 1, 64<<10), e.Private(0, 64<<10), e.Open[0]
		learn(t, e, far, 64<<10)
		rows := func(local uintptr) *transport.Xfer {
			return &transport.Xfer{Local: transport.Section{Base: local,
				Stride: []int32{40}}, Count: []int32{40, 100},
				Remote: transport.Section{Base: far, Stride: []int32{80}}}
		}
		data, got := memory(near, 4000), memory(near+8000, 4000)
		for i := range data {
			data[i] = byte(i * 7)
		}
		one, word := int64(1), transport.RMW{Op: transport.FetchAdd, Bytes: 8, Addr: far,
			Operand: 1}
		acc := func(p transport.Peer, x *transport.Xfer) error {
			return tr.Acc(p, x, transport.Scale{Type: 2, Value: unsafe.Pointer(&one)})
		}
		err := errors.Join(done(t, tr.Put, rows(near)),
			done(t, acc, plain(near+20000, far, 400)), tr.Fence(1))
		err = errors.Join(err, done(t, tr.Get, rows(near+8000)), tr.RMW(1, &word))
		if err != nil || !bytes.Equal(data, got) {
			t.Fatalf("%q: %v", way, err)
		}
	}
}

// TestShareIsRefused shows that nothing is shared where an address is not that of one process, is
// the arena's, or there is no device.
func TestShareIsRefused(t *testing.T) {
	e := newEnds(t, deviceNet(), setModel, 2, 1)
	e.ConnectAll(t)
	far, arena := e.Expose(t, 1, 4096), e.Alloc(t, 2, 4096)
	for rank, lo := range map[int]uintptr{0: far, 1: far, 2: arena} {
		if _, _, ok := e.Open[rank].(*Transport).Share(lo, lo+4096); ok {
			t.Errorf("rank %d has shared memory", rank)
		}
	}
	if _, _, ok := e.Open[2].(*Transport).Share(far, far); ok {
		t.Error("no bytes were shared")
	}
	e = newEnds(t, pipe.New(pipe.Options{}), nil, 1, 1)
	e.ConnectAll(t)
	far = e.Expose(t, 1, 4096)
	near := e.Private(0, 8192)
	if _, _, ok := e.Open[1].(*Transport).Share(far, far+4096); ok {
		t.Error("memory was shared without a device")
	}
	e.Open[0].(*Transport).AddSharedRange(1, transport.Range{Lo: far, Hi: far + 4096, Key: 1})
	check(t, e, near, far, 4096, 1)
}
