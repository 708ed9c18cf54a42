// SPDX-License-Identifier: BSD-3-Clause

// Package leftovers removes files that killed processes have left. It must not decide which
// processes those are.
//
// Each endpoint of libfabric's provider shm is a file /dev/shm/PID:N:N of 16 MiB, which only its
// process removes, when it closes the endpoint.
package leftovers

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
)

// Shm is the directory of the provider's files.
const Shm = "/dev/shm"

var shmFile = regexp.MustCompile(`^([0-9]+):[0-9]+:[0-9]+$`)

// Remove removes those files of the provider in a directory that this user owns and whose processes
// are ours.
func Remove(directory string, ours func(pid int) bool) {
	files, _ := os.ReadDir(directory)
	for _, f := range files {
		match := shmFile.FindStringSubmatch(f.Name())
		if match == nil {
			continue
		}
		pid, err := strconv.Atoi(match[1])
		info, gone := f.Info()
		if err != nil || gone != nil || !info.Mode().IsRegular() || !ours(pid) {
			continue
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) == os.Geteuid() {
			os.Remove(filepath.Join(directory, f.Name()))
		}
	}
}
