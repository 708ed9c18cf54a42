// SPDX-License-Identifier: BSD-3-Clause

// The binary promise of libarmci-mpirma.so: the names of mpirma.txt, all of MPI, and no MPI among
// what it needs.

package abi

import (
	"os"
	"regexp"
	"testing"
)

func TestMpirmaVersionScript(t *testing.T) {
	const script = "../../mpirma/libarmci-mpirma.map"
	if _, err := os.Stat(script); err != nil {
		t.Skip("there is no libarmci-mpirma.map")
	}
	checkMap(t, script, "mpirma.txt")
}

// TestMpirmaNames wants every name to be one that a program or a Fortran library of an MPI calls:
// anything else could meet another library's name in a process that has both. Profiled names come
// in pairs. Two names are for libarmci in the same process.
func TestMpirmaNames(t *testing.T) {
	names := list(t, "mpirma.txt")
	ours := regexp.MustCompile(`^(P?MPI_|p?mpi_|MPII_|libarmci_mpirma_(has_mpi|mpi_symbol)$)`)
	for name, kind := range names {
		if !ours.MatchString(name) {
			t.Errorf("%s is no name of MPI", name)
		}
		if kind == "D" {
			t.Errorf("%s is data", name)
		}
		for plain, profiled := range map[string]string{"MPI_": "PMPI_", "mpi_": "pmpi_"} {
			if len(name) > 4 && name[:4] == plain && names[profiled+name[4:]] == "" {
				t.Errorf("%s is promised without %s", name, profiled+name[4:])
			}
		}
	}
}

func TestMpirmaExports(t *testing.T) {
	checkExports(t, open(t, "ARMCI_ABI_MPIRMA"), list(t, "mpirma.txt"))
}

func TestMpirmaNeeds(t *testing.T) {
	checkNeeds(t, open(t, "ARMCI_ABI_MPIRMA"), "libarmci-mpirma.so")
}
