// SPDX-License-Identifier: BSD-3-Clause

// The node's arena. A process registers an allocation when it is first used: by a data server for other nodes, by any process
// for the local side of its transfers. Memory stays registered until the end, since its pages stay where they are.
package pin

import (
	"errors"
	"sync"

	"golang.org/x/sys/unix"

	"libarmci/internal/log"
	"libarmci/internal/transport"
)

// Memory is what the arena must know of the node.
type Memory interface {
	Inside(addr uintptr) bool                  // is it an arena address at all?
	Extent(addr uintptr) (lo uintptr, n int64) // the live allocation around it; n = 0: none
}

// Arena registers the memory of a node.
type Arena struct {
	node   Memory
	device Device
	cache  *Cache // gives memory back where the limit of pinned memory is reached
	table  Table
	mu     sync.Mutex
	open   []Registration
}

// NewArena makes an arena of which nothing is registered.
func NewArena(node Memory, d Device, cache *Cache) *Arena {
	return &Arena{node: node, device: d, cache: cache}
}

// Here returns the range around a local address: nil if it is not of the arena or cannot be registered.
func (a *Arena) Here(addr uintptr) *transport.Range {
	r := a.table.Find(addr)
	if r == nil && a.node.Inside(addr) {
		if lo, n := a.node.Extent(addr); n > 0 {
			a.register(lo, n)
			r = a.table.Find(addr)
		}
	}
	if r == nil || !r.Direct {
		return nil
	}
	return r
}

// Expose registers memory as far as it is not registered yet, and lists it.
func (a *Arena) Expose(lo uintptr, n int64) []transport.Range {
	a.register(lo, n)
	return a.table.Within(lo, lo+uintptr(n))
}

// register registers memory as far as it is not in the table. What cannot be registered is in the table with Direct false.
func (a *Arena) register(lo uintptr, n int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	lo, hi := Pages(lo, n)
	for _, g := range a.table.gaps(lo, hi) {
		n := int64(g.Hi - g.Lo)
		r, err := a.device.Register(g.Lo, n, true)
		for errors.Is(err, unix.ENOMEM) && a.cache.Yield(n) {
			r, err = a.device.Register(g.Lo, n, true)
		}
		if err != nil {
			log.Infof("memory is sent through buffers: %v", err)
		} else {
			a.open = append(a.open, r)
			g.Direct, g.Key = true, r.Key()
		}
		a.table.Add(g)
	}
}

// Close ends all registrations. Nothing is in use.
func (a *Arena) Close() {
	for _, r := range a.open {
		r.Close()
	}
	a.open = nil
}
