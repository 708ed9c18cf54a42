// SPDX-License-Identifier: BSD-3-Clause

// Private memory that devices of other nodes reach. An address outside the arena names memory of
// one process only where that process is alone on its node, so only such a process shares. It gets
// a key for its memory and passes it on by its own means. A peer's device uses the key from
// AddSharedRange to RemoveSharedRange. A peer that does not know the key sends frames; it asks for
// none.
package internode

import (
	"slices"

	"libarmci/internal/transport"
)

// Share registers private memory [lo, hi) of this process for all origins. The caller calls release
// when no origin uses the key any more.
func (t *Transport) Share(lo, hi uintptr) (key uint64, release func(), ok bool) {
	arena, n := t.opt.Node.ArenaRange()
	if t.direct == nil || t.server == nil || len(t.opt.Nodes[t.opt.MyNode]) != 1 || lo >= hi ||
		lo < arena+uintptr(n) && hi > arena {
		return 0, nil, false
	}
	return t.direct.Share(lo, hi)
}

// AddSharedRange has the device use a key for memory of a peer. It locks the target's mu.
func (t *Transport) AddSharedRange(p transport.Peer, r transport.Range) {
	if g := t.routes.byPeer[p]; t.direct != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		r.Direct = true
		// copied: findShared's callers may keep an element of the old list
		g.tx.shared = append(slices.Clip(g.tx.shared), r)
	}
}

// RemoveSharedRange undoes one AddSharedRange. It locks the target's mu.
func (t *Transport) RemoveSharedRange(p transport.Peer, r transport.Range) {
	g := t.routes.byPeer[p]
	g.mu.Lock()
	defer g.mu.Unlock()
	r.Direct = true
	if i := slices.Index(g.tx.shared, r); i >= 0 {
		g.tx.shared = slices.Delete(slices.Clone(g.tx.shared), i, i+1)
	}
}

// findShared returns shared memory of the node around an address, or nil. Where there are several,
// their keys are equally good. The caller holds the target's mu.
func (s *sendState) findShared(addr uintptr) *transport.Range {
	for i := range s.shared {
		if r := &s.shared[i]; addr >= r.Lo && addr < r.Hi {
			return r
		}
	}
	return nil
}

var _ transport.Sharer = (*Transport)(nil)
