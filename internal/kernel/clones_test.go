// clones_test.go: each loop over integers is there for AVX2, and works on whole registers of it. So
// an accumulate of bytes is bound by memory, not by arithmetic.
//
// SPDX-License-Identifier: BSD-3-Clause

package kernel

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// TestIntegerLoopsByInstructionSet shows that the integer loops are compiled for each instruction
// set.
func TestIntegerLoopsByInstructionSet(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("loops are compiled per instruction set on x86-64 only")
	}
	object := filepath.Join(t.TempDir(), "update_int.o")
	compile := exec.Command("cc", "-std=c11", "-O3", "-c", "update_int.c", "-o", object)
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
	if version, _ := exec.Command("cc", "--version").Output(); strings.Contains(string(version),
		"clang") {
		t.Skip("clang is not asked for such loops")
	}
	code, err := exec.Command("objdump", "-d", "--no-show-raw-insn", object).Output()
	if err != nil {
		t.Fatalf("objdump: %v", err)
	}
	loops := 0
	for function := range strings.SplitSeq(string(code), "\n\n") {
		name := regexp.MustCompile(`<(\w+_many)\.avx2[.\d]*>:`).FindStringSubmatch(function)
		if name == nil {
			continue
		}
		loops++
		if !strings.Contains(function, "%ymm") {
			t.Errorf("%s for AVX2 has no vector of 32 bytes", name[1])
		}
	}
	const operators, orders = 4 * 8, 8 * 2 // of four widths; of signed and unsigned ones
	if loops != operators+orders {
		t.Errorf("%d loops for AVX2, not %d", loops, operators+orders)
	}
}
