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
	"strconv"
	"strings"
	"syscall"
)

// Shm is the directory of the provider's files.
const Shm = "/dev/shm"

// processOf is the number before two others, with a colon before each; false if a name is not that.
func processOf(name string) (pid int, ok bool) {
	parts := strings.Split(name, ":")
	for _, p := range parts {
		if p == "" || strings.Trim(p, "0123456789") != "" {
			return 0, false
		}
	}
	pid, err := strconv.Atoi(parts[0])
	return pid, err == nil && len(parts) == 3
}

// Remove removes those files of the provider in a directory that this user owns and whose processes
// are ours.
func Remove(directory string, ours func(pid int) bool) {
	files, _ := os.ReadDir(directory)
	for _, f := range files {
		pid, ok := processOf(f.Name())
		if !ok || !ours(pid) {
			continue
		}
		info, err := f.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) == os.Geteuid() {
			os.Remove(filepath.Join(directory, f.Name()))
		}
	}
}
