// SPDX-License-Identifier: BSD-3-Clause

// Finds the counters of running processes, which the kernel shows to the same user only, and reads
// them. Nothing is written.
package profile

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Process is one that uses the library.
type Process struct {
	Pid      int
	Command  string
	Counters *Counters // a mapping; nil: without ARMCI_STATS
}

// Running lists the processes of this host that use the library and may be read, of one pid if that
// is not 0. Those with counters come first, by rank.
func Running(pid int) (all []Process) {
	dirs, _ := filepath.Glob("/proc/[0-9]*/fd")
	if pid != 0 {
		dirs = []string{fmt.Sprintf("/proc/%d/fd", pid)}
	}
	for _, dir := range dirs {
		if p, uses := process(dir); uses {
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(a, b Process) int {
		if a.Counters == nil || b.Counters == nil {
			return cmp.Compare(found(b), found(a))
		}
		return cmp.Compare(a.Counters.Rank, b.Counters.Rank)
	})
	return all
}

func found(p Process) int {
	if p.Counters != nil {
		return 1
	}
	return 0
}

// process looks at the descriptors of a process: the counters, or the arena, which every process of
// a job has.
func process(dir string) (p Process, uses bool) {
	fds, err := os.ReadDir(dir)
	if err != nil {
		return p, false // ended, or of another user
	}
	p.Pid, _ = strconv.Atoi(filepath.Base(filepath.Dir(dir)))
	for _, fd := range fds {
		path := filepath.Join(dir, fd.Name())
		switch to, _ := os.Readlink(path); strings.TrimSuffix(to, " (deleted)") {
		case "/memfd:" + memoryName:
			if c := attach(path); c != nil && int(c.Pid) == p.Pid {
				p.Counters, uses = c, true
			}
		case "/memfd:armci":
			uses = true
		}
	}
	text, _ := os.ReadFile(filepath.Join(filepath.Dir(dir), "comm"))
	p.Command = strings.TrimSpace(string(text))
	return p, uses
}

// attach maps counters for reading, nil if they are none or of another version.
func attach(path string) *Counters {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Size < int64(size(0)) {
		return nil
	}
	memory, err := mapped(fd, int(st.Size), unix.PROT_READ)
	if err != nil {
		return nil
	}
	c := (*Counters)(unsafe.Pointer(&memory[0]))
	if string(c.Magic[:len(magic)]) != magic || st.Size < int64(size(int(c.Nodes))) {
		unix.Munmap(memory)
		return nil
	}
	return c
}
