// SPDX-License-Identifier: BSD-3-Clause

// What this build is, which libraries stand beside it, and which MPI libraries the machine has.

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"

	"libarmci/internal/config"
)

// flavours are the libraries of one build, where they are installed relative to the command's
// directory.
var flavours = []struct{ what, file string }{
	{"classic and ComEx ABI", "lib*/libarmci.so.0"},
	{"ARMCI-MPI ABI for Open MPI", "lib*/armci-mpi/openmpi/libarmci.so.1"},
	{"ARMCI-MPI ABI for MPICH", "lib*/armci-mpi/mpich/libarmci.so.1"},
}

// mpis are the MPI libraries that the library knows how to use, by their sonames.
var mpis = []struct {
	what    string
	sonames []string
}{
	{"Open MPI", []string{"libmpi.so.40"}},
	{"MPICH family", []string{"libmpich.so.12", "libmpi.so.12"}},
	{"MPI's standard ABI", []string{"libmpi_abi.so.1"}},
}

// showBuild prints the version, what it was built with, and which libraries and MPIs are installed.
func showBuild(out io.Writer) {
	fmt.Fprintf(out, "libarmci %s\n  built with %s for %s/%s\n", config.Version,
		runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			fmt.Fprintf(out, "  with %s %s\n", m.Path, m.Version)
		}
	}
	for _, f := range flavours {
		fmt.Fprintf(out, "  %s: %s\n", f.what, orNot(first(config.Installed(f.file)),
			"not installed beside this command"))
	}
	cache, _ := os.ReadFile("/etc/ld.so.cache")
	for _, m := range mpis {
		fmt.Fprintf(out, "  %s: %s\n", m.what, orNot(inCache(cache, m.sonames),
			"none that the dynamic linker knows"))
	}
	fmt.Fprintln(out)
}

func first(files []string) string {
	if len(files) == 0 {
		return ""
	}
	return files[0]
}

func orNot(found, otherwise string) string {
	if found == "" {
		return otherwise
	}
	return found
}

// inCache finds the path of a shared library in the dynamic linker's cache, whose strings end with
// a zero byte.
func inCache(cache []byte, sonames []string) string {
	for entry := range bytes.SplitSeq(cache, []byte{0}) {
		if len(entry) > 0 && entry[0] == '/' &&
			slices.Contains(sonames, filepath.Base(string(entry))) {
			return string(entry)
		}
	}
	return ""
}
