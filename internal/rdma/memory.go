// SPDX-License-Identifier: BSD-3-Clause

// The arena, registered with this process's domain piece by piece as it is used: for others by the data server, for the
// local side of transfers by everybody. A piece stays registered until the end, since its pages stay where they are.
package rdma

import (
	"errors"
	"sync"

	"golang.org/x/sys/unix"

	"libarmci/internal/log"
	"libarmci/internal/rdma/pin"
	"libarmci/internal/rdma/verbs"
	"libarmci/internal/transport"
)

// registrar registers memory: a protection domain.
type registrar interface {
	Register(addr uintptr, nbytes int64, remote bool) (*verbs.Region, error)
	RegisterLocks(addr uintptr, nbytes int64) (*verbs.Region, error)
}

type arena struct {
	node    transport.Node
	domain  registrar
	pins    *pin.Cache // what gives way
	local   cover      // by local key
	remote  cover      // by remote key
	mu      sync.Mutex
	regions []*verbs.Region
	guards  *piece // accumulate locks, if somebody has asked for them
}

// here is the registered piece around a local address, nil if it is not of the arena or cannot be registered.
func (a *arena) here(addr uintptr) *piece {
	p := a.local.find(addr)
	if p == nil {
		if !a.node.Inside(addr) {
			return nil
		}
		lo, n := a.node.Extent(addr)
		if n == 0 {
			return nil
		}
		a.register(lo, n)
		p = a.local.find(addr)
	}
	if p == nil || !p.direct {
		return nil
	}
	return p
}

// register makes sure that memory is registered, or known to be out of reach for the device.
func (a *arena) register(lo uintptr, n int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	lo, hi := pages(lo, n)
	for _, g := range a.local.gaps(lo, hi) {
		n := int64(g.hi - g.lo)
		r, err := a.domain.Register(g.lo, n, true)
		for errors.Is(err, unix.ENOMEM) && a.pins.Yield(n) {
			r, err = a.domain.Register(g.lo, n, true)
		}
		if err != nil {
			log.Infof("memory is sent through buffers: %v", err)
			a.remote.add(g)
			a.local.add(g)
			continue
		}
		a.regions = append(a.regions, r)
		a.remote.add(piece{g.lo, g.hi, r.RKey, true})
		a.local.add(piece{g.lo, g.hi, r.LKey, true})
	}
}

// locks are the node's accumulate locks for devices; nil if there are none.
func (a *arena) locks() *piece {
	at, n := a.node.DeviceLocks()
	if n == 0 {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.guards == nil {
		r, err := a.domain.RegisterLocks(at, int64(n)*lockBytes)
		if err != nil {
			log.Infof("accumulates are left to the server: %v", err)
			return nil
		}
		a.regions = append(a.regions, r)
		a.guards = &piece{at, at + uintptr(n)*lockBytes, r.RKey, true}
	}
	return a.guards
}

func (a *arena) close() {
	for _, r := range a.regions {
		r.Close()
	}
	a.regions = nil
}
