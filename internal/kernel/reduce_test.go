// reduce_test.go: reductions against the oracle.
//
// SPDX-License-Identifier: BSD-3-Clause

package kernel

import (
	"math"
	"math/rand"
	"testing"
	"unsafe"
)

// number64 is an element type that has an order.
type number64 interface {
	~int32 | ~int64 | ~float32 | ~float64
}

// ordered is the oracle for the operators that all real types have.
func ordered[T number64](r Reduction, x, y T) T {
	abs := func(v T) T { return max(v, -v) }
	truth := func(b bool) T {
		if b {
			return 1
		}
		return 0
	}
	switch r {
	case Sum:
		return x + y
	case Product:
		return x * y
	case Max:
		return max(x, y)
	case Min:
		return min(x, y)
	case AbsMax:
		return max(abs(x), abs(y))
	case AbsMin:
		return min(abs(x), abs(y))
	case LogicalOr:
		return truth(x != 0 || y != 0)
	default:
		return truth(x != 0 && y != 0)
	}
}

var orderedOps = []Reduction{Sum, Product, Max, Min, AbsMax, AbsMin, LogicalOr, LogicalAnd}

// testReal checks one real type with all operators that need no integers.
func testReal[T number64](t *testing.T, typ Type, value func() T) {
	for _, op := range orderedOps {
		for _, n := range []int{0, 1, 2, 7, 64, 1001} {
			x, y, want := make([]T, n+1), make([]T, n), make([]T, n+1)
			for i := range y {
				x[i], y[i] = value(), value()
				want[i] = ordered(op, x[i], y[i])
			}
			x[n], want[n] = 77, 77
			Reduce(op, typ, unsafe.Pointer(unsafe.SliceData(x)),
				unsafe.Pointer(unsafe.SliceData(y)), n)
			for i := range x {
				if x[i] != want[i] {
					t.Fatalf("operator %d, type %d, element %d of %d: %v, "+
						"want %v", op, typ, i, n, x[i], want[i])
				}
			}
		}
	}
}

func TestReduceReal(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	testReal(t, Int, func() int32 { return int32(r.Uint32()) >> (r.Intn(32)) })
	testReal(t, Long, func() int64 { return int64(r.Uint64()) >> (r.Intn(64)) })
	testReal(t, LongLong, func() int64 { return int64(r.Uint64()) >> (r.Intn(64)) })
	testReal(t, Float, func() float32 { return float32(r.Intn(3)) * (r.Float32() - 0.5) })
	testReal(t, Double, func() float64 { return float64(r.Intn(3)) * (r.Float64() - 0.5) })
}

// Where the result goes makes no difference: elsewhere, over the left operand, or over the right
// one, where the order still counts (the greatest of 0 and -0 is the left one).
func TestReduceTo(t *testing.T) {
	const n = 1000
	r := rand.New(rand.NewSource(1))
	some := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), 3, -3}
	var x, y, want [n]float64
	for i := range x {
		x[i], y[i] = some[r.Intn(len(some))], some[r.Intn(len(some))]
	}
	bits := func(v *[n]float64) [n]uint64 { return *(*[n]uint64)(unsafe.Pointer(v)) }
	for typ := Int; typ <= LongLong; typ++ {
		for op := Sum; op <= LogicalAnd; op++ {
			count := int(unsafe.Sizeof(x)) / TypeSize(typ)
			out, left, right := x, x, y // where undefined, x stays
			want = x
			Reduce(op, typ, unsafe.Pointer(&want), unsafe.Pointer(&y), count)
			ReduceTo(op, typ, unsafe.Pointer(&out), unsafe.Pointer(&x),
				unsafe.Pointer(&y), count)
			ReduceTo(op, typ, unsafe.Pointer(&left), unsafe.Pointer(&left),
				unsafe.Pointer(&y), count)
			if !ReduceValid(op, typ) {
				right = x
			}
			ReduceTo(op, typ, unsafe.Pointer(&right), unsafe.Pointer(&x),
				unsafe.Pointer(&right), count)
			if bits(&out) != bits(&want) || bits(&left) != bits(&want) ||
				bits(&right) != bits(&want) {
				t.Errorf("operator %d, type %d: the result depends on where it "+
					"goes", op, typ)
			}
		}
	}
}

// TestReduceBits shows the results of bitwise reductions.
func TestReduceBits(t *testing.T) {
	for _, typ := range []Type{Long, LongLong} {
		x, y := []int64{5, -1, 0}, []int64{3, 12, 1 << 40}
		Reduce(BitOr, typ, unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0]), 3)
		if x[0] != 7 || x[1] != -1 || x[2] != 1<<40 {
			t.Errorf("or: %v", x)
		}
		Reduce(BitAnd, typ, unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0]), 3)
		if x[0] != 3 || x[1] != 12 || x[2] != 1<<40 {
			t.Errorf("and: %v", x)
		}
	}
	a, b := []int32{5, -1}, []int32{3, 12}
	Reduce(BitOr, Int, unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0]), 2)
	Reduce(BitAnd, Int, unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0]), 1)
	if a[0] != 3 || a[1] != -1 {
		t.Errorf("int bits: %v", a)
	}
}

// TestReduceComplex shows that sums and products of complex elements are those of plain arithmetic.
func TestReduceComplex(t *testing.T) {
	const n = 101
	r := rand.New(rand.NewSource(1))
	value := func() float64 { return r.Float64() - 0.5 }
	var x, y, sum, product [n]complex128
	var x4, y4, sum4, product4 [n]complex64
	for i := range x {
		x[i], y[i] = complex(value(), value()), complex(value(), value())
		x4[i], y4[i] = complex64(x[i]), complex64(y[i])
		sum[i], sum4[i] = x[i]+y[i], x4[i]+y4[i]
		a, b, u, v := real(sum[i]), imag(sum[i]), real(y[i]), imag(y[i])
		product[i] = complex(float64(a*u)-float64(b*v), float64(a*v)+float64(b*u))
		a4, b4, u4, v4 := real(sum4[i]), imag(sum4[i]), real(y4[i]), imag(y4[i])
		product4[i] = complex(float32(a4*u4)-float32(b4*v4), float32(a4*v4)+float32(b4*u4))
	}
	Reduce(Sum, DoubleComplex, unsafe.Pointer(&x), unsafe.Pointer(&y), n)
	Reduce(Sum, Complex, unsafe.Pointer(&x4), unsafe.Pointer(&y4), n)
	if x != sum || x4 != sum4 {
		t.Errorf("sums differ: %v\nwant %v\n%v\nwant %v", x, sum, x4, sum4)
	}
	Reduce(Product, DoubleComplex, unsafe.Pointer(&x), unsafe.Pointer(&y), n)
	Reduce(Product, Complex, unsafe.Pointer(&x4), unsafe.Pointer(&y4), n)
	if x != product || x4 != product4 {
		t.Errorf("products differ: %v\nwant %v\n%v\nwant %v", x, product, x4, product4)
	}
}

// TestReduceFinish shows which reductions need a last step, and its results.
func TestReduceFinish(t *testing.T) {
	x := []float64{-3, 2, 0}
	ReduceFinish(AbsMax, Double, unsafe.Pointer(&x[0]), 3)
	if x[0] != 3 || x[1] != 2 || x[2] != 0 {
		t.Errorf("absolute values: %v", x)
	}
	y := []int32{-5, 0, math.MinInt32}
	ReduceFinish(Sum, Int, unsafe.Pointer(&y[0]), 3)
	if y[0] != -5 {
		t.Errorf("a sum needs no finishing: %v", y)
	}
	ReduceFinish(AbsMin, Int, unsafe.Pointer(&y[0]), 3)
	if y[0] != 5 || y[1] != 0 || y[2] != math.MinInt32 {
		t.Errorf("absolute values: %v", y)
	}
	ReduceFinish(LogicalOr, Int, unsafe.Pointer(&y[0]), 3)
	if y[0] != 1 || y[1] != 0 || y[2] != 1 {
		t.Errorf("truth values: %v", y)
	}
}

// Undefined combinations are known as such and leave the memory alone.
func TestReduceValid(t *testing.T) {
	for op := Reduction(-1); op <= LogicalAnd+1; op++ {
		for typ := Type(-1); typ <= LongLong+1; typ++ {
			isComplex, isFloat := typ == Complex || typ == DoubleComplex,
				typ == Float || typ == Double
			want := op >= Sum && op <= LogicalAnd && typ >= Int && typ <= LongLong
			switch op {
			case Sum, Product:
			case BitOr, BitAnd:
				want = want && !isComplex && !isFloat
			default:
				want = want && !isComplex
			}
			if got := ReduceValid(op, typ); got != want {
				t.Errorf("operator %d for type %d: %v, want %v", op, typ, got, want)
			}
			x, y := [2]float64{1, 2}, [2]float64{3, 4}
			Reduce(op, typ, unsafe.Pointer(&x), unsafe.Pointer(&y), 1)
			if !want && x != [2]float64{1, 2} {
				t.Errorf("operator %d for type %d changed memory", op, typ)
			}
		}
	}
}
