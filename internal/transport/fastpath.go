// SPDX-License-Identifier: BSD-3-Clause

// The Go side of the C fast path between nodes. fast.h declares the functions that C calls;
// FastPath has the methods that core calls of the Transport that publishes those functions.
package transport

// #cgo CFLAGS: -fvisibility=hidden -Wall -Wextra -std=c11
// #include "fast.h"
import "C"

import "unsafe"

// FastBytes is the most bytes of a put that is locally complete when C returns.
const FastBytes = C.FAST_BYTES

// FastMost is the most bytes of a transfer that C makes.
const FastMost = C.FAST_MOST

// FastSpan is the size in bytes, and the alignment, of the blocks of addresses by which C looks up
// cached keys. AddRange makes the block of its address known.
const FastSpan = 1 << C.FAST_SPAN_BITS

// FastImplicit is the request of nonblocking calls without a handle that C has made.
const FastImplicit = int32(C.FAST_IMPLICIT)

// FastRequest reports whether the number of a handle is that of a request of C's. Numbers of Go's
// handles never have these upper two bits.
func FastRequest(number int32) bool { return number>>C.FAST_REQUEST_BITS == 1 }

// FastPath is a Transport with a C fast path, which executes contiguous puts and gets without
// entering Go. C reaches only the ranges that were added. All methods are safe for concurrent use.
type FastPath interface {
	// AddRange caches the key of [lo, hi), around addr, for puts and gets of C. It may do
	// nothing: C then leaves the transfers to Go.
	AddRange(p Peer, addr, lo, hi uintptr)
	// AddSpan lets C accumulate to [lo, hi), around addr.
	AddSpan(p Peer, addr, lo, hi uintptr)
	// LetSend lets C send two-sided messages to p. With behind true C does not: p has not
	// delivered earlier ones yet. The caller then calls Delivered once all messages sent have
	// been delivered.
	LetSend(p Peer) (behind bool)
	// Delivered lets C send to p again, after LetSend has returned true.
	Delivered(p Peer)
	// DropRanges removes all ranges of the peer. The caller calls it when memory has been freed
	// there.
	DropRanges(p Peer)
	// WaitRequest blocks until a request of C's is complete. Its error is returned once.
	WaitRequest(number int32) error
	// TestRequest polls for a request of C's. If over, err is as of WaitRequest.
	TestRequest(number int32) (over bool, err error)
}

// FastParts is the number of parts of a message that C has posted: always a prefix of head, data,
// counter.
type FastParts int

const (
	FastNoPart      = FastParts(C.FAST_NO_PART)
	FastHeadOnly    = FastParts(C.FAST_HEAD_ONLY)
	FastHeadAndData = FastParts(C.FAST_HEAD_AND_DATA)
	FastWhole       = FastParts(C.FAST_WHOLE)
)

// FastHead is the length in bytes of a message's head. It begins with a uint64, the total length.
const FastHead = C.FAST_HEAD

// FastTo names a rank of another node for C, with the counters of stores at that rank and at all
// ranks. The counters have the layout of C's struct traffic.
type FastTo struct {
	Rank    Rank
	At, All unsafe.Pointer
}

// FastMessage posts a message in C: total in a head at addr, data behind the head, then count in
// the word. It returns the parts posted; the caller posts the others, in order.
//
// *request is in and out. In: the request of earlier messages, 0: none. Out: the request under
// which data is open, if any. While it is not 0, data must stay unchanged until
// SpinForRequest(*request) returns true, or, if that returns false, until FastPath.WaitRequest
// returns.
func FastMessage(to FastTo, addr uintptr, total int, data []byte, word uintptr, count uint32,
	request *int32) FastParts {
	return FastParts(C.fast_message(C.int(to.Rank), (*C.struct_traffic)(to.At),
		(*C.struct_traffic)(to.All), C.uintptr_t(addr), C.uint64_t(total),
		unsafe.Pointer(unsafe.SliceData(data)), C.uint64_t(len(data)), C.uintptr_t(word),
		C.uint32_t(count), (*C.int32_t)(request)))
}

// SpinForRequest spins for a short time until a request of C's is complete. False: it is not known
// to be, and the caller calls FastPath.WaitRequest.
func SpinForRequest(request int32) bool { return bool(C.fast_wait(C.int32_t(request))) }

// FastWord stores count in a word of the rank, behind everything that C has stored there before.
// False: nothing is stored, and the caller stores it by the Transport.
func FastWord(to FastTo, word uintptr, count uint32) bool {
	return bool(C.fast_word(C.int(to.Rank), (*C.struct_traffic)(to.At),
		(*C.struct_traffic)(to.All), C.uintptr_t(word), C.uint32_t(count)))
}
