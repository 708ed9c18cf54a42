// SPDX-License-Identifier: BSD-3-Clause

// The Go side of the C fast path between nodes: fast.h declares the functions that C calls; this is what core calls of the
// Transport that publishes them.
package transport

// #cgo CFLAGS: -fvisibility=hidden -Wall -Wextra -std=c11
// #include "fast.h"
import "C"

// FastBytes is the longest transfer of the C fast path.
const FastBytes = C.FAST_BYTES

// FastPath is a Transport that executes small blocking puts and gets in C, without entering Go. C accesses ranges that were
// added, and leaves everything that is not plain to Go.
type FastPath interface {
	AddRange(p Peer, addr, lo, hi uintptr) // caches the key of [lo, hi), around addr, for the C fast path
	DropRanges(p Peer)                     // removes all ranges of the peer, since memory has been freed there
	WaitGet(p Peer) error                  // waits for the get that C has posted and left to Go
}
