// SPDX-License-Identifier: BSD-3-Clause

// The tests that docs/faults.md names exist.

package policy

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A row of docs/faults.md: fault, commits, tests.
var faultRow = regexp.MustCompile("(?m)^\\| (.+) \\| (`[0-9a-f, `]+`) \\| (.+) \\|$")

// TestFaults shows that each row names tests that exist, or says that there is none.
func TestFaults(t *testing.T) {
	text, cmake := read(t, "docs/faults.md"), cmakeTexts(t)
	rows := faultRow.FindAllStringSubmatch(text, -1)
	if all := strings.Count(text, "\n| ") - 1; len(rows) == 0 || len(rows) != all {
		t.Errorf("docs/faults.md: %d of %d rows have fault, commits and tests", len(rows),
			all)
	}
	for _, row := range rows {
		if row[3] == "none" {
			continue
		}
		for name := range strings.SplitSeq(row[3], ", ") {
			test := strings.Trim(name, "`")
			if name != "`"+test+"`" || !testExists(t, test, cmake) {
				t.Errorf("docs/faults.md: %s: no test %s", row[1], name)
			}
		}
	}
}

// testExists is whether there is a Go test ("package Test"), a program that a list of its directory
// has, or a test of ctest. cmake is the text of the files that add the latter.
func testExists(t *testing.T, test, cmake string) bool {
	if dir, name, isGo := strings.Cut(test, " "); isGo {
		return goTestExists(t, dir, name)
	}
	if dir, file := filepath.Split(test); strings.HasPrefix(test, "tests/") {
		_, err := os.Stat(filepath.Join("../..", test))
		program := strings.TrimSuffix(file, filepath.Ext(file))
		return err == nil && strings.Contains(read(t, dir+"programs.txt"), "\n"+program+" ")
	}
	// Most names are put together from variables, so each part of one stands somewhere.
	for part := range strings.SplitSeq(test, "/") {
		if !regexp.MustCompile(`\b` + regexp.QuoteMeta(part) + `\b`).MatchString(cmake) {
			return false
		}
	}
	return true
}

// goTestExists is whether the package in dir has a test of that name.
func goTestExists(t *testing.T, dir, name string) bool {
	files, err := filepath.Glob(filepath.Join("../..", dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+name+"(t *testing.T)") {
			return true
		}
	}
	return false
}

// TestWrongFaults shows what does not pass for a test.
func TestWrongFaults(t *testing.T) {
	cmake := cmakeTexts(t)
	for _, test := range []string{"tests/policy TestFault", "internal/no TestFaults",
		"tests/c/no.c", "tests/c/check.h", "fault/none_such"} {
		if testExists(t, test, cmake) {
			t.Errorf("%s passes for a test", test)
		}
	}
}
