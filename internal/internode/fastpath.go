// SPDX-License-Identifier: BSD-3-Clause

// What the C fast path may touch: memory that this process has been told of, while nothing that was stored by frames is on its
// way there. The fast path itself is the fabric's (transport/fast.h). Core calls these only if Info says that there is one.
package internode

import (
	"fmt"

	"libarmci/internal/transport"
)

// AddRange caches the key of memory [lo, hi) of a peer, around an address, for the fast path.
func (t *Transport) AddRange(p transport.Peer, addr, lo, hi uintptr) {
	g, err := t.target(p)
	if err != nil || g.lock() != nil {
		return
	}
	defer g.mu.Unlock()
	if k := g.keys.Find(addr); k != nil && k.Direct && g.reached(g.stored) {
		r := transport.Range{Lo: max(lo, k.Lo), Hi: min(hi, k.Hi), Key: k.Key, Direct: true}
		t.fast.CacheRange(g.ep, t.peers[p].Rank, addr, r)
		g.learnt = true
	}
}

// DropRanges drops what the fast path knows of a peer's memory.
func (t *Transport) DropRanges(p transport.Peer) {
	t.fast.DropRank(t.peers[p].Rank)
}

// dropFast closes the fast path to a node: something is stored there by frames. The caller has the lock.
func (g *target) dropFast() {
	if g.learnt {
		g.t.fast.DropEndpoint(g.ep)
		g.learnt = false
	}
}

// WaitGet waits for a get that C has posted and left to Go.
func (t *Transport) WaitGet(p transport.Peer) error {
	g, err := t.target(p)
	if err != nil {
		return err
	}
	if err := g.await(func() bool { return !t.fast.GetOpen() }); err != nil {
		return err
	}
	if !t.fast.GetDone() {
		return fmt.Errorf("a get of the fast path: %w", transport.ErrPeerDead)
	}
	return nil
}

var _ transport.FastPath = (*Transport)(nil)
