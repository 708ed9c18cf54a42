// SPDX-License-Identifier: BSD-3-Clause

// A completion queue with its buffers: the transport.Source of all ends of one role, origins' or
// the data server's. The thread that holds its lock is the poller. Memory for buffers does not
// depend on the number of ends. The queue cannot overflow: nothing is posted without a token, and
// there is one token for each entry.
package rdma

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"libarmci/internal/eventfd"
	"libarmci/internal/kernel"
	"libarmci/internal/log"
	"libarmci/internal/pin"
	"libarmci/internal/rdma/fastpath"
	"libarmci/internal/rdma/qp"
)

const (
	mostTokens = 4096
	burst      = 64 // completions that are polled at a time
	// longest sleep of an origin, which waits for other things, too
	longNap = 50 * time.Millisecond
)

// received marks the number of a receive buffer.
const received = uint64(1) << 63

type queue struct {
	f       *Fabric
	cq      qp.Queue
	in      *pin.Pool       // what is received
	out     *pin.Pool       // what is sent, and data whose place is not registered
	into    []kernel.Cursor // by buffer of out that is read into: where its bytes belong
	tokens  atomic.Int32
	entries int               // tokens that there are in all
	looks   int               // before the first yield
	nap     time.Duration     // longest sleep; negative: any time
	fast    *fastpath.Path    // nil if there is none
	answers *fastpath.Answers // that C sends, of a data server's queue; nil: it sends none
	bell    eventfd.FD        // ends Sleep

	mu    sync.Mutex
	ends  map[uint32]*end // by number of the queue pair
	todo  []func()        // calls for the poller to make
	owing []*target       // that have something to send and had no room; poller only

	leaving atomic.Int32 // ends whose farewell is expected
	urgent  atomic.Bool  // the poller has something to do: todo, or an end to destroy
	dealing atomic.Bool  // the poller will look at urgent before it sleeps
	wanted  atomic.Int32 // threads in own

	// Used by the poller only.
	using   sync.Mutex
	parting []*end // whose queue pairs will be destroyed
	ended   uint32 // as the fast path has said last
	found   int    // what Sleep has found; the next Poll returns it
	done    [burst]qp.Completion
	ids     []uint64
	offer   []qp.Data
}

// openQueue makes a queue with so many buffers to receive and to send, and extra entries.
func (f *Fabric) openQueue(in, out, extra int) (*queue, error) {
	limits := f.base.Limits()
	in = min(in, limits.MaxSRQ)
	tokens := min(mostTokens, limits.MaxCQE-in-extra)
	cq, err := f.base.NewQueue(tokens + in + extra)
	if err != nil {
		return nil, err
	}
	q := &queue{f: f, cq: cq, looks: 1, nap: -1, bell: eventfd.None, ends: map[uint32]*end{}}
	q.tokens.Store(int32(tokens))
	q.entries = tokens
	if q.in, err = pin.NewPool(f.pinned, in, f.size); err == nil {
		q.out, err = pin.NewPool(f.pinned, out, f.size)
	}
	if err != nil {
		err = fmt.Errorf("%w; is RLIMIT_MEMLOCK (ulimit -l) too small?", err)
	} else {
		q.into = make([]kernel.Cursor, q.out.Count())
		err = q.cq.NewBuffers(q.in.Count())
	}
	if err == nil {
		for b := q.in.Take(); b != none; b = q.in.Take() {
			q.giveBack(b)
		}
		err = q.offerBuffers()
	}
	if err == nil {
		q.bell, err = eventfd.New()
	}
	if err != nil {
		q.free()
		return nil, err
	}
	f.queues = append(f.queues, q)
	return q, nil
}

// free destroys the queue. Its ends are gone.
func (q *queue) free() {
	q.cq.Close()
	q.in.Close()
	q.out.Close()
	q.bell.Close()
	q.fast.Free()
	q.answers.Free()
}

// incoming is its receive buffers as C knows them.
func (q *queue) incoming() *fastpath.Incoming {
	return &fastpath.Incoming{Addr: q.in.Addr(0), Bytes: q.in.Size, Count: q.in.Count(),
		Key: q.f.base.LocalKey(q.in.Key)}
}

func (q *queue) know(e *end) {
	q.mu.Lock()
	q.ends[e.pair.Number()] = e
	q.mu.Unlock()
}

func (q *queue) forget(e *end) {
	q.mu.Lock()
	delete(q.ends, e.pair.Number())
	q.mu.Unlock()
}

func (q *queue) end(pair uint32) *end {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ends[pair]
}

// all lists the ends.
func (q *queue) all() []*end {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Collect(maps.Values(q.ends))
}

// claim takes n tokens, if there are so many.
func (q *queue) claim(n int32) bool {
	if q.tokens.Add(-n) >= 0 {
		return true
	}
	q.tokens.Add(n)
	return false
}

func (q *queue) enter() {
	if q.wanted.Load() > 0 { // the lock is not fair: let the thread in own have it
		time.Sleep(100 * time.Microsecond)
	}
	q.using.Lock()
	q.fast.Enter()
}

func (q *queue) leave() {
	q.fast.Leave()
	q.using.Unlock()
}

// Poll handles completions. It looks for the first one up to looks times, in one call of C: the
// first q.looks times without a pause, then with a yield before each.
func (q *queue) Poll(looks int) int {
	q.enter()
	defer q.leave()
	return q.pollSome(looks, burst)
}

func (q *queue) poll(looks int) int { return q.pollSome(looks, burst) }

// pollSome handles so many completions at most.
func (q *queue) pollSome(looks, most int) int {
	if n := q.waiting() + q.found; n > 0 {
		q.found = 0
		return n
	}
	spin := max(min(looks, q.looks), 1)
	return q.look(most, spin, max(looks-spin, 0))
}

// look looks for completions in C, which answers some of them, and handles the others.
func (q *queue) look(most, looks, yields int) int {
	if q.answers == nil {
		n, err := q.cq.Look(q.done[:most], looks, yields)
		return q.deal(n, err)
	}
	n, answered, failed, err := q.answers.Look(q.done[:most], looks, yields)
	q.refused(failed)
	return q.deal(n, err) + answered
}

// refused loses the end with this queue pair, which takes no answer; 0: there is none.
func (q *queue) refused(failed uint32) {
	if failed == 0 {
		return
	}
	if e := q.end(failed); e != nil {
		e.lose(q.f.base.Fault("an answer cannot be posted"))
	}
}

// Sleep sleeps until there are completions, and handles them. It looks and sleeps in one call of C.
func (q *queue) Sleep(limit time.Duration) {
	q.enter()
	defer q.leave()
	if q.found += q.waiting(); q.found > 0 {
		return
	}
	q.offerBuffers()
	if q.nap >= 0 && (limit < 0 || limit > q.nap) {
		limit = q.nap
	}
	n, rang, err := q.cq.Sleep(q.done[:], int(q.bell), limit)
	if rang {
		q.bell.Drain()
	}
	left, answered, failed := q.answers.Take(q.done[:n])
	q.refused(failed)
	q.found += q.deal(left, err) + answered
	if n == 0 && !rang && q.cq.Stirred() { // others are served while this one polls: it pays to
		q.found++
	}
}

// Interrupt ends Sleep.
func (q *queue) Interrupt() { q.bell.Ring() }

// later has the poller call do soon. Any thread.
func (q *queue) later(do func()) {
	q.mu.Lock()
	q.todo = append(q.todo, do)
	q.mu.Unlock()
	q.urgent.Store(true)
	if !q.dealing.Load() {
		q.Interrupt()
	}
}

// waiting handles what does not come from the queue: completions that C has put aside, what C has
// found to be over, and todo.
func (q *queue) waiting() (n int) {
	if left := q.fast.Left(q.done[:fastpath.MostLeft]); left > 0 {
		n = q.deal(left, nil)
	}
	if now := q.fast.Ended(); now != q.ended { // a thread may wait for that
		q.ended = now
		n++
	}
	for q.urgent.Load() {
		// again if later has found dealing set, and so has not called Interrupt
		q.dealing.Store(true)
		q.urgent.Store(false)
		q.mu.Lock()
		list := q.todo
		q.todo = nil
		q.mu.Unlock()
		for _, do := range list {
			do()
		}
		q.reap()
		q.offerBuffers()
		q.dealing.Store(false)
		n += len(list)
	}
	return n
}

// deal handles n completions.
func (q *queue) deal(n int, err error) int {
	if err != nil {
		for _, e := range q.all() {
			e.lose(err)
		}
		return 1
	}
	if n == 0 {
		return 0
	}
	q.dealing.Store(true)
	defer q.dealing.Store(false)
	sent := false
	for i := range q.done[:n] {
		c := &q.done[i]
		e := q.end(c.Pair)
		switch {
		case q.fast.Mine(c):
			if c.Status != 0 && e != nil {
				e.lose(q.f.base.Failure(c))
			}
		case c.ID&received == 0:
			sent = true
			if e != nil {
				e.completed(c)
			}
		case e == nil || c.Status != 0 || e.broken.Load() != nil:
			if e != nil && c.Status == 0 && c.Bytes == 0 {
				e.departed()
			}
			q.giveBack(int32(c.ID &^ received))
		default:
			e.arrived(int32(c.ID&^received), int(c.Bytes))
		}
	}
	if sent {
		q.payDebts()
	}
	if len(q.ids) >= q.in.Count()/4 { // else before the poller sleeps: it is a call of C
		q.offerBuffers()
	}
	return n
}

// giveBack has a receive buffer offered again.
func (q *queue) giveBack(b int32) {
	q.ids = append(q.ids, received|uint64(b))
	q.offer = append(q.offer, q.f.data(q.in, b, 0, q.in.Size))
}

func (q *queue) offerBuffers() (err error) {
	if len(q.ids) > 0 {
		if err = q.cq.Offer(q.ids, q.offer); err != nil {
			log.Errorf("nothing can be received any more: %v", err)
		}
		q.ids, q.offer = q.ids[:0], q.offer[:0]
	}
	return err
}

// payDebts serves the targets that had no room.
func (q *queue) payDebts() {
	list := q.owing
	q.owing = nil
	for _, t := range list {
		t.owing = false
		t.serve()
	}
}
