// SPDX-License-Identifier: BSD-3-Clause

// Private memory that devices of other nodes reach. An address outside the arena names memory of
// one process only where that is alone on its node, so only such a process shares. It gets a key
// for its memory and passes it on by means of its own; a peer's device uses it from Learn to
// Forget. Nothing here asks: a peer that has not learnt of memory, or has forgotten it, sends
// frames.
package internode

import (
	"slices"

	"libarmci/internal/transport"
)

// Share registers private memory of this process for all origins.
func (t *Transport) Share(lo, hi uintptr) (key uint64, release func(), ok bool) {
	arena, n := t.opt.Node.Arena()
	if t.direct == nil || t.server == nil || len(t.opt.Nodes[t.opt.MyNode]) != 1 || lo >= hi ||
		lo < arena+uintptr(n) && hi > arena {
		return 0, nil, false
	}
	return t.direct.Share(lo, hi)
}

// Learn makes the device use a key for memory of a peer.
func (t *Transport) Learn(p transport.Peer, r transport.Range) {
	if g := t.at[p]; t.direct != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		r.Direct = true
		// callers may keep an element of the old list
		g.shared = append(slices.Clip(g.shared), r)
	}
}

// Forget ends one Learn.
func (t *Transport) Forget(p transport.Peer, r transport.Range) {
	g := t.at[p]
	g.mu.Lock()
	defer g.mu.Unlock()
	r.Direct = true
	if i := slices.Index(g.shared, r); i >= 0 {
		g.shared = slices.Delete(slices.Clone(g.shared), i, i+1)
	}
}

// sharedAt is shared memory of the node around an address, nil if there is none. Where there is
// more, the keys are equally good. The caller has the lock.
func (g *target) sharedAt(addr uintptr) *transport.Range {
	for i := range g.shared {
		if r := &g.shared[i]; addr >= r.Lo && addr < r.Hi {
			return r
		}
	}
	return nil
}

var _ transport.Sharer = (*Transport)(nil)
