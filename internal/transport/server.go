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

// Server is what an origin knows of the thread that serves a node for messages, which C knows, too:
// whether it is awake (fast.h).
type Server struct{ c *C.struct_fast_server }

// ServerOf is that of the target of a number. Targets share some.
func ServerOf(number int) Server { return Server{C.fast_server(C.uint(number))} }

// Handle is for C.
func (s Server) Handle() unsafe.Pointer { return unsafe.Pointer(s.c) }

// Heard records that something has come from it.
func (s Server) Heard() { C.fast_heard(s.c) }

// Asks reports whether a transfer goes by a message, which takes so many nanoseconds, and wake more
// if the server sleeps, and not by the device.
func (s Server) Asks(device, message, wake float64) bool {
	return bool(C.fast_asks(s.c, nanos(device), nanos(message), nanos(wake)))
}

// asksAt is Asks at a time.
func (s Server) asksAt(now time.Duration, device, message, wake float64) bool {
	return bool(C.fast_asks_at(s.c, C.uint64_t(now), nanos(device), nanos(message),
		nanos(wake)))
}

// heardAt is Heard at a time.
func (s Server) heardAt(now time.Duration) { C.fast_heard_at(s.c, C.uint64_t(now)) }

func nanos(ns float64) C.uint64_t { return C.uint64_t(min(max(ns, 0), 1e15)) }
