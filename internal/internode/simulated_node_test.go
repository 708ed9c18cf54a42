// SPDX-License-Identifier: BSD-3-Clause

//go:build simulation

// The memory of the ranks of a simulated job: a slice of one arena for each rank, all of which
// others may reach.
package internode

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"libarmci/internal/transport"
)

// simSlice is the memory of one rank, and simRanks the most ranks of a job.
const (
	simSlice = 2 << 20
	simRanks = 6
)

// simArena is the memory of all ranks, at the same address in each run.
var simArena = func() []byte {
	const at = 1 << 44
	p, err := unix.MmapPtr(-1, 0, unsafe.Pointer(uintptr(at)), simRanks*simSlice,
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil || uintptr(p) != at {
		panic("no memory at its address")
	}
	return unsafe.Slice((*byte)(p), simRanks*simSlice)
}()

// simAddr is the address of a byte of a rank's memory.
func simAddr(rank transport.Rank, at int) uintptr {
	return uintptr(unsafe.Pointer(&simArena[int(rank)*simSlice+at]))
}

// simBytes is memory of a rank.
func simBytes(rank transport.Rank, at, n int) []byte {
	return simArena[int(rank)*simSlice+at:][:n:n]
}

// simNode is the transport.NodeMemory of a node.
type simNode struct {
	first, ranks int
	far          bool // memory of a rank is far from the others of its node
	me           int  // local number of the process
}

// rankAt is the rank of an address, or -1.
func rankAt(addr uintptr) int {
	base := simAddr(0, 0)
	if addr < base || addr >= base+simRanks*simSlice {
		return -1
	}
	return int(addr-base) / simSlice
}

func (n simNode) InRegionOf(local int, addr uintptr, bytes int64) bool {
	r := rankAt(addr)
	return r == n.first+local && bytes >= 0 &&
		int64(addr-simAddr(transport.Rank(r), 0))+bytes <= simSlice
}

func (n simNode) InArena(addr uintptr) bool {
	r := rankAt(addr)
	return r >= n.first && r < n.first+n.ranks
}

func (n simNode) ArenaRange() (uintptr, int64) { return simAddr(0, 0), simRanks * simSlice }

func (n simNode) RegionAt(addr uintptr) (uintptr, int64) {
	if r := rankAt(addr); r >= 0 {
		return simAddr(transport.Rank(r), 0), simSlice
	}
	return 0, 0
}

func (n simNode) MappedHere(local int, _ uintptr) bool { return !n.far || local == n.me }

func (simNode) ReadForeign(int, uintptr, []byte) error  { return transport.ErrBadAddr }
func (simNode) WriteForeign(int, uintptr, []byte) error { return transport.ErrBadAddr }
func (simNode) RecordStore(int)                         {}
func (simNode) KeepPages()                              {}
func (simNode) DeviceLocks() (uintptr, int)             { return 0, 0 }
func (simNode) Declared(uintptr) (uintptr, int64)       { return 0, 0 }
func (simNode) Counters() (uintptr, int64)              { return 0, 0 }

var _ transport.NodeMemory = simNode{}
