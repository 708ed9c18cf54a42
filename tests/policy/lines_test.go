// SPDX-License-Identifier: BSD-3-Clause

// The table of lines per package in docs/architecture.md is that of the sources, and at least half
// of all lines that are not tests are the product's.
package policy

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// doubles is the directory of packages for tests alone: networks and nodes in memory, checks.
const doubles = "internal/testutil"

// workshop is what neither is installed nor tests: measurements, the build, packages, documents.
var workshop = []string{"bench", "cmake", "packaging", "debian", "docs", "examples", "Makefile",
	"CMakeLists.txt"}

// kind of a file's lines.
type kind int

const (
	product kind = iota
	tested
	tools
)

// kindOf says whether a file is part of the product, a tool, or there for tests.
func kindOf(path string) kind {
	within := func(dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }
	switch {
	case strings.HasSuffix(path, "_test.go") || within("tests") || within(doubles):
		return tested
	case slices.ContainsFunc(workshop, within):
		return tools
	}
	return product
}

// packageOf is the row of a file: internal/NAME, cmd/NAME, or the first directory.
func packageOf(path string) string {
	parts := strings.Split(path, "/")
	switch {
	case len(parts) == 1:
		return "cmake"
	case parts[0] == "internal" || parts[0] == "cmd":
		if len(parts) == 2 {
			return parts[0]
		}
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// linesPerPackage is the table, and how many lines there are of each kind.
func linesPerPackage(t *testing.T) (table string, all [3]int) {
	rows := map[string]*[3]int{}
	for _, s := range sources(t) {
		n, k, name := bytes.Count(s.text, []byte("\n")), kindOf(s.path), packageOf(s.path)
		if rows[name] == nil {
			rows[name] = &[3]int{}
		}
		rows[name][k] += n
		all[k] += n
	}
	var b strings.Builder
	b.WriteString("| package | product | tests | workshop |\n|---|---|---|---|\n")
	row := func(name string, r [3]int) {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", name, hundreds(r[product]),
			hundreds(r[tested]), hundreds(r[tools]))
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		row("`"+name+"`", *rows[name])
	}
	row("all", all)
	return b.String(), all
}

// hundreds rounds, so that not every change changes the table.
func hundreds(n int) string {
	switch {
	case n == 0:
		return "–"
	case n < 100:
		return "< 100"
	}
	return fmt.Sprint((n + 50) / 100 * 100)
}

// TestLinesPerPackage compares the table of lines in the architecture page with the sources.
func TestLinesPerPackage(t *testing.T) {
	table, all := linesPerPackage(t)
	const page, begin, end = "docs/architecture.md", "<!-- lines -->\n", "<!-- end of lines -->"
	text := read(t, page)
	head, rest, okBegin := strings.Cut(text, begin)
	old, tail, okEnd := strings.Cut(rest, end)
	if !okBegin || !okEnd {
		t.Fatalf("%s has no %q and %q", page, begin, end)
	}
	if *update && old != table {
		text = head + begin + table + end + tail
		if err := os.WriteFile(filepath.Join("..", "..", page), []byte(text),
			0o644); err != nil {
			t.Fatal(err)
		}
		old = table
	}
	if !near(old, table) {
		t.Errorf("%s: its table of lines is old: go test ./tests/policy -update", page)
	}
	if all[product] < all[tools] {
		t.Errorf("of the lines that are not tests the product has %d, the workshop %d",
			all[product], all[tools])
	}
}

// near tells whether two tables have the same rows, and figures that differ by at most a twentieth
// and a hundred.
func near(a, b string) bool {
	x, y := strings.Fields(a), strings.Fields(b)
	return slices.EqualFunc(x, y, func(a, b string) bool {
		var n, m int
		if _, err := fmt.Sscan(a, &n); err != nil {
			return a == b
		}
		_, err := fmt.Sscan(b, &m)
		return err == nil && max(n-m, m-n) <= 100+n/20
	})
}
