// SPDX-License-Identifier: BSD-3-Clause

// Keys of a node's memory: what is known of it (pin.Table), and asking for what is not.
package internode

import (
	"encoding/binary"

	"libarmci/internal/transport"
)

// key is the registered memory of the node around an address. Where this process does not know it yet, it asks, and does
// meanwhile, once, while the question travels. The caller has the lock.
func (g *target) key(addr uintptr, meanwhile func()) (*transport.Range, error) {
	r := g.keys.Find(addr)
	if r == nil {
		list, err := g.askRanges(addr, meanwhile)
		if err != nil {
			return nil, err
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

// askRanges asks for the ranges of an allocation, or of the node's scratch memory if addr is 0. The caller has the lock.
func (g *target) askRanges(addr uintptr, meanwhile func()) ([]transport.Range, error) {
	r, err := g.ask(header{kind: kindRanges, rank: uint32(g.server), addr: uint64(addr)}, kindReply)
	if err != nil {
		return nil, err
	}
	if meanwhile != nil {
		meanwhile()
	}
	found, err := r.wait()
	return rangesFrom(found.body), err
}

// Ranges in frames: lo, hi, key, u64 1 if direct.
const rangeBytes = 32

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
		list = append(list, transport.Range{Lo: uintptr(le.Uint64(b)), Hi: uintptr(le.Uint64(b[8:])), Key: le.Uint64(b[16:]),
			Direct: le.Uint64(b[24:]) != 0})
	}
	return list
}
