// SPDX-License-Identifier: BSD-3-Clause

// Runs, plans and messages against plain loops: what is moved is every byte of a transfer, once, whatever the limits.
package rdma

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"unsafe"

	"libarmci/internal/transport"
)

// pairs lists the bytes of a transfer one by one: local and remote address.
func pairs(x *transport.Xfer) (list [][2]uintptr) {
	add := func(local, remote uintptr, n int) {
		for i := range uintptr(n) {
			list = append(list, [2]uintptr{local + i, remote + i})
		}
	}
	for _, s := range x.Vector {
		for i := range s.Local {
			add(s.Local[i], s.Remote[i], s.Bytes)
		}
	}
	if x.Vector != nil {
		return list
	}
	var level func(l int, local, remote uintptr)
	level = func(l int, local, remote uintptr) {
		if l == 0 {
			add(local, remote, int(x.Count[0]))
			return
		}
		for i := range x.Count[l] {
			level(l-1, local+uintptr(int64(x.Local.Stride[l-1])*int64(i)), remote+uintptr(int64(x.Remote.Stride[l-1])*int64(i)))
		}
	}
	level(len(x.Count)-1, x.Local.Base, x.Remote.Base)
	return list
}

func someXfer(r *rand.Rand, grain int) *transport.Xfer {
	x := &transport.Xfer{}
	if r.IntN(2) == 0 {
		for range 1 + r.IntN(4) {
			s := transport.Segments{Bytes: grain * r.IntN(5)}
			for range r.IntN(6) {
				s.Local = append(s.Local, uintptr(1000+r.IntN(1000)))
				s.Remote = append(s.Remote, uintptr(100000+grain*r.IntN(1000)))
			}
			x.Vector = append(x.Vector, s)
		}
		return x
	}
	x.Local.Base, x.Remote.Base = 500000, 900000
	x.Count = []int32{int32(grain * (1 + r.IntN(5)))}
	for range r.IntN(4) {
		x.Count = append(x.Count, int32(1+r.IntN(4)))
		x.Local.Stride = append(x.Local.Stride, []int32{x.Count[0], int32(r.IntN(200)) - 100}[r.IntN(2)])
		x.Remote.Stride = append(x.Remote.Stride, []int32{x.Count[0], int32(r.IntN(200)) - 100}[r.IntN(2)])
	}
	return x
}

func TestRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		x := someXfer(r, 1)
		if x.Bytes() == 0 {
			continue
		}
		want := pairs(x)
		c := runsOf(x)
		for c.left > 0 {
			local, remote, n := c.peek()
			n = 1 + r.IntN(n)
			for i := range uintptr(n) {
				if len(want) == 0 || want[0] != [2]uintptr{local + i, remote + i} {
					t.Fatalf("%+v: %#x %#x where %v is left", x, local, remote, want)
				}
				want = want[1:]
			}
			c.advance(n)
		}
		if _, _, n := c.peek(); len(want) > 0 || n > 0 {
			t.Fatalf("%+v: %d bytes are missing, %d more", x, len(want), n)
		}
	}
}

// The same transfer from the other side, and the memory that it has here.
func TestSwapped(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 2000 {
		x := someXfer(r, 1)
		if x.Bytes() == 0 {
			continue
		}
		c := runsOf(x)
		lo, hi := c.localSpan()
		first, last := ^uintptr(0), uintptr(0)
		s := c.swapped()
		for _, p := range pairs(x) {
			first, last = min(first, p[0]), max(last, p[0])
			if local, remote, n := s.peek(); n == 0 || local != p[1] || remote != p[0] {
				t.Fatalf("%+v: %#x %#x where %#x %#x is next", x, remote, local, p[0], p[1])
			}
			s.advance(1)
		}
		if s.left != 0 || lo != first || hi != last+1 {
			t.Fatalf("%+v: %d bytes more; from %#x to %#x, not %#x to %#x", x, s.left, lo, hi, first, last+1)
		}
	}
}

func TestPlan(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		grain := 1 + r.IntN(8)
		x := someXfer(r, grain)
		if x.Bytes() == 0 {
			continue
		}
		want := pairs(x)
		l := limits{groups: 1 + r.IntN(4), data: grain + r.IntN(100), both: groupBytes + grain + r.IntN(100)}
		c := runsOf(x)
		for p := (plan{}); c.left > 0; {
			p.take(&c, l, grain)
			if p.bytes == 0 || p.bytes > l.data || len(p.groups) > l.groups || p.bytes+groupBytes*len(p.groups) > l.both {
				t.Fatalf("%+v with %+v: %+v", x, l, p)
			}
			for _, g := range p.groups {
				if g.bytes%grain != 0 {
					t.Fatalf("%+v: a row of %d bytes breaks elements of %d", x, g.bytes, grain)
				}
				for i := range g.count {
					for k := range g.bytes {
						if at := g.addr + uintptr(g.step*int64(i)+int64(k)); at != want[0][1] {
							t.Fatalf("%+v: %#x where %#x is next", x, at, want[0][1])
						}
						want = want[1:]
					}
				}
			}
		}
		if len(want) > 0 {
			t.Fatalf("%+v: %d bytes are missing", x, len(want))
		}
	}
}

// TestPacked: what is written into a message is what comes out of it.
func TestPacked(t *testing.T) {
	mem := make([]byte, 4096)
	for i := range mem {
		mem[i] = byte(i * 7)
	}
	base := uintptr(unsafe.Pointer(&mem[0]))
	x := &transport.Xfer{Local: transport.Section{Base: base, Stride: []int32{100}}, Count: []int32{10, 20},
		Remote: transport.Section{Base: 0x1000, Stride: []int32{16}}}
	c, b := runsOf(x), make([]byte, 2048)
	from := c
	var p plan
	p.take(&c, limits{100, 1 << 20, 2000}, 1)
	n := p.write(b[headerBytes:], &from)
	h := header{kind: kindPut, flags: flagAck, what: 3, rank: 4, id: 5, handled: 6, groups: uint16(len(p.groups)),
		bytes: uint32(p.bytes), addr: 7, arg: 8}
	h.encode(b)
	f, err := decode(b[:headerBytes+n])
	if err != nil || f.header != h || len(p.groups) != 1 || groupAt(f.groups, 0) != (group{0x1000, 16, 20, 10}) {
		t.Fatalf("%v, %+v, groups %+v", err, f.header, p.groups)
	}
	back := make([]byte, 4096)
	x.Local.Base = uintptr(unsafe.Pointer(&back[0]))
	into := runsOf(x)
	into.scatter(f.data)
	for i := range 20 {
		if !bytes.Equal(back[100*i:100*i+10], mem[100*i:100*i+10]) {
			t.Errorf("row %d", i)
		}
	}
	for cut := range headerBytes + n {
		if _, err := decode(b[:cut]); err == nil {
			t.Fatalf("%d bytes of %d were taken for a whole message", cut, headerBytes+n)
		}
	}
}

// Rows that would wrap around the address space are no memory.
func TestExtent(t *testing.T) {
	for _, c := range []struct {
		g  group
		lo uintptr
		n  int64
		ok bool
	}{
		{group{1000, 0, 1, 8}, 1000, 8, true},
		{group{1000, 100, 3, 8}, 1000, 208, true},
		{group{1000, -100, 3, 8}, 800, 208, true},
		{group{1000, -600, 3, 8}, 0, 0, false},
		{group{1000, 1 << 40, 1 << 24, 8}, 0, 0, false},
		{group{1000, -1 << 63, 3, 8}, 0, 0, false},
		{group{1 << 63, 8, 2, 8}, 0, 0, false},
	} {
		lo, n, ok := c.g.extent()
		if ok != c.ok || ok && (lo != c.lo || n != c.n) {
			t.Errorf("%+v: %d bytes from %d, %v", c.g, n, lo, ok)
		}
	}
}

func FuzzDecode(f *testing.F) {
	b := make([]byte, 200)
	h := header{kind: kindAcc, groups: 2, bytes: 88}
	h.encode(b)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decode(b)
		if err != nil {
			return
		}
		total(m.groups, leastBytes)
		for i := range int(m.header.groups) {
			g := groupAt(m.groups, i)
			if lo, n, ok := g.extent(); ok && g.count > 0 && g.bytes > 0 && (n <= 0 || lo > g.addr) {
				t.Errorf("%+v: %d bytes from %#x", g, n, lo)
			}
		}
	})
}
