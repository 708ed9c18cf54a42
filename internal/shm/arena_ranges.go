// SPDX-License-Identifier: BSD-3-Clause

// The addresses of the arenas of a job's nodes: different as far as the address space allows, so
// that a program that dereferences a pointer of another node faults instead of computing with its
// own node's memory.
package shm

// window is the address space that is free from the default base (64 TiB) up, below executables and
// libraries.
const window = int64(20) << 40

// ArenaRanges divides the window among the nodes of a job.
type ArenaRanges struct {
	Base  uintptr // begin of the first range
	Bytes int64   // of each range
	Count int     // 1: all nodes have their arena at the same address
	Mine  int     // number of this node's range
}

// DivideAddresses returns the range of a node. need is the address space that a node may use. If
// there are more nodes than ranges of that size, several nodes have the same range.
func DivideAddresses(base uintptr, need int64, node, nodes int) ArenaRanges {
	count := max(int(min(window/max(need, smallestArena), int64(nodes))), 1)
	return ArenaRanges{base, window / int64(count) &^ (1<<30 - 1), count, node % count}
}

// Arena returns the address at which a node's arena is tried first, and its bytes: at most want.
func (s ArenaRanges) Arena(want int64) (uintptr, int64) {
	if s.Count == 1 {
		return s.Base, want
	}
	return s.Base + uintptr(s.Mine)*uintptr(s.Bytes), min(want, s.Bytes)
}

// TotalMemory returns the bytes of memory that the machine has.
func TotalMemory() int64 { return machineTotal() }
