// SPDX-License-Identifier: BSD-3-Clause

// An open device with what one role of the process (client, server, connecting) needs of it; and pools of registered
// buffers.
package rdma

import (
	"fmt"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"libarmci/internal/rdma/verbs"
)

// hca is an open device. Roles share context and domain, and have queues of their own.
type hca struct {
	context *verbs.Context
	domain  *verbs.Domain
	way     *way
	limits  verbs.Limits
	state   verbs.PortState
	shared  bool // context and domain are another one's
	channel *verbs.Channel
	cq      *verbs.Completions
}

// openHCA opens a device with a completion queue of n entries.
func openHCA(w *way, n int) (*hca, error) {
	h := &hca{way: w}
	var err error
	if h.context, err = verbs.Open(w.device); err != nil {
		return nil, err
	}
	if h.limits, err = h.context.Limits(); err == nil {
		h.state, err = h.context.Port(uint8(w.number))
	}
	if err == nil {
		h.domain, err = h.context.NewDomain()
	}
	if err == nil {
		h.domain.Atomics = h.limits.Atomic != 0
	}
	if err == nil {
		err = h.queues(n)
	}
	if err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

// role is the same device with other queues.
func (h *hca) role(n int) (*hca, error) {
	r := *h
	r.shared, r.channel, r.cq = true, nil, nil
	if err := r.queues(n); err != nil {
		r.close()
		return nil, err
	}
	return &r, nil
}

func (h *hca) queues(n int) (err error) {
	if n > h.limits.MaxCQE {
		return fmt.Errorf("a completion queue of %d entries is needed, %s has %d", n, h.way.device, h.limits.MaxCQE)
	}
	if h.channel, err = h.context.NewChannel(); err != nil {
		return err
	}
	h.cq, err = h.context.NewCompletions(n, h.channel)
	return err
}

func (h *hca) close() {
	if h.cq != nil {
		h.channel.Take()
		h.cq.Close()
	}
	if h.channel != nil {
		h.channel.Close()
	}
	if h.shared {
		return
	}
	if h.domain != nil {
		h.domain.Close()
	}
	if h.context != nil {
		h.context.Close()
	}
}

// path is the way from here to an endpoint.
func (h *hca) path(to *endpoint) verbs.Path {
	p := verbs.Path{Port: uint8(h.way.number), GID: -1, ToLID: to.lid, ToGID: to.gid}
	if h.way.gid != nil {
		p.GID = h.way.gid.index
	}
	return p
}

// pool is registered buffers of equal size. The memory is not Go's, and a fork shares it.
type pool struct {
	size   int
	memory []byte
	region *verbs.Region
	mu     sync.Mutex
	free   []int32
}

// none is no buffer.
const none = int32(-1)

// bufferedShare: a quarter of the buffers' memory each for what a client receives and sends, and a server.
const bufferedShare = 4

// leastBuffers is what a pool may shrink to where not so much memory may be pinned.
const leastBuffers = 16

// newPool makes n buffers, or fewer if the limit of pinned memory says so.
func newPool(d *verbs.Domain, n, size int) (*pool, error) {
	for {
		p, err := tryPool(d, n, size)
		if err == nil || n/2 < leastBuffers {
			return p, err
		}
		n /= 2
	}
}

func tryPool(d *verbs.Domain, n, size int) (*pool, error) {
	memory, err := unix.Mmap(-1, 0, n*size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("map %d buffers: %w", n, err)
	}
	p := &pool{size: size, memory: memory}
	if p.region, err = d.Register(p.addr(0), int64(n*size), false); err != nil {
		unix.Munmap(memory)
		return nil, err
	}
	for i := range n {
		p.free = append(p.free, int32(n-1-i))
	}
	return p, nil
}

func (p *pool) count() int { return len(p.memory) / p.size }

func (p *pool) addr(i int32) uintptr { return uintptr(unsafe.Pointer(&p.memory[int(i)*p.size])) }

func (p *pool) bytes(i int32) []byte { return p.memory[int(i)*p.size:][:p.size:p.size] }

// data is the first n bytes from an offset on.
func (p *pool) data(i int32, off, n int) verbs.Data {
	return verbs.Data{Addr: uint64(p.addr(i)) + uint64(off), Bytes: uint32(n), Key: p.region.LKey}
}

// take gives a free buffer, or none.
func (p *pool) take() int32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.free)
	if n == 0 {
		return none
	}
	i := p.free[n-1]
	p.free = p.free[:n-1]
	return i
}

func (p *pool) put(i int32) {
	p.mu.Lock()
	p.free = append(p.free, i)
	p.mu.Unlock()
}

func (p *pool) any() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.free) > 0
}

func (p *pool) close() {
	p.region.Close()
	unix.Munmap(p.memory)
}
