// acc.go: Go's way to the C accumulate. It converts arguments and must not compute anything itself.
//
// SPDX-License-Identifier: BSD-3-Clause

package kernel

/*
#include "kernel.h"

// The lock description is passed as single values: a C struct with a pointer to Go memory in it may
// not be passed.
#define LOCKS void *word, uint32_t mask, uint32_t pitch, uint32_t owner, uint32_t device
#define ST &(struct k_stripes){ word, mask, pitch, owner, device }

static inline void acc(LOCKS, int type, const void *scale, void *dst, const void *src,
                       size_t nbytes)
{
	k_acc(word ? ST : NULL, type, scale, dst, src, nbytes);
}

static inline void acc_strided(LOCKS, int type, const void *scale, const void *src,
                               const int *sstride, void *dst, const int *dstride, const int *count,
                               int levels)
{
	k_acc_strided(word ? ST : NULL, type, scale, src, sstride, dst, dstride, count, levels);
}

static inline void acc_vector(LOCKS, int type, const void *scale, const uintptr_t *src,
                              const uintptr_t *dst, size_t bytes, size_t n)
{
	k_acc_vector(word ? ST : NULL, type, scale, (void *const *)src, (void *const *)dst, bytes,
	             n);
}

#cgo noescape acc
#cgo nocallback acc
#cgo noescape acc_strided
#cgo nocallback acc_strided
#cgo noescape acc_vector
#cgo nocallback acc_vector
#cgo noescape k_acc_raw
#cgo nocallback k_acc_raw
*/
import "C"

import "unsafe"

// A Type is the type of the elements of an accumulate or a reduction.
type Type int32

// The element types. LongLong is for reductions only.
const (
	Int           Type = C.K_INT  // C int
	Long          Type = C.K_LNG  // C long
	Float         Type = C.K_FLT  // float
	Double        Type = C.K_DBL  // double
	Complex       Type = C.K_CPL  // two floats
	DoubleComplex Type = C.K_DCP  // two doubles
	LongLong      Type = C.K_LLNG // C long long
)

// What types.c says, asked once: every accumulate looks here.
var (
	typesOfAcc [64]int8
	typeSizes  [16]int8
)

func init() {
	for i := range typesOfAcc {
		typesOfAcc[i] = int8(C.k_type_of_acc(C.int(i)))
	}
	for i := range typeSizes {
		typeSizes[i] = int8(C.k_type_size(C.int(i)))
	}
}

// TypeOfAcc gives the element type of an ARMCI_ACC_* code of either numbering; false if there is no
// such code.
func TypeOfAcc(optype int) (Type, bool) {
	if uint(optype) >= uint(len(typesOfAcc)) {
		return -1, false
	}
	t := typesOfAcc[optype]
	return Type(t), t >= 0
}

// TypeSize gives the bytes of one element, 0 if the type is unknown.
func TypeSize(t Type) int {
	if uint(t) >= uint(len(typeSizes)) {
		return 0
	}
	return int(typeSizes[t])
}

// Stripes describes the accumulate locks: lock i is the 32-bit word at Word + 4*i*PitchWords, the
// lock of an address is number (address >> 12) & Mask, and Owner, not zero, is what a holder writes
// (its rank + 1). Word is in memory that all processes share which accumulate into one place. A nil
// Word means no locks. With Device, network devices take locks, too, by the 64-bit word DeviceWord
// bytes behind each.
type Stripes struct {
	Word       unsafe.Pointer
	Mask       uint32
	PitchWords uint32
	Owner      uint32
	Device     bool
}

// DeviceWord is where a device's lock is, in bytes from the lock word; StripeShift is log2 of the
// bytes a lock covers.
const (
	DeviceWord  = 4 * C.K_DEVICE_WORD
	StripeShift = C.K_STRIPE_SHIFT
)

func (s *Stripes) device() C.uint32_t {
	if s.Device {
		return 1
	}
	return 0
}

// Acc adds scale * src to dst for nbytes bytes of elements, atomically per element against all
// accumulates that use the same stripes. scale points to one element. Integers wrap.
func Acc(s Stripes, t Type, scale, dst, src unsafe.Pointer, nbytes int) {
	C.acc(s.Word, C.uint32_t(s.Mask), C.uint32_t(s.PitchWords),
		C.uint32_t(s.Owner), s.device(),
		C.int(t), scale, dst, src, C.size_t(nbytes))
}

// AccRaw is Acc without locks.
func AccRaw(t Type, scale, dst, src unsafe.Pointer, nbytes int) {
	C.k_acc_raw(C.int(t), scale, dst, src, C.size_t(nbytes))
}

// AccStrided accumulates a shape; count[0] is a multiple of the element size.
func AccStrided(s Stripes, t Type, scale, src unsafe.Pointer, srcStride []int32, dst unsafe.Pointer,
	dstStride,
	count []int32) {
	C.acc_strided(s.Word, C.uint32_t(s.Mask), C.uint32_t(s.PitchWords),
		C.uint32_t(s.Owner), s.device(),
		C.int(t), scale, src, ints(srcStride), dst, ints(dstStride), ints(count),
		levels(count))
}

// AccVector accumulates len(src) segments of nbytes each. Segments may overlap. For the addresses
// see CopyVector.
func AccVector(s Stripes, t Type, scale unsafe.Pointer, src, dst []uintptr, nbytes int) {
	_ = dst[:len(src)]
	C.acc_vector(s.Word, C.uint32_t(s.Mask), C.uint32_t(s.PitchWords),
		C.uint32_t(s.Owner), s.device(),
		C.int(t), scale, words(src), words(dst), C.size_t(nbytes), C.size_t(len(src)))
}
