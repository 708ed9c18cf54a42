// update_oracle_test.go: what an update must do to one element, said in Go, and random elements of
// every type. Test-only: it must not use anything of the C side.
//
// SPDX-License-Identifier: BSD-3-Clause

package kernel

import (
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand"
)

// A layout is how an element is in memory. Kinds of numbers: i and u integers, f IEEE numbers, x
// long double.
type layout struct {
	form  string // "number", "complex", "logical", "bytes" or "pair"
	kind  byte
	width int // bytes of the number, or of the value of a pair
	index byte
	at    int // where the second number begins: a pair's index, an imaginary part
	size  int
}

var layouts = map[UpdateType]layout{
	I8: {"number", 'i', 1, 0, 0, 1}, U8: {"number", 'u', 1, 0, 0, 1},
	I16: {"number", 'i', 2, 0, 0, 2},
	U16: {"number", 'u', 2, 0, 0, 2}, I32: {"number", 'i', 4, 0, 0, 4},
	U32: {"number", 'u', 4, 0, 0, 4},
	I64: {"number", 'i', 8, 0, 0, 8}, U64: {"number", 'u', 8, 0, 0, 8},
	F32: {"number", 'f', 4, 0, 0, 4},
	F64: {"number", 'f', 8, 0, 0, 8}, F80: {"number", 'x', 10, 0, 0, 16},
	C32: {"complex", 'f', 4, 'f', 4, 8},
	C64: {"complex", 'f', 8, 'f', 8, 16}, C80: {"complex", 'x', 10, 'x', 16, 32},
	Bool:  {"logical", 'u', 1, 0, 0, 1},
	Bytes: {"bytes", 'u', 1, 0, 0, 1}, L8: {"logical", 'u', 1, 0, 0, 1},
	L16: {"logical", 'u', 2, 0, 0, 2},
	L32: {"logical", 'u', 4, 0, 0, 4}, L64: {"logical", 'u', 8, 0, 0, 8},
	PairF32Int: {"pair", 'f', 4, 'i', 4, 8},
	PairF64Int: {"pair", 'f', 8, 'i', 8, 16}, PairI64Int: {"pair", 'i', 8, 'i', 8, 16},
	PairI32Int: {"pair", 'i', 4, 'i', 4, 8},
	PairI16Int: {"pair", 'i', 2, 'i', 4, 8}, PairF80Int: {"pair", 'x', 10, 'i', 16, 32},
	PairF32: {"pair", 'f', 4, 'f', 4, 8},
	PairF64: {"pair", 'f', 8, 'f', 8, 16}, PairI64: {"pair", 'i', 8, 'l', 8, 16},
}

// indexWidth gives the bytes of the second number.
func (l layout) indexWidth() int {
	switch l.index {
	case 0:
		return 0
	case 'i':
		return 4
	}
	return l.width
}

// defined tells which operators MPI has for a type.
func (l layout) defined(op UpdateOp) bool {
	integer := l.form == "number" && (l.kind == 'i' || l.kind == 'u')
	switch op {
	case OpReplace, OpNoOp:
		return true
	case OpSum, OpProd:
		return l.form == "number" || l.form == "complex"
	case OpMax, OpMin:
		return l.form == "number"
	case OpLand, OpLor, OpLxor:
		return integer || l.form == "logical"
	case OpBand, OpBor, OpBxor:
		return integer || l.form == "bytes"
	case OpMinLoc, OpMaxLoc:
		return l.form == "pair"
	}
	return false
}

// clean sets the padding of elements to zero: it may hold anything.
func (l layout) clean(b []byte) {
	for ; len(b) >= l.size; b = b[l.size:] {
		for i := range l.size {
			if i >= l.width && (i < l.at || l.at == 0 || i >= l.at+l.indexWidth()) {
				b[i] = 0
			}
		}
	}
}

// combine sets out to dst op src for one element. out is dst or does not overlap it.
func (l layout) combine(op UpdateOp, out, dst, src []byte) {
	copy(out, dst[:l.size])
	switch {
	case op == OpNoOp:
	case op == OpReplace:
		copy(out, src[:l.size])
	case l.form == "pair":
		better := l.less(dst, src)
		if op == OpMinLoc {
			better = l.less(src, dst)
		}
		equal := !l.less(dst, src) && !l.less(src, dst) && l.ordered(dst) && l.ordered(src)
		second := layout{kind: l.index, width: l.indexWidth()}
		if l.index == 'l' {
			second.kind = 'i'
		}
		if better || equal && second.less(src[l.at:], dst[l.at:]) {
			copy(out, src[:l.size])
		}
	case l.form == "complex":
		l.complexNumbers(op, out, src)
	case l.kind == 'f' || l.kind == 'x':
		l.setReal(out, l.real(op, l.getReal(dst), l.getReal(src)))
	default:
		l.setInt(out, l.integer(op, l.getInt(dst), l.getInt(src)))
	}
}

func (l layout) ordered(b []byte) bool {
	return l.kind != 'f' && l.kind != 'x' || !math.IsNaN(l.getReal(b))
}

func (l layout) less(a, b []byte) bool {
	switch l.kind {
	case 'f', 'x':
		return l.getReal(a) < l.getReal(b)
	case 'u':
		return l.getInt(a) < l.getInt(b)
	}
	return int64(l.getInt(a)) < int64(l.getInt(b))
}

func (l layout) complexNumbers(op UpdateOp, d, s []byte) {
	a, b, x, y := l.getReal(d), l.getReal(d[l.at:]), l.getReal(s), l.getReal(s[l.at:])
	if op == OpSum {
		l.setReal(d, l.round(a+x))
		l.setReal(d[l.at:], l.round(b+y))
		return
	}
	l.setReal(d, l.round(l.round(a*x)-l.round(b*y)))
	l.setReal(d[l.at:], l.round(l.round(a*y)+l.round(b*x)))
}

// round gives the number of the type: one operation on floats as doubles, rounded afterwards, is
// that on floats.
func (l layout) round(x float64) float64 {
	if l.width == 4 {
		return float64(float32(x))
	}
	return float64(x)
}

// real is the result of an operator for floating-point elements.
func (l layout) real(op UpdateOp, x, y float64) float64 {
	switch {
	case op == OpSum:
		return l.round(x + y)
	case op == OpProd:
		return l.round(x * y)
	case op == OpMax && y > x || op == OpMin && y < x:
		return y
	}
	return x
}

// integer is the result of an operator for integer elements.
func (l layout) integer(op UpdateOp, x, y uint64) uint64 {
	truth := func(x bool) uint64 {
		if x {
			return 1
		}
		return 0
	}
	less := x < y
	if l.kind == 'i' {
		less = int64(x) < int64(y)
	}
	switch op {
	case OpSum:
		return x + y
	case OpProd:
		return x * y
	case OpMax, OpMin:
		if less == (op == OpMax) {
			return y
		}
		return x
	case OpLand:
		return truth(x != 0 && y != 0)
	case OpLor:
		return truth(x != 0 || y != 0)
	case OpLxor:
		return truth((x != 0) != (y != 0))
	case OpBand:
		return x & y
	case OpBor:
		return x | y
	}
	return x ^ y
}

// getInt gives an integer extended to 64 bits.
func (l layout) getInt(b []byte) uint64 {
	var whole [8]byte
	copy(whole[:l.width], b)
	x := binary.LittleEndian.Uint64(whole[:])
	if shift := 64 - 8*l.width; l.kind == 'i' {
		x = uint64(int64(x<<shift) >> shift)
	}
	return x
}

func (l layout) setInt(b []byte, x uint64) {
	var whole [8]byte
	binary.LittleEndian.PutUint64(whole[:], x)
	copy(b[:l.width], whole[:])
}

// getReal gives a number as a double: the long doubles of these tests are exact ones.
func (l layout) getReal(b []byte) float64 {
	switch l.width {
	case 4:
		return float64(f32(b))
	case 8:
		return f64(b)
	}
	head, fraction := binary.LittleEndian.Uint16(b[8:]), binary.LittleEndian.Uint64(b)
	x := math.Ldexp(float64(fraction), int(head&0x7fff)-16383-63)
	return math.Copysign(x, 1-2*float64(head>>15))
}

// setReal stores a floating-point number of the width of the layout.
func (l layout) setReal(b []byte, x float64) {
	switch l.width {
	case 4:
		setF32(b, float32(x))
	case 8:
		setF64(b, x)
	default:
		var head uint16
		frac, exp := math.Frexp(math.Abs(x))
		fraction := uint64(frac*(1<<53)) << 11
		if fraction != 0 {
			head = uint16(exp - 1 + 16383)
		}
		if math.Signbit(x) {
			head |= 1 << 15
		}
		binary.LittleEndian.PutUint64(b, fraction)
		binary.LittleEndian.PutUint16(b[8:], head)
	}
}

// fill makes random elements: all integers, and few different reals, so that some are equal.
// Operators that only compare meet numbers that are none.
func (l layout) fill(op UpdateOp, b []byte, r *rand.Rand) {
	for ; len(b) >= l.size; b = b[l.size:] {
		r.Read(b[:l.size])
		for _, at := range []int{0, l.at} {
			l.fillNumber(op, b[at:], r)
			if l.form != "complex" {
				break
			}
		}
		if l.form == "pair" {
			second := layout{form: "pair", kind: l.index, width: l.indexWidth()}
			second.fillNumber(op, b[l.at:], r)
		}
	}
}

// fillNumber stores a random number that is interesting for the operator.
func (l layout) fillNumber(op UpdateOp, b []byte, r *rand.Rand) {
	compares := op >= OpMax
	switch {
	case l.kind == 'x':
		l.setReal(b, float64(r.Intn(2001)-1000)/64)
	case l.kind == 'f' && compares && r.Intn(20) == 0:
		l.setReal(b, math.NaN())
	case l.kind == 'f' && compares:
		l.setReal(b, float64(r.Intn(9)-4))
	case l.kind == 'f':
		l.setReal(b, r.Float64()-0.5)
	case l.form == "pair":
		l.setInt(b, uint64(r.Intn(9)-4))
	case r.Intn(4) == 0:
		l.setInt(b, 0)
	case r.Intn(4) == 0:
		l.setInt(b, bits.RotateLeft64(1, r.Intn(8*l.width)))
	}
}
