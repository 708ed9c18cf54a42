// SPDX-License-Identifier: BSD-3-Clause

// Binding: on which processors each rank of this host may run. A rank's threads, the library's too,
// inherit that.

package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The ways to bind ranks; none leaves them where the kernel puts them.
const (
	// each rank to cores of its own, if all ranks here can have some (free.go)
	BindAuto   = "auto"
	BindNone   = "none"
	BindCore   = "core"   // each rank to a core of its own
	BindSocket = "socket" // ranks in blocks to the sockets
)

const cpuDirectory = "/sys/devices/system/cpu"

// bindings gives the processors of each of n ranks on this host; nil: of none. The caller calls
// release when it has started the ranks.
func bindings(how string, n int) (places [][]int, release func(), err error) {
	release = func() {}
	switch how {
	case BindAuto:
		var set unix.CPUSet
		turn, ok := lockCoreChoice()
		if !ok || unix.SchedGetaffinity(0, &set) != nil {
			return make([][]int, n), turn, nil
		}
		cores, _ := topology(cpuDirectory, listed(&set))
		taken := takenBy("/proc", &set, unix.SchedGetaffinity)
		return shareCores(cores, n, &taken), turn, nil
	case BindCore, BindSocket:
		places, err = mandatoryBindings(how, n)
		return places, release, err
	}
	return make([][]int, n), release, nil
}

func listed(set *unix.CPUSet) (cpus []int) {
	for cpu := 0; len(cpus) < set.Count(); cpu++ {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus
}

// mandatoryBindings is bindings for ranks that must be bound, even if other processes use the
// cores.
func mandatoryBindings(how string, n int) ([][]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("-bind %s: %w", how, err)
	}
	cores, sockets := topology(cpuDirectory, listed(&set))
	if how == BindCore {
		if n > len(cores) {
			return nil, fmt.Errorf("-bind core: %d ranks, but only %d cores may be "+
				"used on this host", n, len(cores))
		}
		return cores[:n], nil
	}
	places := make([][]int, n)
	for i := range places {
		places[i] = sockets[i*len(sockets)/max(n, len(sockets))]
	}
	return places, nil
}

// topology groups processors by core and by socket, as the kernel tells. What it does not tell of
// is a core of its own, of socket 0.
func topology(dir string, cpus []int) (cores, sockets [][]int) {
	type place struct{ socket, core int }
	places := map[int]place{}
	for _, cpu := range cpus {
		at := filepath.Join(dir, fmt.Sprintf("cpu%d", cpu), "topology")
		p := place{numberIn(filepath.Join(at, "physical_package_id"), 0),
			numberIn(filepath.Join(at, "core_id"), -1-cpu)}
		places[cpu] = p
	}
	cpus = slices.Clone(cpus)
	slices.SortStableFunc(cpus,
		func(a, b int) int { return places[a].socket - places[b].socket })
	byCore, bySocket := map[place]int{}, map[int]int{}
	for _, cpu := range cpus {
		p := places[cpu]
		if _, known := byCore[p]; !known {
			byCore[p] = len(cores)
			cores = append(cores, nil)
		}
		if _, known := bySocket[p.socket]; !known {
			bySocket[p.socket] = len(sockets)
			sockets = append(sockets, nil)
		}
		cores[byCore[p]] = append(cores[byCore[p]], cpu)
		sockets[bySocket[p.socket]] = append(sockets[bySocket[p.socket]], cpu)
	}
	return cores, sockets
}

// numberIn reads a file that is a number, not negative.
func numberIn(name string, otherwise int) int {
	text, err := os.ReadFile(name)
	if err != nil {
		return otherwise
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || n < 0 {
		return otherwise
	}
	return n
}

// boundText says to which processors a rank is bound, for messages.
func boundText(cpus []int) string {
	if cpus == nil {
		return ""
	}
	return fmt.Sprintf(", bound to processors %v", cpus)
}

// startBound runs start on processors; a process that it starts inherits them. The calling
// goroutine is locked to its thread.
func startBound(cpus []int, start func() error) error {
	if cpus == nil {
		return start()
	}
	var before, set unix.CPUSet
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return err
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("bind to processors %v: %w", cpus, err)
	}
	defer unix.SchedSetaffinity(0, &before)
	return start()
}
