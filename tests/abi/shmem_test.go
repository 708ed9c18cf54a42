// SPDX-License-Identifier: BSD-3-Clause

// The binary promise of libshmem_armci.so: the functions that shmem.h declares and nothing else, by
// both names, those of programs weak, so that a tool can have its own; libarmci.so.0 beside itself
// is all that it needs.

package abi

import (
	"debug/elf"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// declaredShmem returns the functions of shmem.h, each with the kind of its symbol.
func declaredShmem(t *testing.T) map[string]string {
	t.Helper()
	text, err := exec.Command("cc", "-E", "-P", "-DSHMEM_NO_GENERIC_",
		"../../shmem/shmem.h").Output()
	if err != nil {
		t.Fatalf("shmem.h: %v", err)
	}
	names := make(map[string]string)
	for _, m := range regexp.MustCompile(
		`\b(p?shmem_\w+|start_pes|_my_pe|_num_pes|sh(?:malloc|free|realloc|memalign))\(`).
		FindAllStringSubmatch(string(text), -1) {
		names[m[1]] = "T"
		if strings.HasPrefix(m[1], "shmem_") {
			names[m[1]] = "W"
		}
	}
	return names
}

func TestShmemExports(t *testing.T) {
	file := open(t, "ARMCI_ABI_SHMEM")
	names := declaredShmem(t)
	if len(names) < 3000 {
		t.Fatalf("shmem.h has %d functions", len(names))
	}
	checkExports(t, file, names)
}

// TestShmemNeeds wants libarmci to be found beside the library, wherever the tree is, and no MPI.
func TestShmemNeeds(t *testing.T) {
	file := open(t, "ARMCI_ABI_SHMEM")
	needed, err := file.ImportedLibraries()
	if err != nil || !slices.Contains(needed, "libarmci.so.0") {
		t.Errorf("needs %v (%v), not libarmci.so.0", needed, err)
	}
	checkNeeded(t, slices.DeleteFunc(needed,
		func(name string) bool { return name == "libarmci.so.0" }))
	checkSoname(t, file, "libshmem_armci.so.0")
	if runpath, _ := file.DynString(elf.DT_RUNPATH); !slices.Equal(runpath,
		[]string{"$ORIGIN"}) {
		t.Errorf("runpath %v, want $ORIGIN", runpath)
	}
}
