// SPDX-License-Identifier: BSD-3-Clause

// The Go side of the C fast path between nodes: fast.h declares the functions that C calls; this is
// what core calls of the Transport that publishes them.
package transport

// #cgo CFLAGS: -fvisibility=hidden -Wall -Wextra -std=c11
// #include "fast.h"
import "C"

import "unsafe"

// FastBytes is how long a put may be that C makes locally complete at once.
const FastBytes = C.FAST_BYTES

// FastMost is the longest transfer of C's.
const FastMost = C.FAST_MOST

// FastSpan is how much memory C finds by one address; for what is further on it looks elsewhere.
const FastSpan = 1 << C.FAST_SPAN_BITS

// FastImplicit is the request of what C was given without a handle.
const FastImplicit = int32(C.FAST_IMPLICIT)

// FastRequest reports whether a number is that of a request of C's. No others have these two upper
// bits.
func FastRequest(number int32) bool { return number>>C.FAST_REQUEST_BITS == 1 }

// FastPath is a Transport that executes contiguous puts and gets in C, without entering Go. C
// accesses ranges that were added, and leaves everything that is not plain to Go.
type FastPath interface {
	// caches the key of [lo, hi), around addr, for the C fast path
	AddRange(p Peer, addr, lo, hi uintptr)
	AddSpan(p Peer, addr, lo, hi uintptr) // lets C accumulate to [lo, hi), around addr
	// LetSend lets C send two-sided messages to p. true: it does not, since p does not keep up,
	// until Delivered says that all that were sent have been delivered.
	LetSend(p Peer) (behind bool)
	Delivered(p Peer)
	DropRanges(p Peer) // removes all ranges of the peer, since memory has been freed there
	// WaitRequest completes a request of C's; its error is returned once.
	WaitRequest(number int32) error
	TestRequest(number int32) (over bool, err error)
}

// FastParts is how much of a message C has posted, in this order.
type FastParts int

const (
	FastNoPart      = FastParts(C.FAST_NO_PART)
	FastHeadOnly    = FastParts(C.FAST_HEAD_ONLY)
	FastHeadAndData = FastParts(C.FAST_HEAD_AND_DATA)
	FastWhole       = FastParts(C.FAST_WHOLE)
)

// FastHead is the size of a message's head, which begins with a uint64.
const FastHead = C.FAST_HEAD

// FastTo is a rank of another node for C, with the counters of stores there and everywhere, which
// are laid out as C's struct traffic.
type FastTo struct {
	Rank    Rank
	At, All unsafe.Pointer
}

// FastMessage stores a head at an address of a rank, data behind it, and then a count in a word, as
// far as C can. request is that under which the data goes on, 0: none or a new one.
func FastMessage(to FastTo, addr uintptr, total int, data []byte, word uintptr, count uint32,
	request *int32) FastParts {
	return FastParts(C.fast_message(C.int(to.Rank), (*C.struct_traffic)(to.At),
		(*C.struct_traffic)(to.All), C.uintptr_t(addr), C.uint64_t(total),
		unsafe.Pointer(unsafe.SliceData(data)), C.uint64_t(len(data)), C.uintptr_t(word),
		C.uint32_t(count), (*C.int32_t)(request)))
}

// FastWait waits a little for a request of C's; false: WaitRequest has to.
func FastWait(request int32) bool { return bool(C.fast_wait(C.int32_t(request))) }

// FastWord stores a count in a word of a rank; false: nothing has happened.
func FastWord(to FastTo, word uintptr, count uint32) bool {
	return bool(C.fast_word(C.int(to.Rank), (*C.struct_traffic)(to.At),
		(*C.struct_traffic)(to.All), C.uintptr_t(word), C.uint32_t(count)))
}
