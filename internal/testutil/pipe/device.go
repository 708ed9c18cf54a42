// SPDX-License-Identifier: BSD-3-Clause

// The device of a process: it carries out reads, writes and atomics of others' memory in any order
// that the contract allows, checks keys and bounds like a real one, and reports completions later.
package pipe

import (
	"errors"
	"slices"
	"time"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// region is memory that a key gives access to.
type region struct {
	owner  *fabric
	lo, hi uintptr
}

// deviceQueue is the device of a fabric. The net's lock guards all but wakeUp.
type deviceQueue struct {
	wakeUp   chan struct{} // ends the device's wait for requests
	requests []*request    // in the order in which they were posted
	stopped  chan struct{} // closed when the device has stopped; nil: it was never started
	stopping bool
}

// request is a part of a direct transfer, or an atomic operation.
type request struct {
	e       *endpoint
	due     time.Time // it is carried out then, and not before
	mark    uint64    // of a Write; 0: another operation
	pieces  []piece   // the memory whose keys are checked
	execute func()    // called under the net's lock
	report  func(err error)
}

// piece is contiguous memory that a request accesses.
type piece struct {
	local, remote uintptr
	n             int
	key           uint64
	data          []byte // a copy of local memory; nil: local is accessed
}

var errAccess = errors.New("memory that its key does not open")

// submit hands a request to the device. The caller holds the net's lock.
func (f *fabric) submit(q *request) {
	q.due = f.net.arrivalTime()
	q.e.writes.open++
	f.device.requests = append(f.device.requests, q)
	if f.device.stopped == nil {
		f.device.stopped = make(chan struct{})
		go f.runDevice()
	}
	signal(f.device.wakeUp)
}

// runDevice carries out requests, one at a time, until the fabric is closed.
func (f *fabric) runDevice() {
	defer close(f.device.stopped)
	mu := &f.net.mu
	mu.Lock()
	defer mu.Unlock()
	for !f.device.stopping {
		var ready []int
		var next time.Time
		for i, q := range f.device.requests {
			if f.isBehindWrite(i) {
				continue
			}
			if q.e.conn.broken == nil && q.due.After(time.Now()) {
				next = earlier(next, q.due)
			} else {
				ready = append(ready, i)
			}
		}
		if len(ready) == 0 {
			mu.Unlock()
			awaitSignal(f.device.wakeUp, -1, next)
			mu.Lock()
			continue
		}
		i := ready[f.net.rnd.IntN(len(ready))]
		q := f.device.requests[i]
		f.device.requests = slices.Delete(f.device.requests, i, i+1)
		f.carryOut(q)
	}
}

// isBehindWrite tells whether an earlier request of the same end is a write.
func (f *fabric) isBehindWrite(i int) bool {
	requests := f.device.requests
	return slices.ContainsFunc(requests[:i], func(q *request) bool {
		return q.mark > 0 && q.e == requests[i].e
	})
}

// carryOut executes a request and queues its completion. The caller holds the net's lock.
func (f *fabric) carryOut(q *request) {
	e := q.e
	e.writes.open--
	if i := slices.Index(e.writes.pending, q.mark); i >= 0 {
		e.writes.pending = slices.Delete(e.writes.pending, i, i+1)
		e.peer.source.wakeWaiters()
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
		e.conn.breakWith(err)
	case f.vanished || e.peer.fabric.vanished:
		e.conn.breakWith(errSilent)
		err = errSilent
	default:
		q.execute()
	}
	e.arrivals.completions = append(e.arrivals.completions,
		&parcel{due: f.net.arrivalTime(), completion: func() { q.report(err) }})
	e.source.wakeWaiters()
}

// cancelRequests removes the requests of an end that is being closed, and its completions. It
// returns their reports. The caller holds the net's lock, and calls the reports without it.
func (e *endpoint) cancelRequests() (reports []func()) {
	for _, p := range e.arrivals.completions {
		reports = append(reports, p.completion)
	}
	d := &e.fabric.device
	d.requests = slices.DeleteFunc(d.requests, func(q *request) bool {
		if q.e != e {
			return false
		}
		reports = append(reports, func() { q.report(transport.ErrClosed) })
		return true
	})
	e.arrivals.completions, e.writes.pending, e.writes.open = nil, nil, 0
	return reports
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

// changeWord carries out an atomic operation and returns the old value. The caller holds the net's
// lock.
func changeWord(op transport.AtomicOp, addr uintptr, operand, compare int64) (old int64) {
	word := (*int64)(kernel.Ptr(addr))
	old = *word
	if op == transport.AtomicAdd {
		*word += operand
	} else if old == compare {
		*word = operand
	}
	return old
}
