// SPDX-License-Identifier: BSD-3-Clause

// What libfabric reads from the environment, and that the application's stays as it is.
package libfabric

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestEnvironmentStays runs the C program that looks at the environment during and after calls.
func TestEnvironmentStays(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("no C compiler (cc)")
	}
	program := filepath.Join(t.TempDir(), "environment")
	out, err := exec.Command("cc", "-std=gnu11", "-g", "-fsanitize=address,undefined",
		"-Wall", "-Wextra", "-Werror", "-o", program, "testdata/environment.c",
		"environment.c", "-lpthread").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := exec.Command(program)
	run.Env = append(os.Environ(), "ASAN_OPTIONS=detect_leaks=0") // arrays are kept
	if out, err = run.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestParametersArrive loads libfabric in a process of its own and has it report what it reads.
func TestParametersArrive(t *testing.T) {
	const again = "LIBFABRIC_TEST_LOADS"
	if os.Getenv(again) != "" {
		if err := Load(); err != nil {
			t.Skip(err)
		}
		return
	}
	load := exec.Command(os.Args[0], "-test.run=^TestParametersArrive$", "-test.v")
	load.Env = append(os.Environ(), again+"=1", "FI_LOG_LEVEL=info", "FI_UNIVERSE_SIZE=100")
	out, err := load.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if strings.Contains(string(out), "--- SKIP") || !strings.Contains(string(out), "ofi_rxm") {
		t.Skip("libfabric is not installed, or has no ofi_rxm")
	}
	for _, want := range []string{"msg_rx_size=64\n", "universe_size=100\n"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is not among what it reads:\n%s", want, out)
		}
	}
}
