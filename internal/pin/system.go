// SPDX-License-Identifier: BSD-3-Clause

// Limits of the system: how much memory may be pinned, which memory can only go away with its
// mapping, and whether pinned pages stay with the parent at a fork. All functions only read.
package pin

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

const pageBytes = 4096

// Lockable is how many bytes this process may pin, math.MaxInt64 if there is no limit for it.
func Lockable() int64 {
	var limit unix.Rlimit
	h := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var d [2]unix.CapUserData
	exempt := unix.Capget(&h, &d[0]) == nil && d[0].Effective&(1<<unix.CAP_IPC_LOCK) != 0
	if exempt || unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit) != nil ||
		limit.Cur >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(limit.Cur)
}

// Budget is how many bytes a process may pin for the application: set, if that is not 0. Otherwise
// it is at most a quarter of Lockable, and at most the part of one of so many processes of half the
// machine's memory.
func Budget(set int64, processes int) int64 {
	var i unix.Sysinfo_t
	if set != 0 || unix.Sysinfo(&i) != nil {
		return set
	}
	return min(Lockable()/4, int64(i.Totalram)*int64(i.Unit)/2/int64(max(processes, 1)))
}

// checkForkKeepsPinned returns an error if the kernel, after a fork, may leave a pinned page to the
// child and give a copy of it to the parent.
func checkForkKeepsPinned() error {
	var u unix.Utsname
	var major, minor int
	release := "?"
	if unix.Uname(&u) == nil {
		release = unix.ByteSliceToString(u.Release[:])
		fmt.Sscanf(release, "%d.%d", &major, &minor)
	}
	if major < 5 || major == 5 && minor < 12 {
		return fmt.Errorf("Linux %s may take pinned pages away at a fork, 5.12 does not",
			release)
	}
	return nil
}

// allPrivate tells whether all pages that are present are private and anonymous. Pages of a file go
// away, without an event, when the file is truncated or a hole is made in it.
func allPrivate(lo, hi uintptr) bool {
	f, err := os.Open("/proc/self/pagemap")
	if err != nil {
		return false
	}
	defer f.Close()
	const entry, ofFile = 8, 1 << 61
	// the list has an entry for each page of the kernel
	pageBytes := uintptr(unix.Getpagesize())
	var buf [4096]byte
	for lo < hi {
		b := buf[:min(uintptr(len(buf)), (hi-lo)/pageBytes*entry)]
		if _, err := f.ReadAt(b, int64(lo/pageBytes*entry)); err != nil {
			return false
		}
		for ; len(b) > 0; b = b[entry:] {
			if binary.LittleEndian.Uint64(b)&ofFile != 0 {
				return false
			}
			lo += pageBytes
		}
	}
	return true
}
