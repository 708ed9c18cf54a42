// SPDX-License-Identifier: BSD-3-Clause

// The tree in which the running command is installed: libraries are found relative to it.

package config

import (
	"os"
	"path/filepath"
	"strings"
)

// Installed returns the files of that tree that match a pattern such as lib*/libarmci.so.0, also
// those of lib/MACHINE in the place of lib.
func Installed(pattern string) []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return installedIn(filepath.Dir(filepath.Dir(self)), pattern)
}

func installedIn(root, pattern string) (files []string) {
	found, _ := filepath.Glob(filepath.Join(root, pattern))
	files = append(files, found...)
	if rest, ok := strings.CutPrefix(pattern, "lib*/"); ok {
		found, _ = filepath.Glob(filepath.Join(root, "lib", "*", rest))
		files = append(files, found...)
	}
	return files
}
