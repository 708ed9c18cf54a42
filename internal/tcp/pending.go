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

// pending is a request that will be answered.
type pending struct {
	id     uint64 // place in the table, and how often it was used
	x      *transport.Xfer
	later  bool         // nobody waits: x's Done tells
	stores uint64       // sent on the wire before or with it: an answer says that they have taken effect
	asked  atomic.Bool  // the request has been written: what is above and into will not change
	parts  atomic.Int32 // answers to come
	state  atomic.Uint32
	wake   chan struct{} // one word

	into cursor // where data goes (get)
	want int64  // bytes of it in all
	room int64  // bytes of it that have not begun to come
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

// bigBytes is the least data that is received straight to where it belongs.
const bigBytes = 4 << 10

const placeBits = 32

// open makes an entry for a request of one answer.
func (t *table) open(x *transport.Xfer, want int64, later bool) (*pending, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
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
	p.x, p.want, p.room, p.later, p.err, p.body = x, want, want, later, nil, nil
	p.stores = 0
	p.asked.Store(false)
	p.parts.Store(1)
	p.state.Store(isOpen)
	if later {
		t.later.Add(1)
	}
	if want >= bigBytes {
		t.big.Add(1)
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

// finish takes one answer off. With the last one the entry is complete: its owner is told.
func (t *table) finish(p *pending) {
	if p.parts.Add(-1) <= 0 {
		t.complete(p)
	}
}

// complete happens once, even if the wire fails while the last answer is read.
func (t *table) complete(p *pending) {
	x, later, err := p.x, p.later, p.err
	before := p.state.Swap(isDone)
	if before == isDone {
		return
	}
	if p.want >= bigBytes {
		t.big.Add(-1)
	}
	if before == isSleeping {
		p.nudge()
	}
	if later {
		t.release(p)
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
	p.x = nil
	t.mu.Lock()
	t.free = append(t.free, p)
	t.mu.Unlock()
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
		p.err = err
		t.complete(p)
	}
}
