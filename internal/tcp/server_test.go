// SPDX-License-Identifier: BSD-3-Clause

// The data server: every request has its effect, whatever its size and shape and however it arrives.
package tcp

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"net/netip"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

var loopback = netip.MustParseAddr("127.0.0.1")

func TestSmallRequests(t *testing.T) {
	r := newRig(t, nil)
	c := r.dial(2)
	defer c.bye()
	at := uint64(r.node.base()) + 64
	c.send(frame(header{Kind: kindPut, Addr: at, Bytes: 5}, nil, []byte("hello")))
	if h, b := c.ask(header{Kind: kindGet, Addr: at, Bytes: 5}, nil, nil); h.Kind != kindData || string(b) != "hello" {
		t.Fatalf("get: %+v %q", h, b)
	}
	if h, _ := c.ask(header{Kind: kindPut, Flags: flagAck, Addr: at, Bytes: 1}, nil, []byte("j")); h.Kind != kindDone {
		t.Fatalf("put: %+v", h)
	}
	c.fence()
	if string(r.node.mem[64:69]) != "jello" {
		t.Fatalf("memory holds %q", r.node.mem[64:69])
	}
	c.send(frame(header{Kind: kindPut, Addr: at, Bytes: 8}, nil, make([]byte, 8)))
	for i, want := range []uint64{0, 5, 10} {
		if h, _ := c.ask(header{Kind: kindRMW, Flags: flagWide, Addr: at, Bytes: 5}, nil, nil); h.Kind != kindOld || h.Addr != want {
			t.Fatalf("fetch and add %d: %+v", i, h)
		}
	}
	if h, _ := c.ask(header{Kind: kindRMW, Flags: flagSwap, Addr: at, Bytes: 1}, nil, nil); h.Addr != 15 {
		t.Fatalf("swap: %+v", h)
	}
	h, b := c.ask(header{Kind: kindCall, Flags: 77, Rank: 1, Bytes: 3}, nil, []byte("who"))
	if h.Kind != kindReply || string(b) != "2>1 77:who" {
		t.Fatalf("call: %+v %q", h, b)
	}
	if h, b := c.ask(header{Kind: kindCall, Flags: 1}, nil, nil); string(b) != "2>0 1:" {
		t.Fatalf("call without a body: %+v %q", h, b)
	}
}

func TestBadAddresses(t *testing.T) {
	r := newRig(t, nil)
	c := r.pair(3)
	defer c.bye()
	base, half := uint64(r.node.base()), uint64(len(r.node.mem)/2)
	wide := appendStrided(nil, []int32{8, 3}, []int32{math.MaxInt32})
	back := appendStrided(nil, []int32{8, 3}, []int32{-64})
	list, _, _ := appendVector(nil, []transport.Segments{{Bytes: 8, Remote: []uintptr{uintptr(base), uintptr(base + half)}}},
		place{}, base, 100)
	cases := []struct {
		h    header
		desc []byte
	}{
		{header{Kind: kindPut, Addr: base + half - 4, Bytes: 8}, nil},
		{header{Kind: kindPut, Addr: base, Bytes: 8, Rank: 1}, nil},
		{header{Kind: kindGet, Addr: 0, Bytes: 8}, nil},
		{header{Kind: kindGet, Addr: math.MaxInt64, Bytes: 8}, nil},
		{header{Kind: kindPut, Addr: base, Bytes: 200000, Rank: 1}, nil},
		{header{Kind: kindPut, Addr: base, Bytes: 24, Flags: flagStrided}, wide},
		{header{Kind: kindGet, Addr: base, Bytes: 24, Flags: flagStrided}, back},
		{header{Kind: kindGet, Addr: 3, Bytes: 24, Flags: flagStrided}, back},
		{header{Kind: kindGet, Addr: math.MaxInt64, Bytes: 24, Flags: flagStrided}, wide},
		{header{Kind: kindPut, Addr: base, Bytes: 16, Flags: flagVector}, list},
		{header{Kind: kindAcc, Addr: base, Bytes: 16, Rank: 1, Flags: byte(kernel.Double) << typeShift}, scaleOf(0)},
		{header{Kind: kindRMW, Addr: base + half - 4, Flags: flagWide}, nil},
		{header{Kind: kindRMW, Addr: math.MaxUint64, Flags: flagWide}, nil},
	}
	for _, x := range cases {
		x.h.Flags |= map[bool]byte{true: flagAck}[x.h.Kind == kindPut]
		h, b := c.ask(x.h, x.desc, make([]byte, x.h.payload()))
		if h.Kind != kindError || h.Flags != codeBadAddr || h.Addr != x.h.Addr || h.Rank != x.h.Rank || len(b) < 8 {
			t.Errorf("%+v is answered by %+v", x.h, h)
		}
	}
	if h, _ := c.ask(header{Kind: kindRMW, Addr: base + 4, Flags: flagWide}, nil, nil); h.Flags != codeRefused {
		t.Errorf("a crooked address: %+v", h)
	}
	c.send(frame(header{Kind: kindPut, Addr: 8, Bytes: 8}, nil, make([]byte, 8)))
	if h, _ := c.answer(); h.Kind != kindError || h.ID != 0 || h.Addr != 8 {
		t.Errorf("a store that asked for nothing: %+v", h)
	}
	c.fence()
	if !bytes.Equal(r.node.mem, make([]byte, len(r.node.mem))) {
		t.Error("a refused request has changed memory")
	}
}

// request is a transfer of a random shape to or from the first half of the memory.
type request struct {
	h    header
	desc []byte
	segs []segment // where its bytes go, in order
}

func randomRequest(rnd *rand.Rand, base uintptr, room int) (q request) {
	at := base + uintptr(room/2)
	q.h.Addr = uint64(at)
	switch rnd.IntN(3) {
	case 0:
		n := 8 * (1 + rnd.IntN(1<<rnd.IntN(17)))
		q.segs = []segment{{at, n}}
	case 1:
		count := []int32{int32(8 * (1 + rnd.IntN(1<<rnd.IntN(10))))}
		stride := []int32{}
		for step := count[0]; len(count) < 4; {
			count = append(count, int32(1+rnd.IntN(12)))
			step += int32(8 * rnd.IntN(3))
			stride = append(stride, step*int32(1-2*rnd.IntN(2)))
			step *= count[len(count)-1]
			if step > 1<<18 {
				break
			}
		}
		q.h.Flags, q.desc = flagStrided, appendStrided(nil, count, stride)
		runs := make([]kernel.Run, kernel.NumRuns(stride, count))
		kernel.Runs(stride, count, 0, runs)
		for _, r := range runs {
			q.segs = append(q.segs, segment{at + uintptr(r.Off), int(r.Len)})
		}
	default:
		var v []transport.Segments
		p := base
		for range 1 + rnd.IntN(5) {
			s := transport.Segments{Bytes: 8 * (1 + rnd.IntN(1<<rnd.IntN(9)))}
			for range 1 + rnd.IntN(100) {
				s.Remote = append(s.Remote, p)
				p += uintptr(s.Bytes + 8*rnd.IntN(2))
			}
			v = append(v, s)
		}
		q.h.Flags = flagVector
		q.desc, _, _ = appendVector(nil, v, place{}, q.h.Addr, maxDesc-scaleBytes)
		q.segs = flat(v)
	}
	for _, s := range q.segs {
		q.h.Bytes += uint64(s.bytes)
	}
	return q
}

// model is what the memory should be.
type model struct {
	base uintptr
	mem  []byte
}

func (m *model) each(q *request, do func(mem []byte, at int)) {
	n := 0
	for _, s := range q.segs {
		do(m.mem[s.addr-m.base:][:s.bytes], n)
		n += s.bytes
	}
}

// TestShapes compares random transfers with a model, over a connection that is cut at random places.
func TestShapes(t *testing.T) {
	for name, gather := range map[string]int{"packed": math.MaxInt, "gathered": 1, "mixed": 512} {
		t.Run(name, func(t *testing.T) { testShapes(t, gather) })
	}
}

func testShapes(t *testing.T, gather int) {
	r := newRig(t, func(o *Options) { o.Gather = gather })
	c := r.dial(2)
	defer c.bye()
	room := len(r.node.mem) / 2
	m := &model{r.node.base(), make([]byte, room)}
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range 600 {
		q := randomRequest(rnd, m.base, room)
		data := make([]byte, q.h.Bytes)
		for k := 0; k < len(data); k += 8 {
			binary.LittleEndian.PutUint64(data[k:], uint64(rnd.Uint32()))
		}
		switch rnd.IntN(3) {
		case 0:
			q.h.Kind = kindPut
			m.each(&q, func(mem []byte, at int) { copy(mem, data[at:]) })
			c.sendCut(rnd, frame(q.h, q.desc, data))
		case 1:
			q.h.Kind, q.desc = kindAcc, append(scaleOf(3), q.desc...)
			q.h.Flags |= byte(kernel.Long) << typeShift
			m.each(&q, func(mem []byte, at int) {
				for k := 0; k < len(mem); k += 8 {
					sum := binary.LittleEndian.Uint64(mem[k:]) + 3*binary.LittleEndian.Uint64(data[at+k:])
					binary.LittleEndian.PutUint64(mem[k:], sum)
				}
			})
			c.sendCut(rnd, frame(q.h, q.desc, data))
		default:
			q.h.Kind = kindGet
			_, b := c.ask(q.h, q.desc, nil)
			m.each(&q, func(mem []byte, at int) {
				if !bytes.Equal(mem, b[at:at+len(mem)]) {
					t.Fatalf("request %d: get %+v differs at %d", i, q.h, at)
				}
			})
		}
	}
	c.fence()
	if !bytes.Equal(m.mem, r.node.mem[:room]) {
		t.Error("memory differs")
	}
}

// sendCut sends in pieces of random sizes, with pauses that the server can notice.
func (c *caller) sendCut(rnd *rand.Rand, b []byte) {
	for len(b) > 0 {
		n := min(len(b), 1+rnd.IntN(1<<rnd.IntN(20)))
		c.send(b[:n])
		if b = b[n:]; rnd.IntN(4) == 0 {
			unix.Select(0, nil, nil, nil, &unix.Timeval{Usec: int64(rnd.IntN(200))})
		}
	}
}

// TestManyClients has several clients with large transfers at a time, and small requests between.
func TestManyClients(t *testing.T) {
	t.Run("each with a work", func(t *testing.T) { testManyClients(t, 16<<20) })
	t.Run("too many", func(t *testing.T) { testManyClients(t, 0) })
}

func testManyClients(t *testing.T, buffer int64) {
	r := newRig(t, func(o *Options) { o.Buffer = buffer })
	var all sync.WaitGroup
	for i := range 6 {
		c := r.dial(transport.Rank(2 + i%2))
		all.Go(func() {
			at := uint64(r.node.base()) + uint64(i)<<19
			data := bytes.Repeat([]byte{byte(1 + i)}, 1<<19)
			for range 20 {
				c.send(frame(header{Kind: kindPut, Addr: at, Bytes: 1 << 19}, nil, data))
				if _, b := c.ask(header{Kind: kindGet, Addr: at, Bytes: 1 << 19}, nil, nil); !bytes.Equal(b, data) {
					t.Errorf("client %d: wrong data", i)
				}
				for range 10 {
					c.fence()
				}
			}
			c.bye()
		})
	}
	all.Wait()
}
