// SPDX-License-Identifier: BSD-3-Clause

// How far NUMA nodes are from the cores on which this process may run.
package sys

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// numaDirectory is where the kernel tells of NUMA nodes.
const numaDirectory = "/sys/devices/system/node"

// NUMADistances returns, by number of a NUMA node, its distance from the nearest core on which this
// process may run, in the kernel's numbers: 10 is the core's own node. dir is the directory that
// tells of nodes, "" the kernel's. Where it tells nothing the result is empty.
func NUMADistances(dir string) map[int]int {
	var cores unix.CPUSet
	if unix.SchedGetaffinity(os.Getpid(), &cores) != nil {
		return nil
	}
	if dir == "" {
		dir = numaDirectory
	}
	distances := map[int]int{}
	nodes := numaNodes(dir)
	for _, node := range nodes {
		if !hasCore(readText(dir, node, "cpulist"), &cores) {
			continue
		}
		for i, text := range strings.Fields(readText(dir, node, "distance")) {
			d, err := strconv.Atoi(text)
			if err != nil || i >= len(nodes) {
				break
			}
			if old, ok := distances[nodes[i]]; !ok || d < old {
				distances[nodes[i]] = d
			}
		}
	}
	return distances
}

// numaNodes lists the numbers of nodes, ascending, which is the order of a file of distances.
func numaNodes(dir string) []int {
	var all []int
	for _, r := range parseRanges(readText(dir, -1, "online")) {
		for n := r[0]; n <= r[1]; n++ {
			all = append(all, n)
		}
	}
	return all
}

// readText returns the contents of a file of a node, of all nodes if that is negative.
func readText(dir string, node int, name string) string {
	if node >= 0 {
		dir = filepath.Join(dir, "node"+strconv.Itoa(node))
	}
	text, _ := os.ReadFile(filepath.Join(dir, name))
	return strings.TrimSpace(string(text))
}

// hasCore reports whether a list such as 0-3,8-11 has a core of a set.
func hasCore(list string, cores *unix.CPUSet) bool {
	for _, r := range parseRanges(list) {
		for core := r[0]; core <= r[1]; core++ {
			if cores.IsSet(core) {
				return true
			}
		}
	}
	return false
}

// parseRanges returns the first and last numbers of a list such as 0-3,8-11. It ends at what is no
// number.
func parseRanges(list string) (all [][2]int) {
	for _, text := range strings.Split(list, ",") {
		from, to, several := strings.Cut(text, "-")
		if !several {
			to = from
		}
		first, err := strconv.Atoi(from)
		if err != nil {
			break
		}
		last, err := strconv.Atoi(to)
		if err != nil {
			break
		}
		all = append(all, [2]int{first, last})
	}
	return all
}
