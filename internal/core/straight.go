// SPDX-License-Identifier: BSD-3-Clause

// Messages of collectives between nodes. Each has a tag of its own, its receiver knows how long it is, and a collective bounds how
// many are on their way: so they need no order and no window. A message that finds its receiver waiting is copied to where it
// is wanted by the thread that has read it from the network. Else it goes through the node's mailbox, like any other.
package core

import (
	"runtime"
	"sync"
	"sync/atomic"

	"libarmci/internal/transport"
)

// wanted is a message that a thread of this process waits for.
type wanted struct {
	body  []byte
	total int // bytes of the message that has come
	state atomic.Int32
}

// States of a wanted message.
const (
	stateLooking = iota // its receiver polls
	stateAsleep         // its receiver sleeps in the mailbox, where an empty message wakes it
	stateHere           // it has been copied
)

func (w *wanted) here() bool { return w.state.Load() == stateHere }

type wantedKey struct {
	from transport.Rank
	tag  int64
}

// wantedTable has what the threads of this process wait for.
type wantedTable struct {
	mu  sync.Mutex
	all map[wantedKey]*wanted
}

func (t *wantedTable) add(k wantedKey, w *wanted) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil {
		t.all = map[wantedKey]*wanted{}
	}
	t.all[k] = w
}

// remove returns what is waited for with a key, nil if nothing is, and forgets it.
func (t *wantedTable) remove(k wantedKey) *wanted {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.all[k]
	delete(t.all, k)
	return w
}

// sendStraight sends a message of a collective.
func (r *Runtime) sendStraight(to transport.Rank, tag int64, data []byte) error {
	dest := &r.routes[to]
	if len(data) > fragmentBytes && (dest.watcher == nil || !dest.watcher.Straight(dest.peer)) {
		return r.Send(to, tag, data)
	}
	b := fragmentHeads.Get().(*[fragmentHead]byte)
	defer fragmentHeads.Put(b)
	return dest.tr.Send(dest.peer, transport.Msg{Kind: msgFragment, Head: appendFragmentHead(b[:0], tag, len(data)), Body: data,
		Unordered: true})
}

var fragmentHeads = sync.Pool{New: func() any { return new([fragmentHead]byte) }}

// receiveStraight receives a message of a collective, which is likely to come soon: it polls first.
func (r *Runtime) receiveStraight(from transport.Rank, tag int64, body []byte) (transport.Received, error) {
	dest := &r.routes[from]
	if dest.watcher == nil {
		return r.Recv(from, tag, body)
	}
	k, w := wantedKey{from, tag}, &wanted{body: body}
	r.wanted.add(k, w)
	end := dest.watcher.Watch(dest.peer, func() bool { return w.here() || r.mailbox.Arrived(from, tag) }, !r.leaving.Load())
	defer end()
	if w.state.CompareAndSwap(stateLooking, stateAsleep) {
		got, err := r.Recv(from, tag, body) // the message, or what wakes
		if r.wanted.remove(k) != nil {
			return got, err
		}
	}
	for !w.here() { // it is just being copied
		runtime.Gosched()
	}
	return transport.Received{From: from, Bytes: min(w.total, len(body)), Total: w.total}, nil
}

// take gives a message of a rank to who waits for it in this process; false if nobody does.
func (r *Runtime) take(p *fragment) bool {
	w := r.wanted.remove(wantedKey{p.from, p.tag})
	if w == nil {
		return false
	}
	copy(w.body, p.body)
	w.total = int(p.total)
	if w.state.Swap(stateHere) == stateAsleep {
		r.deliverSoon(r.Topo.Local(r.Me), fragment{from: p.from, tag: p.tag, body: []byte{}}, nil)
	}
	return true
}
