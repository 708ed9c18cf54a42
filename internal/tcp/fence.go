// SPDX-License-Identifier: BSD-3-Clause

// Fences. Every answer of a node says that all stores before the request have taken effect, so often there is nothing
// to ask; else all nodes are asked before the first answer is waited for.
package tcp

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"libarmci/internal/transport"
)

// asked is a node that was asked.
type asked struct {
	w *wire
	p *pending
}

// Fence waits until all earlier stores to these peers have taken effect. Several peers of a node are one question.
func (t *Transport) Fence(ps ...transport.Peer) error {
	if len(ps) == 1 {
		w, err := t.wire(ps[0])
		if err != nil {
			return err
		}
		p, err := w.askFence()
		if err != nil {
			return err
		}
		return w.fenced(p)
	}
	all, first := t.askFences(ps)
	for _, a := range all {
		if err := a.w.fenced(a.p); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// askFences asks the nodes of all these peers, beginning anywhere: when everybody fences, not all begin with the same.
func (t *Transport) askFences(ps []transport.Peer) (all []asked, first error) {
	if len(ps) == 0 {
		return nil, nil
	}
	seen := make([]bool, len(t.wires))
	begin := rand.IntN(len(ps))
	for i := range ps {
		w, err := t.wire(ps[(begin+i)%len(ps)])
		if err == nil && !seen[w.number] {
			seen[w.number] = true
			var p *pending
			if p, err = w.askFence(); err == nil {
				all = append(all, asked{w, p})
			}
		}
		if err != nil && first == nil {
			first = err
		}
	}
	return all, first
}

// askFence asks a node whether all has taken effect; nil if that is known.
func (w *wire) askFence() (*pending, error) {
	if e := w.broken.Load(); e != nil && !w.bye.Load() {
		return nil, *e
	}
	stores := w.stores.Load()
	if w.queue.length.Load() == 0 && stores == w.settled.Load() {
		return nil, nil
	}
	p, err := w.table.open(nil, awaited, kindFenced)
	if err != nil {
		return nil, err
	}
	w.fences.note(stores)
	if w.queue.length.Load() == 0 && w.asked.Load() >= stores {
		w.fences.add(p, stores)
		w.settle(w.settled.Load()) // the answer may have come meanwhile
		if w.deferred.Load() && w.lock() == nil {
			w.flush()
			w.mu.Unlock()
		}
		return p, nil
	}
	w.say(&header{Kind: kindFence, Rank: uint32(w.server), ID: p.id}, nil, p)
	return p, nil
}

// fenced waits for the answer, and tells what the node has refused meanwhile.
func (w *wire) fenced(p *pending) error {
	if p != nil {
		w.await(p)
		err := p.err
		w.fences.remove(p)
		w.table.release(p)
		if err != nil {
			return err
		}
	}
	if e := w.refused.Swap(nil); e != nil {
		return *e
	}
	return nil
}

// fences are those that wait for an answer to something else, which says as much as one of their own. And they are
// remembered: where every store is followed by a fence, the stores themselves ask for an answer, which saves the
// fence's way.
type fences struct {
	mu   sync.Mutex
	list []*pending // stores: what each waits for
	n    atomic.Int32
	last atomic.Uint64 // stores before the last fence
	lone atomic.Int32  // fences in a row that were for one store
}

func (f *fences) add(p *pending, stores uint64) {
	f.mu.Lock()
	p.stores = stores
	f.list = append(f.list, p)
	f.n.Store(int32(len(f.list)))
	f.mu.Unlock()
}

func (f *fences) remove(p *pending) {
	if f.n.Load() == 0 {
		return
	}
	f.mu.Lock()
	f.list = slices.DeleteFunc(f.list, func(q *pending) bool { return p == q })
	f.n.Store(int32(len(f.list)))
	f.mu.Unlock()
}

// settle notes that so many stores have taken effect, and completes the fences that wait for that.
func (w *wire) settle(stores uint64) {
	f := &w.fences
	f.mu.Lock()
	defer f.mu.Unlock()
	if stores > w.settled.Load() {
		w.settled.Store(stores)
	}
	for _, p := range f.list {
		if p.stores <= w.settled.Load() {
			w.table.complete(p, nil)
		}
	}
}

// note remembers for how many stores a fence was.
func (f *fences) note(stores uint64) {
	if stores-f.last.Swap(stores) == 1 {
		f.lone.Add(1)
	} else {
		f.lone.Store(0)
	}
}

// fenceExpected tells whether a store should ask for an answer. One at a time is enough.
func (w *wire) fenceExpected() bool {
	return w.fences.lone.Load() >= 2 && w.asked.Load() <= w.settled.Load()
}
