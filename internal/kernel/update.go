// update.go: Go's way to the C accumulate of any operator and type, and to compare-and-swap. It
// converts arguments and must not compute anything itself.
//
// SPDX-License-Identifier: BSD-3-Clause

package kernel

/*
#include "update.h"

// The lock description is passed as single values, as in acc.go.
#define LOCKS void *word, uint32_t mask, uint32_t pitch, uint32_t owner, uint32_t device
#define ST &(struct k_stripes){ word, mask, pitch, owner, device }

static inline void update(LOCKS, int op, int type, void *dst, const void *src, void *old, size_t n)
{
	k_update(word ? ST : NULL, op, type, dst, src, old, n);
}

static inline void update_runs(LOCKS, int op, int type, const struct k_segment *runs, size_t n,
                               const void *src, void *old)
{
	k_update_runs(word ? ST : NULL, op, type, runs, n, src, old);
}

static inline void compare_swap(LOCKS, size_t bytes, void *dst, const void *compare,
                                const void *value, void *old)
{
	k_compare_swap(word ? ST : NULL, bytes, dst, compare, value, old);
}

static inline void *hold(LOCKS, uintptr_t dst)
{
	return k_stripes_hold(word ? ST : NULL, (const void *)dst);
}

#cgo noescape update
#cgo nocallback update
#cgo noescape update_runs
#cgo nocallback update_runs
#cgo noescape compare_swap
#cgo nocallback compare_swap
#cgo nocallback hold
#cgo noescape k_stripes_drop
#cgo nocallback k_stripes_drop
*/
import "C"

import (
	"slices"
	"unsafe"
)

// An UpdateType is the type of the elements of an update.
type UpdateType int32

// The element types: integers, real and complex numbers by the bits of a number (80: long double),
// bytes without a meaning, Fortran's logicals, and pairs of a value and an index. A pair with Int
// is C's struct with padding; the index of others is of the type of the value.
const (
	I8         UpdateType = C.K_I8
	U8         UpdateType = C.K_U8
	I16        UpdateType = C.K_I16
	U16        UpdateType = C.K_U16
	I32        UpdateType = C.K_I32
	U32        UpdateType = C.K_U32
	I64        UpdateType = C.K_I64
	U64        UpdateType = C.K_U64
	F32        UpdateType = C.K_F32
	F64        UpdateType = C.K_F64
	F80        UpdateType = C.K_F80
	C32        UpdateType = C.K_C32
	C64        UpdateType = C.K_C64
	C80        UpdateType = C.K_C80
	Bool       UpdateType = C.K_BOOL
	Bytes      UpdateType = C.K_BYTES
	L8         UpdateType = C.K_L8
	L16        UpdateType = C.K_L16
	L32        UpdateType = C.K_L32
	L64        UpdateType = C.K_L64
	PairF32Int UpdateType = C.K_F32_I
	PairF64Int UpdateType = C.K_F64_I
	PairI64Int UpdateType = C.K_L_I
	PairI32Int UpdateType = C.K_2I
	PairI16Int UpdateType = C.K_I16_I
	PairF80Int UpdateType = C.K_F80_I
	PairF32    UpdateType = C.K_2F32
	PairF64    UpdateType = C.K_2F64
	PairI64    UpdateType = C.K_2I64

	UpdateTypes = C.K_UPDATE_TYPES // how many
)

// elementOfAcc is the type of an update's elements, by the type of an accumulate's.
var elementOfAcc = [...]UpdateType{Int: I32, Long: I64, Float: F32, Double: F64, Complex: C32,
	DoubleComplex: C64}

// ElementOfAcc gives the type of an update's elements that those of an accumulate have.
func ElementOfAcc(t Type) UpdateType { return elementOfAcc[t] }

// AccOfElement gives the type of an accumulate whose elements have an update's type; false if there
// is none.
func AccOfElement(u UpdateType) (t Type, ok bool) {
	i := slices.Index(elementOfAcc[:], u)
	return Type(i), i >= 0
}

// An UpdateOp is the operator of an update: dst = dst op src.
type UpdateOp int32

// The operators. Which of them a type has, UpdateValid tells.
const (
	OpReplace UpdateOp = C.K_U_REPLACE
	OpNoOp    UpdateOp = C.K_U_NOOP
	OpSum     UpdateOp = C.K_U_SUM
	OpProd    UpdateOp = C.K_U_PROD
	OpMax     UpdateOp = C.K_U_MAX
	OpMin     UpdateOp = C.K_U_MIN
	OpLand    UpdateOp = C.K_U_LAND // the result of logical operators is 0 or 1
	OpLor     UpdateOp = C.K_U_LOR
	OpLxor    UpdateOp = C.K_U_LXOR
	OpBand    UpdateOp = C.K_U_BAND
	OpBor     UpdateOp = C.K_U_BOR
	OpBxor    UpdateOp = C.K_U_BXOR
	OpMinLoc  UpdateOp = C.K_U_MINLOC // of equal values the lower index
	OpMaxLoc  UpdateOp = C.K_U_MAXLOC

	UpdateOps = C.K_UPDATE_OPS // how many
)

// What update.c says of types, asked once.
var (
	updateBytes [UpdateTypes]uint8
	updateValid [UpdateTypes]uint32 // one bit for each operator
)

func init() {
	for t := range updateBytes {
		updateBytes[t] = uint8(C.k_update_bytes(C.int(t)))
		for op := range UpdateOps {
			updateValid[t] |= uint32(C.k_update_valid(C.int(op), C.int(t))) << op
		}
	}
}

// UpdateBytes gives the bytes of one element in memory, padding included; 0 if the type is unknown.
func UpdateBytes(t UpdateType) int {
	if uint(t) >= UpdateTypes {
		return 0
	}
	return int(updateBytes[t])
}

// UpdateValid tells whether the operator is defined for the type.
func UpdateValid(op UpdateOp, t UpdateType) bool {
	return uint(t) < UpdateTypes && uint(op) < UpdateOps && updateValid[t]>>op&1 != 0
}

// Update sets dst[i] = dst[i] op src[i] for n elements, atomically per element against everything
// that uses the same stripes. What was there before is stored at old, unless that is nil. src may
// be nil for OpNoOp, and old may be src. Undefined combinations do nothing.
func Update(s Stripes, op UpdateOp, t UpdateType, dst, src, old unsafe.Pointer, n int) {
	C.update(s.Word, C.uint32_t(s.Mask), C.uint32_t(s.PitchWords),
		C.uint32_t(s.Owner), s.device(),
		C.int(op), C.int(t), dst, src, old, C.size_t(n))
}

// UpdateRuns is Update for the elements of runs, one run after the other; src and old are packed.
// A run has whole elements. Runs may overlap.
func UpdateRuns(s Stripes, op UpdateOp, t UpdateType, runs []Segment, src, old unsafe.Pointer) {
	C.update_runs(s.Word, C.uint32_t(s.Mask), C.uint32_t(s.PitchWords),
		C.uint32_t(s.Owner), s.device(), C.int(op),
		C.int(t), (*C.struct_k_segment)(unsafe.Pointer(unsafe.SliceData(runs))),
		C.size_t(len(runs)), src, old)
}

// CompareSwap stores value at dst if the bytes there, 1 to 32, equal those at compare; old gets
// what was there.
func CompareSwap(s Stripes, bytes int, dst, compare, value, old unsafe.Pointer) {
	C.compare_swap(s.Word, C.uint32_t(s.Mask), C.uint32_t(s.PitchWords),
		C.uint32_t(s.Owner), s.device(),
		C.size_t(bytes), dst, compare, value, old)
}

// HoldStripe takes the lock of an address, for memory that is changed by other means, and gives
// what DropStripe needs. It covers addresses of the same 1<<StripeShift bytes. Others wait
// meanwhile: it is held as shortly as a copy takes. The address may be one of another process,
// which can equal one of Go's data here. So it is a number: cgo refuses pointers to Go's data, and
// Go such to free pages.
func HoldStripe(s Stripes, dst uintptr) (held unsafe.Pointer) {
	return unsafe.Pointer(C.hold(s.Word, C.uint32_t(s.Mask),
		C.uint32_t(s.PitchWords),
		C.uint32_t(s.Owner), s.device(), C.uintptr_t(dst)))
}

// DropStripe gives back what HoldStripe has taken; nil, of no stripes, is nothing.
func DropStripe(held unsafe.Pointer) { C.k_stripes_drop((*C.k_lock_word)(held)) }
