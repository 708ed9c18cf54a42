// kernel.go: Go's way to the C copies and shapes. It converts arguments and must not compute
// anything itself.
//
// SPDX-License-Identifier: BSD-3-Clause

package kernel

/*
#cgo CFLAGS: -fvisibility=hidden -Wall -Wextra -std=c11
#include "kernel.h"

// Lists of addresses come as integers, so that they can hold addresses of other memory than Go's
// without copying.
static inline void copy_vector(const uintptr_t *src, const uintptr_t *dst, size_t bytes, size_t n)
{
	k_copy_vector((void *const *)src, (void *const *)dst, bytes, n);
}

static inline void pack_vector(const uintptr_t *src, size_t bytes, size_t n, void *buf)
{
	k_pack_vector((void *const *)src, bytes, n, buf);
}

static inline void unpack_vector(const uintptr_t *dst, size_t bytes, size_t n, const void *buf)
{
	k_unpack_vector((void *const *)dst, bytes, n, buf);
}

#cgo noescape pack_vector
#cgo nocallback pack_vector
#cgo noescape unpack_vector
#cgo nocallback unpack_vector
#cgo noescape copy_vector
#cgo nocallback copy_vector
#cgo noescape k_volume
#cgo nocallback k_volume
#cgo noescape k_extent
#cgo nocallback k_extent
#cgo noescape k_copy
#cgo nocallback k_copy
#cgo noescape k_copy_strided
#cgo nocallback k_copy_strided
#cgo noescape k_pack
#cgo nocallback k_pack
#cgo noescape k_unpack
#cgo nocallback k_unpack
*/
import "C"

import "unsafe"

// MaxLevels is the greatest number of strides of a shape.
const MaxLevels = C.K_MAX_LEVELS

// MostBytes is the most that one transfer moves: more can only be rows that lie upon each other.
const MostBytes = C.K_MOST_BYTES

// ints gives C the elements of a slice; nil for an empty one.
func ints(s []int32) *C.int { return (*C.int)(unsafe.Pointer(unsafe.SliceData(s))) }

// Ptr makes a pointer of an address outside the Go heap, such as one in the arena or from a
// message.
func Ptr(addr uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

// Copy copies n bytes between places that do not overlap. It gives what k_copy promises for up to
// 16 bytes, and Go's copy does not: aligned 1, 2, 4 and 8 bytes are one load and one store, and no
// byte is stored twice.
func Copy(dst, src unsafe.Pointer, n int) {
	switch n {
	case 1:
		*(*uint8)(dst) = *(*uint8)(src)
	case 2:
		*(*uint16)(dst) = *(*uint16)(src)
	case 4:
		*(*uint32)(dst) = *(*uint32)(src)
	case 8:
		*(*uint64)(dst) = *(*uint64)(src)
	case 16:
		*(*[2]uint64)(dst) = *(*[2]uint64)(src)
	default:
		if n > 16 {
			copy(unsafe.Slice((*byte)(dst), n), unsafe.Slice((*byte)(src), n))
		} else {
			C.k_copy(dst, src, C.size_t(n))
		}
	}
}

// Volume gives the bytes of a shape with these counts in all. Here and below count[0] is in bytes,
// the other counts are numbers of blocks, strides are in bytes, and a shape has one stride less
// than counts, at most MaxLevels.
func Volume(count []int32) int64 {
	if len(count) == 1 { // without the way into C
		return int64(max(count[0], 0))
	}
	return int64(C.k_volume(ints(count), levels(count)))
}

func levels(count []int32) C.int { return C.int(len(count) - 1) }

// Extent gives the bytes of a shape in all, and those that it touches relative to its base address:
// [lo, hi), lo <= 0.
func Extent(stride, count []int32) (volume, lo, hi int64) {
	if len(count) == 1 {
		n := Volume(count)
		return n, 0, n
	}
	var l, h C.int64_t
	volume = int64(C.k_extent(ints(stride), ints(count), levels(count), &l, &h))
	return volume, int64(l), int64(h)
}

// CopyStrided copies a shape between two places with different strides.
func CopyStrided(src unsafe.Pointer, srcStride []int32, dst unsafe.Pointer, dstStride,
	count []int32) {
	C.k_copy_strided(src, ints(srcStride), dst, ints(dstStride), ints(count), levels(count))
}

// Pack gathers a shape into Volume(count) contiguous bytes at buf.
func Pack(src unsafe.Pointer, stride, count []int32, buf unsafe.Pointer) {
	C.k_pack(src, ints(stride), ints(count), levels(count), buf)
}

// Unpack scatters contiguous bytes at buf into a shape.
func Unpack(dst unsafe.Pointer, stride, count []int32, buf unsafe.Pointer) {
	C.k_unpack(dst, ints(stride), ints(count), levels(count), buf)
}

// CopyVector copies len(src) segments of nbytes each, src[i] to dst[i]. The addresses are of memory
// that does not move during the call: not Go's, or pinned.
func CopyVector(src, dst []uintptr, nbytes int) {
	_ = dst[:len(src)]
	C.copy_vector(words(src), words(dst), C.size_t(nbytes), C.size_t(len(src)))
}

// PackVector gathers len(src) segments of nbytes each into buf, which has room for them. For the
// addresses see CopyVector.
func PackVector(src []uintptr, nbytes int, buf []byte) {
	_ = buf[:len(src)*nbytes]
	C.pack_vector(words(src), C.size_t(nbytes), C.size_t(len(src)),
		unsafe.Pointer(unsafe.SliceData(buf)))
}

// UnpackVector scatters buf into len(dst) segments of nbytes each.
func UnpackVector(dst []uintptr, nbytes int, buf []byte) {
	_ = buf[:len(dst)*nbytes]
	C.unpack_vector(words(dst), C.size_t(nbytes), C.size_t(len(dst)),
		unsafe.Pointer(unsafe.SliceData(buf)))
}

func words(s []uintptr) *C.uintptr_t { return (*C.uintptr_t)(unsafe.Pointer(unsafe.SliceData(s))) }
