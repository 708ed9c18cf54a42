// SPDX-License-Identifier: BSD-3-Clause

// Binding of itself: each rank to cores of its own, where this host has enough on which nothing
// else is bound. Two jobs of one machine must not be put on the same cores, so launchers choose one
// after the other, and see each other's ranks by where these may run. It is never an error: where
// there are too few cores, ranks stay unbound.

package launch

import (
	"bytes"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// shareCores gives each of n ranks an equal number of the free cores. It returns nil for all if
// there are too few, or if one rank could have all.
func shareCores(cores [][]int, n int, taken *unix.CPUSet) [][]int {
	places := make([][]int, n)
	var free [][]int
	for _, core := range cores {
		if !overlaps(core, taken) {
			free = append(free, core)
		}
	}
	each := len(free) / max(n, 1)
	if each == 0 || each == len(cores) {
		return places
	}
	for i := range places {
		for _, core := range free[i*each : (i+1)*each] {
			places[i] = append(places[i], core...)
		}
	}
	return places
}

func overlaps(cpus []int, set *unix.CPUSet) bool {
	for _, cpu := range cpus {
		if set.IsSet(cpu) {
			return true
		}
	}
	return false
}

// takenBy returns the processors of usable to which another process is bound: one that may run on
// some of them only. Threads of the kernel do not count. dir is the directory of processes;
// affinity returns the processors of one.
func takenBy(dir string, usable *unix.CPUSet, affinity func(pid int, set *unix.CPUSet) error) (
	taken unix.CPUSet) {
	d, err := os.Open(dir)
	if err != nil {
		return taken
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		var set unix.CPUSet
		if err != nil || affinity(pid, &set) != nil {
			continue
		}
		for i := range set {
			set[i] &= usable[i]
		}
		if set != *usable && set.Count() > 0 && !ofKernel(dir+"/"+name+"/stat") {
			for i := range set {
				taken[i] |= set[i]
			}
		}
	}
	return taken
}

// ofKernel tells by the stat of a process whether it is a thread of the kernel. Those are bound,
// and hardly ever run.
func ofKernel(stat string) bool {
	const flags, kernelThread = 6, 0x00200000 // of the fields behind the name
	text, err := os.ReadFile(stat)
	if err != nil {
		return true // it has ended
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) <= flags {
		return false
	}
	n, _ := strconv.ParseUint(string(fields[flags]), 10, 64)
	return n&kernelThread != 0
}

// lockCoreChoice has launchers of this machine choose cores one after the other, until release is
// called. If it is not possible soon, ok is false, and the caller should not choose.
func lockCoreChoice() (release func(), ok bool) {
	const patience = 2 * time.Second
	fd, err := unix.Open("/", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return func() {}, false
	}
	release = sync.OnceFunc(func() { unix.Close(fd) })
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil {
			return release, true
		}
		if time.Now().After(end) {
			release()
			return func() {}, false
		}
	}
}
