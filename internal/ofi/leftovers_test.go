// SPDX-License-Identifier: BSD-3-Clause

// Tests of which files of the provider shm are removed when a job ends early.

package ofi

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"libarmci/internal/leftovers"
	"libarmci/internal/ofi/libfabric"
)

// Files of this process and of dead ones that are known are removed, all others stay.
func TestRemovesFilesOfTheDeadOnly(t *testing.T) {
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	gone, other := dead.Process.Pid, os.Getppid()
	d := &device{Device: &libfabric.Device{Info: &libfabric.Info{Provider: "shm"}}}
	d.recordProcess(fmt.Appendf(nil, "fi_shm://%d:0:1", gone))
	d.recordProcess(fmt.Appendf(nil, "fi_shm://%d:0:1", other))
	d.recordProcess([]byte("fi_sockaddr://1.2.3.4"))
	directory := t.TempDir()
	stays := map[string]bool{
		fmt.Sprintf("%d:0:1", gone): false, fmt.Sprintf("%d:0:12", gone): false,
		fmt.Sprintf("%d:0:1", os.Getpid()): false,
		fmt.Sprintf("%d:0:1", other):       true, fmt.Sprintf("%d:0", gone): true,
		fmt.Sprintf("x%d:0:1", gone): true, "1:0:1": true,
	}
	for name := range stays {
		if err := os.WriteFile(filepath.Join(directory, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	leftovers.Remove(directory, d.mayRemove)
	for name, want := range stays {
		if _, err := os.Stat(filepath.Join(directory, name)); (err == nil) != want {
			t.Errorf("%s stays: %v", name, err == nil)
		}
	}
}
