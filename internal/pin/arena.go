// SPDX-License-Identifier: BSD-3-Clause

// The node's arena, registered by this process allocation by allocation as it is used: for others by the data server, for
// the local side of transfers by everybody. Memory stays registered until the end, since its pages stay where they are.
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
	cache  *Cache // makes room where the limit of pinned memory is reached

	local, remote Table // with the keys for this process, and for others
	mu            sync.Mutex
	open          []Registration
}

// NewArena makes one of which nothing is registered.
func NewArena(node Memory, d Device, cache *Cache) *Arena {
	return &Arena{node: node, device: d, cache: cache}
}

// Here returns the range around a local address, with the key for this process: nil if it is not of the arena or cannot be
// registered.
func (a *Arena) Here(addr uintptr) *transport.Range {
	r := a.local.Find(addr)
	if r == nil {
		if !a.node.Inside(addr) {
			return nil
		}
		lo, n := a.node.Extent(addr)
		if n == 0 {
			return nil
		}
		a.register(lo, n)
		r = a.local.Find(addr)
	}
	if r == nil || !r.Direct {
		return nil
	}
	return r
}

// Shared returns the range around a local address that is registered already, with the key for others.
func (a *Arena) Shared(addr uintptr) *transport.Range { return a.remote.Find(addr) }

// Expose registers memory as far as it is not and lists it with the keys for others.
func (a *Arena) Expose(lo uintptr, n int64) []transport.Range {
	a.register(lo, n)
	return a.remote.Within(lo, lo+uintptr(n))
}

// register makes sure that memory is registered, or known to be out of the device's reach.
func (a *Arena) register(lo uintptr, n int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	lo, hi := Pages(lo, n)
	for _, g := range a.local.gaps(lo, hi) {
		n := int64(g.Hi - g.Lo)
		r, err := a.device.Register(g.Lo, n, true)
		for errors.Is(err, unix.ENOMEM) && a.cache.Yield(n) {
			r, err = a.device.Register(g.Lo, n, true)
		}
		local, remote := g, g
		if err != nil {
			log.Infof("memory is sent through buffers: %v", err)
		} else {
			a.open = append(a.open, r)
			local.Direct, remote.Direct = true, true
			local.Key, remote.Key = r.Keys()
		}
		a.remote.Add(remote)
		a.local.Add(local)
	}
}

// Close ends all registrations. Nothing is in use.
func (a *Arena) Close() {
	for _, r := range a.open {
		r.Close()
	}
	a.open = nil
}
