// SPDX-License-Identifier: BSD-3-Clause

// Policy held by a test: a setting that no test, benchmark or script sets would be untested code,
// so there is none. Tests of this package do not count: they know values only.

package config

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// setters are the directories of tests, benchmarks and scripts. Of the product only tests count.
var setters = []string{"tests", "bench", "debian", ".ci", "internal", "cmd", "capi", "mpirma"}

// sets recognises NAME=value, as a shell, CMake and the lists of entries have it, and calls of
// setenv.
var sets = regexp.MustCompile(`\b(ARMCI_[A-Z_]+)=[^=]|[sS]etenv\((?:t, )?"(ARMCI_[A-Z_]+)"`)

// setIn returns the settings that the file sets.
func setIn(path string) []string {
	product := !strings.HasPrefix(path, filepath.Join(root, "tests")) &&
		!strings.HasPrefix(path, filepath.Join(root, "bench"))
	switch filepath.Ext(path) {
	case ".md", ".csv", ".json", ".jsonl", ".svg":
		return nil
	case ".go", ".c", ".h":
		if product && !strings.HasSuffix(path, "_test.go") {
			return nil
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var names []string
	for _, found := range sets.FindAllSubmatch(text, -1) {
		names = append(names, string(found[1])+string(found[2]))
	}
	return names
}

// TestSettingsAreUsed shows that a test, benchmark or script sets each setting of users and
// experts.
func TestSettingsAreUsed(t *testing.T) {
	used := make(map[string]bool)
	for _, dir := range setters {
		filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry,
			err error) error {
			if err != nil || d.IsDir() ||
				strings.HasPrefix(path, filepath.Join(root, "internal", "config")) {
				return nil
			}
			for _, name := range setIn(path) {
				used[name] = true
			}
			return nil
		})
	}
	for _, row := range table {
		if row.Class != ClassJob && !used[row.Name] {
			t.Errorf("no test, benchmark or script sets %s: write one, or remove it",
				row.Name)
		}
	}
}
