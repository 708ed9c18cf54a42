// SPDX-License-Identifier: BSD-3-Clause

// Queues: completion queues, shared receive queues, queue pairs, and the work that is posted to them. Lists are handed
// to C as they lie in Go's memory: they hold addresses as integers, never Go pointers.
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
)

// Completion is what has become of a work request. Of a failed one only ID, Status and Pair are valid.
type Completion struct {
	ID       uint64
	Status   int32
	opcode   int32
	vendor   uint32
	Bytes    uint32 // received
	imm      uint32
	Pair     uint32 // number of the queue pair
	Source   uint32 // of a datagram: the sender's queue pair
	flags    uint32
	pkey     uint16
	lid      uint16
	sl, path uint8
}

var _ [unsafe.Sizeof(Completion{})]byte = [C.sizeof_struct_vb_wc]byte{} // same size: C fills them in

// Failure says why a request failed. It names the device if that was not at the peer, nor on the way to it.
func (d *Device) Failure(c *Completion) error {
	text := C.GoString(C.vb_status_text(C.int(c.Status)))
	if c.Status < C.VB_WC_BAD_RESP || c.Status == C.VB_WC_FATAL {
		return d.Fault(text)
	}
	return errors.New(text)
}

// Data is a piece of registered memory.
type Data struct {
	Addr       uint64
	Bytes, Key uint32
}

var _ [unsafe.Sizeof(Data{})]byte = [C.sizeof_struct_vb_sge]byte{}

// Operations and flags of a Request. Atomics are of 8 bytes, and atomic towards those of the same device.
const (
	Write       = C.VB_WR_WRITE
	Send        = C.VB_WR_SEND
	Read        = C.VB_WR_READ
	CompareSwap = C.VB_WR_COMPARE_SWAP
	FetchAdd    = C.VB_WR_FETCH_ADD

	Signal = C.VB_SIGNALED
	Inline = C.VB_INLINE
)

// Request is a work request. Its data is the next Pieces entries of the list that is posted with the requests.
type Request struct {
	ID, Remote    uint64
	Operand, Swap uint64 // of an atomic: what is added, or compared and put in its place
	Key           uint32
	Pieces        uint16
	Op, Flags     uint8
}

var _ [unsafe.Sizeof(Request{})]byte = [C.sizeof_struct_vb_request]byte{}

// Completions is a completion queue, and the channel that its events go to.
type Completions struct {
	p  *C.struct_vb_cq
	ch *Channel
}

// NewCompletions makes a queue of n entries.
func (c *Context) NewCompletions(n int) (*Completions, error) {
	ch, err := c.NewChannel()
	if err != nil {
		return nil, err
	}
	p, err := C.vb_create_cq(c.p, C.int(n), ch.p)
	if p == nil {
		ch.Close()
		return nil, fmt.Errorf("make a completion queue of %d entries: %w", n, orErrno(err))
	}
	return &Completions{p, ch}, nil
}

// Channel is where the queue's events go.
func (q *Completions) Channel() *Channel { return q.ch }

// Poll takes completions.
func (q *Completions) Poll(out []Completion) (int, error) {
	return polled(C.vb_poll(q.p, C.int(len(out)), where(out)))
}

// Look takes completions, and looks for the first of them so many times, then so many times more between yields. C does the
// looking: Go's scheduler takes its processor from whoever enters and leaves C all the time, and wakes others to do so.
func (q *Completions) Look(out []Completion, looks, yields int) (int, error) {
	return polled(C.vb_look(q.p, C.int(len(out)), where(out), C.uint(looks), C.uint(yields)))
}

// Sleep takes completions, and sleeps until there are some, the descriptor wake is readable (rang; -1: none), or a time has
// passed that is not negative.
func (q *Completions) Sleep(out []Completion, wake int, limit time.Duration) (n int, rang bool, err error) {
	var r C.int
	n, err = polled(C.vb_sleep(q.p, q.ch.p, C.int(len(out)), where(out), C.int(wake), C.int64_t(limit), &r))
	return n, r != 0, err
}

func where(out []Completion) *C.struct_vb_wc {
	return (*C.struct_vb_wc)(unsafe.Pointer(unsafe.SliceData(out)))
}

func polled(n C.int) (int, error) {
	if n < 0 {
		return 0, fmt.Errorf("poll a completion queue: error %d", n)
	}
	return int(n), nil
}

// Arm asks for one event when the next completion comes.
func (q *Completions) Arm() error { return result("arm a completion queue", C.vb_arm(q.p)) }

// Close ends the queue; there may be none.
func (q *Completions) Close() error {
	if q == nil {
		return nil
	}
	q.ch.Take() // else it would wait for that
	return errors.Join(result("end a completion queue", C.vb_destroy_cq(q.p)), q.ch.Close())
}

// Handle is the queue as C knows it.
func (q *Completions) Handle() unsafe.Pointer { return unsafe.Pointer(q.p) }

// Shared is a shared receive queue.
type Shared struct{ p *C.struct_vb_srq }

// NewShared makes one for n buffers.
func (d *Domain) NewShared(n int) (*Shared, error) {
	p, err := C.vb_create_srq(d.p, C.uint32_t(n))
	if p == nil {
		return nil, fmt.Errorf("make a shared receive queue: %w", orErrno(err))
	}
	return &Shared{p}, nil
}

// Post offers buffers: data[i] gets the number ids[i].
func (s *Shared) Post(ids []uint64, data []Data) error { return receive(s.p, nil, ids, data) }

// Close ends the queue; there may be none.
func (s *Shared) Close() error {
	if s == nil {
		return nil
	}
	return result("end a shared receive queue", C.vb_destroy_srq(s.p))
}

func receive(srq *C.struct_vb_srq, qp *C.struct_vb_qp, ids []uint64, data []Data) error {
	return result("post receive buffers", C.vb_post_recv(srq, qp, (*C.uint64_t)(unsafe.Pointer(unsafe.SliceData(ids))),
		(*C.struct_vb_sge)(unsafe.Pointer(unsafe.SliceData(data))), C.int(len(data))))
}

// Pair is a queue pair.
type Pair struct {
	p      *C.struct_vb_qp
	Number uint32
	Inline int // bytes that may be sent inline
}

// Caps is what a queue pair is to hold. With Shared nil it has receive buffers of its own.
type Caps struct {
	Send, Receive  int // requests
	Pieces, Inline int // of a request to send
	From, To       *Completions
	Shared         *Shared
	Datagram       bool
}

// NewPair makes a queue pair; with less inline space if the device has no more.
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
		a.cap = C.struct_vb_qp_cap{max_send_wr: C.uint32_t(c.Send), max_recv_wr: C.uint32_t(c.Receive),
			max_send_sge: C.uint32_t(c.Pieces), max_recv_sge: 1, max_inline_data: C.uint32_t(inline)}
		var p *C.struct_vb_qp
		if p, err = C.vb_create_qp(d.p, &a); p != nil {
			head := (*C.struct_vb_qp_head)(unsafe.Pointer(p))
			return &Pair{p, uint32(head.qp_num), int(a.cap.max_inline_data)}, nil
		}
		if inline == 0 {
			return nil, fmt.Errorf("make a queue pair: %w", orErrno(err))
		}
	}
}

// Close ends the queue pair: nothing of it completes any more. There may be none.
func (q *Pair) Close() error {
	if q == nil {
		return nil
	}
	return result("end a queue pair", C.vb_destroy_qp(q.p))
}

// Handle is the queue pair as C knows it.
func (q *Pair) Handle() unsafe.Pointer { return unsafe.Pointer(q.p) }

// Receive offers buffers, see Shared.Post.
func (q *Pair) Receive(ids []uint64, data []Data) error { return receive(nil, q.p, ids, data) }

// Post posts requests. posted tells how many were taken if there is an error.
func (q *Pair) Post(requests []Request, data []Data) (posted int, err error) {
	var n C.int
	code := C.vb_post(q.p, (*C.struct_vb_request)(unsafe.Pointer(unsafe.SliceData(requests))), C.int(len(requests)),
		(*C.struct_vb_sge)(unsafe.Pointer(unsafe.SliceData(data))), &n)
	return int(n), result("post work", code)
}
