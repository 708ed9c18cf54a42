// SPDX-License-Identifier: BSD-3-Clause

// Local memory that is not mapped: the process crashes at its address, whether the kernel or this
// library accesses it.
package tcp

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// A put from bad memory and a get into it end with SIGSEGV, copied or not.
func TestBadLocalMemory(t *testing.T) {
	for _, what := range []string{"put", "get"} {
		for _, n := range []int{8, 100000} {
			child := exec.Command(os.Args[0], "-test.run=^TestUseBadMemory$")
			child.Env = append(os.Environ(), fmt.Sprintf("BAD_MEMORY=%s %d", what, n))
			out, err := child.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "SIGSEGV") {
				t.Errorf("a %s of %d bytes: %v\n%s", what, n, err, out)
			}
		}
	}
}

// The child process of TestBadLocalMemory does what BAD_MEMORY says, and crashes. The second page
// of its memory cannot be accessed.
func TestUseBadMemory(t *testing.T) {
	var what string
	var n int
	if fmt.Sscan(os.Getenv("BAD_MEMORY"), &what, &n); what == "" {
		t.Skip("it runs in a process of its own")
	}
	mem, err := unix.Mmap(-1, 0, 1<<20, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err == nil {
		err = unix.Mprotect(mem[4096:], unix.PROT_NONE)
	}
	if err != nil {
		t.Fatal(err)
	}
	var at kernel.Cursor
	at.SetContiguous(addressOf(mem)+4096-4, int64(n))
	c := newServer(t, nil).dial(t, 2)
	if what == "put" {
		_, err = c.endpoint.Send([]byte{opPut}, &at, int64(n), transport.Now)
		t.Fatalf("no crash: %v", err)
	}
	c.bodyTarget = &at
	c.send(getHead(n, 1), nil)
	t.Fatalf("no crash: %v", c.awaitLoss(t))
}
