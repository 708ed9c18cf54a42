// SPDX-License-Identifier: BSD-3-Clause

// Stand-ins for the arguments of a data server: Memory is a node's own transport, whose operations
// are complete at return, and View is a node of some of a Cluster's ranks.
package transporttest

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// Memory moves data, accumulates, updates and does read-modify-writes in memory of this process. It
// has no other operations.
type Memory struct {
	transport.Transport
	moved      atomic.Int64 // bytes by Put and Get
	mu         sync.Mutex
	once       sync.Once
	lockMemory []byte
}

const lockLines = 64 // of 64 bytes: a page

// lockPage are for accumulates, also those of devices: a page of its own.
func (m *Memory) lockPage() unsafe.Pointer {
	m.once.Do(func() { m.lockMemory = make([]byte, 2*64*lockLines) })
	at := unsafe.Pointer(&m.lockMemory[0])
	return unsafe.Add(at, -uintptr(at)&(64*lockLines-1))
}

// stripes are the accumulate locks.
func (m *Memory) stripes() kernel.Stripes {
	return kernel.Stripes{Word: m.lockPage(), Mask: lockLines - 1, PitchWords: 16, Owner: 1,
		Device: true}
}

// Put copies local to remote.
func (m *Memory) Put(_ transport.Peer, x *transport.Xfer) error { return m.copyTransfer(x, true) }

// Get copies remote to local.
func (m *Memory) Get(_ transport.Peer, x *transport.Xfer) error { return m.copyTransfer(x, false) }

// Moved is the number of bytes that were put and got.
func (m *Memory) Moved() int64 { return m.moved.Load() }

// copyTransfer copies the local side to the remote one (put), or back.
func (m *Memory) copyTransfer(x *transport.Xfer, put bool) error {
	var from, to kernel.Cursor
	var list [2][]kernel.Group
	if put {
		x.Cursors(&from, &to, &list)
	} else {
		x.Cursors(&to, &from, &list)
	}
	b := make([]byte, x.Bytes())
	from.Pack(b)
	to.Unpack(b)
	m.moved.Add(int64(len(b)))
	x.Finish(nil)
	return nil
}

// Acc accumulates under the locks of lockPage.
func (m *Memory) Acc(_ transport.Peer, x *transport.Xfer, s transport.Scale) error {
	st := m.stripes()
	for _, v := range x.Vector {
		kernel.AccVector(st, kernel.Type(s.Type), s.Value, v.Local, v.Remote, v.Bytes)
	}
	if x.Vector == nil {
		kernel.AccStrided(st, kernel.Type(s.Type), s.Value, kernel.Ptr(x.Local.Base),
			x.Local.Stride,
			kernel.Ptr(x.Remote.Base), x.Remote.Stride, x.Count)
	}
	x.Finish(nil)
	return nil
}

// RMW is atomic with respect to all others.
func (m *Memory) RMW(_ transport.Peer, r *transport.RMW) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	readModifyWrite(r)
	return nil
}

// View is a node of ranks First, First+1 ... of a Cluster: its local number 0 is First.
type View struct {
	*Node
	First  int
	Memory *Memory
}

// DeviceLocks are the locks of v.Memory.
func (v View) DeviceLocks() (at uintptr, n int) {
	return uintptr(v.Memory.lockPage()), lockLines
}

// InRegionOf is Node.InRegionOf, with local numbers of the view.
func (v View) InRegionOf(local int, addr uintptr, n int64) bool {
	return v.Node.InRegionOf(v.First+local, addr, n)
}
