// SPDX-License-Identifier: BSD-3-Clause

// Registered buffers: what is sent and received, and data whose place is not registered. How many a process has, and how
// large they are, depends on the memory it may pin for them, not on the size of the job. What is in them is not known here.
package rdma

import (
	"fmt"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"

	"libarmci/internal/rdma/verbs"
)

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

// Shares of the memory for buffers.
const (
	clientShare = 1 // for answers, and for messages
	comingShare = 4 // for what all clients of a node send to its server
	answerShare = 1
	claimShare  = 1 // for buffers that clients claim, which only who forces that protocol pays
	allShares   = 2*clientShare + comingShare + answerShare + claimShare
)

// Sizes of a buffer, and so of a message: the larger, the fewer messages a transfer takes, and the fewer buffers there are.
const (
	leastBytes   = 16 << 10
	mostBytes    = 64 << 10
	enough       = 16 // buffers of a share, before they are made larger
	leastBuffers = 8  // of a pool, which shrinks where not so much memory may be pinned
)

// bufferBytes is the size of the buffers that so much memory is divided into.
func bufferBytes(memory int64) int {
	size := mostBytes
	for size > leastBytes && memory/allShares/int64(size) < enough {
		size /= 2
	}
	return size
}

// buffers is how many of them so many shares are.
func (t *Transport) buffers(shares int) int { return shares * int(t.opt.Buffer/allShares) / t.size }

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
