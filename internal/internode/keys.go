// SPDX-License-Identifier: BSD-3-Clause

// Keys of a node's memory: what is known of it (pin.Table), and asking for what is not.
package internode

import "libarmci/internal/transport"

// key is the registered memory of the node around an address. Where this process does not know it yet, it asks, and does
// meanwhile, once, while the question travels. The caller has the lock.
func (g *target) key(addr uintptr, meanwhile func()) (*transport.Range, error) {
	r := g.keys.Find(addr)
	if r == nil {
		if err := g.fetchKeys(header{kind: kindRanges, addr: uint64(addr)}, meanwhile); err != nil {
			return nil, err
		}
		if r = g.keys.Find(addr); r == nil {
			return nil, transport.ErrBadAddr
		}
	}
	if !r.Direct {
		return nil, transport.ErrNotNative
	}
	return r, nil
}

func (g *target) fetchKeys(h header, meanwhile func()) error {
	list, err := g.askRanges(h, meanwhile)
	g.keys.Add(list...)
	return err
}

// askRanges asks for ranges and waits for them. The caller has the lock.
func (g *target) askRanges(h header, meanwhile func()) ([]transport.Range, error) {
	h.rank = uint32(g.server)
	r, err := g.askLocked(h, kindRangeList)
	if err != nil {
		return nil, err
	}
	if meanwhile != nil {
		meanwhile()
	}
	err = r.wait()
	list := rangesFrom(r.body)
	g.release(r)
	return list, err
}
