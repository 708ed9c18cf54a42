// SPDX-License-Identifier: BSD-3-Clause

// What a process has asked a node for and not got yet. Entries are used again and again, so that a small operation
// allocates nothing; an entry's number travels with the request and comes back with the reply.
package tcp

import (
	"sync"
	"sync/atomic"

	"libarmci/internal/transport"
)

// States of an entry that somebody waits for.
const (
	isOpen     uint32 = iota
	isDone            // the fields below are final
	isSleeping        // its owner wants a word through wake
)

// manner is what becomes of a request's answer.
type manner uint8

const (
	awaited manner = iota // a caller waits for it
	later                 // nobody does: the transfer's Done tells
	silent                // it only says that stores have taken effect
)

// pending is a request that will be answered.
type pending struct {
	id     uint64 // place in the table, and how often it was used
	x      *transport.Xfer
	manner manner
	answer kind         // of its answers, if they are no errors
	stores uint64       // sent on the wire before or with it: an answer says that they have taken effect
	asked  atomic.Bool  // the request has been written: what is above and into will not change
	parts  atomic.Int32 // answers to come
	state  atomic.Uint32
	wake   chan struct{} // one word

	into area   // where data goes (get)
	room int64  // bytes of it that have not begun to come
	big  bool   // it is received straight to where it goes
	body []byte // what came (call)
	old  int64  // what was there (rmw)
	err  error
}

// table is the requests of a wire that are open.
type table struct {
	mu    sync.Mutex
	all   []*pending
	free  []*pending
	later atomic.Int32 // open ones that nobody waits for
	big   atomic.Int32 // open ones whose data should not pass through a buffer
	gone  error        // the wire is dead: nothing may be opened
}

const placeBits = 32

// open makes an entry for a request of one answer.
func (t *table) open(x *transport.Xfer, m manner, answer kind) (*pending, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.take(x, m, answer)
}

// openGet is open for nbytes bytes of data. If they are many, in rows of at least gather bytes, they do not pass through
// a buffer.
func (t *table) openGet(x *transport.Xfer, m manner, nbytes int64, gather int) (*pending, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, err := t.take(x, m, kindData)
	if err != nil {
		return nil, err
	}
	p.into.set(x)
	p.room = nbytes
	if p.big = nbytes >= bigBytes && p.into.row() >= int64(gather); p.big {
		t.big.Add(1)
	}
	return p, nil
}

// take finds a free entry. The caller has the lock.
func (t *table) take(x *transport.Xfer, m manner, answer kind) (*pending, error) {
	if t.gone != nil {
		return nil, t.gone
	}
	var p *pending
	if n := len(t.free); n > 0 {
		p = t.free[n-1]
		t.free = t.free[:n-1]
	} else {
		p = &pending{id: uint64(len(t.all) + 1), wake: make(chan struct{}, 1)}
		t.all = append(t.all, p)
	}
	p.id += 1 << placeBits
	p.x, p.manner, p.answer, p.room, p.big, p.err, p.body, p.stores = x, m, answer, 0, false, nil, nil, 0
	p.asked.Store(false)
	p.parts.Store(1)
	p.state.Store(isOpen)
	if m == later {
		t.later.Add(1)
	}
	return p, nil
}

// find is the open entry of an answer.
func (t *table) find(id uint64) *pending {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := id&(1<<placeBits-1) - 1; i < uint64(len(t.all)) {
		if p := t.all[i]; p.id == id && p.state.Load() != isDone && p.asked.Load() {
			return p
		}
	}
	return nil
}

// finish takes one answer off, which may have been an error. With the last one the entry is complete.
func (t *table) finish(p *pending, err error) {
	if p.parts.Add(-1) <= 0 {
		t.complete(p, err)
	} else if err != nil {
		t.mu.Lock()
		p.err = err
		t.mu.Unlock()
	}
}

// complete tells the owner, once, even if the wire fails while the last answer is read.
func (t *table) complete(p *pending, err error) {
	t.mu.Lock()
	if p.state.Load() == isDone {
		t.mu.Unlock()
		return
	}
	if err != nil {
		p.err = err
	}
	x, m, big, err := p.x, p.manner, p.big, p.err
	sleeping := p.state.Swap(isDone) == isSleeping
	if m != awaited {
		t.putBack(p)
	}
	t.mu.Unlock()
	if big {
		t.big.Add(-1)
	}
	if sleeping {
		p.nudge()
	}
	if m == later {
		t.later.Add(-1)
		x.Finish(err)
	}
}

// nudge wakes the owner, if it is not just about to wake.
func (p *pending) nudge() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// release makes a complete entry available again.
func (t *table) release(p *pending) {
	t.mu.Lock()
	t.putBack(p)
	t.mu.Unlock()
}

func (t *table) putBack(p *pending) {
	p.x = nil
	t.free = append(t.free, p)
}

// fail completes everything with an error and lets nothing new in.
func (t *table) fail(err error) {
	t.mu.Lock()
	t.gone = err
	var open []*pending
	for _, p := range t.all {
		if p.state.Load() != isDone {
			open = append(open, p)
		}
	}
	t.mu.Unlock()
	for _, p := range open {
		t.complete(p, err)
	}
}
