// SPDX-License-Identifier: BSD-3-Clause

// The Fortran module is complete: every exported name has an interface, or a reason to have none,
// and the modules of all ABIs have the same ones.
package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// unbound are the exported names without a Fortran interface, and why. PARMCI_x needs none: a
// profiling tool is C, and a Fortran program calls ARMCI_x.
var unbound = map[string]string{
	"ARMCI_COMM_WORLD":         "data: armcix_get_world_comm gives it",
	"ARMCI_Default_Proc_Group": "data, internal: armci_group_get_default",
	"ARMCI_World_Proc_Group":   "data, internal: armci_group_get_world",
	"mp_group_name":            "data, always null",
	"dassertp_fail":            "belongs to C's assertion macros: armci_error",
	"derr_printf":              "variadic, as printf of C: write to error_unit",
}

// parts are the files that a module consists of, and their texts.
func parts(t *testing.T, module string) (files []string, texts map[string]string) {
	t.Helper()
	text, err := os.ReadFile(module)
	if err != nil {
		t.Fatal(err)
	}
	texts = map[string]string{}
	for _, m := range included.FindAllStringSubmatch(string(text), -1) {
		part, err := os.ReadFile(filepath.Join(filepath.Dir(module), m[1]))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, m[2])
		texts[m[2]] = string(part)
	}
	return files, texts
}

// fortranNames are the C names that a module binds.
func fortranNames(t *testing.T, module string) map[string]bool {
	names := map[string]bool{}
	_, texts := parts(t, module)
	for _, text := range texts {
		for _, f := range bindings(text) {
			names[f.name] = true
		}
	}
	return names
}

// TestFortranComplete compares the version script, functions and data, with what each module binds.
func TestFortranComplete(t *testing.T) {
	script, err := os.ReadFile("../../capi/libarmci.map")
	if err != nil {
		t.Fatal(err)
	}
	_, global, _ := strings.Cut(string(script), "global:")
	exports := map[string]bool{}
	for _, m := range regexp.MustCompile(`(\w+);`).FindAllStringSubmatch(global, -1) {
		exports[m[1]] = true
	}
	for _, module := range []string{"armci.f90", "armci-mpi/openmpi/armci.f90",
		"armci-mpi/mpich/armci.f90"} {
		names := fortranNames(t, "../../include/"+module)
		for name := range exports {
			profiling := strings.HasPrefix(strings.ToLower(name), "parmci_")
			if !names[name] && !profiling && unbound[name] == "" {
				t.Errorf("%s: %s has no interface", module, name)
			}
		}
		for name := range names {
			if !exports[name] {
				t.Errorf("%s binds %s, which is not exported", module, name)
			}
		}
		for name := range unbound {
			if names[name] || !exports[name] {
				t.Errorf("%s: %s is bound, or not exported: it needs no reason",
					module, name)
			}
		}
	}
}

// TestFortranGuide: docs/fortran.md lists every name, bound or not.
func TestFortranGuide(t *testing.T) {
	guide, err := os.ReadFile("../fortran.md")
	if err != nil {
		t.Fatal(err)
	}
	names := fortranNames(t, "../../include/armci.f90")
	for name := range unbound {
		names[name] = true
	}
	for name := range names {
		if !strings.Contains(string(guide), "`"+name+"`") {
			t.Errorf("docs/fortran.md does not list %s", name)
		}
	}
}

// TestFortranParts: no part is left out of a module, and those of an ABI are its own.
func TestFortranParts(t *testing.T) {
	present, err := filepath.Glob("../../include/armci-fortran/*.inc")
	if err != nil {
		t.Fatal(err)
	}
	own := map[string][]string{
		"armci.f90":                   {"classic", "integer-groups", "integer-handles"},
		"armci-mpi/openmpi/armci.f90": {"armci-mpi"},
		"armci-mpi/mpich/armci.f90":   {"armci-mpi"},
	}
	var common []string
	for _, file := range present {
		name := strings.TrimSuffix(filepath.Base(file), ".inc")
		if name != "armci-mpi" && !slices.Contains(own["armci.f90"], name) {
			common = append(common, name)
		}
	}
	for module, names := range own {
		files, _ := parts(t, "../../include/"+module)
		want := slices.Sorted(slices.Values(append(slices.Clone(common), names...)))
		if slices.Sort(files); !slices.Equal(files, want) {
			t.Errorf("%s has the parts %v, wanted %v", module, files, want)
		}
	}
}
