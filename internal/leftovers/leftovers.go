// SPDX-License-Identifier: BSD-3-Clause

// Package leftovers removes files that killed processes have left.
//
// Each endpoint of libfabric's provider shm is a file /dev/shm/PID:N:N of 16 MiB, which only its
// process removes, when it closes the endpoint.
package leftovers

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
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
	remove(directory, func(_ string, pid int) bool { return ours(pid) })
}

// RemoveUnused removes those that this user owns and that are of no use to any process: theirs has
// ended, and none has them open or mapped. Its launcher has killed the ranks of a job before one of
// them could do that.
func RemoveUnused(directory string) {
	remove(directory, func(path string, pid int) bool { return !Alive(pid) && unused(path) })
}

// remove deletes the caller's own files that are named after a process, if may agrees.
func remove(directory string, may func(path string, pid int) bool) {
	files, _ := os.ReadDir(directory)
	for _, f := range files {
		pid, ok := processOf(f.Name())
		if !ok {
			continue
		}
		path := filepath.Join(directory, f.Name())
		info, err := f.Info()
		if err != nil || !info.Mode().IsRegular() || !may(path, pid) {
			continue
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) == os.Geteuid() {
			os.Remove(path)
		}
	}
}

// unused tells whether no process has a file open for writing, or mapped so: the kernel grants a
// lease then. It knows processes of all namespaces, unlike Alive: containers may share the
// directory and not the numbers of processes. If it is not known, the file counts as used.
func unused(path string) bool {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	// A process that opens the file meanwhile makes the kernel send a signal. This is ignored.
	unix.FcntlInt(uintptr(fd), unix.F_SETSIG, int(unix.SIGWINCH))
	_, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK)
	unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_UNLCK)
	return err == nil
}

// Alive tells whether a process runs. One that its parent has not asked for yet does not.
func Alive(pid int) bool {
	if syscall.Kill(pid, 0) == syscall.ESRCH {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true
	}
	_, state, _ := strings.Cut(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " ")
	return !strings.HasPrefix(state, "Z") && !strings.HasPrefix(state, "X")
}
