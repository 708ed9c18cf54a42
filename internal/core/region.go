// SPDX-License-Identifier: BSD-3-Clause

// Allocation of remotely accessible memory. Each rank takes memory from its own slice of the node's arena; the ranks
// of the group tell each other where, and that all of them succeeded, or none has.
package core

import (
	"encoding/binary"
	"fmt"
	"sync"

	"libarmci/internal/transport"
)

// regions knows what this process has allocated: base address -> what for.
type regions struct {
	mu   sync.Mutex
	live map[uintptr]region
}

type region struct {
	nbytes int64
	group  int // id of the group it was allocated on, or noGroup
}

const noGroup = -1

func (t *regions) init() { t.live = map[uintptr]region{} }

func (t *regions) add(addr uintptr, g region) {
	t.mu.Lock()
	t.live[addr] = g
	t.mu.Unlock()
}

// remove takes an allocation of the right group off the books.
func (t *regions) remove(addr uintptr, group int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	g, ok := t.live[addr]
	if !ok {
		return argErr(CodeAddress, "ptr", "%#x is not the start of an allocation of this rank", addr)
	}
	if g.group != group {
		return argErr(CodeArgument, "ptr", "%#x was allocated on another group or by another function", addr)
	}
	delete(t.live, addr)
	return nil
}

// offer is what a rank tells the others of its group while they allocate.
type offer struct {
	addr   uintptr
	need   int64 // bytes it must reserve anew
	failed bool
}

const offerBytes = 24

func (o offer) encode() []byte {
	b := make([]byte, offerBytes)
	binary.LittleEndian.PutUint64(b, uint64(o.addr))
	binary.LittleEndian.PutUint64(b[8:], uint64(o.need))
	if o.failed {
		b[16] = 1
	}
	return b
}

// swap shows my offer to the group; the sum of needs, how many failed, and all addresses come back.
func swapOffers(g *Group, mine offer, addrs []uintptr) (need int64, failed int) {
	all := g.team.Allgather(mine.encode())
	for i := range addrs {
		b := all[i*offerBytes:]
		addrs[i] = uintptr(binary.LittleEndian.Uint64(b))
		need += int64(binary.LittleEndian.Uint64(b[8:]))
		failed += int(b[16])
	}
	return need, failed
}

// Malloc allocates nbytes on every member of a group (each its own size, 0 allowed) and returns all base addresses by
// group rank, 0 where nothing was asked for. Collective over the group; on an error no member keeps anything.
func (r *Runtime) Malloc(g *Group, nbytes int64) ([]uintptr, error) {
	if err := g.member(); err != nil {
		return nil, err
	}
	addrs := make([]uintptr, g.Size())
	mine := offer{failed: nbytes < 0}
	if nbytes > 0 {
		var ok bool
		if mine.addr, ok = r.Node.Reuse(nbytes); !ok {
			mine.need = nbytes
		} else if r.Node.Publish(mine.addr, nbytes) != nil {
			mine.failed = true
		}
	}
	need, failed := swapOffers(g, mine, addrs)
	var err error
	if need > 0 && failed == 0 {
		failed, err = r.reserve(g, &mine, nbytes, need, addrs)
	}
	if failed > 0 {
		r.unreserve(mine.addr)
		return nil, mallocError(g, nbytes, failed, err)
	}
	if mine.addr != 0 {
		r.regions.add(mine.addr, region{nbytes, g.ID})
	}
	return addrs, nil
}

// reserve gets new memory for those who need it: first all agree that there is room for all of it.
func (r *Runtime) reserve(g *Group, mine *offer, nbytes, total int64, addrs []uintptr) (failed int, err error) {
	err = r.Node.Room(total)
	if _, failed = swapOffers(g, offer{failed: err != nil}, addrs); failed > 0 {
		return failed, err
	}
	if mine.need > 0 {
		if mine.addr, err = r.Node.Grow(nbytes); err == nil {
			err = r.Node.Publish(mine.addr, nbytes)
		}
		mine.failed = err != nil
	}
	_, failed = swapOffers(g, *mine, addrs)
	return failed, err
}

func (r *Runtime) unreserve(addr uintptr) {
	if addr != 0 {
		r.Node.Withdraw(addr)
		r.Node.Return(addr)
	}
}

func mallocError(g *Group, nbytes int64, failed int, err error) error {
	switch {
	case nbytes < 0:
		return argErr(CodeBytes, "bytes", "%d is negative", nbytes)
	case err != nil:
		return argErr(CodeInternal, "bytes", "%d bytes cannot be allocated: %v", nbytes, err)
	default:
		return argErr(CodeInternal, "bytes", "%d of %d ranks could not allocate: nothing was allocated", failed, g.Size())
	}
}

// Free ends an allocation; addr is the caller's own base address, 0 if it has none. Collective over the group; all
// earlier operations of the members are complete before any memory is given back.
func (r *Runtime) Free(g *Group, addr uintptr) error {
	if err := g.member(); err != nil {
		return err
	}
	r.FlushAggregates()
	r.WaitAll()
	r.AllFence()
	g.team.Barrier()
	if addr == 0 {
		return nil
	}
	if err := r.regions.remove(addr, g.ID); err != nil {
		return err
	}
	r.unreserve(addr)
	return nil
}

// MallocLocal allocates memory on this rank alone. It can serve as the local side of any transfer.
func (r *Runtime) MallocLocal(nbytes int64) (uintptr, error) {
	if nbytes <= 0 {
		return 0, argErr(CodeBytes, "bytes", "%d is not positive", nbytes)
	}
	addr, ok := r.Node.Reuse(nbytes)
	if !ok {
		err := r.Node.Room(nbytes)
		if err == nil {
			addr, err = r.Node.Grow(nbytes)
		}
		if err != nil {
			return 0, argErr(CodeInternal, "bytes", "%d bytes cannot be allocated: %v", nbytes, err)
		}
	}
	if err := r.Node.Publish(addr, nbytes); err != nil {
		r.Node.Return(addr)
		return 0, argErr(CodeInternal, "bytes", "%v", err)
	}
	r.regions.add(addr, region{nbytes, noGroup})
	return addr, nil
}

// FreeLocal ends such an allocation.
func (r *Runtime) FreeLocal(addr uintptr) error {
	if addr == 0 {
		return nil
	}
	if err := r.regions.remove(addr, noGroup); err != nil {
		return err
	}
	r.unreserve(addr)
	return nil
}

// Summary is one line for ARMCI_VERBOSE and armci_info.
func (r *Runtime) Summary() string {
	return fmt.Sprintf("%d ranks on %d node(s) (%s), started by %s, transport %s", r.N, len(r.Topo.Nodes), r.Topo,
		r.Job.Kind(), r.transports[0].Info().Name)
}

// Transports lists the names of those in use.
func (r *Runtime) Transports() []transport.Info {
	infos := make([]transport.Info, len(r.transports))
	for i, t := range r.transports {
		infos[i] = t.Info()
	}
	return infos
}
