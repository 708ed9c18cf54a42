// SPDX-License-Identifier: BSD-3-Clause

// How a connection ends: by a failure of the queue pair, by Break, by a receiver's error, or by Close. Whoever notices marks
// the end as broken; who polls fails what is open, tells the receiver, and says farewell to the other end: an empty message,
// which comes after everything that was sent. A datagram has the other end look for it, where nobody does. The queue pair
// is destroyed when the farewell has left.
package rdma

import (
	"errors"
	"io"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/rdma/verbs"
	"libarmci/internal/transport"
)

var (
	errBroken = errors.New("the connection was broken off")
	errClosed = errors.New("the connection was closed")
	errGone   = io.EOF // the other end has closed or broken it
)

// partingTime is how long a farewell may take.
const partingTime = time.Second

// lose marks an end as broken, once. It returns what later callers are told. Any thread.
func (e *end) lose(why error) error {
	if e.broken.CompareAndSwap(nil, &why) {
		e.q.fast.DropPair(e.pair)
		e.q.later(e.tell)
		e.f.Wake()
	}
	return *e.broken.Load()
}

// Break ends the connection.
func (e *end) Break() { e.lose(errBroken) }

// tell fails what is open and tells the receiver. For who polls.
func (e *end) tell() {
	why := *e.broken.Load()
	e.fail(why)
	if e.told {
		return
	}
	e.told = true
	e.receiver.Lost(why)
	e.farewell()
	if e.dropped != nil { // of a target nobody else closes it
		e.part()
	}
}

// fail fails what is open. The device may still be at buffers.
func (e *end) fail(why error) {
	left := e.ring.close()
	for i := range left {
		release(left[i].held)
		left[i].held = nil
		if left[i].done != nil {
			left[i].done.Done(why)
		}
	}
	e.stranded = append(e.stranded, left...)
	if e.dropped != nil {
		e.dropped()
	}
}

// farewell sends what was posted meanwhile, and that nothing follows.
func (e *end) farewell() {
	e.posting.Lock()
	defer e.posting.Unlock()
	if e.over {
		return
	}
	e.ring.reopen()
	if e.dropped != nil && !e.dead.Load() {
		e.flush()
	}
	e.over, e.late = true, nil
	if e.dead.Load() || *e.broken.Load() == errGone || !e.q.claim(1) {
		e.left.Store(true)
	} else {
		e.last = e.ring.next() + 1
		q := [1]verbs.Request{{Op: verbs.Send}}
		e.post(posted{buffer: none}, q[:], nil)
	}
	e.stranded = append(e.stranded, e.ring.close()...)
	if *e.broken.Load() != errGone {
		h := transport.Hello{From: e.f.cfg.Me, Nonce: transport.NewNonce(), Extra: encode(&notice{e.peer, e.dead.Load()})}
		e.f.cm.send(slices.Concat([]byte{leaving}, h.Nonce[:], h.Seal(e.f.cfg.Secret, "leaving", nil)), &e.back)
	}
}

// notice is a datagram about the end of a queue pair.
type notice struct {
	Pair uint32
	Dead bool // there is no farewell; else it is on its way
}

// noticed has who polls look for a farewell, where nobody does, or does what one would.
func (f *Fabric) noticed(sealed []byte) {
	var h transport.Hello
	var n notice
	if h.Unseal(sealed, f.cfg.Secret, "leaving", nil) != nil || decode(h.Extra, &n) != nil {
		return
	}
	for _, q := range f.queues {
		if e := q.end(n.Pair); e != nil && n.Dead {
			e.lose(errGone)
		}
	}
	f.Attend(f.origins)
	f.origins.urgent.Store(true)
	f.Wake()
}

// part destroys the queue pair as soon as the farewell has left. For who polls.
func (e *end) part() {
	e.until = time.Now().Add(partingTime)
	e.q.parting = append(e.q.parting, e)
	e.q.urgent.Store(true)
}

// reap destroys the ends that have parted. For who polls.
func (q *queue) reap() {
	rest := q.parting[:0]
	for _, e := range q.parting {
		if e.left.Load() || time.Now().After(e.until) {
			e.destroy()
		} else {
			rest = append(rest, e)
		}
	}
	q.parting = rest
}

// destroy gives back everything: nothing completes any more.
func (e *end) destroy() {
	e.q.mu.Lock()
	delete(e.q.ends, e.pair.Number)
	e.q.mu.Unlock()
	e.pair.Close()
	for i := range e.stranded {
		e.giveBack(&e.stranded[i])
	}
	e.stranded = nil
}

// idle tells whether nothing is open any more.
func (e *end) idle() bool {
	e.posting.Lock()
	defer e.posting.Unlock()
	return e.broken.Load() != nil || len(e.late) == 0 && !e.ring.open(e.ring.next())
}

// Close ends the connection when what was sent has left, or linger is over.
func (e *end) Close(linger time.Duration) {
	q, until := e.q, time.Now().Add(linger)
	q.own()
	defer q.leave()
	q.pollUntil(until, e.idle)
	e.shut()
	q.pollUntil(until, e.left.Load)
	q.reap()
}

// shut ends the connection now, but for the farewell. For who polls.
func (e *end) shut() {
	if !e.until.IsZero() {
		return
	}
	why := errClosed
	e.broken.CompareAndSwap(nil, &why)
	e.q.fast.DropPair(e.pair)
	e.told = true
	e.fail(*e.broken.Load())
	e.farewell()
	e.part()
}

// own makes the caller the one who polls, until leave.
func (q *queue) own() {
	q.wanted.Add(1)
	q.Interrupt()
	q.using.Lock()
	q.wanted.Add(-1)
	q.fast.Enter()
}

// pollUntil polls until done, or until a time. For who polls.
func (q *queue) pollUntil(until time.Time, done func() bool) {
	for !done() && time.Now().Before(until) {
		if q.poll(1) == 0 {
			unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
		}
	}
}

// closeAll closes the ends that are left, after what was posted has left.
func (q *queue) closeAll() {
	q.own()
	defer q.leave()
	until, all := time.Now().Add(partingTime), q.all()
	for _, e := range all {
		q.pollUntil(until, e.idle)
	}
	for _, e := range all {
		e.shut()
	}
	q.pollUntil(until, func() bool {
		q.reap()
		return len(q.parting) == 0
	})
	for _, e := range q.parting {
		e.destroy()
	}
	q.parting = nil
}
