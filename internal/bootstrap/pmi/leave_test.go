// SPDX-License-Identifier: BSD-3-Clause

// How a process leaves its jobs, in C (testdata/leave.c).
package pmi

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestLeave runs the C program that joins and leaves jobs.
func TestLeave(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("no C compiler (cc)")
	}
	program := filepath.Join(t.TempDir(), "leave")
	if out, err := exec.Command("cc", "-std=gnu11", "-g", "-Wall", "-Wextra", "-Werror", "-o",
		program, "testdata/leave.c", "leave.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // a wait without end fails
	defer cancel()
	if out, err := exec.CommandContext(ctx, program).CombinedOutput(); err != nil ||
		string(out) != "ok leave\n" {
		t.Errorf("%v\n%s", err, out)
	}
}
