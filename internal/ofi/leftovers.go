// SPDX-License-Identifier: BSD-3-Clause

// Files of the provider shm (package leftovers). The end of a job closes no endpoint. So a process
// that ends it removes its own files, and those of dead ranks to which it was connected. A launcher
// may kill all ranks before: then the next process that opens the provider removes the files that
// no process uses.
package ofi

import (
	"bytes"
	"os"
	"strconv"

	"libarmci/internal/leftovers"
)

// shmPrefix begins the names of the provider's endpoints; the process number follows.
const shmPrefix = "fi_shm://"

// recordProcess records the process of another endpoint, which is in the name that the provider
// gives the endpoint.
func (d *device) recordProcess(name []byte) {
	rest, ok := bytes.CutPrefix(name, []byte(shmPrefix))
	if !ok {
		return
	}
	number, _, _ := bytes.Cut(rest, []byte(":"))
	if pid, err := strconv.Atoi(string(number)); err == nil && pid > 0 {
		d.knownProcesses.Store(pid, nil)
	}
}

// Abandon removes the files of this process, and of dead ones to which it was connected.
func (d *device) Abandon() {
	if d.Info.Provider != "shm" {
		return
	}
	leftovers.Remove(leftovers.Shm, d.mayRemove)
}

// mayRemove tells whether the files of a process are not used any more.
func (d *device) mayRemove(pid int) bool {
	_, known := d.knownProcesses.Load(pid)
	return pid == os.Getpid() || known && !leftovers.Alive(pid)
}
