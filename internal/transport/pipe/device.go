// SPDX-License-Identifier: BSD-3-Clause

// The device of a process: it carries out reads, writes and atomics of others' memory in any order
// that the rules allow, checks keys and bounds like a real one, and tells later what it has done.
package pipe

import (
	"errors"
	"slices"
	"time"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// region is memory that a key opens.
type region struct {
	owner  *fabric
	lo, hi uintptr
}

// request is a part of a direct transfer, or an atomic operation.
type request struct {
	e      *end
	at     time.Time
	mark   uint64 // of a Write; 0: of something else
	act    func() // under the net's lock
	pieces []piece
	tell   func(err error) // by who polls
}

// piece is memory that a request reaches.
type piece struct {
	local, remote uintptr
	n             int
	key           uint64
	data          []byte // in place of local memory
}

var errAccess = errors.New("memory that its key does not open")

// submit hands a request to the device. The caller has the net's lock.
func (f *fabric) submit(q *request) {
	q.at = f.net.later()
	q.e.open++
	f.work = append(f.work, q)
	if f.device == nil {
		f.device = make(chan struct{})
		go f.runDevice()
	}
	strike(f.posted)
}

// runDevice carries out requests, one at a time, until the fabric is closed.
func (f *fabric) runDevice() {
	defer close(f.device)
	mu := &f.net.mu
	mu.Lock()
	defer mu.Unlock()
	for !f.stopping {
		var ready []int
		var next time.Time
		for i, q := range f.work {
			if f.behindWrite(i) {
				continue
			}
			if q.e.conn.broken == nil && q.at.After(time.Now()) {
				next = earlier(next, q.at)
			} else {
				ready = append(ready, i)
			}
		}
		if len(ready) == 0 {
			mu.Unlock()
			listen(f.posted, -1, next)
			mu.Lock()
			continue
		}
		i := ready[f.net.rnd.IntN(len(ready))]
		q := f.work[i]
		f.work = slices.Delete(f.work, i, i+1)
		f.carryOut(q)
	}
}

// behindWrite tells whether an earlier request of the same end is a write.
func (f *fabric) behindWrite(i int) bool {
	return slices.ContainsFunc(f.work[:i], func(q *request) bool {
		return q.mark > 0 &&
			q.e == f.work[i].e
	})
}

// carryOut does what a request wants, and lets its end know.
func (f *fabric) carryOut(q *request) {
	e := q.e
	e.open--
	if i := slices.Index(e.going, q.mark); i >= 0 {
		e.going = slices.Delete(e.going, i, i+1)
		e.peer.source.ring()
	}
	err := e.conn.broken
	for _, p := range q.pieces {
		r := f.net.keys[p.key]
		if err == nil && (r.owner != e.peer.fabric || p.remote < r.lo ||
			p.remote+uintptr(p.n) > r.hi) {
			err = errAccess
		}
	}
	switch {
	case err != nil:
		e.conn.fail(err)
	case f.gone || e.peer.fabric.gone:
		e.conn.fail(errSilent)
		err = errSilent
	default:
		q.act()
	}
	e.done = append(e.done, &parcel{at: f.net.later(), done: func() { q.tell(err) }})
	e.source.ring()
}

// abandon takes what is open at an end that is being closed, and gives what is to be told of it.
func (e *end) abandon() (tell []func()) {
	for _, p := range e.done {
		tell = append(tell, p.done)
	}
	e.fabric.work = slices.DeleteFunc(e.fabric.work, func(q *request) bool {
		if q.e != e {
			return false
		}
		tell = append(tell, func() { q.tell(transport.ErrClosed) })
		return true
	})
	e.done, e.going, e.open = nil, nil, 0
	return tell
}

// copy writes a piece to the remote memory, or reads it from there.
func (p *piece) copy(write bool) {
	switch remote, local := kernel.Ptr(p.remote), kernel.Ptr(p.local); {
	case !write:
		kernel.Copy(local, remote, p.n)
	case p.data != nil:
		kernel.Copy(remote, unsafe.Pointer(&p.data[0]), p.n)
	default:
		kernel.Copy(remote, local, p.n)
	}
}

// change is an atomic operation.
func change(op transport.AtomicOp, addr uintptr, operand, compare int64) (old int64) {
	word := (*int64)(kernel.Ptr(addr))
	old = *word
	if op == transport.AtomicAdd {
		*word += operand
	} else if old == compare {
		*word = operand
	}
	return old
}
