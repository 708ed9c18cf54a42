// Package internal_test holds the rules of who may import whom, as data. Arrows point down only.
// Do not change the table to make a build pass: it is the architecture.
// SPDX-License-Identifier: BSD-3-Clause
package internal_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// allowed lists, per package of ours, the packages of ours that its non-test files may import. A package that is
// missing here may not exist: a new room needs a row, and a row needs a reason.
var allowed = map[string]string{
	"internal/config": "",
	"internal/log":    "",
	"internal/kernel": "",

	"internal/bootstrap":           "internal/bootstrap/jobwire internal/config internal/log",
	"internal/bootstrap/jobwire":   "",
	"internal/bootstrap/jobserver": "internal/bootstrap/jobwire internal/log",
	"internal/bootstrap/leaktest":  "",
	"internal/bootstrap/launch":    "internal/bootstrap/jobserver internal/bootstrap/jobwire internal/config internal/log",

	"internal/transport":               "internal/kernel internal/log",
	"internal/transport/transporttest": "internal/transport internal/kernel internal/bootstrap/leaktest",
	"internal/shm":                     "internal/transport internal/kernel internal/config internal/log",

	"internal/tcp": "internal/transport internal/kernel internal/config internal/log",

	"internal/rdma":       "internal/rdma/verbs internal/rdma/pin internal/rdma/lane internal/transport internal/kernel internal/config internal/log",
	"internal/rdma/lane":  "internal/rdma/verbs", // C: transfers that never enter Go
	"internal/rdma/pin":   "internal/log",        // C: a thread that must not wait for Go
	"internal/rdma/verbs": "",                    // so that C is in one place, and the protocols are plain Go

	"internal/core": "internal/transport internal/bootstrap internal/kernel internal/config internal/log",
	"internal/msg":  "internal/core internal/transport internal/bootstrap internal/kernel internal/config internal/log",

	"internal/drivers": "internal/shm internal/rdma internal/tcp internal/transport internal/config internal/log",

	"capi": "internal/drivers internal/core internal/msg internal/transport internal/bootstrap internal/kernel " +
		"internal/config internal/log",
	"cmd/armcirun": "internal/bootstrap/launch internal/config internal/log",
	"cmd/armci_info": "internal/drivers internal/core internal/shm internal/transport internal/bootstrap internal/kernel " +
		"internal/config internal/log",
	"cmd/armci_perf": "internal/config internal/log",
}

// cgo lists who may import "C".
var cgo = []string{"capi", "internal/kernel", "internal/shm", "internal/bootstrap", "internal/rdma/verbs", "internal/rdma/pin", "internal/rdma/lane"}

// foreign lists what may be imported from elsewhere, beside the standard library.
var foreign = []string{"golang.org/x/sys/", "github.com/mattn/go-pointer", "github.com/ianlancetaylor/cgosymbolizer"}

const module = "libarmci/"

func TestImports(t *testing.T) {
	root := ".."
	for _, top := range []string{"capi", "cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(file string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") ||
				strings.Contains(file, "/testdata/") {
				return err
			}
			rel, err := filepath.Rel(root, file)
			if err != nil {
				return err
			}
			checkFile(t, file, path.Dir(filepath.ToSlash(rel)))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

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
		if !slices.ContainsFunc(foreign, func(f string) bool { return strings.HasPrefix(name, f) }) {
			return "not one of the project's dependencies"
		}
	}
	return ""
}
