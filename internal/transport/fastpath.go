// SPDX-License-Identifier: BSD-3-Clause

// The Go side of the C fast path between nodes: fast.h declares the functions that C calls; this is what core calls of the
// Transport that publishes them.
package transport

// #cgo CFLAGS: -fvisibility=hidden -Wall -Wextra -std=c11
// #include "fast.h"
import "C"

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
	AddRange(p Peer, addr, lo, hi uintptr) // caches the key of [lo, hi), around addr, for the C fast path
	DropRanges(p Peer)                     // removes all ranges of the peer, since memory has been freed there
	// WaitRequest completes a request of C's; its error is returned once.
	WaitRequest(number int32) error
	TestRequest(number int32) (over bool, err error)
}
