// SPDX-License-Identifier: BSD-3-Clause

// The product's C has one dialect of shared memory: C11's <stdatomic.h>. Words of the application,
// which are no _Atomic objects, are accessed through a cast.
package policy

import (
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// keepsAccess are files that use volatile to have the compiler keep accesses of one thread.
var keepsAccess = []string{
	"cmd/armci_perf/worker/timing.c", // a result that is not used
	"internal/shm/reporter.c",        // loops that must not become calls of the C library
}

var dialectKinds = []string{".c", ".h", ".go"}

// TestAtomics checks that product C uses neither the compiler's builtins nor volatile to share
// memory. Headers for C++ use the builtins: C++17 has no atomic reference.
func TestAtomics(t *testing.T) {
	comment := regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`)
	asm := regexp.MustCompile(`\b__asm__ volatile\b|\bvolatile sig_atomic_t\b`)
	builtin := regexp.MustCompile(`\b__(atomic|sync)_\w+`)
	volatile := regexp.MustCompile(`\bvolatile\b`)
	seen := 0
	for _, s := range sources(t) {
		kind := filepath.Ext(s.path)
		if kindOf(s.path) != product || !slices.Contains(dialectKinds, kind) {
			continue
		}
		seen++
		text := s.text // a preamble of cgo is a comment of Go
		if kind != ".go" {
			text = asm.ReplaceAll(comment.ReplaceAll(text, nil), nil)
		}
		if m := builtin.Find(text); m != nil {
			t.Errorf("%s: %s: use <stdatomic.h>", s.path, m)
		}
		if kind == ".go" || slices.Contains(keepsAccess, s.path) {
			continue
		}
		if volatile.Match(text) {
			t.Errorf("%s: volatile: use <stdatomic.h>", s.path)
		}
	}
	if seen < 300 {
		t.Errorf("only %d files were found", seen)
	}
}
