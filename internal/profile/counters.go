// SPDX-License-Identifier: BSD-3-Clause

// Package profile is what ARMCI_STATS counts and ARMCI_TRACE=FILE writes, without how it is
// recorded: the layout of a process's counters, the tables that are printed, the counters of
// running processes, merging files of a trace. internal/recorder has the layout as C; C writes the
// counters. It must not import core: exchange with other ranks belongs to internal/recorder.
//
// This file: the counters, in memory without a name that other processes of the user can read
// through /proc.
package profile

import (
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Operations are the rows of the tables, in the order of enum profile_op.
var Operations = [...]string{"put", "get", "acc", "put strided", "get strided", "acc strided",
	"put vector", "get vector", "acc vector",
	"nbput", "nbget", "nbacc", "nbput strided", "nbget strided", "nbacc strided",
	"nbput vector", "nbget vector", "nbacc vector",
	"put with flag", "rmw", "atomic", "event add", "lock", "unlock", "wait", "test", "fence",
	"barrier", "notify", "notify wait",
	"send", "receive", "broadcast", "reduction", "allocate", "free", "group", "procedure call",
	"MPI_Put", "MPI_Get", "MPI_Accumulate", "MPI_Get_accumulate", "MPI_Fetch_and_op",
	"MPI_Compare_and_swap", "MPI_Rput", "MPI_Rget",
	"MPI_Raccumulate", "MPI_Rget_accumulate", "MPI_Win_fence", "MPI_Win_post", "MPI_Win_start",
	"MPI_Win_complete", "MPI_Win_wait",
	"MPI_Win_test", "MPI_Win_lock", "MPI_Win_unlock", "MPI_Win_lock_all", "MPI_Win_unlock_all",
	"MPI_Win_flush", "MPI_Win_flush_all",
	"MPI_Win_flush_local", "MPI_Win_flush_local_all", "MPI_Win_sync", "making a window",
	"MPI_Win_free"}

// Classes are the columns: sizes up to a limit in bytes. Calls that move nothing are in the first.
var (
	Classes = [...]string{"no data", "up to 64 B", "up to 256 B", "up to 4 KiB",
		"up to 64 KiB", "up to 1 MiB", "up to 16 MiB", "over 16 MiB"}
	limits = [...]uint64{0, 64, 256, 4 << 10, 64 << 10, 1 << 20, 16 << 20}
)

// Cell counts the calls of an operation and size class, or those about the ranks of a node.
type Cell struct {
	Calls, Bytes, Nanos, InC uint64 // InC: calls that were completed without entering Go
}

// Add adds another cell.
func (c *Cell) Add(o Cell) {
	c.Calls, c.Bytes, c.Nanos, c.InC = c.Calls+o.Calls, c.Bytes+o.Bytes, c.Nanos+o.Nanos,
		c.InC+o.InC
}

// Split adds the cells of a rank by node up: of its own node, and of all others.
func Split(by []Cell, mine int) (here, there Cell) {
	for node, c := range by {
		if node == mine {
			here.Add(c)
		} else {
			there.Add(c)
		}
	}
	return here, there
}

// Table is all that is counted by operation.
type Table [len(Operations)][len(Classes)]Cell

// Counters are those of a process, as they lie in its shared memory, followed by a cell for each
// node.
type Counters struct {
	Magic                             [16]byte
	Rank, Ranks, Node, Nodes, Pid, fd uint32
	Started                           int64 // CLOCK_MONOTONIC, ns
	Host                              [64]byte
	Table                             Table
}

const (
	memoryName = "armci-stats"
	magic      = "armci stats 2\n"
)

// By is what is counted for each node.
func (c *Counters) By() []Cell {
	return unsafe.Slice((*Cell)(unsafe.Add(unsafe.Pointer(c), unsafe.Sizeof(*c))), c.Nodes)
}

func size(nodes int) int {
	return int(unsafe.Sizeof(Counters{}) + uintptr(nodes)*unsafe.Sizeof(Cell{}))
}

// Create makes the counters of this process, all zero. The descriptor stays open, so that others
// find them.
func Create(rank, ranks, node, nodes int, host string) (*Counters, error) {
	fd, err := unix.MemfdCreate(memoryName, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("memory for ARMCI_STATS: %w", err)
	}
	memory, err := mapped(fd, size(nodes), unix.PROT_READ|unix.PROT_WRITE)
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("memory for ARMCI_STATS: %w", err)
	}
	c := (*Counters)(unsafe.Pointer(&memory[0]))
	c.Rank, c.Ranks, c.Node, c.Nodes, c.Pid = uint32(rank), uint32(ranks), uint32(node),
		uint32(nodes), uint32(os.Getpid())
	c.fd, c.Started = uint32(fd), Now()
	copy(c.Host[:len(c.Host)-1], host)
	copy(c.Magic[:], magic)
	return c, nil
}

// Close gives the memory and its descriptor back.
func (c *Counters) Close() {
	fd := int(c.fd)
	unix.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(c)), size(int(c.Nodes))))
	unix.Close(fd)
}

func mapped(fd, n, access int) ([]byte, error) {
	if access&unix.PROT_WRITE != 0 {
		if err := unix.Ftruncate(fd, int64(n)); err != nil {
			return nil, err
		}
	}
	return unix.Mmap(fd, 0, n, access, unix.MAP_SHARED)
}

// Snapshot copies the counters while C writes them: each number is right, though not all of the
// same instant.
func (c *Counters) Snapshot() (t Table, by []Cell) {
	for i := range t {
		for k := range t[i] {
			t[i][k] = c.Table[i][k].load()
		}
	}
	for i := range c.By() {
		by = append(by, c.By()[i].load())
	}
	return t, by
}

func (c *Cell) load() Cell {
	return Cell{atomic.LoadUint64(&c.Calls), atomic.LoadUint64(&c.Bytes),
		atomic.LoadUint64(&c.Nanos), atomic.LoadUint64(&c.InC)}
}

// Total is the sum of a row.
func (t *Table) Total(row int) (sum Cell) {
	for _, c := range t[row] {
		sum.Add(c)
	}
	return sum
}

// All is the sum of all rows.
func (t *Table) All() (sum Cell) {
	for row := range t {
		sum.Add(t.Total(row))
	}
	return sum
}

// Now is the clock that C uses: CLOCK_MONOTONIC in ns.
func Now() int64 {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return t.Nano()
}

// PeakMemory is the most memory that this process had resident, in bytes, with what it shares with
// other ranks.
func PeakMemory() int64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Maxrss << 10
}
