// SPDX-License-Identifier: BSD-3-Clause

// The Go side of server.h: whether a transfer goes by a message to a data server that may sleep.
package transport

// #include "server.h"
// #cgo nocallback fast_heard
// #cgo noescape fast_heard
// #cgo nocallback fast_asks
// #cgo noescape fast_asks
import "C"

import (
	"time"
	"unsafe"
)

// Server is an origin's estimate of whether the data server of a node is awake. C and Go share it
// (struct fast_server of server.h).
type Server struct{ c *C.struct_fast_server }

// ServerOf returns the record of the target with this number. The table has FAST_SERVERS records,
// so targets whose numbers are equal modulo that share one.
func ServerOf(number int) Server { return Server{C.fast_server(C.uint(number))} }

// Handle is the C record, a struct fast_server.
func (s Server) Handle() unsafe.Pointer { return unsafe.Pointer(s.c) }

// MarkAwake records that an answer of the server has arrived: it is awake now.
func (s Server) MarkAwake() { C.fast_heard(s.c) }

// PrefersMessage reports whether a transfer is better sent as a message to the server than made by
// the device. The times are estimates in nanoseconds: of the transfer by the device, of the
// message, and of waking the server, which is added if it sleeps. The caller must do as the result
// says, because the result is recorded.
func (s Server) PrefersMessage(device, message, wake float64) bool {
	return bool(C.fast_asks(s.c, nanos(device), nanos(message), nanos(wake)))
}

// prefersMessageAt is PrefersMessage at the time now, of CLOCK_MONOTONIC, for tests.
func (s Server) prefersMessageAt(now time.Duration, device, message, wake float64) bool {
	return bool(C.fast_asks_at(s.c, C.uint64_t(now), nanos(device), nanos(message),
		nanos(wake)))
}

// markAwakeAt is MarkAwake at the time now, of CLOCK_MONOTONIC, for tests.
func (s Server) markAwakeAt(now time.Duration) { C.fast_heard_at(s.c, C.uint64_t(now)) }

func nanos(ns float64) C.uint64_t { return C.uint64_t(min(max(ns, 0), 1e15)) }
