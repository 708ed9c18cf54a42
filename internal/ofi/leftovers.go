// SPDX-License-Identifier: BSD-3-Clause

// Files of the provider shm (package leftovers). The end of a job closes no endpoint; so a process
// that ends it removes its own files and those of ranks that it has met and that have died. A
// launcher may kill all ranks before: then the next process that opens the provider removes what is
// of no use to any process.
package ofi

import (
	"bytes"
	"os"
	"strconv"

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
	return pid == os.Getpid() || known && !leftovers.Alive(pid)
}
