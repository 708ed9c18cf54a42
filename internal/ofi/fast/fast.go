// SPDX-License-Identifier: BSD-3-Clause

// Package fast is the C fast path over a provider of libfabric (fast.h), and the state of queues
// and queue pairs that C and Go share. The methods of a nil Queue or Pair do nothing.
package fast

// #cgo CFLAGS: -fvisibility=hidden -Wall -Wextra -std=gnu11
// #include <stdlib.h>
// #include "fast.h"
// #cgo noescape ofi_completed
// #cgo nocallback ofi_completed
// #cgo noescape ofi_take_over
// #cgo nocallback ofi_take_over
// #cgo noescape ofi_take_left
// #cgo nocallback ofi_take_left
import "C"

import (
	"sync/atomic"
	"unsafe"

	"libarmci/internal/ofi/libfabric"
	"libarmci/internal/rdma/qp"
	"libarmci/internal/sys"
)

// Most is how many requests C may have outstanding.
const Most = C.QP_REQUESTS

// Network is the functions that the C fast path calls (qp.h).
func Network() unsafe.Pointer { return unsafe.Pointer(&C.ofi_network) }

// word is an atomic word in C.
func word[T any](p *T) *atomic.Uint32 { return (*atomic.Uint32)(unsafe.Pointer(p)) }

// Progress wakes the goroutine that drives the provider while no thread calls it.
type Progress struct{ c *C.struct_ofi_progress }

// NewProgress makes one that rings an eventfd; sys.NoEventFD: the provider works by itself. nil:
// there is no memory.
func NewProgress(bell sys.EventFD) *Progress {
	c := (*C.struct_ofi_progress)(C.calloc(1, C.sizeof_struct_ofi_progress))
	if c == nil {
		return nil
	}
	c.bell = C.int(bell)
	return &Progress{c}
}

// Need rings the eventfd, unless it has been rung since ResetNeeded. Any thread may call it.
func (p *Progress) Need() {
	needed := word(&p.c.needed)
	if p.c.bell != C.int(sys.NoEventFD) && needed.Load() == 0 && needed.Swap(1) == 0 {
		sys.EventFD(p.c.bell).Signal()
	}
}

// ResetNeeded is called by the goroutine before it waits for the eventfd.
func (p *Progress) ResetNeeded() { word(&p.c.needed).Store(0) }

// Free frees it. There are no queues with it any more.
func (p *Progress) Free() { C.free(unsafe.Pointer(p.c)) }

// Queue is the part of a completion queue that C uses, in C's memory.
type Queue C.struct_ofi_queue

// NewQueue makes one of an endpoint. told is the flags of writes, modes the order that the provider
// keeps. nil: there is no memory.
func NewQueue(e *libfabric.Endpoint, told uint64, modes libfabric.Mode, p *Progress) *Queue {
	q := (*Queue)(C.calloc(1, C.sizeof_struct_ofi_queue))
	if q == nil {
		return nil
	}
	q.ep = *(*C.struct_lf_endpoint)(e.Handle())
	q.told = C.uint64_t(told)
	q.write_write = C.bool(modes&libfabric.WriteWrite != 0)
	q.write_read = C.bool(modes&libfabric.WriteRead != 0)
	q.progress = p.c
	return q
}

// Free frees it. There are no pairs with it any more.
func (q *Queue) Free() { C.free(unsafe.Pointer(q)) }

// Requests is how many requests of C's the provider has.
func (q *Queue) Requests() int {
	if q == nil {
		return 0
	}
	return int(word(&q.requests).Load())
}

// Some tells whether Completed has recorded requests that TakeCompleted has not returned, or C has
// found completions of Go's requests.
func (q *Queue) Some() bool {
	return q.HasGoCompletions() || q != nil && word(&q.over).Load() > 0
}

// HasGoCompletions tells whether C has found completions of Go's requests.
func (q *Queue) HasGoCompletions() bool { return q != nil && word(&q.left).Load() > 0 }

// Completed records that a request of C's is complete; false: it is not C's. Any thread.
func (q *Queue) Completed(c *libfabric.Done) bool {
	return q != nil && bool(C.ofi_completed(C.uintptr_t(c.Context), C.int64_t(c.Err)))
}

// TakeCompleted returns requests that were recorded, for the thread that polls.
func (q *Queue) TakeCompleted(out []qp.Completion) int {
	if q == nil || word(&q.over).Load() == 0 || len(out) == 0 {
		return 0
	}
	to := (*C.struct_vb_wc)(unsafe.Pointer(&out[0]))
	return int(C.ofi_take_over((*C.struct_ofi_queue)(q), C.int(len(out)), to))
}

// TakeLeft takes completions of Go's requests that C has found. Any thread.
func (q *Queue) TakeLeft(out []libfabric.Done) int {
	if !q.HasGoCompletions() {
		return 0
	}
	to := (*C.struct_lf_done)(unsafe.Pointer(&out[0]))
	return int(C.ofi_take_left((*C.struct_ofi_queue)(q), C.int(len(out)), to))
}

// Pair is the part of a queue pair that C uses, in C's memory.
type Pair C.struct_ofi_pair

// NewPair makes one, with a number. nil: there is no memory.
func NewPair(q *Queue, number uint32) *Pair {
	p := (*Pair)(C.calloc(1, C.sizeof_struct_ofi_pair))
	if p == nil {
		return nil
	}
	p.queue, p.number = (*C.struct_ofi_queue)(q), C.uint32_t(number)
	word(&p.blocked).Store(1)
	return p
}

// Free frees it. The provider has no request of C's.
func (p *Pair) Free() { C.free(unsafe.Pointer(p)) }

// Tell sets the address for requests of C, whether C must not post any, and how many writes of Go's
// the provider has.
func (p *Pair) Tell(to libfabric.Address, blocked bool, writes int) {
	if p == nil {
		return
	}
	p.to = C.uint64_t(to)
	word(&p.gos_writes).Store(uint32(writes))
	stop := uint32(0)
	if blocked {
		stop = 1
	}
	word(&p.blocked).Store(stop)
}

// none replaces a nil Pair.
var none Pair

func (p *Pair) orNone() *Pair {
	if p == nil {
		return &none
	}
	return p
}

// Requests is how many requests of C's the provider has.
func (p *Pair) Requests() int { return int(word(&p.orNone().requests).Load()) }

// Writes is how many writes of C's the provider has.
func (p *Pair) Writes() int { return int(word(&p.orNone().writes).Load()) }

// Failed is the error of C's first request that failed, or 0. Later requests must not be posted.
func (p *Pair) Failed() int { return int(word(&p.orNone().failed).Load()) }

// News changes when a request of C's is completed.
func (p *Pair) News() uint32 { return word(&p.orNone().news).Load() }
