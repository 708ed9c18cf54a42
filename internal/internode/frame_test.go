// SPDX-License-Identifier: BSD-3-Clause

// Headers and descriptors: decoding returns what was encoded, whatever the shape and the limits. No
// bytes make the decoders panic or exceed the bounds of the wire format.
package internode

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"libarmci/internal/kernel"
	"libarmci/internal/testutil/pipe"
	"libarmci/internal/transport"
)

// TestHeaderRoundTrip shows that decode returns what append has encoded.
func TestHeaderRoundTrip(t *testing.T) {
	for range 1000 {
		h := header{kind(rand.Uint32()), uint8(rand.Uint32()), uint8(rand.Uint32()),
			uint8(rand.Uint32()),
			rand.Uint32(), rand.Uint64(), rand.Uint32(),
			rand.Uint32(), rand.Uint64(), rand.Uint64(), rand.Uint64()}
		var got header
		if rest, err := got.decode(append(h.append(nil), 1, 2)); err != nil || got != h ||
			len(rest) != 2 {
			t.Fatalf("%+v became %+v, %v", h, got, err)
		}
	}
	var h header
	if _, err := h.decode(make([]byte, headerBytes-1)); err == nil {
		t.Error("a cut header passes")
	}
}

// piecesOf lists the memory from a cursor on.
func piecesOf(c kernel.Cursor) (list []kernel.Segment) {
	for c.Left() > 0 {
		list = c.Pieces(slices.Grow(list, 64), math.MaxInt64)
	}
	return merged(list)
}

// merged joins pieces that touch.
func merged(list []kernel.Segment) (all []kernel.Segment) {
	for _, p := range list {
		if n := len(all); n > 0 && all[n-1].Addr+uintptr(all[n-1].Bytes) == p.Addr {
			all[n-1].Bytes += p.Bytes
		} else {
			all = append(all, p)
		}
	}
	return all
}

// someMemory returns memory of any shape. No test reads from it.
func someMemory(rnd *rand.Rand, grain int) (c kernel.Cursor) {
	row := grain * (1 + rnd.IntN(1<<rnd.IntN(10)))
	base := uintptr(1<<40 + rnd.IntN(1<<20))
	switch rnd.IntN(4) {
	case 0:
		c.SetContiguous(base, int64(row)*int64(1+rnd.IntN(1000)))
	case 1:
		count, stride, step := []int32{int32(row)}, []int32{}, row
		for range 1 + rnd.IntN(5) {
			step += grain * rnd.IntN(5)
			count, stride = append(count, int32(1+rnd.IntN(6))),
				append(stride, int32(step*(1-2*rnd.IntN(2))))
			step *= int(count[len(count)-1])
		}
		c.SetStrided(base, count, stride)
	default:
		var groups []kernel.Group
		total := int64(0)
		for range 1 + rnd.IntN(4) {
			g := kernel.Group{Bytes: grain * (1 + rnd.IntN(200))}
			at, step := base, uintptr(grain*rnd.IntN(5000))
			for range rnd.IntN(3000) {
				if g.Addrs = append(g.Addrs, at); rnd.IntN(20) == 0 {
					step = uintptr(grain * rnd.IntN(1<<rnd.IntN(30)))
				}
				at += step
			}
			total += int64(g.Bytes) * int64(len(g.Addrs))
			groups = append(groups, g)
		}
		c.SetGroups(groups, total)
	}
	return c
}

// unbounded are the limits where a frame may have any length.
var unbounded = frameLimits{data: maxPayload, desc: maxUnboundedDesc, total: math.MaxInt}

// TestLayoutRoundTrip divides memory into frames of all limits and decodes them again.
func TestLayoutRoundTrip(t *testing.T) {
	var c chunk
	var l layout
	for seed := range uint64(600) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		grain := []int{1, 4, 8, 16}[seed%4]
		at := someMemory(rnd, grain)
		want, got := piecesOf(at), []kernel.Segment(nil)
		lim := unbounded
		if seed%3 > 0 {
			lim = frameLimits{data: int64(grain + rnd.IntN(1<<14)),
				desc: 200 + rnd.IntN(4000), total: math.MaxInt}
		}
		if seed%3 == 1 {
			lim.total = 400 + rnd.IntN(1<<14)
		}
		lim.flat = seed%5 == 0
		for frames := 0; at.Left() > 0; frames++ {
			left := at.Left()
			c.describeNext(&at, lim, grain)
			if c.bytes <= 0 || c.bytes != left-at.Left() || c.bytes > lim.data ||
				len(c.desc) > lim.desc || c.bytes%int64(grain) != 0 {
				t.Fatalf("seed %d: frame %d of %d bytes with a descriptor of %d, "+
					"limits %+v; %d were left, now %d", seed, frames, c.bytes,
					len(c.desc), lim, left, at.Left())
			}
			if lim.total < math.MaxInt && int(c.bytes)+len(c.desc) > lim.total {
				t.Fatalf("seed %d: %d bytes and a descriptor of %d, limits %+v",
					seed, c.bytes, len(c.desc), lim)
			}
			h := header{kind: kindPut, flags: c.flags, addr: c.addr,
				bytes: uint64(c.bytes), desc: uint32(len(c.desc))}
			if err := h.checkRequest(c.desc, c.bytes); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if err := l.decode(&h, c.desc); err != nil {
				t.Fatalf("seed %d: frame %d: %v", seed, frames, err)
			}
			if l.grain%uint64(grain) != 0 {
				t.Fatalf("seed %d: grain %d, not of %d", seed, l.grain, grain)
			}
			var there kernel.Cursor
			l.setCursor(&there, &h)
			for _, p := range piecesOf(there) {
				if uint64(p.Addr) < l.lo || uint64(p.Addr)+uint64(p.Bytes) > l.hi {
					t.Fatalf("seed %d: %+v is not between %#x and %#x", seed, p,
						l.lo, l.hi)
				}
				got = append(got, p)
			}
		}
		if !slices.Equal(merged(got), want) {
			t.Fatalf("seed %d: %d pieces became others (%d)", seed, len(want),
				len(merged(got)))
		}
	}
}

// TestListIsCompact shows that a list of addresses at a constant distance becomes one group.
func TestListIsCompact(t *testing.T) {
	g := kernel.Group{Bytes: 8}
	for i := range uintptr(10000) {
		g.Addrs = append(g.Addrs, 0x4000_0000_0000+24*i)
	}
	var at kernel.Cursor
	at.SetGroups([]kernel.Group{g}, 80000)
	var c chunk
	if c.describeNext(&at, unbounded, 1); len(c.desc) > 16 || at.Left() > 0 {
		t.Errorf("%d bytes for segments at a constant distance, %d bytes are left",
			len(c.desc), at.Left())
	}
}

// TestListBounds shows that a list with a segment where there can be no memory is refused.
func TestListBounds(t *testing.T) {
	for _, x := range []struct {
		first uint64
		delta int32
		ok    bool
	}{
		{4096, -4096, true}, {4096, -4097, false}, {0, math.MinInt32, false},
		{maxAddr - 100, 92, true}, {maxAddr - 100, 93, false}, {maxAddr - 100, 200, false},
		{maxAddr + 1, -200, false},
	} {
		desc := binary.LittleEndian.AppendUint32([]byte{2<<tokenShift | tokenList, 8, 0},
			uint32(x.delta))
		h := header{kind: kindGet, flags: flagGroups, addr: x.first, bytes: 16,
			desc: uint32(len(desc))}
		var l layout
		err := l.decode(&h, desc)
		if lo := min(x.first, x.first+uint64(int64(x.delta))); (err == nil) != x.ok ||
			x.ok && l.lo != lo {
			t.Errorf("%#x and %d behind it: %v, from %#x", x.first, x.delta, err, l.lo)
		}
	}
}

// TestPartlyOwnedIsNotOwned shows that memory that is not the rank's in one part is refused.
func TestPartlyOwnedIsNotOwned(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		at := someMemory(rnd, 1)
		if at.Left() == 0 {
			continue
		}
		pieces := piecesOf(at)
		bad := pieces[rnd.IntN(len(pieces))].Addr
		var c chunk
		var l layout
		found := false
		for at.Left() > 0 {
			c.describeNext(&at, unbounded, 1)
			h := header{flags: c.flags, addr: c.addr, bytes: uint64(c.bytes)}
			if err := l.decode(&h, c.desc); err != nil {
				t.Fatal(err)
			}
			found = !l.isOwned(func(addr uintptr, n int64) bool {
				return bad < addr ||
					int64(bad-addr) >= n
			}) || found
			if !l.isOwned(func(uintptr, int64) bool { return true }) {
				t.Fatalf("seed %d: memory that is all the rank's is not", seed)
			}
		}
		if !found {
			t.Fatalf("seed %d: byte %#x is not noticed", seed, bad)
		}
	}
}

// TestManySegments shows that all frames have room for a list of small segments, which needs more
// bytes for addresses than for data.
func TestManySegments(t *testing.T) {
	for _, most := range []int{1024, 4096, 64 << 10} {
		_, ends, u := newUser(t, pipe.Options{MaxFrame: most}, nil)
		rnd := rand.New(rand.NewPCG(uint64(most), 0))
		v := transport.Segments{Bytes: 8}
		for _, i := range rnd.Perm(20000) {
			v.Local = append(v.Local, u.mine+uintptr(8*i))
			v.Remote = append(v.Remote, u.there+uintptr(24*i))
			*(*uint64)(kernel.Ptr(u.mine + uintptr(8*i))) = uint64(i)
		}
		if err := u.startTransfer(&transport.Xfer{Vector: []transport.Segments{v}},
			u.tr.Put); err != nil {
			t.Fatal(err)
		}
		if err := u.tr.Fence(1); err != nil {
			t.Fatalf("frames of %d bytes: %v", most, err)
		}
		for i := range uint64(20000) {
			if got := *(*uint64)(kernel.Ptr(u.there + uintptr(24*i))); got != i {
				t.Fatalf("frames of %d bytes: segment %d is %d", most, i, got)
			}
		}
		ends.CloseAll()
	}
}

// FuzzLayout decodes any descriptor, and checks that the layout is within its bounds.
func FuzzLayout(f *testing.F) {
	f.Add(uint8(flagGroups), []byte{1 << tokenShift, 8, 0}, uint64(4096), uint64(8))
	f.Add(uint8(flagStrided), appendStrided(nil, []int32{8, 3, 5}, []int32{-64, 1024}),
		uint64(1<<40), uint64(120))
	for seed := range uint64(20) {
		at := someMemory(rand.New(rand.NewPCG(seed, 0)), 1)
		var c chunk
		c.describeNext(&at, unbounded, 1)
		f.Add(c.flags, c.desc, c.addr, uint64(c.bytes))
	}
	var l layout
	f.Fuzz(func(t *testing.T, flags uint8, desc []byte, addr, nbytes uint64) {
		h := header{kind: kindGet, flags: flags, addr: addr, bytes: nbytes,
			desc: uint32(len(desc))}
		if h.checkRequest(desc, 0) != nil || l.decode(&h, desc) != nil {
			return
		}
		if cap(l.addrs) > maxAddrs || len(l.groups) > maxGroups {
			t.Error("the arrays of a layout have grown")
		}
		if l.hi < l.lo || l.hi > maxAddr || l.grain == 0 ||
			nbytes%(l.grain&-l.grain) != 0 && h.flags&flagShape != 0 {
			t.Errorf("%+v", l)
		}
		var c kernel.Cursor
		l.setCursor(&c, &h)
		if uint64(c.Left()) != nbytes {
			t.Errorf("%d bytes, not %d", c.Left(), nbytes)
		}
		l.isOwned(func(addr uintptr, n int64) bool {
			return n > 0 && uint64(addr) >= l.lo && uint64(addr)+uint64(n) <= l.hi
		})
	})
}

// FuzzHeader checks any header.
func FuzzHeader(f *testing.F) {
	h := header{kind: kindPut, bytes: 8, addr: 1 << 40}
	f.Add(h.append(nil), int64(8))
	f.Fuzz(func(t *testing.T, b []byte, n int64) {
		var h header
		rest, err := h.decode(b)
		if err == nil && h.checkRequest(rest, max(n, 0)) == nil && (h.bytes > maxPayload ||
			len(rest) > maxDesc+operandBytes || h.kind > lastRequest) {
			t.Errorf("%+v passes", h)
		}
	})
}

var _ transport.Receiver = (*rawLink)(nil)
