// reduce.go: Go's way to the C reductions. It converts arguments and must not compute anything
// itself.
//
// SPDX-License-Identifier: BSD-3-Clause

package kernel

/*
#include "kernel.h"

#cgo noescape k_red_of_word
#cgo nocallback k_red_of_word
#cgo nocallback k_type_of_message
#cgo noescape k_reduce
#cgo nocallback k_reduce
#cgo noescape k_reduce_to
#cgo nocallback k_reduce_to
#cgo noescape k_reduce_finish
#cgo nocallback k_reduce_finish
*/
import "C"

import "unsafe"

// A Reduction is the operator of an element-wise reduction.
type Reduction int32

// The operators. Bitwise ones are defined for integers, sum and product for all types, the others
// for all but complex.
const (
	Sum        Reduction = C.K_SUM
	Product    Reduction = C.K_PROD
	Max        Reduction = C.K_MAX
	Min        Reduction = C.K_MIN
	AbsMax     Reduction = C.K_ABSMAX // the result is an absolute value
	AbsMin     Reduction = C.K_ABSMIN // the result is an absolute value
	BitOr      Reduction = C.K_BOR
	BitAnd     Reduction = C.K_BAND
	LogicalOr  Reduction = C.K_LOR  // the result is 0 or 1
	LogicalAnd Reduction = C.K_LAND // the result is 0 or 1
)

// mostWord is as many bytes as the longest word of an operator has, and its end.
const mostWord = 8

// ReductionOf gives the operator that the beginning of a word names; false if there is none.
func ReductionOf(word string) (Reduction, bool) {
	var text [mostWord]byte
	copy(text[:mostWord-1], word)
	red := C.k_red_of_word((*C.char)(unsafe.Pointer(&text)))
	return Reduction(red), red >= 0
}

// TypeOfMessage gives the element type of ARMCI_INT..ARMCI_DOUBLE of either numbering; false if
// there is no such code.
func TypeOfMessage(code int) (Type, bool) {
	t := C.k_type_of_message(C.int(code))
	return Type(t), t >= 0
}

// ReduceValid tells whether the operator is defined for the type.
func ReduceValid(r Reduction, t Type) bool { return C.k_reduce_valid(C.int(r), C.int(t)) != 0 }

// Reduce sets inout = inout (r) in for nelem elements. Undefined combinations do nothing.
func Reduce(r Reduction, t Type, inout, in unsafe.Pointer, nelem int) {
	C.k_reduce(C.int(r), C.int(t), inout, in, C.size_t(nelem))
}

// ReduceTo sets out = left (r) right for nelem elements; out may be left or right.
func ReduceTo(r Reduction, t Type, out, left, right unsafe.Pointer, nelem int) {
	C.k_reduce_to(C.int(r), C.int(t), out, left, right, C.size_t(nelem))
}

// ReduceFinish does what one contribution alone still needs: absolute values for AbsMax and AbsMin,
// 0 or 1 for the logical operators.
func ReduceFinish(r Reduction, t Type, x unsafe.Pointer, nelem int) {
	C.k_reduce_finish(C.int(r), C.int(t), x, C.size_t(nelem))
}
