// SPDX-License-Identifier: BSD-3-Clause

// Accumulate and read-modify-write of the conformance suite: results against plain arithmetic, and
// exactness when all places act on the same words.
package transporttest

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

var native = binary.NativeEndian

func getF32(b []byte) float32    { return math.Float32frombits(native.Uint32(b)) }
func putF32(b []byte, x float32) { native.PutUint32(b, math.Float32bits(x)) }
func getF64(b []byte) float64    { return math.Float64frombits(native.Uint64(b)) }
func putF64(b []byte, x float64) { native.PutUint64(b, math.Float64bits(x)) }

// atomicTests are tests of accumulates and read-modify-writes.
type atomicTests struct{ *suite }

// element is an element type of accumulates, for the oracle.
type element struct {
	typ    kernel.Type
	size   int
	random func(r *rand.Rand, b []byte)
	add    func(dst, scale, src []byte) // dst += scale * src, every operation rounded by itself
}

var elements = []element{
	{kernel.Int, 4, func(r *rand.Rand, b []byte) { native.PutUint32(b, r.Uint32()) },
		func(d, c, s []byte) {
			native.PutUint32(d,
				native.Uint32(d)+native.Uint32(c)*native.Uint32(s))
		}},
	{kernel.Long, 8, func(r *rand.Rand, b []byte) { native.PutUint64(b, r.Uint64()) },
		func(d, c, s []byte) {
			native.PutUint64(d,
				native.Uint64(d)+native.Uint64(c)*native.Uint64(s))
		}},
	{kernel.Float, 4, randomF32,
		func(d, c, s []byte) { putF32(d, getF32(d)+float32(getF32(c)*getF32(s))) }},
	{kernel.Double, 8, randomF64,
		func(d, c, s []byte) { putF64(d, getF64(d)+float64(getF64(c)*getF64(s))) }},
	{kernel.Complex, 8, func(r *rand.Rand, b []byte) { randomF32(r, b); randomF32(r, b[4:]) },
		func(d, c, s []byte) {
			re := float32(getF32(c)*getF32(s)) - float32(getF32(c[4:])*getF32(s[4:]))
			im := float32(getF32(c)*getF32(s[4:])) + float32(getF32(c[4:])*getF32(s))
			putF32(d, getF32(d)+re)
			putF32(d[4:], getF32(d[4:])+im)
		}},
	{kernel.DoubleComplex, 16,
		func(r *rand.Rand, b []byte) { randomF64(r, b); randomF64(r, b[8:]) },
		func(d, c, s []byte) {
			re := float64(getF64(c)*getF64(s)) - float64(getF64(c[8:])*getF64(s[8:]))
			im := float64(getF64(c)*getF64(s[8:])) + float64(getF64(c[8:])*getF64(s))
			putF64(d, getF64(d)+re)
			putF64(d[8:], getF64(d[8:])+im)
		}},
}

func randomF32(r *rand.Rand, b []byte) { putF32(b, r.Float32()*8-4) }
func randomF64(r *rand.Rand, b []byte) { putF64(b, r.Float64()*8-4) }

// testAcc shows that accumulates of all types and shapes have the results of plain arithmetic.
func (s atomicTests) testAcc(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 0))
	for i, el := range elements {
		place := i % len(s.memOf)
		s.mustRequest(t, place, command{Do: "clear"})
		model := make([]byte, reachBytes)
		for k := range 18 {
			x := []xferMaker{s.randomContiguous, s.randomStrided,
				s.randomVector}[k%3](r, place, el.size)
			s.checkAcc(t, el, place, x, model, r)
		}
		s.compareMemory(t, place, model)
	}
}

// checkAcc accumulates random elements at a place and in the model.
func (s atomicTests) checkAcc(t *testing.T, el element, place int, x *transport.Xfer, model []byte,
	r *rand.Rand) {
	t.Helper()
	scale := make([]byte, 16)
	el.random(r, scale)
	local, remote := sides(x)
	for i := range remote {
		src, dst := local[i].asSlice(), s.modelBlock(model, place, remote[i])
		for at := 0; at < len(src); at += el.size {
			el.random(r, src[at:])
			el.add(dst[at:], scale, src[at:])
		}
	}
	s.checkDoneOnce(t, func(x *transport.Xfer) error {
		err := s.end.Transport.Acc(transport.Peer(place), x,
			transport.Scale{Type: int(el.typ), Value: unsafe.Pointer(&scale[0])})
		clear(scale) // the caller may reuse it after the call
		return err
	}, x)
}

// testAccContended shows that concurrent accumulates of all places lose nothing.
func (s atomicTests) testAccContended(t *testing.T) {
	const rounds = 50
	s.mustRequest(t, 1, command{Do: "clear"})
	s.atEachPlace(t, func(place int) error {
		_, err := s.request(place, command{Do: "acc", Place: 1,
			Addr: s.memOf[1] + 4096 - 100,
			N:    rounds})
		return err
	})
	got := s.mustRequest(t, 1, command{Do: "read"}).Body[4096-100:]
	for i := range 512 {
		if n := native.Uint32(got[4*i:]); n != uint32(rounds*len(s.memOf)) {
			t.Fatalf("element %d is %d after %d additions", i, n, rounds*len(s.memOf))
		}
	}
}

// wordsOnly returns a test of read-modify-writes. In private memory it shows instead that they are
// refused and change nothing.
func (s atomicTests) wordsOnly(test func(*testing.T)) func(*testing.T) {
	if !s.end.Private {
		return test
	}
	return func(t *testing.T) {
		s.mustRequest(t, 1, command{Do: "fill", Seed: 6})
		for _, nbytes := range []int{4, 8} {
			if err := s.end.Transport.RMW(1, &transport.RMW{Bytes: nbytes,
				Addr: s.memOf[1] + wordsAt, Operand: 1}); err == nil {
				t.Errorf("a read-modify-write of %d bytes of private memory",
					nbytes)
			}
		}
		s.compareMemory(t, 1, s.filledModel(6))
	}
}

// testRMW shows that all read-modify-writes have the old and new values of plain arithmetic, and
// that unknown operations and sizes are refused.
func (s atomicTests) testRMW(t *testing.T) {
	word := s.memOf[1] + wordsAt + 16
	s.mustRequest(t, 1, command{Do: "fill", Seed: 6})
	model := s.filledModel(6)
	for i, x := range []int64{1, -1, 5, math.MaxInt32, math.MinInt32, 1 << 40, math.MaxInt64,
		math.MinInt64, 0} {
		for _, nbytes := range []int{4, 8} {
			for op := range transport.LastRMW + 1 {
				rmw := &transport.RMW{Op: op, Bytes: nbytes, Addr: word, Operand: x,
					Compare: x + 1}
				want := modelRMW(model[wordsAt+16:], rmw)
				if err := s.end.Transport.RMW(1, rmw); err != nil || rmw.Old !=
					want {
					t.Fatalf("%d: op %d of %d bytes with %d: old value %d, "+
						"expected %d, %v", i, op, nbytes, x, rmw.Old, want,
						err)
				}
				now := modelRMW(model[wordsAt+16:], &transport.RMW{Bytes: nbytes})
				rmw = &transport.RMW{Op: op, Bytes: nbytes, Addr: word,
					Operand: x ^ 77, Compare: now, Posted: true}
				modelRMW(model[wordsAt+16:], rmw)
				if err := s.end.Transport.RMW(1, rmw); err != nil {
					t.Fatalf("%d: op %d of %d bytes with %d, posted: %v", i, op,
						nbytes, x, err)
				}
			}
		}
	}
	if err := s.end.Transport.Fence(1); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []transport.RMW{{Bytes: 3}, {Bytes: 0}, {Bytes: 16}, {Op: 9, Bytes: 8},
		{Op: 9, Bytes: 8, Posted: true}} {
		bad.Addr = word
		if err := s.end.Transport.RMW(1, &bad); !errors.Is(err, transport.ErrNotNative) {
			t.Errorf("op %d of %d bytes: %v", bad.Op, bad.Bytes, err)
		}
	}
	s.compareMemory(t, 1, model) // and the neighbours are untouched
}

// modelRMW carries out r in the model and returns the old value.
func modelRMW(b []byte, r *transport.RMW) (old int64) {
	value := func(old int64) int64 {
		switch r.Op {
		case transport.FetchAdd:
			return old + r.Operand
		case transport.Swap:
			return r.Operand
		case transport.And:
			return old & r.Operand
		case transport.Or:
			return old | r.Operand
		case transport.Xor:
			return old ^ r.Operand
		}
		if compare := r.Compare; old == compare || r.Bytes == 4 &&
			int32(old) == int32(compare) {
			return r.Operand
		}
		return old
	}
	if r.Bytes == 4 {
		old = int64(int32(native.Uint32(b)))
		native.PutUint32(b, uint32(value(old)))
	} else {
		old = int64(native.Uint64(b))
		native.PutUint64(b, uint64(value(old)))
	}
	return old
}

// hammerAll has all places change one word of place 1 n times, and returns the old values by place.
func (s atomicTests) hammerAll(t *testing.T, op transport.RMWOp, nbytes, n int) [][]int64 {
	t.Helper()
	s.mustRequest(t, 1, command{Do: "clear"})
	olds := make([][]int64, len(s.memOf))
	s.atEachPlace(t, func(place int) error {
		a, err := s.request(place, command{Do: "rmw", Place: 1, Addr: s.memOf[1] + wordsAt,
			N:  n,
			Op: op, Bytes: nbytes})
		olds[place] = a.Vals
		return err
	})
	return olds
}

// testRMWContended shows that each old value of concurrent fetch-and-adds occurs once, and that
// they grow at each place.
func (s atomicTests) testRMWContended(t *testing.T) {
	const n = 300
	for _, nbytes := range []int{4, 8} {
		seen := make([]bool, n*len(s.memOf))
		for place, olds := range s.hammerAll(t, transport.FetchAdd, nbytes, n) {
			last := int64(-1)
			for _, old := range olds {
				if old < 0 || old >= int64(len(seen)) || seen[old] || old <= last {
					t.Fatalf("place %d drew %d after %d, of %d tickets", place,
						old, last, len(seen))
				}
				seen[old], last = true, old
			}
		}
	}
}

// testSwapContended shows that each value of concurrent swaps is returned once, or is still there.
func (s atomicTests) testSwapContended(t *testing.T) {
	const n = 300
	for _, nbytes := range []int{4, 8} {
		out := map[int64]int{}
		for _, olds := range s.hammerAll(t, transport.Swap, nbytes, n) {
			for _, old := range olds {
				out[old]++
			}
		}
		word := s.mustRequest(t, 1, command{Do: "read"}).Body[wordsAt:]
		last := int64(int32(native.Uint32(word)))
		out[last]++
		for place := range s.memOf {
			for i := range int64(n) {
				out[int64(place+1)<<20|i]--
			}
		}
		out[0]-- // the first value
		for v, k := range out {
			if k != 0 {
				t.Fatalf("%d bytes: value %#x came out %d times too often", nbytes,
					v, k)
			}
		}
	}
}
