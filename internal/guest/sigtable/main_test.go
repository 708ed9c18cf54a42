// SPDX-License-Identifier: BSD-3-Clause

// The change of the table of signals, in a program that is linked for the test.
package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The table of a program that has been linked just now has the expected flags, and loses them. The
// program is this package: it runs afterwards, and says how it is used.
func TestChange(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sigtable")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", file, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := change(file); err != nil {
		t.Fatal(err)
	}
	offset, order, err := find(file)
	if err != nil {
		t.Fatal(err)
	}
	bytes, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for sig := range entries {
		flags := order.Uint32(bytes[int(offset)+sig*entryBytes:])
		_, changed := wanted[sig]
		if kept := flags != 0; kept == changed && sig != 0 && sig != 9 && sig != 19 {
			t.Errorf("signal %d has flags %#x", sig, flags)
		}
	}
	if out, _ := exec.Command(file).CombinedOutput(); string(out) != "usage: sigtable FILE\n" {
		t.Errorf("the changed program says %q", out)
	}
	if err := change(file); err == nil || !strings.Contains(err.Error(), "another table") {
		t.Errorf("an unexpected table: %v", err)
	}
}

// A file that is no shared library, or has no symbols, is refused.
func TestRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(file, []byte("no shared library"), 0o600); err != nil {
		t.Fatal(err)
	}
	if change(file) == nil {
		t.Error("a text was changed")
	}
}
