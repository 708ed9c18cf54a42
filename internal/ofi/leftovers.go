// SPDX-License-Identifier: BSD-3-Clause

// Files of the provider shm. Each of its endpoints is a file /dev/shm/PID:N:N of 16 MiB, which only its process removes, when it
// closes the endpoint. The end of a job closes nothing; so a process that ends it removes its own files and those of ranks that
// it has met and that have died. No other file is touched.
package ofi

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
)

const (
	shmPrefix = "fi_shm://" // of the names of the provider's endpoints; the process number follows
	shmFiles  = "/dev/shm"
)

var shmFile = regexp.MustCompile(`^([0-9]+):[0-9]+:[0-9]+$`)

// meet notes the process of another endpoint. name is what the provider calls that.
func (d *device) meet(name []byte) {
	rest, ok := bytes.CutPrefix(name, []byte(shmPrefix))
	if !ok {
		return
	}
	number, _, _ := bytes.Cut(rest, []byte(":"))
	if pid, err := strconv.Atoi(string(number)); err == nil && pid > 0 {
		d.met.Store(pid, nil)
	}
}

// Abandon removes the files of this process, and of dead ones that it has met.
func (d *device) Abandon() {
	if d.Info.Provider != "shm" {
		return
	}
	removeFiles(shmFiles, d.mayRemove)
}

// mayRemove tells whether the files of a process are of no more use.
func (d *device) mayRemove(pid int) bool {
	_, known := d.met.Load(pid)
	return pid == os.Getpid() || known && !alive(pid)
}

// removeFiles removes those files of the provider in a directory that this user owns and of which the process is one of ours.
func removeFiles(directory string, ours func(pid int) bool) {
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

// alive tells whether a process runs. One that its parent has not asked for yet does not.
func alive(pid int) bool {
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
