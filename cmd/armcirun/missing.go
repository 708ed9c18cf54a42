// SPDX-License-Identifier: BSD-3-Clause

// What is said where the ranks ended with status 127: the dynamic linker ends programs with it if
// it does not find a library, and has printed which; this command knows where libarmci is.

package main

import (
	"debug/elf"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"libarmci/internal/config"
)

// places are our libraries, where they are installed relative to this command's directory.
var places = map[string]string{
	"libarmci.so.0":     "lib*/libarmci.so.0",
	"libcaf_armci.so.0": "lib*/libcaf_armci.so.0",
	"libarmci.so.1":     "lib*/armci-mpi/*/libarmci.so.1",
}

// missingLibrary says where the library is that a program needs; "" if it needs none of ours.
func missingLibrary(program string) string {
	path, err := exec.LookPath(program)
	if err != nil {
		return ""
	}
	f, err := elf.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	needed, _ := f.ImportedLibraries()
	for _, name := range needed {
		if pattern := places[name]; pattern != "" {
			return whereIs(name, config.Installed(pattern))
		}
	}
	return ""
}

// whereIs advises what to do if a library was not found, which files have.
func whereIs(name string, files []string) string {
	if len(files) == 0 {
		return fmt.Sprintf("if %s was not found: LD_LIBRARY_PATH must name its directory",
			name)
	}
	var dirs []string
	for _, f := range files {
		dirs = append(dirs, filepath.Dir(f))
	}
	dirs = slices.Compact(dirs)
	return fmt.Sprintf("if %s was not found: it is in %s; type LD_LIBRARY_PATH=%s before "+
		"armcirun, "+
		"or link the program by armcicc, so that it finds it by itself", name,
		strings.Join(dirs, " and in "), dirs[0])
}
