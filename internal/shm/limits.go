// SPDX-License-Identifier: BSD-3-Clause

// What limits the memory of this process, for armci_info. memory.go makes decisions.
package shm

import (
	"path"

	"golang.org/x/sys/unix"
)

// Limit is one bound on memory.
type Limit struct {
	Name  string // "the machine", "control group DIRECTORY", "RLIMIT_AS", "RLIMIT_MEMLOCK"
	Total int64  // bytes
	Left  int64  // bytes that may still be reserved; -1 where that is not counted
}

// Limits lists all bounds.
func Limits() []Limit {
	all := []Limit{{"the machine", machineTotal(), machineMemory()}}
	for _, g := range memoryGroups() {
		total, ok := readNumber(path.Join(g.dir, g.limit))
		if ok && g.bytesLeft() < unlimited {
			all = append(all, Limit{"control group " + g.dir, total, g.bytesLeft()})
		}
	}
	for _, r := range []struct {
		name string
		what int
	}{{"RLIMIT_AS", unix.RLIMIT_AS}, {"RLIMIT_MEMLOCK", unix.RLIMIT_MEMLOCK}} {
		var lim unix.Rlimit
		if unix.Getrlimit(r.what, &lim) == nil && lim.Cur != unix.RLIM_INFINITY {
			all = append(all, Limit{r.name, int64(lim.Cur), -1})
		}
	}
	return all
}

// Available returns the bytes that allocations may still reserve, margin included, and the name of
// the limit that decides.
func Available() (int64, string) { return availableMemory() }
