// SPDX-License-Identifier: BSD-3-Clause

// Keys of a node's memory: the tables (pin.Table), requests for what they lack, and what the C fast
// path may access. That is memory with a known key, while no store by frames is on its way there.
// The fast path itself is the fabric's (transport/fast.h). Core calls AddRange, DropRanges,
// WaitRequest and TestRequest only if Info says that there is one.
package internode

import (
	"encoding/binary"
	"fmt"

	"libarmci/internal/transport"
)

// lookupKey returns the registered memory of the node around an address. If it is not known, the
// server is asked; meanwhile is called once while that request travels, unless it is nil. The
// caller holds mu, for the whole round trip.
func (g *target) lookupKey(addr uintptr, meanwhile func()) (*transport.Range, error) {
	r := g.keys.registered.Find(addr)
	if r == nil {
		r = g.tx.findShared(addr)
	}
	if r == nil && g.keys.private.Find(addr) != nil {
		return nil, transport.ErrNotNative
	}
	if r == nil {
		list, err := g.askRanges(addr, meanwhile)
		if err != nil {
			return nil, err
		}
		if len(list) == 1 && list[0].Key == privateKey && !list[0].Direct {
			g.keys.private.AddRanges(list[0])
			return nil, transport.ErrNotNative
		}
		g.keys.registered.AddRanges(list...)
		if r = g.keys.registered.Find(addr); r == nil {
			return nil, transport.ErrBadAddr
		}
	}
	if !r.Direct {
		return nil, transport.ErrNotNative
	}
	return r, nil
}

// askRanges asks for the ranges of an allocation, or for scratchRangesID or counterRangesID, and
// polls until the answer has come. The caller holds mu.
func (g *target) askRanges(addr uintptr, meanwhile func()) ([]transport.Range, error) {
	r, err := g.sendRequest(header{kind: kindRanges, rank: uint32(g.serverRank),
		addr: uint64(addr)},
		kindReply)
	if err != nil {
		return nil, err
	}
	if meanwhile != nil {
		meanwhile()
	}
	g.awaitLocked(r.done.Load) // a loss completes r, too
	found, err := r.wait()
	return rangesFrom(found.body), err
}

// Ranges in frames: lo, hi, key, u64 1 if direct. A range that is not direct and has privateKey is
// the addresses outside the node's arena: memory there is private to one rank or another, and only
// frames reach it.
const (
	rangeBytes = 32
	privateKey = 1
)

// rangeOutsideArena returns the addresses outside the arena around one of them. Hi = 0: the address
// is in the arena.
func (o *origin) rangeOutsideArena(addr uintptr) (r transport.Range) {
	if lo, n := o.server.t.opt.Node.ArenaRange(); addr < lo {
		r.Hi = lo
	} else if hi := lo + uintptr(n); addr >= hi {
		r.Lo, r.Hi = hi, maxAddr
	}
	r.Key = privateKey
	return r
}

// appendRange encodes a range behind b.
func appendRange(b []byte, r *transport.Range) []byte {
	le, direct := binary.LittleEndian, uint64(0)
	if r.Direct {
		direct = 1
	}
	b = le.AppendUint64(le.AppendUint64(b, uint64(r.Lo)), uint64(r.Hi))
	return le.AppendUint64(le.AppendUint64(b, r.Key), direct)
}

// rangesFrom decodes what appendRange has encoded.
func rangesFrom(b []byte) (list []transport.Range) {
	le := binary.LittleEndian
	for ; len(b) >= rangeBytes; b = b[rangeBytes:] {
		list = append(list, transport.Range{Lo: uintptr(le.Uint64(b)),
			Hi: uintptr(le.Uint64(b[8:])), Key: le.Uint64(b[16:]),
			Direct: le.Uint64(b[24:]) != 0})
	}
	return list
}

// AddRange gives the C fast path the key of memory [lo, hi) of a peer, around an address. It does
// so only if the key is known and no store by frames is on its way. It locks the target's mu.
func (t *Transport) AddRange(p transport.Peer, addr, lo, hi uintptr) {
	if t.fast.KnowsRange(t.routes.peers[p].Rank, addr) {
		return
	}
	g, err := t.targetOf(p)
	if err != nil || g.lockConnected() != nil {
		return
	}
	defer g.mu.Unlock()
	if k := g.keys.registered.Find(addr); k != nil && k.Direct &&
		g.hasHandled(max(g.tx.lastStore, g.tx.counters.lastNotify)) {
		r := transport.Range{Lo: max(lo, k.Lo), Hi: min(hi, k.Hi), Key: k.Key, Direct: true}
		whole := transport.Span{Lo: lo, Hi: hi}
		t.fast.CacheRange(g.tx.ep, t.routes.peers[p].Rank, addr, r, whole,
			g.progress.server)
		g.tx.fastPathOpen = true
	}
}

// AddSpan lets C accumulate to memory [lo, hi) of a peer, around an address, unless devices
// accumulate. C may then ask the peer's data server for its other operations, too.
func (t *Transport) AddSpan(p transport.Peer, addr, lo, hi uintptr) {
	g, err := t.targetOf(p)
	if err != nil {
		return
	}
	if !t.opt.DeviceAcc {
		t.fast.CacheSpan(t.routes.peers[p].Rank, addr, lo, hi)
	}
	g.openFastMessages(p)
}

// LetSend lets C send two-sided messages to a peer. It returns true if the peer does not keep up.
func (t *Transport) LetSend(p transport.Peer) (behind bool) {
	if g, err := t.targetOf(p); err == nil {
		g.openFastMessages(p)
	}
	return t.fast.HasBacklog(t.routes.peers[p].Rank)
}

// Delivered lets C send messages again to a peer that did not keep up.
func (t *Transport) Delivered(p transport.Peer) { t.fast.Delivered(t.routes.peers[p].Rank) }

// DropRanges takes the keys of a peer's memory from the fast path.
func (t *Transport) DropRanges(p transport.Peer) {
	t.fast.DropRank(t.routes.peers[p].Rank)
}

// export gives C the costs of the protocols, once they are settled: until then such transfers
// enter Go, which measures again.
func (c *costs) export(t *Transport, get bool) {
	d := c.direction(get)
	if t.fast == nil || t.info.Bytewise || d.basis != settled {
		return
	}
	w := transport.WayCosts{Device: d.fast.export(), Messages: d.host.export(),
		TargetSide: d.push.export(), Wake: c.wake.start}
	if !get {
		w.TargetSide = w.Messages
	}
	t.fast.SetCosts(get, &w)
}

// closeFastPath takes the keys of a node from the fast path, because a frame stores there. The
// caller holds mu.
func (g *target) closeFastPath() {
	if g.tx.fastPathOpen {
		g.t.fast.DropEndpoint(g.tx.ep)
		g.tx.fastPathOpen = false
	}
}

// WaitRequest waits for a request of C's.
func (t *Transport) WaitRequest(number int32) error {
	if !t.fast.RequestOpen(number) {
		return nil
	}
	t.pollers.pollerOf(t.fast.FastSource()).pollUntil(
		func() bool { return t.fast.RequestEnded(number) })
	return requestError(t, number)
}

// TestRequest polls once, and ends a request of C's if that is complete.
func (t *Transport) TestRequest(number int32) (over bool, err error) {
	if !t.fast.RequestEnded(number) {
		t.pollers.pollerOf(t.fast.FastSource()).pollOnce()
	}
	if !t.fast.RequestEnded(number) {
		return false, nil
	}
	return true, requestError(t, number)
}

// requestError returns the error of a complete request of C's, which C then forgets.
func requestError(t *Transport, number int32) error {
	rank, failed := t.fast.RequestFailure(number)
	if !failed {
		return nil
	}
	err := transport.ErrPeerDead
	if g, _ := t.targetOf(transport.Peer(rank)); g != nil && g.loss.err() != nil {
		err = g.loss.err()
	}
	return fmt.Errorf("a transfer of the fast path to or from rank %d: %w", rank, err)
}

var _ transport.FastPath = (*Transport)(nil)
