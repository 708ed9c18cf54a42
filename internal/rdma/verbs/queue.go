// SPDX-License-Identifier: BSD-3-Clause

// Completion queues, shared receive queues, queue pairs, and the work that is posted to them. Lists
// are passed to C in Go's memory: they hold addresses as integers, never Go pointers.
package verbs

// #include <errno.h>
// #include "verbs.h"
// #cgo noescape vb_post
// #cgo nocallback vb_post
// #cgo noescape vb_post_recv
// #cgo nocallback vb_post_recv
// #cgo noescape vb_poll
// #cgo nocallback vb_poll
// #cgo nocallback vb_arm
// #cgo noescape vb_look
// #cgo nocallback vb_look
// #cgo noescape vb_sleep
// #cgo nocallback vb_sleep
import "C"

import (
	"errors"
	"fmt"
	"time"
	"unsafe"

	"libarmci/internal/rdma/qp"
)

// Structs that Go and C share have the same size on both sides.
var (
	_ [unsafe.Sizeof(qp.Completion{})]byte = [C.sizeof_struct_vb_wc]byte{}
	_ [unsafe.Sizeof(qp.Data{})]byte       = [C.sizeof_struct_vb_sge]byte{}
	_ [unsafe.Sizeof(qp.Request{})]byte    = [C.sizeof_struct_vb_request]byte{}
)

// RequestError returns why a request has failed. The error names the device unless the reason is
// the peer, or the way to it.
func (d *Device) RequestError(c *qp.Completion) error {
	text := C.GoString(C.vb_status_text(C.int(c.Status)))
	if c.Status < C.VB_WC_BAD_RESP || c.Status == C.VB_WC_FATAL {
		return d.DeviceError(text)
	}
	return errors.New(text)
}

// Completions is a completion queue with its completion channel.
type Completions struct {
	p  *C.struct_vb_cq
	ch *Channel
}

// NewCompletions makes a completion queue of n entries. The caller closes it.
func (c *Context) NewCompletions(n int) (*Completions, error) {
	ch, err := c.NewChannel()
	if err != nil {
		return nil, err
	}
	p, err := C.vb_create_cq(c.p, C.int(n), ch.p)
	if p == nil {
		ch.Close()
		return nil, fmt.Errorf("make a completion queue of %d entries: %w", n, orEIO(err))
	}
	return &Completions{p, ch}, nil
}

// PollOnce takes completions; none if there are none.
func (q *Completions) PollOnce(out []qp.Completion) (int, error) {
	return pollResult(C.vb_poll(q.p, C.int(len(out)), completionPointer(out)))
}

// Poll polls up to looks times without a pause, then up to yields times with a yield before each,
// and returns as soon as there are completions. The loop is in C: a thread that enters and leaves C
// all the time loses its processor to Go's scheduler, which also wakes other threads to take it.
func (q *Completions) Poll(out []qp.Completion, looks, yields int) (int, error) {
	return pollResult(C.vb_look(q.p, C.int(len(out)), completionPointer(out), C.uint(looks),
		C.uint(yields)))
}

// WaitCompletions takes completions. It blocks until there are some, the descriptor wake is
// readable (rang is true then; -1: no descriptor), or a time has passed (negative: no limit).
func (q *Completions) WaitCompletions(out []qp.Completion, wake int, limit time.Duration) (
	n int, rang bool, err error) {
	var r C.int
	n, err = pollResult(C.vb_sleep(q.p, q.ch.p, C.int(len(out)), completionPointer(out),
		C.int(wake), C.int64_t(limit), &r))
	return n, r != 0, err
}

func completionPointer(out []qp.Completion) *C.struct_vb_wc {
	return (*C.struct_vb_wc)(unsafe.Pointer(unsafe.SliceData(out)))
}

// pollResult converts the result of a poll in C.
func pollResult(n C.int) (int, error) {
	if n < 0 {
		return 0, fmt.Errorf("poll a completion queue: error %d", n)
	}
	return int(n), nil
}

// Arm has the channel signal the next completion, once.
func (q *Completions) Arm() error { return errnoResult("arm a completion queue", C.vb_arm(q.p)) }

// Close destroys the queue and its channel. q may be nil.
func (q *Completions) Close() error {
	if q == nil {
		return nil
	}
	q.ch.DrainEvents() // libibverbs waits until all events are acknowledged
	err := errnoResult("end a completion queue", C.vb_destroy_cq(q.p))
	return errors.Join(err, q.ch.Close())
}

// Network returns the functions by which the C fast path uses the queue and its queue pairs.
func (q *Completions) Network() unsafe.Pointer { return unsafe.Pointer(&C.vb_network) }

// Handle is the queue as C uses it.
func (q *Completions) Handle() unsafe.Pointer { return unsafe.Pointer(q.p) }

// Channel is the completion channel, with which C sleeps.
func (q *Completions) Channel() unsafe.Pointer { return unsafe.Pointer(q.ch.p) }

// Shared is a shared receive queue.
type Shared struct{ p *C.struct_vb_srq }

// NewShared makes a shared receive queue for n buffers. The caller closes it.
func (d *Domain) NewShared(n int) (*Shared, error) {
	p, err := C.vb_create_srq(d.p, C.uint32_t(n))
	if p == nil {
		return nil, fmt.Errorf("make a shared receive queue: %w", orEIO(err))
	}
	return &Shared{p}, nil
}

// PostBuffers posts receive buffers: the completion of data[i] has the id ids[i].
func (s *Shared) PostBuffers(ids []uint64, data []qp.Data) error {
	return postReceives(s.p, nil, ids, data)
}

// Close destroys the queue. s may be nil.
func (s *Shared) Close() error {
	if s == nil {
		return nil
	}
	return errnoResult("end a shared receive queue", C.vb_destroy_srq(s.p))
}

// postReceives posts receive buffers to a shared receive queue, or, where that is nil, to a queue
// pair.
func postReceives(srq *C.struct_vb_srq, qp *C.struct_vb_qp, ids []uint64, data []qp.Data) error {
	return errnoResult("post receive buffers",
		C.vb_post_recv(srq, qp, (*C.uint64_t)(unsafe.Pointer(unsafe.SliceData(ids))),
			(*C.struct_vb_sge)(unsafe.Pointer(unsafe.SliceData(data))),
			C.int(len(data))))
}

// Pair is a queue pair.
type Pair struct {
	p      *C.struct_vb_qp
	log    *C.struct_vb_log // nil: it keeps no requests
	Number uint32
	Inline int // bytes that may be sent inline
}

// Caps is the capacities and queues of a new queue pair. With Shared nil it has receive buffers of
// its own.
type Caps struct {
	Send, Receive  int          // requests
	Pieces, Inline int          // of a request to send
	From, To       *Completions // of requests that are sent, and of received messages
	Shared         *Shared
	Datagram       bool
}

// NewPair makes a queue pair, with less inline space if the device refuses so much. The caller
// closes it.
func (d *Domain) NewPair(c Caps) (*Pair, error) {
	var a C.struct_vb_qp_init_attr
	a.send_cq, a.recv_cq = c.From.p, c.To.p
	a.qp_type = C.VB_QPT_RC
	if c.Datagram {
		a.qp_type = C.VB_QPT_UD
	}
	if c.Shared != nil {
		a.srq = c.Shared.p
	}
	var err error
	for inline := c.Inline; ; inline /= 2 {
		a.cap = C.struct_vb_qp_cap{max_send_wr: C.uint32_t(c.Send),
			max_recv_wr:  C.uint32_t(c.Receive),
			max_send_sge: C.uint32_t(c.Pieces), max_recv_sge: 1,
			max_inline_data: C.uint32_t(inline)}
		var p *C.struct_vb_qp
		if p, err = C.vb_create_qp(d.p, &a); p != nil {
			head := (*C.struct_vb_qp_head)(unsafe.Pointer(p))
			return &Pair{p: p, Number: uint32(head.qp_num),
				Inline: int(a.cap.max_inline_data)}, nil
		}
		if inline == 0 {
			return nil, fmt.Errorf("make a queue pair: %w", orEIO(err))
		}
	}
}

// Close destroys the queue pair: nothing completes on it afterwards. q may be nil.
func (q *Pair) Close() error {
	if q == nil {
		return nil
	}
	if q.log != nil {
		C.vb_forget(q.log)
		q.log = nil
	}
	return errnoResult("end a queue pair", C.vb_destroy_qp(q.p))
}

// Handle is the queue pair as C uses it.
func (q *Pair) Handle() unsafe.Pointer { return unsafe.Pointer(q.p) }

// Receive posts receive buffers to the queue pair itself, as Shared.PostBuffers does.
func (q *Pair) Receive(ids []uint64, data []qp.Data) error {
	return postReceives(nil, q.p, ids, data)
}

// Post posts requests, with their data in one list. There is room for them.
func (q *Pair) Post(requests []qp.Request, data []qp.Data) error {
	var n C.int
	return errnoResult("post work",
		C.vb_post(q.p, (*C.struct_vb_request)(unsafe.Pointer(unsafe.SliceData(requests))),
			C.int(len(requests)),
			(*C.struct_vb_sge)(unsafe.Pointer(unsafe.SliceData(data))),
			&n))
}
