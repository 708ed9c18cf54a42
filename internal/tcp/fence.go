// SPDX-License-Identifier: BSD-3-Clause

// Fences. Every answer of a node says that all stores before the request have taken effect, so often there is nothing
// to ask; else all nodes are asked before the first answer is waited for.
package tcp

import (
	"math/rand/v2"

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
	if w.queue.length.Load() == 0 && w.stores.Load() == w.settled.Load() {
		return nil, nil
	}
	p, err := w.table.open(nil, 0, false)
	if err == nil {
		w.say(&header{Kind: kindFence, Rank: uint32(w.server), ID: p.id}, nil, p)
	}
	return p, err
}

// fenced waits for the answer, and tells what the node has refused meanwhile.
func (w *wire) fenced(p *pending) error {
	if p != nil {
		w.await(p)
		err := p.err
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
