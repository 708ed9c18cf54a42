// SPDX-License-Identifier: BSD-3-Clause

// Test of finding libraries beside a command.

package config

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestInstalled shows which files match the patterns of installed libraries.
func TestInstalled(t *testing.T) {
	root := t.TempDir()
	want := map[string][]string{
		"lib*/a.so":   {"lib/a.so", "lib64/a.so", "lib/machine/a.so"},
		"lib*/p/b.so": {"lib/p/b.so", "lib/machine/p/b.so"},
		"lib*/c.so":   nil,
	}
	for _, files := range want {
		for _, f := range files {
			if err := os.MkdirAll(filepath.Join(root, filepath.Dir(f)),
				0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, f), nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	for pattern, files := range want {
		got := installedIn(root, pattern)
		for i, f := range got {
			got[i], _ = filepath.Rel(root, f)
		}
		if !slices.Equal(got, files) {
			t.Errorf("%s: %q, want %q", pattern, got, files)
		}
	}
	if Installed("*") == nil {
		t.Error("nothing beside the command")
	}
}
