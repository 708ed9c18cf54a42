// Package abi holds the built library to its binary promise: exactly the names of symbols.txt, the
// right soname, and no MPI among what it needs. It reads the ELF file and must not load it.
// SPDX-License-Identifier: BSD-3-Clause
package abi

import (
	"debug/elf"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// promised returns the names of symbols.txt with their kind: W weak function, T strong function, D
// data.
func promised(t *testing.T) map[string]string {
	t.Helper()
	return list(t, "symbols.txt")
}

// list returns the names of a list with their kind.
func list(t *testing.T, file string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	names := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		kind, name, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || names[name] != "" {
			t.Fatalf("%s: bad or repeated line %q", file, line)
		}
		names[name] = kind
	}
	return names
}

func library(t *testing.T) *elf.File {
	t.Helper()
	return open(t, "ARMCI_ABI_LIBRARY")
}

// open opens the library that a variable names.
func open(t *testing.T, variable string) *elf.File {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		t.Skip(variable + " does not name a built library; ctest sets it")
	}
	file, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}

func kind(s elf.Symbol) string {
	switch {
	case elf.ST_TYPE(s.Info) == elf.STT_OBJECT:
		return "D"
	case elf.ST_BIND(s.Info) == elf.STB_WEAK:
		return "W"
	}
	return "T"
}

func TestVersionScriptListsThePromise(t *testing.T) {
	checkMap(t, "../../capi/libarmci.map", "symbols.txt")
}

// checkMap compares a version script with a list of names.
func checkMap(t *testing.T, script, promise string) {
	t.Helper()
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAllString(string(text), "")
	var listed []string
	for _, m := range regexp.MustCompile(`(\w+);`).FindAllStringSubmatch(code, -1) {
		listed = append(listed, m[1])
	}
	names := list(t, promise)
	for _, name := range listed {
		if names[name] == "" {
			t.Errorf("%s lists %s, %s does not", script, name, promise)
		}
	}
	for name := range names {
		if !slices.Contains(listed, name) {
			t.Errorf("%s promises %s, %s does not list it", promise, name, script)
		}
	}
}

func TestExportedNames(t *testing.T) {
	checkExports(t, library(t), promised(t))
}

// checkExports compares what a library exports with what is promised, and what it needs of MPI:
// nothing.
func checkExports(t *testing.T, file *elf.File, names map[string]string) {
	t.Helper()
	symbols, err := file.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, s := range symbols {
		if s.Section == elf.SHN_UNDEF {
			if strings.HasPrefix(strings.ToUpper(s.Name), "MPI_") &&
				elf.ST_BIND(s.Info) != elf.STB_WEAK {
				t.Errorf("%s is needed, not merely used when there", s.Name)
			}
			continue
		}
		seen[s.Name] = true
		if want := names[s.Name]; want == "" {
			t.Errorf("%s is exported but not promised", s.Name)
		} else if got := kind(s); got != want {
			t.Errorf("%s is exported as %s, promised as %s", s.Name, got, want)
		}
		if s.Version != "" {
			t.Errorf("%s carries version %s", s.Name, s.Version)
		}
	}
	for name := range names {
		if !seen[name] {
			t.Errorf("%s is promised but not exported", name)
		}
	}
}

// TestNeeds allows the C library and the compiler's runtime, nothing else: one library serves every
// MPI and programs without.
func TestNeeds(t *testing.T) {
	checkNeeds(t, library(t), os.Getenv("ARMCI_ABI_SONAME"))
}

// checkNeeds checks which libraries a library needs, its soname, and that it has debug information.
func checkNeeds(t *testing.T, file *elf.File, want string) {
	t.Helper()
	needed, err := file.ImportedLibraries()
	if err != nil {
		t.Fatal(err)
	}
	checkNeeded(t, needed)
	checkSoname(t, file, want)
	if rpath, _ := file.DynString(elf.DT_RUNPATH); len(rpath) != 0 {
		t.Errorf("runpath %v", rpath)
	}
	if file.Section(".debug_info") == nil && file.Section(".zdebug_info") == nil {
		t.Error("no debug information: crash traces would have no lines")
	}
}

// checkNeeded allows the C library and the compiler's runtime.
func checkNeeded(t *testing.T, needed []string) {
	t.Helper()
	allowed := regexp.MustCompile(`^(lib(c|m|dl|rt|pthread|resolv|gcc_s)|ld-linux.*)\.so\.\d+$`)
	for _, name := range needed {
		if !allowed.MatchString(name) {
			t.Errorf("linked against %s", name)
		}
	}
}

func checkSoname(t *testing.T, file *elf.File, want string) {
	t.Helper()
	soname, err := file.DynString(elf.DT_SONAME)
	if err != nil || len(soname) != 1 || soname[0] != want {
		t.Errorf("soname %v (%v), want %s", soname, err, want)
	}
}
