// SPDX-License-Identifier: BSD-3-Clause

// How much memory the machine, and the control groups of this process, have left. Reserving shared
// memory that does not exist does not fail: it wakes the kernel's OOM killer. So every reservation
// is checked here first.
package shm

import (
	"fmt"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"libarmci/internal/config"
	"libarmci/internal/transport"
)

const unlimited = int64(math.MaxInt64)

// availableMemory returns the bytes that may still be reserved, and the name of the limit that
// decides.
func availableMemory() (int64, string) {
	best, limit := machineMemory(), "the machine"
	for _, g := range memoryGroups() {
		if left := g.bytesLeft(); left < best {
			best, limit = left, "control group "+g.dir
		}
	}
	return best, limit
}

// checkReservation returns an error unless nbytes more can be reserved with margin bytes to spare.
func checkReservation(nbytes, margin int64) error {
	left, limit := availableMemory()
	if nbytes <= left-margin {
		return nil
	}
	return fmt.Errorf("%w: the ranks of this machine ask for %s more, %s has %s left, of "+
		"which %s stay free (ARMCI_SHM_MARGIN)",
		transport.ErrNoMemory, config.SizeText(nbytes), limit, config.SizeText(left),
		config.SizeText(margin))
}

// memoryCheck remembers how much memory was left. Reading that takes as long as populating a
// hundred pages, so a result serves later requests for checkLasts if they are small compared to it.
type memoryCheck struct {
	mu      sync.Mutex // guards all fields
	checked time.Time  // when left was read
	left    int64      // bytes that could be reserved then, beyond the margin
	granted int64      // bytes granted since
}

const (
	checkLasts = 100 * time.Millisecond
	checkShare = 16 // 1/16 of left may be granted without reading again
)

// reserve is checkReservation by an earlier result, if that suffices. It takes mu.
func (l *memoryCheck) reserve(nbytes, margin int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.checked) < checkLasts && nbytes <= l.left/checkShare-l.granted {
		l.granted += nbytes
		return nil
	}
	left, _ := availableMemory()
	l.checked, l.left, l.granted = time.Now(), left-margin, nbytes
	if nbytes <= l.left {
		return nil
	}
	return checkReservation(nbytes, margin)
}

// marginShare bounds the margin to a part of the machine's memory, unless it was set.
const marginShare = 8

// Margin returns the bytes that allocations leave to the machine. set: bytes is the user's setting
// and is returned; else bytes is the default, which is reduced for a small machine or control
// group.
func Margin(bytes int64, set bool) int64 {
	if set {
		return bytes
	}
	total := machineTotal()
	for _, g := range memoryGroups() {
		if limit, ok := readNumber(path.Join(g.dir, g.limit)); ok {
			total = min(total, limit)
		}
	}
	return min(bytes, total/marginShare)
}

func machineMemory() int64 { return meminfo("MemAvailable:") }

func machineTotal() int64 { return meminfo("MemTotal:") }

func meminfo(word string) int64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return unlimited
	}
	if kib, ok := numberAfter(string(text), word); ok {
		return kib << 10
	}
	return unlimited
}

// numberAfter returns the number behind a word at the start of a line.
func numberAfter(text, word string) (int64, bool) {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == word {
			n, err := strconv.ParseInt(f[1], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// memoryGroup is a directory of the memory controller, with the file names of its version.
type memoryGroup struct {
	dir, limit, usage, reclaim string
}

// bytesLeft returns the group's limit minus its usage, in bytes. Cached pages of files do not count
// as used, since the kernel can drop them.
func (g memoryGroup) bytesLeft() int64 {
	limit, ok := readNumber(path.Join(g.dir, g.limit))
	if !ok || limit > 1<<60 {
		return unlimited
	}
	used, _ := readNumber(path.Join(g.dir, g.usage))
	stat, _ := os.ReadFile(path.Join(g.dir, "memory.stat"))
	drop, _ := numberAfter(string(stat), g.reclaim)
	return max(limit-used+drop, 0)
}

func readNumber(file string) (int64, bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil // "max": no limit
}

// memoryGroups lists this process's memory control group and its parents, of version 1 or 2.
func memoryGroups() []memoryGroup {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	return parseGroups(string(text), "/sys/fs/cgroup")
}

// parseGroups lists the memory control groups that a text of /proc/self/cgroup names, each with its
// parents up to root.
func parseGroups(text, root string) []memoryGroup {
	var all []memoryGroup
	for line := range strings.Lines(text) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 {
			continue
		}
		switch {
		case part[1] == "":
			all = append(all, withParents(root, part[2], memoryGroup{"", "memory.max",
				"memory.current", "inactive_file"})...)
		case part[1] == "memory":
			g := memoryGroup{"", "memory.limit_in_bytes", "memory.usage_in_bytes",
				"total_inactive_file"}
			all = append(all, withParents(path.Join(root, "memory"), part[2], g)...)
		}
	}
	return all
}

func withParents(root, dir string, g memoryGroup) []memoryGroup {
	var all []memoryGroup
	for d := path.Clean("/" + dir); ; d = path.Dir(d) {
		g.dir = path.Join(root, d)
		all = append(all, g)
		if d == "/" {
			return all
		}
	}
}
