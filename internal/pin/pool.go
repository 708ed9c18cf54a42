// SPDX-License-Identifier: BSD-3-Clause

// Pools of registered buffers of equal size. What is in them is not known here.
package pin

import (
	"fmt"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Pool has buffers 0, 1, 2 ... Their memory is not Go's. A child shares it after a fork, so the device's pages stay ours.
type Pool struct {
	Size   int    // of a buffer
	Key    uint64 // of all
	memory []byte
	reg    Registration
	mu     sync.Mutex
	free   []int32
}

// None is no buffer.
const None = int32(-1)

// LeastBuffers is how many buffers a pool needs where not so much memory may be pinned.
const LeastBuffers = 8

// NewPool makes n buffers, or fewer if the limit of pinned memory says so.
func NewPool(d Device, n, size int) (*Pool, error) {
	for {
		p, err := tryPool(d, n, size)
		if err == nil || n/2 < LeastBuffers {
			return p, err
		}
		n /= 2
	}
}

func tryPool(d Device, n, size int) (*Pool, error) {
	memory, err := unix.Mmap(-1, 0, n*size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("map %d buffers: %w", n, err)
	}
	p := &Pool{Size: size, memory: memory}
	if p.reg, err = d.Register(p.Addr(0), int64(n*size), false); err != nil {
		unix.Munmap(memory)
		return nil, err
	}
	p.Key = p.reg.Key()
	for i := range n {
		p.free = append(p.free, int32(n-1-i))
	}
	return p, nil
}

// Count returns how many buffers there are.
func (p *Pool) Count() int { return len(p.memory) / p.Size }

// Addr returns the address of a buffer.
func (p *Pool) Addr(i int32) uintptr { return uintptr(unsafe.Pointer(&p.memory[int(i)*p.Size])) }

// Bytes returns a buffer.
func (p *Pool) Bytes(i int32) []byte { return p.memory[int(i)*p.Size:][:p.Size:p.Size] }

// Take returns a free buffer, or None.
func (p *Pool) Take() int32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.free)
	if n == 0 {
		return None
	}
	i := p.free[n-1]
	p.free = p.free[:n-1]
	return i
}

// Put makes a buffer free again.
func (p *Pool) Put(i int32) {
	p.mu.Lock()
	p.free = append(p.free, i)
	p.mu.Unlock()
}

// Close ends the pool; there may be none.
func (p *Pool) Close() {
	if p != nil {
		p.reg.Close()
		unix.Munmap(p.memory)
	}
}
