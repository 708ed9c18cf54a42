// SPDX-License-Identifier: BSD-3-Clause

// The data server and frames that it does not expect. Bad addresses are refused and change nothing.
// Violations of the wire format end the connection and are reported; other processes go on.
package internode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/testutil/leaktest"
	"libarmci/internal/testutil/pipe"
	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

func memory(at uintptr, n int) []byte { return unsafe.Slice((*byte)(kernel.Ptr(at)), n) }

const allocBytes = 64 << 10

// newServed opens a data server of rank 0 with one allocation, rank 1 as a raw process that is
// connected to it, and rank 2.
func newServed(t testing.TB, o pipe.Options, change func(*Options)) (*transporttest.Ends, *rawLink,
	uintptr) {
	leaktest.Check(t)
	ends, strangers := newMixed(t, pipe.New(o), change, 3, 1)
	at := ends.Alloc(t, 0, allocBytes)
	return ends, strangers[1].dial(0, ends.Open[0].Info().Addr), at
}

// TestRequests shows the answer to each kind of request.
func TestRequests(t *testing.T) {
	_, c, at := newServed(t, pipe.Options{Divide: true, Delay: 50 * time.Microsecond}, nil)
	put := header{kind: kindPut, addr: uint64(at) + 64}
	c.send(put, nil, []byte("hello"))
	if r := c.request(header{kind: kindGet, addr: uint64(at) + 64, bytes: 5}, nil,
		nil); r.kind != kindData || string(r.body) != "hello" || r.handled != 2 {
		t.Fatalf("get: %+v", r)
	}
	put.flags = flagAck
	c.send(put, nil, []byte("j"))
	if r, _ := c.nextFrame(); r.kind != kindAck || r.handled != 3 {
		t.Fatalf("put: %+v", r)
	}
	rmw := header{kind: kindRMW, flags: flagWide, addr: uint64(at), arg: 5}
	for _, want := range []uint64{0, 5, 10} {
		if r := c.request(rmw, nil, nil); r.kind != kindOld || r.arg != want {
			t.Fatalf("fetch and add: %+v", r)
		}
	}
	rmw.what = uint8(transport.Swap)
	if r := c.request(rmw, nil, nil); r.arg != 15 {
		t.Fatalf("swap: %+v", r)
	}
	if r := c.request(header{kind: kindCall, what: 77, arg: 3}, nil,
		[]byte("who")); r.kind != kindReply || string(r.body) != "who" {
		t.Fatalf("call: %+v", r)
	}
	requestUpdates(t, c, at)
	long := bytes.Repeat([]byte("0123456789"), 30)
	c.send(header{kind: kindCall, id: 5, arg: 300}, nil, long[:120])
	c.send(header{kind: kindCall, id: 5, addr: 120, arg: 300}, nil, long[120:121])
	c.send(header{kind: kindCall, id: 5, addr: 121, arg: 300}, nil, long[121:])
	if r, _ := c.nextFrame(); r.kind != kindReply || r.id != 5 || !bytes.Equal(r.body, long) {
		t.Fatalf("a call in parts: %+v", r)
	}
}

// TestRefusals shows that requests for memory that is not the rank's are refused and change
// nothing.
func TestRefusals(t *testing.T) {
	ends, c, at := newServed(t, pipe.Options{}, nil)
	base, outside := uint64(at), uint64(ends.Private(0, 64))
	wide := appendStrided(nil, []int32{8, 3}, []int32{math.MaxInt32})
	back := appendStrided(nil, []int32{8, 3}, []int32{-64})
	var few, many chunk
	few.addList([]uintptr{at, uintptr(outside)}, 8)
	many.addGroup(at, (allocBytes-4)/4, 5, 8)
	list, regular := few.desc, many.desc
	for name, x := range map[string]struct {
		h    header
		rest []byte
	}{
		"end": {header{kind: kindPut, addr: base + allocBytes - 4, bytes: 8},
			nil},
		"private memory": {header{kind: kindPut, addr: outside, bytes: 8}, nil},
		"nowhere":        {header{kind: kindGet, bytes: 8}, nil},
		"great":          {header{kind: kindGet, addr: maxAddr - 9, bytes: 8}, nil},
		"long":           {header{kind: kindPut, addr: base, bytes: 200000}, nil},
		"wide": {header{kind: kindPut, addr: base, bytes: 24,
			flags: flagStrided}, wide},
		"backwards": {header{kind: kindGet, addr: base, bytes: 24,
			flags: flagStrided}, back},
		"list": {header{kind: kindPut, addr: base, bytes: 16, flags: flagGroups},
			list},
		"regular": {header{kind: kindGet, addr: base, bytes: 40, flags: flagGroups},
			regular},
		"update": {header{kind: kindAcc, addr: outside, bytes: 16,
			what: uint8(kernel.F64)}, nil},
		"compare": {header{kind: kindAcc, addr: base + allocBytes - 4, bytes: 8,
			op: opCompareSwap, what: uint8(kernel.Bytes)}, make([]byte, operandBytes)},
		"word": {header{kind: kindRMW, addr: base + allocBytes - 4,
			flags: flagWide}, nil},
		"greatest": {header{kind: kindRMW, addr: math.MaxUint64, flags: flagWide},
			nil},
		"update list": {header{kind: kindAcc, addr: base, bytes: 16,
			what: uint8(kernel.F64), flags: flagGroups}, list},
	} {
		var body []byte
		if x.h.kind == kindPut || x.h.kind == kindAcc {
			body = bytes.Repeat([]byte{1}, int(x.h.bytes))
		}
		if r := c.request(x.h, x.rest, body); r.kind != kindRefused ||
			r.what != whyAddress ||
			r.addr != x.h.addr || r.rank != 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if r := c.request(header{kind: kindRMW, addr: base + 4, flags: flagWide}, nil,
		nil); r.kind != kindRefused || r.what != whyInvalid {
		t.Errorf("an address that is not aligned: %+v", r)
	}
	stores := []header{{kind: kindPut, addr: 8}, {kind: kindAcc, addr: 8,
		op: opScaledSum, what: uint8(kernel.F64)}}
	for i, rest := range [][]byte{nil, scaleOf(0)} {
		c.send(stores[i], rest, make([]byte, 8)) // without flagAck: no answer
		if r, _ := c.nextFrame(); r.kind != kindRefused || r.id != 0 || r.addr != 8 {
			t.Errorf("a store: %+v", r)
		}
	}
	c.fence(0)
	if !bytes.Equal(memory(at, allocBytes), make([]byte, allocBytes)) {
		t.Error("a refused request has changed memory")
	}
	if l := ends.Losses(); len(l) > 0 {
		t.Error(l)
	}
}

// violation is a frame that no origin sends.
type violation struct {
	h          header
	rest, body []byte
	before     []header // sent first
}

// violations returns frames that the server must not accept, by name.
func violations(at uint64) map[string]violation {
	shape := appendStrided(nil, []int32{8, 3}, []int32{64})
	return map[string]violation{
		"no kind":      {h: header{}},
		"unknown kind": {h: header{kind: 63}},
		"an answer": {h: header{kind: kindData, bytes: 8},
			body: make([]byte, 8)},
		"length": {h: header{kind: kindPut, addr: at, bytes: 9},
			body: make([]byte, 8)},
		"length of get": {h: header{kind: kindGet, addr: at, bytes: 8},
			body: make([]byte, 8)},
		"endless get":          {h: header{kind: kindGet, addr: at, bytes: 1 << 60}},
		"great address":        {h: header{kind: kindGet, addr: 1 << 63, bytes: 8}},
		"rank of another node": {h: header{kind: kindGet, addr: at, bytes: 8, rank: 2}},
		"no such rank": {h: header{kind: kindGet, addr: at, bytes: 8,
			rank: 1 << 31}},
		"no shape": {h: header{kind: kindGet, addr: at, bytes: 24},
			rest: shape},
		"no descriptor": {h: header{kind: kindGet, addr: at, bytes: 24,
			flags: flagStrided}},
		"both shapes": {h: header{kind: kindGet, addr: at, bytes: 24,
			flags: flagShape}, rest: shape},
		"other volume": {h: header{kind: kindGet, addr: at, bytes: 25,
			flags: flagStrided}, rest: shape},
		"cut shape": {h: header{kind: kindGet, addr: at, bytes: 24,
			flags: flagStrided}, rest: shape[:12]},
		"levels": {h: header{kind: kindGet, addr: at, bytes: 24,
			flags: flagStrided}, rest: append([]byte{200}, shape[1:]...)},
		"empty group": {h: header{kind: kindGet, addr: at, bytes: 24,
			flags: flagGroups}, rest: []byte{1 << tokenShift, 0, 0}},
		"endless group": {h: header{kind: kindGet, addr: at, bytes: 24,
			flags: flagGroups}, rest: []byte{0xfe, 0xff, 0xff, 0x7f, 8, 0, 0}},
		"no size": {h: header{kind: kindGet, addr: at, bytes: 24,
			flags: flagGroups}, rest: []byte{1<<tokenShift | tokenSame, 0}},
		"a step too far": {h: header{kind: kindGet, addr: at, bytes: 24,
			flags: flagGroups}, rest: binary.AppendVarint([]byte{3 << tokenShift, 8, 0},
			math.MinInt64)},
		"cut group": {h: header{kind: kindGet, addr: at, bytes: 24,
			flags: flagGroups}, rest: []byte{3 << tokenShift, 8, 0, 0x80}},
		"cut list": {h: header{kind: kindGet, addr: at, bytes: 24,
			flags: flagGroups}, rest: []byte{3<<tokenShift | tokenList, 8, 0, 9, 0, 0,
			0, 9, 0, 0}},
		"endless list": {h: header{kind: kindGet, addr: at, bytes: 24,
			flags: flagGroups}, rest: []byte{0xfe, 0xff, 0xff, 0x7f, 8, 0, 0}},
		"half an element": {h: header{kind: kindAcc, addr: at, bytes: 12,
			op: opScaledSum, what: uint8(kernel.F64)}, rest: scaleOf(0),
			body: make([]byte, 12)},
		"unknown type": {h: header{kind: kindAcc, addr: at, bytes: 8, what: 99,
			op: opScaledSum}, rest: scaleOf(0), body: make([]byte, 8)},
		"no type of sums": {h: header{kind: kindAcc, addr: at, bytes: 8,
			op: opScaledSum, what: uint8(kernel.U64)}, rest: scaleOf(0),
			body: make([]byte, 8)},
		"a sum that fetches": {h: header{kind: kindAcc, addr: at, bytes: 8, id: 5,
			op: opScaledSum, what: uint8(kernel.I64)}, rest: scaleOf(0),
			body: make([]byte, 8)},
		"no scale": {h: header{kind: kindAcc, addr: at, bytes: 8, op: opScaledSum,
			desc: 1 << 20}, rest: make([]byte, 20), body: make([]byte, 8)},
		"unknown operator": {h: header{kind: kindAcc, addr: at, bytes: 8,
			op: opCompareSwap + 1, what: uint8(kernel.I64)}, body: make([]byte, 8)},
		"operator of other types": {h: header{kind: kindAcc, addr: at, bytes: 8,
			op: uint8(kernel.OpBand), what: uint8(kernel.F64)}, body: make([]byte, 8)},
		"no-op with elements": {h: header{kind: kindAcc, addr: at, bytes: 8, id: 5,
			op: uint8(kernel.OpNoOp), what: uint8(kernel.F64)}, body: make([]byte, 8)},
		"a long fetch": {h: header{kind: kindAcc, addr: at, id: 5,
			bytes: uint64(maxFetch) + 8, op: uint8(kernel.OpNoOp),
			what: uint8(kernel.F64)}},
		"a long compare-and-swap": {h: header{kind: kindAcc, addr: at, id: 5,
			op: opCompareSwap, what: uint8(kernel.Bytes)},
			rest: make([]byte, operandBytes), body: make([]byte, 33)},
		"a compare-and-swap without answer": {h: header{kind: kindAcc, addr: at,
			op: opCompareSwap, what: uint8(kernel.Bytes)},
			rest: make([]byte, operandBytes), body: make([]byte, 8)},
		"endless message": {h: header{kind: kindSend, arg: maxMessage + 1, bytes: 8},
			body: make([]byte, 8)},
		"more than the message": {h: header{kind: kindSend, arg: 7}, body: make([]byte, 8)},
		"no message": {h: header{kind: kindSend, addr: 8, arg: 16},
			body: make([]byte, 8)},
		"an empty part": {h: header{kind: kindSend, addr: 8, arg: 100},
			before: []header{{kind: kindSend, arg: 100, bytes: 8}}},
		"another length later": {h: header{kind: kindSend, addr: 8, arg: 99},
			body:   make([]byte, 8),
			before: []header{{kind: kindSend, arg: 100, bytes: 8}}},
		"two messages": {h: header{kind: kindSend, arg: 100}, body: make([]byte,
			8), before: []header{{kind: kindSend, arg: 100, bytes: 8}}},
		"a push of nothing": {h: header{kind: kindPush, addr: at, bytes: 8}},
		"a push without device": {h: header{kind: kindPush, addr: at, bytes: 8},
			body: make([]byte, 48)},
		"behind the last one": {h: header{kind: kindReleaseStart},
			before: []header{{kind: kindReleaseStart}}},
		"cut header": {h: header{kind: 200}},
	}
}

// TestViolations shows that a violation ends the origin's connection and is reported, and that
// others go on.
func TestViolations(t *testing.T) {
	for name, v := range violations(0) {
		t.Run(name, func(t *testing.T) {
			ends, c, at := newServed(t, pipe.Options{}, nil)
			v := v
			if v.h.kind != kindSend && v.h.addr < 1<<62 {
				v.h.addr += uint64(at)
			}
			for _, h := range v.before {
				c.send(h, nil, make([]byte, h.bytes))
			}
			if name == "cut header" {
				c.sendFrame(make([]byte, 17), nil)
			} else {
				c.send(v.h, v.rest, v.body)
			}
			answers := c.awaitLoss()
			if len(answers) == 0 || answers[len(answers)-1].kind != kindLost ||
				len(answers[len(answers)-1].body) == 0 {
				t.Errorf("it is answered by %+v", answers)
			}
			if l := losses(t, ends); !strings.Contains(l,
				"rank 0 was told about rank 1") ||
				!strings.Contains(l, "violation") {
				t.Error(l)
			}
			here := ends.Alloc(t, 2, 64)
			if err := ends.Open[2].Put(0, plain(here, at, 8)); err != nil {
				t.Errorf("another origin: %v", err)
			}
			if err := ends.Open[2].Fence(0); err != nil {
				t.Errorf("another origin: %v", err)
			}
		})
	}
}

// TestLateReplies shows that handlers may reply later, also after the origin is gone.
func TestLateReplies(t *testing.T) {
	const calls = 20
	replies := make(chan func([]byte), 2*calls)
	_, c, _ := newServed(t, pipe.Options{MaxFrame: 4 << 10, Room: 8 << 10}, func(o *Options) {
		o.Handle = func(_, _ transport.Rank, _ transport.Msg,
			reply func([]byte)) {
			replies <- reply
		}
	})
	for i := range uint64(2 * calls) {
		c.send(header{kind: kindCall, id: 100 + i}, nil, nil)
	}
	body := bytes.Repeat([]byte{7}, 100<<10)
	for range calls {
		go (<-replies)(body)
	}
	got := map[uint64]int{}
	for total := 0; total < calls*len(body); {
		r, ok := c.nextFrame()
		if !ok || r.kind == kindReply && (r.addr != uint64(got[r.id]) ||
			r.arg != uint64(len(body))) {
			t.Fatalf("%+v", r)
		}
		if r.kind == kindReply {
			got[r.id] += len(r.body)
			total += len(r.body)
		}
	}
	(<-replies)(make([]byte, maxMessage+1))
	for r, _ := c.nextFrame(); r.kind != kindRefused; r, _ = c.nextFrame() {
		if r.kind != kindAck {
			t.Fatalf("a reply that is too long: %+v", r)
		}
	}
	c.e.Break()
	c.awaitLoss()
	var late sync.WaitGroup
	for range calls - 1 {
		late.Go(func() { (<-replies)(body) })
	}
	late.Wait()
}

// TestTooLong shows that messages and replies have one maximum, and that a caller that exceeds it
// gets an error.
func TestTooLong(t *testing.T) {
	leaktest.Check(t)
	ends := newEnds(t, pipe.New(pipe.Options{}), func(o *Options) {
		o.Handle = func(_, _ transport.Rank, m transport.Msg, reply func([]byte)) {
			reply(make([]byte, int(binary.LittleEndian.Uint32(m.Body))))
		}
	}, 1, 1)
	ends.ConnectAll(t)
	call := func(n int) ([]byte, error) {
		return ends.Open[0].Call(1,
			transport.Msg{Body: binary.LittleEndian.AppendUint32(nil, uint32(n))})
	}
	if b, err := call(maxMessage); err != nil || len(b) != maxMessage {
		t.Errorf("the longest reply: %d bytes, %v", len(b), err)
	}
	if _, err := call(maxMessage + 1); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("a reply that is too long: %v", err)
	}
	longest := binary.LittleEndian.AppendUint32(make([]byte, 0, maxMessage), 5)[:maxMessage]
	if b, err := ends.Open[0].Call(1, transport.Msg{Body: longest}); err != nil || len(b) != 5 {
		t.Errorf("the longest call: %d bytes, %v", len(b), err)
	}
	if err := ends.Open[0].Send(1, transport.Msg{Body: make([]byte, maxMessage+1)}); !errors.Is(
		err, transport.ErrTooLong) {
		t.Errorf("a message that is too long: %v", err)
	}
	if _, err := ends.Open[0].Call(1,
		transport.Msg{Body: make([]byte, maxMessage+1)}); !errors.Is(err,
		transport.ErrTooLong) {
		t.Errorf("a call that is too long: %v", err)
	}
}

// FuzzServer sends the server any frames. Whatever they do to their origin, the next one is served.
func FuzzServer(f *testing.F) {
	for _, v := range violations(1 << 40) {
		f.Add(append(v.h.append(nil), v.rest...), v.body)
	}
	h := header{kind: kindPut, addr: 1 << 40, bytes: 8}
	f.Add(h.append(nil), make([]byte, 8))
	f.Fuzz(func(t *testing.T, head, body []byte) {
		ends, strangers := newMixed(t, pipe.New(pipe.Options{}), nil, 2, 1)
		at := ends.Alloc(t, 0, allocBytes)
		if len(head) >= 32 && binary.LittleEndian.Uint64(head[24:]) == 1<<40 {
			binary.LittleEndian.PutUint64(head[24:], uint64(at))
		}
		c := strangers[1].dial(0, ends.Open[0].Info().Addr)
		c.sendFrame(head[:min(len(head), transport.MaxHead)], bytes.Clone(body))
		strangers[1].dial(0, ends.Open[0].Info().Addr).fence(0)
	})
}
