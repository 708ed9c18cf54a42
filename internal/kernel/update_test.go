// update_test.go: updates of every operator and type against the oracle, and compare-and-swap. What
// happens when many do them at once is update_contended_test.go's.
//
// SPDX-License-Identifier: BSD-3-Clause

package kernel

import (
	"bytes"
	"fmt"
	"math/rand"
	"runtime"
	"testing"
	"unsafe"
)

// testable tells whether the oracle knows the type here: it knows the long double of x86.
func testable(l layout) bool { return l.kind != 'x' || runtime.GOARCH == "amd64" }

// TestUpdateTypes shows the sizes of all types, and which operators are defined for each.
func TestUpdateTypes(t *testing.T) {
	if len(layouts) != UpdateTypes {
		t.Errorf("%d types are tested of %d", len(layouts), UpdateTypes)
	}
	for typ := UpdateType(-1); typ <= UpdateTypes; typ++ {
		l, known := layouts[typ]
		if got := UpdateBytes(typ); got != l.size {
			t.Errorf("type %d has %d bytes, want %d", typ, got, l.size)
		}
		for op := UpdateOp(-1); op <= UpdateOps; op++ {
			want := known && l.defined(op)
			if got := UpdateValid(op, typ); got != want {
				t.Errorf("operator %d for type %d: %v, want %v", op, typ, got, want)
			}
			if !want {
				d, s, o := [32]byte{1, 2, 3}, [32]byte{3, 4, 5}, [32]byte{}
				Update(newStripes(1), op, typ, unsafe.Pointer(&d),
					unsafe.Pointer(&s), unsafe.Pointer(&o), 1)
				if d != [32]byte{1, 2, 3} || o != [32]byte{} {
					t.Errorf("operator %d for type %d changed memory", op, typ)
				}
			}
		}
	}
}

// An updateCase is one update of a test.
type updateCase struct {
	op  UpdateOp
	typ UpdateType
	n   int
	off int    // of dst, src and old, so that they are unaligned in their own ways
	old string // "none", "own" or "src": the same memory
	st  Stripes
}

func (c updateCase) String() string {
	return fmt.Sprintf("%d elements of type %d, operator %d, offset %d, old %s, locks %v", c.n,
		c.typ, c.op, c.off, c.old,
		c.st.Word != nil)
}

// run carries out one update and compares all bytes with the oracle.
func (c updateCase) run(t *testing.T, r *rand.Rand) {
	t.Helper()
	l := layouts[c.typ]
	size := c.n * l.size
	dst, src, old := acrossStripes(size+64), make([]byte, size+64), make([]byte, size+64)
	d, s, o := c.off%17, c.off/2%17, c.off/3%17
	l.fill(c.op, dst[d:d+size], r)
	l.fill(c.op, src[s:s+size], r)
	want, was := bytes.Clone(dst), bytes.Clone(dst[d:d+size])
	for i := 0; i < size; i += l.size {
		l.combine(c.op, want[d+i:], dst[d+i:], src[s+i:])
	}
	sent := bytes.Clone(src)
	to := at(old, o)
	switch c.old {
	case "none":
		to = nil
	case "src":
		to, o, old = at(src, s), s, src
	}
	from := at(src, s)
	if c.op == OpNoOp && c.old != "src" && c.n%2 == 0 {
		from = nil
	}
	Update(c.st, c.op, c.typ, at(dst, d), from, to, c.n)
	l.clean(dst[d : d+size])
	l.clean(want[d : d+size])
	same(t, "result: "+c.String(), dst, want)
	if c.old != "src" {
		same(t, "source: "+c.String(), src, sent)
	}
	if c.old != "none" {
		l.clean(old[o : o+size])
		l.clean(was)
		same(t, "old: "+c.String(), old[o:o+size], was)
		for i, b := range old {
			if (i < o || i >= o+size) && b != 0 && c.old == "own" {
				t.Fatalf("old: %v: byte %d was written", c, i)
			}
		}
	} else {
		same(t, "old: "+c.String(), old, make([]byte, len(old)))
	}
}

// Every operator of every type, with and without locks, with old or without, from no element to
// more than a stripe.
func TestUpdate(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	st := newStripes(7)
	for typ := range UpdateType(UpdateTypes) {
		l := layouts[typ]
		if !testable(l) {
			continue
		}
		for op := range UpdateOp(UpdateOps) {
			if !l.defined(op) {
				continue
			}
			for _, old := range []string{"none", "own", "src"} {
				for _, n := range []int{0, 1, 1, 1, 2, 3, 4, 5, 7, 8, 16, 17,
					r.Intn(70), r.Intn(70), 70} {
					updateCase{op, typ, n, r.Intn(64), old, st}.run(t, r)
					updateCase{op, typ, n, r.Intn(64), old, Stripes{}}.run(t, r)
				}
			}
			many := (1<<StripeShift)/l.size + r.Intn(2000)
			updateCase{op, typ, many, r.Intn(64),
				[]string{"none", "own", "src"}[r.Intn(3)], st}.run(t, r)
		}
	}
	for i, word := range unsafe.Slice((*uint32)(st.Word), 4*16) {
		if word != 0 {
			t.Errorf("lock word %d is %d, want free", i, word)
		}
	}
}

// Runs of any length, some of them twice, upon each other or empty, around the end of a stripe: as
// one update after the other.
func TestUpdateRuns(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	st := newStripes(7)
	for i := range 4 * 3 * 5 * 7 { // each choice beside each other one
		typ := []UpdateType{U8, I32, F64, PairF64Int, C64}[i%5]
		op := []UpdateOp{OpReplace, OpSum, OpNoOp, OpReplace, OpProd}[i%5]
		size, most := UpdateBytes(typ), []int{2, 40, 3 << StripeShift / 2}[i%3]
		mem := acrossStripes(4 << StripeShift)
		layouts[typ].fill(op, mem, r)
		var runs []Segment
		var places, counts []int
		total := 0
		for range r.Intn(60) / (i%3 + 1) {
			n := r.Intn(most/size + 2)
			place := r.Intn(len(mem) - n*size)
			if i%2 == 0 {
				place = len(mem)/2 - r.Intn(n*size+1)
			}
			runs = append(runs, Segment{uintptr(at(mem, 0)) + uintptr(place),
				int64(n * size)})
			places, counts, total = append(places, place), append(counts, n),
				total+n*size
		}
		src, old, was, want := make([]byte, total+1), make([]byte, total+1),
			make([]byte, total+1), bytes.Clone(mem)
		layouts[typ].fill(op, src[:total], r)
		done := 0
		for k, n := range counts {
			Update(Stripes{}, op, typ, at(want, places[k]), at(src, done),
				at(was, done), n)
			done += n * size
		}
		locks, fetched := st, at(old, 0)
		if i%7 == 0 {
			locks = Stripes{}
		}
		switch i % 4 {
		case 0:
			fetched, old = nil, was
		case 1:
			fetched, old, was[total] = at(src, 0), src, src[total]
		}
		UpdateRuns(locks, op, typ, runs, at(src, 0), fetched)
		same(t, fmt.Sprintf("runs, round %d: result", i), mem, want)
		same(t, fmt.Sprintf("runs, round %d: old", i), old, was)
	}
	for i, word := range unsafe.Slice((*uint32)(st.Word), 4*16) {
		if word != 0 {
			t.Errorf("lock word %d is %d, want free", i, word)
		}
	}
}

// TestCompareSwap shows that words of all lengths are exchanged if all bytes are equal, and only
// then.
func TestCompareSwap(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	st := newStripes(7)
	for n := 0; n <= 33; n++ {
		for k := range 40 {
			mem, compare, value, old := make([]byte, 64), make([]byte, 64),
				make([]byte, 64), make([]byte, 64)
			r.Read(mem)
			r.Read(value)
			off := r.Intn(16)
			copy(compare[1:], mem[off:off+n])
			if k%2 == 1 && n > 0 { // one bit makes it unequal
				compare[1+r.Intn(n)] ^= 1 << r.Intn(8)
			}
			want, was := bytes.Clone(mem), make([]byte, 64)
			if n > 0 && n <= 32 {
				copy(was[3:], mem[off:off+n])
				if k%2 == 0 {
					copy(want[off:], value[2:2+n])
				}
			}
			locks := st
			if k%4 == 0 {
				locks = Stripes{}
			}
			CompareSwap(locks, n, at(mem, off), at(compare, 1), at(value, 2),
				at(old, 3))
			same(t, fmt.Sprintf("swap of %d bytes", n), mem, want)
			same(t, fmt.Sprintf("old of %d bytes", n), old, was)
		}
	}
}

// The single element is what MPI_Fetch_and_op costs within a node; k_acc beside it.
func BenchmarkUpdateOne(b *testing.B) {
	st := newStripes(1)
	var x, y, old [4]uint64
	y[0] = 1
	dst, src, was := unsafe.Pointer(&x), unsafe.Pointer(&y), unsafe.Pointer(&old)
	scale := one(Long)
	for _, c := range []struct {
		name string
		do   func()
	}{
		{"acc/long", func() { Acc(st, Long, at(scale, 0), dst, src, 8) }},
		{"sum/i64", func() { Update(st, OpSum, I64, dst, src, nil, 1) }},
		{"fetch-sum/i64", func() { Update(st, OpSum, I64, dst, src, was, 1) }},
		{"fetch-sum/i32", func() { Update(st, OpSum, I32, dst, src, was, 1) }},
		{"fetch-sum/f64", func() { Update(st, OpSum, F64, dst, src, was, 1) }},
		{"exchange/i64", func() { Update(st, OpReplace, I64, dst, src, was, 1) }},
		{"compare-swap/8", func() { CompareSwap(st, 8, dst, src, src, was) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				c.do()
			}
		})
	}
}
