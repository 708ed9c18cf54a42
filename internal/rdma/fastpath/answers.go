// SPDX-License-Identifier: BSD-3-Clause

// The Go side of the questions that C answers for a data server (answers.h). Where C has no memory
// for a message it calls Go, which ends the job: so these calls are not nocallback.
package fastpath

// #cgo noescape rdma_answers_poll
// #cgo noescape rdma_answers_filter
// #include <stdlib.h>
// #include "answers.h"
import "C"

import (
	"fmt"
	"unsafe"

	"libarmci/internal/rdma/qp"
	"libarmci/internal/transport"
)

// Answers that C may have in flight: in all, and to one origin.
const (
	MaxAnswers          = 64
	MaxAnswersPerOrigin = 8
)

// Answers answers questions of origins' C. Only the poller calls its methods. Those of a nil
// Answers do nothing.
type Answers struct{ c *C.struct_rdma_answers }

// OpenAnswers has C answer questions that arrive in these receive buffers of a queue; nil if it
// cannot. me is the process's rank. The caller frees it.
func OpenAnswers(queue Queue, in *Incoming, most, each int, me transport.Rank) *Answers {
	network := (*C.struct_qp_network)(queue.Network())
	if network == nil || network.offer == nil || queue.Receive() == nil || min(most, each) < 1 {
		return nil
	}
	c := (*C.struct_rdma_answers)(C.calloc(1, C.sizeof_struct_rdma_answers))
	if c == nil {
		return nil
	}
	c.network, c.queue, c.receive = network, queue.Handle(), queue.Receive()
	c.incoming, c.incoming_bytes = in.receiveArea(), C.uint32_t(in.Bytes)
	c.most, c.most_each, c.me = C.uint32_t(most), C.uint32_t(each), C.uint32_t(me)
	return &Answers{c}
}

// Free frees it. The queue has been destroyed.
func (a *Answers) Free() {
	if a != nil {
		C.free(unsafe.Pointer(a.c))
	}
}

// PollAndAnswer polls for completions as the queue does, and answers questions among them. n is how
// many completions are left in out, answered how many questions C has answered. failed is the
// number of a queue pair on which an answer could not be posted, 0 if there is none.
func (a *Answers) PollAndAnswer(out []qp.Completion, looks, yields int) (n, answered int,
	failed uint32, err error) {
	before := a.c.answered
	n = int(C.rdma_answers_poll(a.c, C.int(len(out)), completionPointer(out), C.uint(looks),
		C.uint(yields)))
	if n < 0 {
		return 0, 0, 0, fmt.Errorf("poll a completion queue: error %d", n)
	}
	return n, int(a.c.answered - before), a.takeFailed(), nil
}

// AnswerCompletions answers questions among completions that were polled, as PollAndAnswer does. n
// is how many are left, in front.
func (a *Answers) AnswerCompletions(out []qp.Completion) (n, answered int, failed uint32) {
	if a == nil {
		return len(out), 0, 0
	}
	before := a.c.answered
	n = int(C.rdma_answers_filter(a.c, C.int(len(out)), completionPointer(out)))
	return n, int(a.c.answered - before), a.takeFailed()
}

// takeFailed returns the queue pair that has failed last, and forgets it.
func (a *Answers) takeFailed() uint32 {
	failed := uint32(a.c.failed)
	a.c.failed = 0
	return failed
}

func completionPointer(out []qp.Completion) *C.struct_vb_wc {
	return (*C.struct_vb_wc)(unsafe.Pointer(unsafe.SliceData(out)))
}

// NeededCount counts the answers of C, but for those to messages for this process's own rank.
func (a *Answers) NeededCount() uint32 {
	if a == nil {
		return 0
	}
	return uint32(a.c.needed)
}

// AddOrigin has C answer the questions of an origin.
func (a *Answers) AddOrigin(pair unsafe.Pointer, number uint32) {
	if a != nil {
		C.rdma_answers_add_peer(a.c, pair, C.uint32_t(number))
	}
}

// BlockOrigin suspends answers of C to an origin while Go has an earlier message to handle, or
// resumes them.
func (a *Answers) BlockOrigin(number uint32, blocked bool) {
	if a != nil {
		C.rdma_answers_block_peer(a.c, C.uint32_t(number), C.bool(blocked))
	}
}

// DropOrigin forgets an origin, whose queue pair has been destroyed.
func (a *Answers) DropOrigin(number uint32) {
	if a != nil {
		C.rdma_answers_drop_peer(a.c, C.uint32_t(number))
	}
}
