// Package internal_test holds the permitted dependencies, as data: imports of Go, #include "../ of
// C. Arrows point down only. Do not change the table to make a build pass: it is the
// architecture.
// SPDX-License-Identifier: BSD-3-Clause
package internal_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// allowed lists, per package of ours, the packages of ours that its non-test files may import or
// include headers of. A package that is missing here may not exist: a new package needs a row, and
// a row needs a reason.
var allowed = map[string]string{
	"internal/config": "",
	"internal/log":    "",
	// system calls that several packages need
	"internal/sys": "",
	// connections that have not proved themselves, for every listener
	"internal/acceptqueue": "internal/sys",
	"internal/kernel":      "",
	// how threads wait: looking, yielding, sleeping, which core. C and Go
	"internal/wait": "internal/kernel",
	// files of killed ranks, for ofi and for armcirun
	"internal/leftovers": "",

	"internal/bootstrap": "internal/acceptqueue internal/bootstrap/jobserver " +
		"internal/bootstrap/jobwire internal/bootstrap/pmi " +
		"internal/config internal/sys internal/log",
	"internal/bootstrap/pmi":     "", // C
	"internal/bootstrap/jobwire": "internal/acceptqueue internal/sys",
	"internal/bootstrap/jobserver": "internal/acceptqueue internal/bootstrap/jobwire " +
		"internal/log",
	"internal/testutil/leaktest":   "",
	"internal/testutil/eventually": "", // for tests: waiting for what nothing announces
	"internal/bootstrap/launch": "internal/bootstrap/jobserver internal/bootstrap/jobwire " +
		"internal/config internal/sys internal/leftovers internal/log",

	"internal/transport": "internal/kernel internal/log",
	// a network in memory: for tests, and the example of how to add one
	"internal/testutil/pipe": "internal/testutil/simulate internal/transport " +
		"internal/kernel",
	"internal/testutil/history": "", // for tests: can what was read of a word be explained?
	// for tests: threads and a clock as a seed says; copies of packages that use them
	"internal/testutil/simulate":         "",
	"internal/testutil/simulate/rewrite": "",
	"internal/testutil/transporttest": "internal/transport internal/kernel " +
		"internal/testutil/leaktest",
	"internal/shm": "internal/acceptqueue internal/transport " +
		"internal/kernel internal/wait internal/config internal/log internal/sys",

	// the transport between nodes, over any fabric
	"internal/internode": "internal/pin internal/transport internal/kernel internal/log " +
		"internal/wait",
	"internal/tcp": "internal/acceptqueue internal/tcp/rawsock internal/sys " +
		"internal/transport internal/kernel internal/log internal/wait",
	// raw sockets: it must not know what travels over them
	"internal/tcp/rawsock": "internal/sys internal/kernel",

	// C: signals and crash reports; once, for every package main that becomes a shared library
	"internal/guest": "internal/log",

	"internal/guest/sigtable": "", // a program of the build: changes a linked library

	"internal/pin": "internal/transport internal/log", // C: a thread that must not wait for Go

	"internal/rdma": "internal/rdma/qp internal/rdma/verbs internal/rdma/lab " +
		"internal/rdma/fastpath internal/pin internal/transport " +
		"internal/kernel internal/log internal/sys internal/wait",
	// words: what the protocols need of a network
	"internal/rdma/qp": "internal/pin",
	// C: transfers that never enter Go
	"internal/rdma/fastpath": "internal/rdma/qp internal/rdma/verbs internal/pin " +
		"internal/transport internal/kernel internal/wait",
	// what only tests and papers choose
	"internal/rdma/lab": "internal/rdma/qp internal/transport internal/kernel",
	// so that C is in one place, and the protocols are plain Go
	"internal/rdma/verbs": "internal/rdma/qp",

	"internal/ofi": "internal/ofi/fast internal/ofi/libfabric internal/rdma internal/rdma/qp " +
		"internal/pin internal/transport internal/log internal/sys internal/leftovers",
	// C: posts puts and gets; requests and completions look as those of verbs do
	"internal/ofi/fast": "internal/ofi/libfabric internal/rdma/qp internal/rdma/verbs " +
		"internal/transport internal/sys",
	"internal/ofi/libfabric": "", // C
	// for tests of packages with C: their layouts are those of a library's headers
	"internal/testutil/cabi": "",

	// files of saved memory; knows no ranks
	"internal/checkpoint": "",

	"internal/profile": "", // counters that processes share, and how they are printed

	"internal/core": "internal/checkpoint internal/transport internal/bootstrap " +
		"internal/kernel internal/config " +
		"internal/log",
	"internal/msg": "internal/core internal/transport internal/bootstrap internal/kernel " +
		"internal/config internal/log",

	// windows; knows no MPI
	"internal/window": "internal/core internal/transport internal/kernel",

	"internal/drivers": "internal/shm internal/internode internal/rdma internal/ofi " +
		"internal/tcp internal/transport internal/config internal/log",

	"internal/startup": "internal/drivers internal/guest internal/core internal/transport " +
		"internal/bootstrap internal/config " +
		// starts core over the drivers; once, for every package main that becomes a shared
		// library
		"internal/log",

	// C: records calls; once, for every package main that becomes a shared library
	"internal/recorder": "internal/profile internal/core internal/transport internal/kernel " +
		"internal/config internal/log",

	"capi": "internal/startup internal/guest internal/recorder internal/checkpoint " +
		"internal/core internal/msg " +
		"internal/transport internal/bootstrap " +
		"internal/kernel internal/config internal/log",
	"mpirma": "internal/startup internal/guest internal/recorder internal/window " +
		"internal/core internal/transport internal/kernel " +
		"internal/log", // one-sided MPI of unchanged programs
	// what batch systems tell of hosts
	"internal/bootstrap/batch": "internal/bootstrap/launch internal/config",

	"cmd/armcirun": "internal/bootstrap/batch internal/bootstrap/launch internal/config " +
		"internal/sys internal/log",
	"cmd/armci_info": "internal/drivers internal/core internal/shm internal/transport " +
		"internal/bootstrap internal/kernel " +
		"internal/config internal/log internal/profile",
	"cmd/armci_perf": "internal/figure internal/config",
	// asks the drivers what there is, as armci_info does; everything else is programs
	"cmd/armci_accept": "internal/figure internal/drivers internal/core internal/bootstrap " +
		"internal/config internal/ofi/libfabric",

	"internal/figure": "", // what the tool and the benchmarks share
	"bench/launch":    "", // the launchers' words for each network
	"bench":           "bench/launch internal/figure internal/config",
	"bench/papers":    "bench/launch internal/figure internal/config",
}

// headers lists directories whose headers a package may include although it may not import them.
var headers = map[string]string{
	// the public headers; the shared memory that the node's fast path reads
	"capi": "include internal/shm",
	// the same, for windows; the one rule which ABI an MPI has (mpi_flavour.h)
	"mpirma": "internal/shm internal/bootstrap",
	// coarrays are a client of the public headers, which are on its include path
	"caf": "",
	// OpenSHMEM, in the same way
	"shmem": "", "shmem/mpp": "shmem",
}

// cgo lists the packages that may import "C".
var cgo = []string{"capi", "mpirma", "internal/kernel", "internal/wait", "internal/shm",
	"internal/bootstrap", "internal/bootstrap/pmi", "internal/rdma/verbs", "internal/pin",
	"internal/rdma/fastpath", "internal/ofi/fast",
	"internal/ofi/libfabric", "internal/guest", "internal/recorder",
	// fast.h, the table of the C fast path: a fabric fills it, capi reads it, neither knows the
	// other
	"internal/transport",
}

// foreign lists what may be imported from elsewhere, beside the standard library.
var foreign = []string{"golang.org/x/sys/", "github.com/ianlancetaylor/cgosymbolizer"}

// costly lists packages of the standard library that cost each rank hundreds of KiB of memory. Only
// programs and tests may import them.
var costly = []string{"encoding/json", "regexp", "text/template", "html/template", "net/http",
	"go/parser"}

// programs lists the packages that no library has.
var programs = []string{"bench", "cmd", "internal/bootstrap/launch", "internal/figure",
	"internal/testutil/simulate/rewrite", "internal/testutil/transporttest"}

const module = "libarmci/"

// TestImports checks every import and include of the sources against the table.
func TestImports(t *testing.T) {
	for _, file := range sources(t) {
		dir := path.Dir(file)
		if strings.HasSuffix(file, ".go") {
			checkFile(t, filepath.Join("..", file), dir)
		}
		text, err := os.ReadFile(filepath.Join("..", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range refuseIncludes(string(text), dir,
			strings.Fields(allowed[dir]+" "+headers[dir])) {
			t.Errorf("%s: %s", file, line)
		}
	}
}

// sources lists the Go, C and header files that are not tests, from the root.
func sources(t *testing.T) (files []string) {
	for _, top := range []string{"bench", "caf", "capi", "cmd", "internal", "mpirma", "shmem"} {
		err := filepath.WalkDir(filepath.Join("..", top), func(file string, d fs.DirEntry,
			err error) error {
			if err != nil || !slices.Contains([]string{".go", ".c", ".h"},
				path.Ext(file)) ||
				strings.HasSuffix(file, "_test.go") ||
				strings.Contains(file, "/testdata/") {
				return err
			}
			rel, err := filepath.Rel("..", file)
			files = append(files, filepath.ToSlash(rel))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// include is a header of another directory, in C or in the C part of a Go file.
var include = regexp.MustCompile(`(?m)^(?://)?\s*#\s*include\s*"(\.\./[^"]*)"`)

// refuseIncludes names the lines of a file in dir that include headers of packages that dir may not
// import.
func refuseIncludes(text, dir string, ours []string) (refused []string) {
	for _, m := range include.FindAllStringSubmatch(text, -1) {
		if from := path.Dir(path.Join(dir, m[1])); from != dir &&
			!slices.Contains(ours, from) {
			refused = append(refused,
				fmt.Sprintf("includes %q: %s is not below this package", m[1],
					from))
		}
	}
	return refused
}

// TestIncludes tests the check itself.
func TestIncludes(t *testing.T) {
	for _, c := range []struct {
		text    string
		refused int
	}{
		{`#include "../internal/kernel/kernel.h"`, 0},
		{`#include "../capi/front.h"`, 0},
		{`#include "front.h"`, 0},
		{"#include <a.h>\n  #  include \"../internal/rdma/verbs/verbs.h\"\n", 1},
		{"package x\n\n// #include \"../internal/rdma/fastpath/fastpath.h\"\nimport " +
			"\"C\"\n", 1},
		{"/*\n#include \"../internal/kernel/../tcp/tcp.h\"\n#include " +
			"\"../cmd/a/a.h\"\n*/\nimport \"C\"\n", 2},
	} {
		if got := refuseIncludes(c.text, "capi", strings.Fields("internal/kernel")); len(
			got) != c.refused {
			t.Errorf("%q: refused %q, want %d", c.text, got, c.refused)
		}
	}
}

// checkFile checks the imports of one Go file against the row of its package.
func checkFile(t *testing.T, file, dir string) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Error(err)
		return
	}
	row, ok := allowed[dir]
	if !ok {
		t.Errorf("%s: package %s has no row in the table of allowed imports", file, dir)
	}
	for _, spec := range parsed.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Error(err)
			continue
		}
		if why := refuse(name, dir, strings.Fields(row)); why != "" {
			t.Errorf("%s: imports %q: %s", file, name, why)
		}
	}
}

// refuse says why the package in dir may not import name, or nothing.
func refuse(name, dir string, ours []string) string {
	switch first, _, _ := strings.Cut(name, "/"); {
	case name == "C":
		if !slices.Contains(cgo, dir) {
			return "no C here"
		}
	case strings.HasPrefix(name, module):
		if !slices.Contains(ours, strings.TrimPrefix(name, module)) {
			return "not below this package"
		}
	case strings.Contains(first, "."):
		if !slices.ContainsFunc(foreign,
			func(f string) bool { return strings.HasPrefix(name, f) }) {
			return "not one of the project's dependencies"
		}
	case slices.Contains(costly, name):
		if !slices.ContainsFunc(programs, func(p string) bool {
			return dir == p ||
				strings.HasPrefix(dir, p+"/")
		}) {
			return "too large for a library"
		}
	}
	return ""
}
