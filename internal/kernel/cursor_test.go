// cursor_test.go: cursors against the list of the addresses of all bytes of a transfer, one by one:
// whatever the shape, wherever the stream is cut, and whichever calls are mixed.
//
// SPDX-License-Identifier: BSD-3-Clause

package kernel

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"unsafe"
)

// arena is memory in which shapes lie: offsets -1<<13 to 1<<14 from its middle.
type arena struct {
	mem  []byte
	base uintptr
}

func newArena(fill byte) *arena {
	a := &arena{mem: make([]byte, 1<<16)}
	for i := range a.mem {
		a.mem[i] = fill ^ byte(i*7+i>>8)
	}
	a.base = uintptr(unsafe.Pointer(&a.mem[1<<15]))
	return a
}

func (a *arena) byteAt(addr uintptr) *byte { return &a.mem[addr-a.base+1<<15] }

// side is a cursor and the addresses that are still before it.
type side struct {
	Cursor
	want []uintptr
	what string
}

func (s *side) add(addr uintptr, n int) {
	for i := range uintptr(n) {
		s.want = append(s.want, addr+i)
	}
}

// someSide begins memory of at least one byte in rows of whole grains.
func someSide(r *rand.Rand, base uintptr, grain int) *side {
	for {
		s := &side{}
		switch r.IntN(4) {
		case 0:
			n := grain * r.IntN(600)
			s.SetContiguous(base, int64(n))
			s.add(base, n)
		case 1, 2:
			s.strided(r, base, grain)
		default:
			s.list(r, base, grain)
		}
		if len(s.want) > 0 {
			return s
		}
	}
}

// strided sets a random strided cursor, and the addresses of its bytes.
func (s *side) strided(r *rand.Rand, base uintptr, grain int) {
	sh := shape{nil, []int32{int32(grain * r.IntN(30))}}
	below := sh.count[0]
	for range r.IntN(5) {
		sh.stride = append(sh.stride, []int32{below, below, -below, 0,
			int32(r.IntN(400)) - 200}[r.IntN(5)])
		sh.count = append(sh.count, int32(r.IntN(6)))
		below = max(1, min(sh.stride[len(sh.stride)-1]*sh.count[len(sh.count)-1], 400))
	}
	s.SetStrided(base, sh.count, append(sh.stride, 99))
	for _, o := range sh.offsets() {
		s.add(base+uintptr(o), int(sh.count[0]))
	}
	s.what = fmt.Sprint(sh)
}

// list sets a random cursor of groups, and the addresses of its bytes.
func (s *side) list(r *rand.Rand, base uintptr, grain int) {
	var groups []Group
	for range r.IntN(8) {
		g := Group{Addr: base + uintptr(r.IntN(1000)), Count: r.IntN(9),
			Bytes: grain * r.IntN(9)}
		g.Step = []int64{int64(g.Bytes), 0, int64(r.IntN(200)) - 100}[r.IntN(3)]
		addrs := []uintptr{}
		for i := range g.Count {
			addrs = append(addrs, g.Addr+uintptr(int64(i)*g.Step))
		}
		if r.IntN(2) == 0 {
			for i := range addrs {
				addrs[i] = base + uintptr(r.IntN(2000))
			}
			g = Group{Addrs: addrs, Bytes: g.Bytes, Count: 77}
		}
		for _, a := range addrs {
			s.add(a, g.Bytes)
		}
		groups = append(groups, g)
	}
	s.SetGroups(groups, int64(len(s.want)))
	s.what = fmt.Sprintf("%+v", groups)
}

// takes checks that n bytes at addr are what comes next.
func (s *side) takes(t *testing.T, call string, addr uintptr, n int) {
	t.Helper()
	for i := range uintptr(n) {
		if len(s.want) == 0 || s.want[0] != addr+i {
			t.Fatalf("%s: %s takes %#x, where %d bytes are left: %#x", s.what, call,
				addr+i, len(s.want), s.want)
		}
		s.want = s.want[1:]
	}
}

// takesPart checks that a part has the next bytes.
func (s *side) takesPart(t *testing.T, p Part) {
	t.Helper()
	left := len(s.want)
	if p.Addrs != nil {
		for _, a := range p.Addrs {
			s.takes(t, "Next", a, p.Size)
		}
	} else {
		if len(p.Stride) != len(p.Count)-1 {
			t.Fatalf("%s: part %+v", s.what, p)
		}
		for _, o := range (shape{p.Stride, p.Count}).offsets() {
			s.takes(t, "Next", p.Addr+uintptr(o), int(p.Count[0]))
		}
	}
	if left-len(s.want) != p.Bytes {
		t.Fatalf("%s: part %+v has %d bytes", s.what, p, left-len(s.want))
	}
}

// step makes one random call and compares what it does.
func (s *side) step(t *testing.T, r *rand.Rand, a *arena) {
	t.Helper()
	n := 1 + r.IntN(len(s.want))
	if r.IntN(2) == 0 {
		n = min(n, 1+r.IntN(40))
	}
	s.checkWhole(t, n)
	switch b := make([]byte, n); r.IntN(5) {
	case 0:
		s.Pack(b)
		for i, at := range s.want[:n] {
			if b[i] != *a.byteAt(at) {
				t.Fatalf("%s: byte %d of %d is packed as %#x, want %#x", s.what, i,
					n, b[i], *a.byteAt(at))
			}
		}
		s.want = s.want[n:]
	case 1:
		model := append([]byte(nil), a.mem...)
		for i, at := range s.want[:n] {
			b[i] = byte(r.Int())
			model[at-a.base+1<<15] = b[i]
		}
		s.Unpack(b)
		same(t, s.what, a.mem, model)
		s.want = s.want[n:]
	case 2:
		s.Skip(int64(n))
		s.want = s.want[n:]
	case 3:
		s.pieces(t, r, n)
	case 4:
		s.takesPart(t, s.Next(n, 1))
	}
	if s.Left() != int64(len(s.want)) {
		t.Fatalf("%s: %d bytes left, want %d", s.what, s.Left(), len(s.want))
	}
}

// checkWhole: a cut after Whole(n) bytes is between rows or at an aligned address, and less than 8
// bytes before n.
func (s *side) checkWhole(t *testing.T, n int) {
	t.Helper()
	whole := int(s.Whole(int64(n)))
	if whole > n || whole+8 <= n {
		t.Fatalf("%s: %d of %d bytes are whole", s.what, whole, n)
	}
	if whole == 0 || whole == len(s.want) || s.want[whole]%8 == 0 {
		return
	}
	c := s.Cursor
	c.Skip(int64(whole))
	if c.pos.off != 0 {
		t.Fatalf("%s: a cut after %d bytes is in a row at %#x", s.what, whole,
			s.want[whole])
	}
}

// pieces checks that Pieces lists the next bytes, merged, behind what the slice had.
func (s *side) pieces(t *testing.T, r *rand.Rand, n int) {
	t.Helper()
	first := Segment{s.want[0] - 5, 5} // touches, but it is not of this call
	p := s.Pieces(append(make([]Segment, 0, 2+r.IntN(6)), first), int64(n))
	if p[0] != first || len(p) == 1 {
		t.Fatalf("%s: pieces %v", s.what, p)
	}
	had := len(s.want)
	for i, one := range p[1:] {
		if i > 0 && p[i].Addr+uintptr(p[i].Bytes) == one.Addr {
			t.Fatalf("%s: pieces that touch: %v", s.what, p)
		}
		s.takes(t, "Pieces", one.Addr, int(one.Bytes))
	}
	if took := had - len(s.want); took > n || took < n && len(p) < cap(p) {
		t.Fatalf("%s: pieces of %d bytes, %d of %d, limit %d", s.what, took, len(p), cap(p),
			n)
	}
}

// TestCursor shows that all methods of cursors of random shapes visit the same bytes in order, and
// that a copy is independent.
func TestCursor(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	a := newArena(1)
	for range 4000 {
		s := someSide(r, a.base, 1)
		checkRow(t, s)
		for len(s.want) > 0 {
			second := *s
			if s.step(t, r, a); r.IntN(4) == 0 { // a copy is a cursor of its own
				second.step(t, r, a)
			}
		}
	}
	runtime.KeepAlive(a)
}

// checkRow: Contiguous is said of what is, and no piece of the whole is shorter than a row.
func checkRow(t *testing.T, s *side) {
	t.Helper()
	c := s.Cursor
	p := c.Pieces(make([]Segment, 0, len(s.want)), int64(len(s.want)))
	if s.Contiguous() && len(p) > 1 {
		t.Fatalf("%s: contiguous, but %v", s.what, p)
	}
	for _, one := range p {
		if s.Row() <= 0 || one.Bytes < s.Row() {
			t.Fatalf("%s: rows of %d bytes, but %v", s.what, s.Row(), p)
		}
	}
}

// Parts are whole grains, wherever the room ends, and as large as can be: no more than a row is
// cut.
func TestCursorGrain(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 4000 {
		grain := 1 + r.IntN(16)
		s := someSide(r, 1<<40, grain)
		for len(s.want) > 0 {
			room := 1 + r.IntN(300)
			p := s.Next(room, grain)
			if p.Bytes > room || p.Bytes%grain != 0 ||
				(p.Bytes == 0) != (room < grain) {
				t.Fatalf("%s: part %+v in room for %d bytes in grains of %d",
					s.what, p, room, grain)
			}
			s.takesPart(t, p)
		}
		if p := s.Next(100, grain); p.Bytes != 0 || s.Left() != 0 {
			t.Fatalf("%s: %+v beyond the end", s.what, p)
		}
	}
}

// Large parts: what fits is one part.
func TestCursorNextLargest(t *testing.T) {
	var c Cursor
	c.SetStrided(1<<40, []int32{8, 4, 5, 6}, []int32{16, 64, 1000})
	for _, w := range []struct{ room, bytes int }{{959, 800}, {7, 0}, {31, 24}, {500, 136}} {
		// one block has 160 bytes
		if p := c.Next(w.room, 8); p.Bytes != w.bytes {
			t.Errorf("%+v: part %+v", w, p)
		}
	}
	const huge = 1 << 40
	c.SetContiguous(1<<41, huge)
	if p := c.Next(huge, 24); p.Bytes != 1<<31-8 || len(p.Count) != 1 ||
		int(p.Count[0]) != p.Bytes {
		t.Errorf("part %+v of a huge one", p)
	}
	c.SetGroups([]Group{{Addr: 1 << 40, Step: 1 << 35, Count: 3, Bytes: 8}}, 24)
	for i := range uintptr(3) {
		if p := c.Next(100, 8); p.Bytes != 8 || p.Addr != 1<<40+i<<35 || len(p.Count) != 1 {
			t.Errorf("part %+v of a wide group", p)
		}
	}
}

// TestRuns shows that the runs of two sides of any shapes cover both, byte by byte.
func TestRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 4000 {
		a, b := someSide(r, 1<<40, 1), someSide(r, 1<<41, 1)
		n := min(len(a.want), len(b.want))
		a.Skip(int64(len(a.want) - n))
		b.Skip(int64(len(b.want) - n))
		a.want, b.want = a.want[len(a.want)-n:], b.want[len(b.want)-n:]
		for n > 0 {
			limit, had := 1+r.IntN(n), n
			runs := Runs(&a.Cursor, &b.Cursor, append(make([]Run, 0, 2+r.IntN(6)),
				Run{}), int64(limit))
			for i, one := range runs[1:] {
				if last := runs[i]; i > 0 &&
					last.Local+uintptr(last.Bytes) == one.Local &&
					last.Remote+uintptr(last.Bytes) == one.Remote {
					t.Fatalf("%s, %s: runs that touch: %+v", a.what, b.what,
						runs)
				}
				a.takes(t, "Runs", one.Local, one.Bytes)
				b.takes(t, "Runs", one.Remote, one.Bytes)
				n -= one.Bytes
			}
			if took := had - n; took > limit || took < limit && len(runs) < cap(runs) ||
				took == 0 {
				t.Fatalf("%s, %s: %d bytes of %d in %d runs", a.what, b.what, took,
					limit, len(runs))
			}
			if a.Left() != int64(n) || b.Left() != int64(n) {
				t.Fatalf("%s, %s: %d and %d left, want %d", a.what, b.what,
					a.Left(), b.Left(), n)
			}
		}
	}
}

// TestCursorEmpty shows that a zero cursor has no bytes, and that moving it panics.
func TestCursorEmpty(t *testing.T) {
	var c Cursor
	c.Pack(nil)
	c.Unpack(nil)
	c.Skip(0)
	if p := c.Pieces(make([]Segment, 0, 1), 10); len(p) != 0 || c.Left() != 0 ||
		c.Next(10, 1).Bytes != 0 {
		t.Error("a cursor of nothing has something")
	}
	defer func() {
		if recover() == nil {
			t.Error("a cursor of nothing moves")
		}
	}()
	c.Skip(1)
}

// No call takes memory: a frame's cursor is used for every frame.
func TestCursorNoAllocation(t *testing.T) {
	a := newArena(0)
	groups := []Group{{Addr: a.base, Step: 40, Count: 20, Bytes: 8},
		{Addrs: []uintptr{a.base, a.base + 100}, Bytes: 16}}
	b, pieces, runs := make([]byte, 96), make([]Segment, 0, 8), make([]Run, 0, 8)
	c, d := new(Cursor), new(Cursor)
	if n := testing.AllocsPerRun(100, func() {
		c.SetStrided(a.base, []int32{8, 4, 5}, []int32{16, 100})
		d.SetGroups(groups, 192)
		c.Pack(b)
		d.Unpack(b)
		c.Pieces(pieces, 8)
		d.Skip(8)
		Runs(c, d, runs, 30)
		d.Next(30, 1)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
