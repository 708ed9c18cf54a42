// SPDX-License-Identifier: BSD-3-Clause

// The recipes of packages name the present version, Go version, modules, functions and files.

package policy

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// first returns what the pattern's group matches in a file.
func first(t *testing.T, name, pattern string) string {
	t.Helper()
	found := regexp.MustCompile(pattern).FindStringSubmatch(read(t, name))
	if found == nil {
		t.Fatalf("%s: nothing matches %s", name, pattern)
	}
	return found[1]
}

// TestPackagesVersion checks that every packaging recipe has the version of the project.
func TestPackagesVersion(t *testing.T) {
	version := first(t, "CMakeLists.txt", `project\(ARMCI VERSION ([0-9.]+)`)
	for name, pattern := range map[string]string{
		"debian/changelog":                             `^libarmci \(([0-9.]+)\)`,
		"packaging/rpm/libarmci.spec":                  `(?m)^Version: +([0-9.]+)$`,
		"packaging/spack/packages/libarmci/package.py": `(?m)^    version\("([0-9.]+)"`,
		"packaging/container/Containerfile":            `libarmci-([0-9.]+)\.tar`,
		"CHANGELOG.md":                                 `(?m)^## ([0-9.]+) `,
	} {
		if got := first(t, name, pattern); got != version {
			t.Errorf("%s says version %s, CMakeLists.txt %s", name, got, version)
		}
	}
	eb, err := filepath.Glob("../../packaging/easybuild/libarmci-" + version + "-*.eb")
	if err != nil || len(eb) != 1 || first(t, "packaging/easybuild/"+filepath.Base(eb[0]),
		`(?m)^version = '([0-9.]+)'`) != version {
		t.Errorf("packaging/easybuild has no recipe of version %s alone: %v", version, eb)
	}
}

// TestPackagesGo: the oldest Go that go.mod allows is what recipes and README ask for.
func TestPackagesGo(t *testing.T) {
	lowest := first(t, "go.mod", `(?m)^go ([0-9]+\.[0-9]+)`)
	for name, pattern := range map[string]string{
		"README.md":                   `Go ([0-9.]+[0-9]) or later`,
		"Makefile":                    `install Go ([0-9.]+) or later`,
		"cmake/ArmciGo.cmake":         `install Go ([0-9.]+) or later`,
		"debian/control":              `golang-go \(>= 2:([0-9.]+)~\)`,
		"packaging/rpm/libarmci.spec": `golang >= ([0-9.]+)`,
		"packaging/spack/packages/libarmci/package.py":     `go@([0-9.]+):`,
		"packaging/container/Containerfile":                `golang:([0-9.]+)-`,
		"packaging/easybuild/libarmci-0.1.0-GCC-13.3.0.eb": `'Go', '([0-9]+\.[0-9]+)`,
	} {
		if got := first(t, name, pattern); got != lowest {
			t.Errorf("%s asks for Go %s, go.mod for %s", name, got, lowest)
		}
	}
}

// buildOnly is a module of docs/reference, which is not installed.
const buildOnly = "github.com/yuin/goldmark"

// TestPackagesModules: every module that is linked in is named, with its version in the spec, and
// the licence of each in Debian's copyright.
func TestPackagesModules(t *testing.T) {
	spec, rights := read(t, "packaging/rpm/libarmci.spec"), read(t, "debian/copyright")
	modules := regexp.MustCompile(
		`(?m)^\t(\S+) v([0-9.]+)(?:-([0-9.]*)([0-9]{14})-([0-9a-f]{12}))?$`).
		FindAllStringSubmatch(read(t, "go.mod"), -1)
	if len(modules) < 2 {
		t.Fatalf("%d modules in go.mod", len(modules))
	}
	for _, m := range modules {
		version := m[2]
		if m[4] != "" {
			version = "0-0." + m[4] + "." + m[5]
		}
		if want := "bundled(golang(" + m[1] + ")) = " + version +
			"\n"; strings.Contains(spec, want) == (m[1] == buildOnly) {
			t.Errorf("packaging/rpm/libarmci.spec: %q is missing, or not linked in",
				want)
		}
		if !strings.Contains(rights, "\nFiles: vendor/"+m[1]+"/*\n") {
			t.Errorf("debian/copyright says nothing of %s", m[1])
		}
	}
}

// TestPackagesSymbols: Debian's lists of symbols are those that the libraries are held to.
func TestPackagesSymbols(t *testing.T) {
	for list, library := range map[string]string{"tests/abi/symbols.txt": "libarmci0",
		"tests/abi/caf.txt": "libcaf-armci"} {
		var want, got []string
		for _, m := range regexp.MustCompile(`(?m)^[TWD] (\S+)$`).FindAllStringSubmatch(
			read(t, list), -1) {
			want = append(want, m[1])
		}
		for _, m := range regexp.MustCompile(
			`(?m)^ (\S+)@Base [0-9.]+$`).FindAllStringSubmatch(read(t,
			"debian/"+library+".symbols"), -1) {
			got = append(got, m[1])
		}
		slices.Sort(want)
		slices.Sort(got)
		if len(want) == 0 || !slices.Equal(want, got) {
			t.Errorf("debian/%s.symbols does not have the names of %s: add new ones "+
				"as \" NAME@Base VERSION\"", library, list)
		}
	}
}

// TestPackagesPages: every manual page belongs to a package of each kind.
func TestPackagesPages(t *testing.T) {
	pages, err := filepath.Glob("../../docs/man/*.1")
	if err != nil || len(pages) < 5 {
		t.Fatalf("%d manual pages: %v", len(pages), err)
	}
	lists, err := filepath.Glob("../../debian/*.install")
	if err != nil {
		t.Fatal(err)
	}
	var patterns []string
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			t.Fatal(err)
		}
		patterns = append(patterns, strings.Fields(string(text))...)
	}
	for _, page := range pages {
		path := "usr/share/man/man1/" + filepath.Base(page)
		owned := func(pattern string) bool {
			ok, _ := filepath.Match(pattern, path)
			return ok
		}
		if !slices.ContainsFunc(patterns, owned) {
			t.Errorf("debian/*.install: %s is in no package", path)
		}
	}
}
