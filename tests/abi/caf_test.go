// SPDX-License-Identifier: BSD-3-Clause

// The binary promise of libcaf_armci.so: the names of caf.txt, which gfortran calls, and nothing
// else; libarmci.so.0 beside itself is all that it needs.

package abi

import (
	"debug/elf"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestCafVersionScript(t *testing.T) {
	const script = "../../caf/libcaf_armci.map"
	if _, err := os.Stat(script); err != nil {
		t.Skip("there is no libcaf_armci.map")
	}
	checkMap(t, script, "caf.txt")
}

func TestCafNames(t *testing.T) {
	for name, kind := range list(t, "caf.txt") {
		if !strings.HasPrefix(name, "_gfortran_caf_") {
			t.Errorf("%s is no name of a coarray library of gfortran", name)
		}
		if kind != "T" {
			t.Errorf("%s is no strong function", name)
		}
	}
}

func TestCafExports(t *testing.T) {
	checkExports(t, open(t, "ARMCI_ABI_CAF"), list(t, "caf.txt"))
}

// TestCafNeeds wants libarmci to be found beside the library, wherever the tree is, and no library
// of Fortran or MPI.
func TestCafNeeds(t *testing.T) {
	file := open(t, "ARMCI_ABI_CAF")
	needed, err := file.ImportedLibraries()
	if err != nil || !slices.Contains(needed, "libarmci.so.0") {
		t.Errorf("needs %v (%v), not libarmci.so.0", needed, err)
	}
	checkNeeded(t, slices.DeleteFunc(needed,
		func(name string) bool { return name == "libarmci.so.0" }))
	checkSoname(t, file, "libcaf_armci.so.0")
	if runpath, _ := file.DynString(elf.DT_RUNPATH); !slices.Equal(runpath,
		[]string{"$ORIGIN"}) {
		t.Errorf("runpath %v, want $ORIGIN", runpath)
	}
}
