// SPDX-License-Identifier: BSD-3-Clause

// Distances from NUMA nodes, by a directory that looks like the kernel's.
package sys

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestNUMADistances: nodes without a core of this process count by their distance only.
func TestNUMADistances(t *testing.T) {
	var cores unix.CPUSet
	if err := unix.SchedGetaffinity(os.Getpid(), &cores); err != nil {
		t.Fatal(err)
	}
	first := 0
	for !cores.IsSet(first) {
		first++
	}
	dir := t.TempDir()
	write := func(name, text string) {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := NUMADistances(dir); len(got) != 0 {
		t.Errorf("an empty directory: %v", got)
	}
	write("online", "0,2-3")
	write("node0/cpulist", "5000-5003")
	write("node0/distance", "10 21 31")
	write("node2/cpulist", fmt.Sprintf("4000-4001,%d", first))
	write("node2/distance", "21 10 32")
	write("node3/cpulist", "")
	write("node3/distance", "31 32 10")
	if got := NUMADistances(dir); !maps.Equal(got, map[int]int{0: 21, 2: 10, 3: 32}) {
		t.Errorf("%v", got)
	}
	if got := NUMADistances(""); len(got) > 0 && got[0] == 0 && got[1] == 0 {
		t.Errorf("this machine: %v", got)
	}
}
