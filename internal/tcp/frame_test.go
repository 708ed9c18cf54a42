// SPDX-License-Identifier: BSD-3-Clause

// Frames and descriptors: what was encoded comes back, and no bytes make the decoders panic or hold more than the bounds.
package tcp

import (
	"math/rand/v2"
	"slices"
	"testing"

	"libarmci/internal/transport"
)

func TestHeaderComesBack(t *testing.T) {
	for range 1000 {
		h := header{kind(rand.Uint32()), uint8(rand.Uint32()), uint16(rand.Uint32()), rand.Uint32(), rand.Uint64(),
			rand.Uint64(), rand.Uint64()}
		var got header
		got.decode(h.append(nil))
		if got != h {
			t.Fatalf("%+v became %+v", h, got)
		}
	}
}

func TestHeaderCheck(t *testing.T) {
	good := []header{
		{Kind: kindPut, Bytes: 1}, {Kind: kindGet, Bytes: 8, Addr: 1}, {Kind: kindAcc, Bytes: 8, Desc: scaleBytes},
		{Kind: kindPut, Bytes: 1, Flags: flagVector | flagAck, Desc: 8}, {Kind: kindSend, Flags: 200, Bytes: maxMsg},
		{Kind: kindRMW, Flags: flagSwap | flagWide, Bytes: 1 << 63}, {Kind: kindFence}, {Kind: kindBye}, {Kind: kindCall},
		{Kind: kindAcc, Bytes: 8, Flags: 5<<typeShift | flagStrided, Desc: scaleBytes + 16},
	}
	for _, h := range good {
		if err := h.check(); err != nil {
			t.Errorf("%+v: %v", h, err)
		}
	}
	bad := []header{
		{}, {Kind: kindData, Bytes: 1}, {Kind: 255}, {Kind: kindPut}, {Kind: kindPut, Bytes: maxPayload + 1},
		{Kind: kindPut, Bytes: 1, Desc: 8}, {Kind: kindPut, Bytes: 1, Flags: flagShape, Desc: 16}, {Kind: kindAcc, Bytes: 8},
		{Kind: kindPut, Bytes: 1, Flags: flagStrided, Desc: 9}, {Kind: kindAcc, Bytes: 8, Desc: 16, Flags: 6 << typeShift},
		{Kind: kindSend, Bytes: maxMsg + 1}, {Kind: kindCall, Desc: 8}, {Kind: kindRMW, Flags: 4}, {Kind: kindFence, Bytes: 1},
		{Kind: kindGet, Bytes: 1, Addr: 1 << 63},
	}
	for _, h := range bad {
		if h.check() == nil {
			t.Errorf("%+v passes", h)
		}
	}
}

func TestStridedComesBack(t *testing.T) {
	count, stride := []int32{8, 3, 5}, []int32{-64, 1024}
	b := appendStrided(nil, count, stride)
	var s shape
	if err := s.decode(b, 8*3*5); err != nil || !slices.Equal(s.counts(), count) || !slices.Equal(s.strides(), stride) {
		t.Fatalf("%v %v, %v", s.counts(), s.strides(), err)
	}
	if len(b)%8 != 0 {
		t.Errorf("%d bytes", len(b))
	}
	for n := range b {
		if s.decode(b[:n], 8*3*5) == nil {
			t.Errorf("%d of %d bytes pass", n, len(b))
		}
	}
	if s.decode(b, 8*3*5+1) == nil || s.decode(appendStrided(nil, []int32{8, 0}, []int32{8}), 0) == nil {
		t.Error("wrong sizes pass")
	}
}

// vectors are lists of segments of all kinds.
func vectors(rnd *rand.Rand) []transport.Segments {
	v := make([]transport.Segments, rnd.IntN(4))
	for i := range v {
		v[i].Bytes = rnd.IntN(100)
		for range rnd.IntN(3) {
			at, step := uintptr(rnd.Uint64()>>(1+rnd.IntN(60))), uintptr(rnd.IntN(1<<20))-1<<19
			for range rnd.IntN(3000) {
				if at+uintptr(v[i].Bytes) <= maxAddr {
					v[i].Remote = append(v[i].Remote, at)
				}
				if at += step; rnd.IntN(2) == 0 {
					step = uintptr(rnd.Uint64() >> (1 + rnd.IntN(60)))
				}
			}
		}
		v[i].Local = v[i].Remote
	}
	return v
}

type segment struct {
	addr  uintptr
	bytes int
}

func flat(v []transport.Segments) (all []segment) {
	for _, s := range v {
		for _, a := range s.Remote {
			if s.Bytes > 0 {
				all = append(all, segment{a, s.Bytes})
			}
		}
	}
	return all
}

func (l *list) flat() (all []segment) {
	for _, g := range l.groups {
		for _, a := range l.addrs[g.first : g.first+g.n] {
			all = append(all, segment{a, g.bytes})
		}
	}
	return all
}

func TestVectorComesBack(t *testing.T) {
	l := newList()
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		v := vectors(rnd)
		limit := 512 + 8*rnd.IntN(maxDesc/8-63)
		var got []segment
		for at := (place{}); at.d < len(v); {
			base := rnd.Uint64() >> 1
			b, next, n := appendVector([]byte("head"), v, at, base, limit)
			if len(b)-4 > limit || (len(b)-4)%8 != 0 {
				t.Fatalf("seed %d: %d bytes, limit %d", seed, len(b)-4, limit)
			}
			if n > 0 {
				if err := l.decode(b[4:], base, uint64(n)); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				got = append(got, l.flat()...)
			} else if next.d < len(v) {
				t.Fatalf("seed %d: nothing fits", seed)
			}
			at = next
		}
		if !slices.Equal(got, flat(v)) {
			t.Fatalf("seed %d: %d segments came back of %d, or others", seed, len(got), len(flat(v)))
		}
	}
}

func TestVectorIsCompact(t *testing.T) {
	s := transport.Segments{Bytes: 8}
	for i := range uintptr(10000) {
		s.Remote = append(s.Remote, 0x4000_0000_0000+24*i)
	}
	b, _, _ := appendVector(nil, []transport.Segments{s}, place{}, 0x4000_0000_0000, maxDesc)
	if len(b) > 16 {
		t.Errorf("%d bytes for segments at a constant distance", len(b))
	}
}

func FuzzVector(f *testing.F) {
	f.Add([]byte{3, 8, 0, 0, 0, 0, 0, 0}, uint64(4096), uint64(8))
	b, _, n := appendVector(nil, vectors(rand.New(rand.NewPCG(3, 0))), place{}, 1<<40, 4096)
	f.Add(b, uint64(1<<40), uint64(n))
	l := newList()
	f.Fuzz(func(t *testing.T, b []byte, base, nbytes uint64) {
		if l.decode(b, base, nbytes) != nil {
			return
		}
		if cap(l.addrs) != maxSegments {
			t.Error("the array of addresses has grown")
		}
		total := uint64(0)
		for _, s := range l.flat() {
			if s.bytes <= 0 || uint64(s.addr)+uint64(s.bytes) > maxAddr {
				t.Errorf("segment %+v", s)
			}
			total += uint64(s.bytes)
		}
		if total != nbytes {
			t.Errorf("%d bytes, not %d", total, nbytes)
		}
	})
}

func FuzzStrided(f *testing.F) {
	f.Add(appendStrided(nil, []int32{8, 3, 5}, []int32{-64, 1024}), uint64(120))
	f.Fuzz(func(t *testing.T, b []byte, nbytes uint64) {
		var s shape
		if s.decode(b, nbytes) == nil && !slices.Equal(appendStrided(nil, s.counts(), s.strides()), b) {
			t.Errorf("%v became %+v", b, s)
		}
	})
}

func FuzzHeader(f *testing.F) {
	h := header{Kind: kindPut, Bytes: 8, Addr: 1 << 40}
	f.Add(h.append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < headerBytes {
			return
		}
		var h header
		h.decode(b)
		if !slices.Equal(h.append(nil), b[:headerBytes]) {
			t.Errorf("%v became %+v", b, h)
		}
		if h.check() == nil && (h.payload() < 0 || h.payload() > maxPayload || h.Desc > maxDesc) {
			t.Errorf("%+v passes", h)
		}
	})
}
