// SPDX-License-Identifier: BSD-3-Clause

// Tests of which files count as left behind.

package leftovers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// mapped maps a file as the provider does, which closes it then.
func mapped(t *testing.T, path string) {
	t.Helper()
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	const both = unix.PROT_READ | unix.PROT_WRITE
	memory, err := unix.Mmap(fd, 0, os.Getpagesize(), both, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(memory) })
}

// TestRemoveUnused shows that files go only if their process has ended and no process uses them.
func TestRemoveUnused(t *testing.T) {
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	gone := dead.Process.Pid
	directory, err := os.MkdirTemp(Shm, "armci-test") // the provider's kind of file system
	if err != nil {
		t.Skipf("no files in %s: %v", Shm, err)
	}
	defer os.RemoveAll(directory)
	path := func(format string, pid int) string {
		return filepath.Join(directory, fmt.Sprintf(format, pid))
	}
	stays := map[string]bool{
		path("%d:0:1", gone): false, path("%d:0:2", gone): true, path("%d:0:3", gone): true,
		path("%d:0:4", gone): true, path("%d:0:1", os.Getpid()): true,
		path("%d:0", gone): true,
	}
	for name := range stays {
		if err := os.WriteFile(name, make([]byte, os.Getpagesize()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mapped(t, path("%d:0:2", gone)) // by a process of another namespace, as it were
	open, err := os.OpenFile(path("%d:0:3", gone), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if os.Chown(path("%d:0:4", gone), 12345, -1) != nil { // not root
		stays[path("%d:0:4", gone)] = false
	}
	RemoveUnused(directory)
	for name, want := range stays {
		if _, err := os.Stat(name); (err == nil) != want {
			t.Errorf("%s stays: %v", name, err == nil)
		}
	}
}
