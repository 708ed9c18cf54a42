// SPDX-License-Identifier: BSD-3-Clause

// The Go side of what C answers for a data server (answers.h).
package fastpath

// #cgo noescape rdma_answers_look
// #cgo nocallback rdma_answers_look
// #cgo noescape rdma_answers_take
// #cgo nocallback rdma_answers_take
// #include <stdlib.h>
// #include "answers.h"
import "C"

import (
	"fmt"
	"unsafe"

	"libarmci/internal/rdma/qp"
	"libarmci/internal/transport"
)

// Answers that C may have outstanding: in all, and at an origin.
const (
	MostAnswers     = 64
	MostAnswersEach = 8
)

// Answers answers what origins' C asks for. Its methods are the poller's; those
// of a nil Answers do nothing.
type Answers struct{ c *C.struct_rdma_answers }

// OpenAnswers has C answer what comes to a queue into these buffers: nil if it cannot.
// me is the process's rank.
func OpenAnswers(queue Queue, in *Incoming, most, each int, me transport.Rank) *Answers {
	network := (*C.struct_qp_network)(queue.Network())
	if network == nil || network.offer == nil || queue.Receive() == nil || min(most, each) < 1 {
		return nil
	}
	c := (*C.struct_rdma_answers)(C.calloc(1, C.sizeof_struct_rdma_answers))
	c.network, c.queue, c.receive = network, queue.Handle(), queue.Receive()
	c.incoming, c.incoming_bytes = in.local(), C.uint32_t(in.Bytes)
	c.most, c.most_each, c.me = C.uint32_t(most), C.uint32_t(each), C.uint32_t(me)
	return &Answers{c}
}

// Free ends it.
func (a *Answers) Free() {
	if a != nil {
		C.free(unsafe.Pointer(a.c))
	}
}

// Look takes completions as the queue does. answered is how many more there were, which C has
// answered; failed is the number of a queue pair that takes none, 0: they all do.
func (a *Answers) Look(out []qp.Completion, looks, yields int) (n, answered int, failed uint32,
	err error) {
	before := a.c.answered
	n = int(C.rdma_answers_look(a.c, C.int(len(out)), where(out), C.uint(looks),
		C.uint(yields)))
	if n < 0 {
		return 0, 0, 0, fmt.Errorf("poll a completion queue: error %d", n)
	}
	return n, int(a.c.answered - before), a.takeFailed(), nil
}

// Take answers what C can of completions, and returns how many are left, in front.
func (a *Answers) Take(out []qp.Completion) (n, answered int, failed uint32) {
	if a == nil {
		return len(out), 0, 0
	}
	before := a.c.answered
	n = int(C.rdma_answers_take(a.c, C.int(len(out)), where(out)))
	return n, int(a.c.answered - before), a.takeFailed()
}

func (a *Answers) takeFailed() uint32 {
	failed := uint32(a.c.failed)
	a.c.failed = 0
	return failed
}

func where(out []qp.Completion) *C.struct_vb_wc {
	return (*C.struct_vb_wc)(unsafe.Pointer(unsafe.SliceData(out)))
}

// Needed is how many questions C has answered that the origin or another rank needed answered.
func (a *Answers) Needed() uint32 {
	if a == nil {
		return 0
	}
	return uint32(a.c.needed)
}

// Add has C answer an origin.
func (a *Answers) Add(pair unsafe.Pointer, number uint32) {
	if a != nil {
		C.rdma_answers_add(a.c, pair, C.uint32_t(number))
	}
}

// Block keeps C from answering an origin, while Go has something to do first, or ends that.
func (a *Answers) Block(number uint32, blocked bool) {
	if a != nil {
		C.rdma_answers_block(a.c, C.uint32_t(number), C.bool(blocked))
	}
}

// Drop forgets an origin. Nothing completes on its queue pair any more.
func (a *Answers) Drop(number uint32) {
	if a != nil {
		C.rdma_answers_drop(a.c, C.uint32_t(number))
	}
}
