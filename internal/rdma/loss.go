// SPDX-License-Identifier: BSD-3-Clause

// How a connection ends: by a failure of the queue pair, by Break, by a receiver's error, or by
// Close. Any thread marks the end as broken. Then the poller fails what is open, tells the
// receiver, and sends a farewell to the other end: an empty message, which arrives after everything
// that was sent. A datagram tells the other process to poll for it, in case it is idle. The queue
// pair is destroyed when the farewell has left.
package rdma

import (
	"errors"
	"io"
	"math"
	"time"

	"libarmci/internal/log"
	"libarmci/internal/rdma/qp"
	"libarmci/internal/wait"
)

var (
	errBroken = errors.New("the connection was broken off")
	errClosed = errors.New("the connection was closed")
	errGone   = io.EOF // the other end has closed or broken it
)

const (
	partingTime  = time.Second           // how long a farewell may take
	farewellTime = 10 * time.Millisecond // how long Close waits for it at least
)

// lose marks an end as broken, unless it is already. It returns the reason that counts, the first
// one. Any thread.
func (e *end) lose(why error) error {
	if e.broken.CompareAndSwap(nil, &why) {
		e.q.fast.DropPair(e.pair.Handle())
		e.q.later(e.tell)
		e.f.Wake()
	}
	return *e.broken.Load()
}

// Break ends the connection.
func (e *end) Break() { e.lose(errBroken) }

// tell ends a connection that was lost. Poller only.
func (e *end) tell() {
	e.finish(true)
	if e.dropped != nil { // a target's end; an origin's is closed by internode
		e.part()
	}
}

// shut ends a connection that is being closed. Poller only.
func (e *end) shut() {
	e.lose(errClosed)
	e.finish(false)
	e.part()
}

// finish fails what is open, tells the receiver if tell is set, and sends the farewell; once.
// Poller only.
func (e *end) finish(tell bool) {
	if e.told {
		return
	}
	e.told = true
	if e.leaves.Swap(true) {
		e.q.leaving.Add(-1)
	}
	why := *e.broken.Load()
	e.q.fast.DropPair(e.pair.Handle()) // lose may have yet to: C posts nothing behind Fail
	e.q.fast.Fail(e.pair.Handle())
	for _, p := range e.ring.fail() {
		release(p.held)
		if p.done != nil {
			p.done.Done(why)
		}
	}
	if e.dropped != nil {
		e.dropped()
	}
	if tell {
		e.receiver.Lost(why)
	}
	e.farewell(why == errGone)
}

// farewell sends what was posted meanwhile, and then an empty message, unless the other end has
// gone.
func (e *end) farewell(gone bool) {
	e.posting.Lock()
	defer e.posting.Unlock()
	e.ring.close(false)
	if e.dropped != nil && !e.dead.Load() {
		e.flush()
	}
	e.over, e.late = true, nil
	if gone || e.dead.Load() || !e.q.claim(1) {
		e.dead.Store(true)
	} else {
		q := [1]qp.Request{{Op: qp.Send}}
		if e.post(posted{buffer: none}, q[:], nil) != nil {
			e.dead.Store(true)
		}
	}
	e.ring.close(true)
	if !gone {
		e.f.cm.announce(&notice{e.pair.Peer(), e.pair.Number(), e.dead.Load()}, &e.back)
	}
}

// left tells whether everything has left, the farewell last, or never will.
func (e *end) left() bool { return e.dead.Load() || !e.ring.open(e.ring.next()) }

// departed is told of the other end's farewell where this end is broken already: nobody takes this
// end's farewell any more. Poller only.
func (e *end) departed() {
	e.dead.Store(true)
	e.q.urgent.Store(true)
}

// part has the queue pair destroyed as soon as the farewell has left. Poller only.
func (e *end) part() {
	if e.until.IsZero() {
		e.until = time.Now().Add(partingTime)
		e.q.parting = append(e.q.parting, e)
		e.q.urgent.Store(true)
	}
}

// reap destroys the parting ends whose farewell has left. Poller only.
func (q *queue) reap() {
	rest := q.parting[:0]
	for _, e := range q.parting {
		if e.left() || time.Now().After(e.until) {
			e.destroy()
		} else {
			rest = append(rest, e)
		}
	}
	q.parting = rest
}

// destroy destroys the queue pair, after which nothing completes any more, and frees what was in
// flight.
func (e *end) destroy() {
	e.q.forget(e)
	handle, number := e.pair.Handle(), e.pair.Number()
	e.q.fast.DropPair(handle)
	err := e.pair.Close()
	if err != nil { // what the device still uses is not used again
		log.Infof("%v", err)
	} else {
		e.q.fast.Forget(handle)
		e.q.answers.Drop(number)
	}
	for p, ok := e.ring.pop(math.MaxUint64); ok; p, ok = e.ring.pop(math.MaxUint64) {
		if err != nil {
			p.buffer, p.held = none, nil
		}
		e.giveBack(&p)
	}
}

// idle tells whether nothing is open any more.
func (e *end) idle() bool {
	e.posting.Lock()
	defer e.posting.Unlock()
	return e.broken.Load() != nil || len(e.late) == 0 && !e.ring.open(e.ring.next())
}

// Close ends the connection when what was sent has left, or linger is over. The farewell always has
// a moment to leave: else the queue pair would stay until somebody polls.
func (e *end) Close(linger time.Duration) {
	until := time.Now().Add(max(linger, farewellTime))
	e.q.own()
	defer e.q.leave()
	e.q.shut(until, e)
}

// shut ends connections when what was sent has left, but no later than until. Poller only.
func (q *queue) shut(until time.Time, ends ...*end) {
	for _, e := range ends {
		q.pollUntil(until, e.idle)
	}
	for _, e := range ends {
		e.shut()
	}
	for _, e := range ends {
		q.pollUntil(until, e.left)
	}
	q.reap()
}

// own makes the caller the poller, until leave.
func (q *queue) own() {
	q.wanted.Add(1)
	q.Interrupt()
	q.using.Lock()
	q.wanted.Add(-1)
	q.fast.Enter()
}

// pollUntil polls until done, or until a time. Poller only.
func (q *queue) pollUntil(until time.Time, done func() bool) {
	for !done() && time.Now().Before(until) {
		if q.poll(1) == 0 {
			wait.Yield()
		}
	}
}

// closeAll closes the ends that are left, after what was posted has left.
func (q *queue) closeAll() {
	q.own()
	defer q.leave()
	q.shut(time.Now().Add(partingTime), q.all()...)
	for _, e := range q.parting {
		e.destroy()
	}
	q.parting = nil
}
