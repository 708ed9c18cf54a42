// SPDX-License-Identifier: BSD-3-Clause

// Keys of a node's memory: what is known of it (pin.Table), asking for what is not, and what the C
// fast path may touch: memory whose key is known, while nothing that was stored by frames is on its
// way there. The fast path itself is the fabric's (transport/fast.h). Core calls AddRange,
// DropRanges, WaitRequest and TestRequest only if Info says that there is one.
package internode

import (
	"encoding/binary"
	"fmt"

	"libarmci/internal/transport"
)

// key is the registered memory of the node around an address. Where this process does not know it
// yet, it asks, and does meanwhile, once, while the question travels. The caller has the lock.
func (g *target) key(addr uintptr, meanwhile func()) (*transport.Range, error) {
	r := g.keys.Find(addr)
	if r == nil {
		r = g.sharedAt(addr)
	}
	if r == nil && g.private.Find(addr) != nil {
		return nil, transport.ErrNotNative
	}
	if r == nil {
		list, err := g.askRanges(addr, meanwhile)
		if err != nil {
			return nil, err
		}
		if len(list) == 1 && list[0].Key == privateKey && !list[0].Direct {
			g.private.Add(list[0])
			return nil, transport.ErrNotNative
		}
		g.keys.Add(list...)
		if r = g.keys.Find(addr); r == nil {
			return nil, transport.ErrBadAddr
		}
	}
	if !r.Direct {
		return nil, transport.ErrNotNative
	}
	return r, nil
}

// askRanges asks for the ranges of an allocation, or for scratchRanges or counterRanges. The caller
// has the lock.
func (g *target) askRanges(addr uintptr, meanwhile func()) ([]transport.Range, error) {
	r, err := g.ask(header{kind: kindRanges, rank: uint32(g.server), addr: uint64(addr)},
		kindReply)
	if err != nil {
		return nil, err
	}
	if meanwhile != nil {
		meanwhile()
	}
	found, err := r.wait()
	return rangesFrom(found.body), err
}

// Ranges in frames: lo, hi, key, u64 1 if direct. With privateKey, which is not direct, it is
// addresses outside the node's arena: memory there is private to one rank or another, and reached
// by frames.
const (
	rangeBytes = 32
	privateKey = 1
)

// privateRange is the addresses outside the arena around one of them; Hi = 0: it is of the arena.
func (t *Transport) privateRange(addr uintptr) (r transport.Range) {
	if lo, n := t.opt.Node.Arena(); addr < lo {
		r.Hi = lo
	} else if hi := lo + uintptr(n); addr >= hi {
		r.Lo, r.Hi = hi, maxAddr
	}
	r.Key = privateKey
	return r
}

func appendRange(b []byte, r *transport.Range) []byte {
	le, direct := binary.LittleEndian, uint64(0)
	if r.Direct {
		direct = 1
	}
	b = le.AppendUint64(le.AppendUint64(b, uint64(r.Lo)), uint64(r.Hi))
	return le.AppendUint64(le.AppendUint64(b, r.Key), direct)
}

func rangesFrom(b []byte) (list []transport.Range) {
	le := binary.LittleEndian
	for ; len(b) >= rangeBytes; b = b[rangeBytes:] {
		list = append(list, transport.Range{Lo: uintptr(le.Uint64(b)),
			Hi: uintptr(le.Uint64(b[8:])), Key: le.Uint64(b[16:]),
			Direct: le.Uint64(b[24:]) != 0})
	}
	return list
}

// AddRange caches the key of memory [lo, hi) of a peer, around an address, for the fast path.
func (t *Transport) AddRange(p transport.Peer, addr, lo, hi uintptr) {
	if t.fast.KnowsRange(t.peers[p].Rank, addr) {
		return
	}
	g, err := t.target(p)
	if err != nil || g.lock() != nil {
		return
	}
	defer g.mu.Unlock()
	if k := g.keys.Find(addr); k != nil && k.Direct &&
		g.reached(max(g.stored, g.counters.sent)) {
		r := transport.Range{Lo: max(lo, k.Lo), Hi: min(hi, k.Hi), Key: k.Key, Direct: true}
		whole := transport.Span{Lo: lo, Hi: hi}
		t.fast.CacheRange(g.ep, t.peers[p].Rank, addr, r, whole, g.serves)
		g.learnt = true
	}
}

// AddSpan lets C accumulate to memory [lo, hi) of a peer, around an address, unless devices
// accumulate; and ask the peer's data server for what else it can.
func (t *Transport) AddSpan(p transport.Peer, addr, lo, hi uintptr) {
	g, err := t.target(p)
	if err != nil {
		return
	}
	if !t.opt.DeviceAcc {
		t.fast.CacheSpan(t.peers[p].Rank, addr, lo, hi)
	}
	g.tellPeer(p)
}

// LetSend lets C send two-sided messages to a peer, unless that does not keep up.
func (t *Transport) LetSend(p transport.Peer) (behind bool) {
	if g, err := t.target(p); err == nil {
		g.tellPeer(p)
	}
	return t.fast.Behind(t.peers[p].Rank)
}

// Delivered lets C send such a peer messages again.
func (t *Transport) Delivered(p transport.Peer) { t.fast.Delivered(t.peers[p].Rank) }

// DropRanges drops what the fast path knows of a peer's memory.
func (t *Transport) DropRanges(p transport.Peer) {
	t.fast.DropRank(t.peers[p].Rank)
}

// tellCosts tells C what the ways of rows cost, when that is certain: until then such transfers
// enter Go, which measures again.
func (t *Transport) tellCosts(c *costs, get bool) {
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

// dropFast closes the fast path to a node: something is stored there by frames. The caller has the
// lock.
func (g *target) dropFast() {
	if g.learnt {
		g.t.fast.DropEndpoint(g.ep)
		g.learnt = false
	}
}

// WaitRequest completes a request of C's.
func (t *Transport) WaitRequest(number int32) error {
	if !t.fast.RequestOpen(number) {
		return nil
	}
	t.pollerOf(t.fast.FastSource()).await(func() bool { return t.fast.RequestOver(number) })
	return t.requestError(number)
}

// TestRequest polls once, and completes a request if that is over.
func (t *Transport) TestRequest(number int32) (over bool, err error) {
	if !t.fast.RequestOver(number) {
		t.pollerOf(t.fast.FastSource()).pollOnce()
	}
	if !t.fast.RequestOver(number) {
		return false, nil
	}
	return true, t.requestError(number)
}

// requestError takes the error of a request that is over.
func (t *Transport) requestError(number int32) error {
	rank, failed := t.fast.RequestFailure(number)
	if !failed {
		return nil
	}
	err := transport.ErrPeerDead
	if g, _ := t.target(transport.Peer(rank)); g != nil && g.lost() != nil {
		err = g.lost()
	}
	return fmt.Errorf("a transfer of the fast path to or from rank %d: %w", rank, err)
}

var _ transport.FastPath = (*Transport)(nil)
