// SPDX-License-Identifier: BSD-3-Clause

// Files of the provider shm (package leftovers). The end of a job closes no endpoint; so a process
// that ends it removes its own files and those of ranks that it has met and that have died. No
// other file is touched.
package ofi

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"

	"libarmci/internal/leftovers"
)

// shmPrefix begins the names of the provider's endpoints; the process number follows.
const shmPrefix = "fi_shm://"

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
	leftovers.Remove(leftovers.Shm, d.mayRemove)
}

// mayRemove tells whether the files of a process are of no more use.
func (d *device) mayRemove(pid int) bool {
	_, known := d.met.Load(pid)
	return pid == os.Getpid() || known && !alive(pid)
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
