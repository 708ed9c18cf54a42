// SPDX-License-Identifier: BSD-3-Clause

// Package rewrite makes simulated packages: copies of files, with the threads, locks, atomics,
// clocks and channels of package simulate. Lines stay where they are. The files go to a
// directory, with a list for the -overlay flag of the go command.
package rewrite

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const simulate = "libarmci/internal/testutil/simulate"

// Tag is the build tag of files that a simulation alone has.
const Tag = "simulation"

// replaced are the imports that become that of package simulate, with the names that files use.
var replaced = map[string]string{
	"sync":                   "sync",
	"sync/atomic":            "atomic",
	"time":                   "time",
	"runtime":                "runtime",
	"math/rand/v2":           "rand",
	"libarmci/internal/wait": "wait",
}

// edit replaces bytes of a file.
type edit struct {
	at, end int
	text    string
}

// File returns a simulated copy of a file. It fails at what it cannot change.
func File(name string, text []byte) ([]byte, error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var edits []edit
	offset := func(p token.Pos) int { return set.Position(p).Offset }
	insert := func(p token.Pos, s string) {
		edits = append(edits, edit{offset(p), offset(p), s})
	}
	replace := func(from, to token.Pos, s string) {
		edits = append(edits, edit{offset(from), offset(to), s})
	}
	for _, i := range f.Imports {
		path, _ := strconv.Unquote(i.Path.Value)
		if as := replaced[path]; as != "" {
			if i.Name != nil {
				return nil, fmt.Errorf("%s: an import with a name",
					set.Position(i.Pos()))
			}
			replace(i.Pos(), i.End(), as+" "+strconv.Quote(simulate))
		}
	}
	needed := false
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			if len(n.Call.Args) > 0 {
				err = fmt.Errorf("%s: a go statement with arguments",
					set.Position(n.Pos()))
			}
			replace(n.Pos(), n.Call.Pos(), fmt.Sprintf("simulate.Go(%q, func() { ",
				threadName(n.Call)))
			insert(n.End(), " })")
		case *ast.SendStmt:
			insert(n.Pos(), "simulate.Send(")
			replace(n.Arrow, n.Arrow+2, ",")
			insert(n.End(), ")")
		case *ast.UnaryExpr:
			if n.Op != token.ARROW {
				return true
			}
			replace(n.Pos(), n.X.Pos(), "simulate.Recv(")
			insert(n.End(), ")")
		case *ast.CallExpr:
			id, ok := n.Fun.(*ast.Ident)
			if !ok || id.Name != "close" {
				return true
			}
			replace(id.Pos(), id.End(), "simulate.Close")
		case *ast.SelectStmt:
			err = fmt.Errorf("%s: a select statement", set.Position(n.Pos()))
		default:
			return true
		}
		needed = true
		return true
	})
	if err != nil {
		return nil, err
	}
	if needed {
		insert(f.Name.End(), "; import simulate "+strconv.Quote(simulate))
	}
	return apply(text, edits), nil
}

// threadName is the name of the thread of a go statement.
func threadName(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.SelectorExpr:
		return f.Sel.Name
	case *ast.Ident:
		return f.Name
	}
	return "func"
}

// apply makes the edits.
func apply(text []byte, edits []edit) (out []byte) {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.at - b.at })
	at := 0
	for _, e := range edits {
		out = append(append(out, text[at:e.at]...), e.text...)
		at = e.end
	}
	return append(out, text[at:]...)
}

// Patch is a change of a simulated file: a defect that a simulation has to find.
type Patch struct {
	File     string // from the root of the module
	Old, New string // Old is there once
}

// Overlay writes simulated copies of packages to a directory. packages are directories from the
// root of the module. Tests of theirs without the tag are left out. It returns the list for
// -overlay.
func Overlay(root, to string, packages []string, patches ...Patch) (list string, err error) {
	replace := map[string]string{}
	for _, p := range packages {
		files, err := filepath.Glob(filepath.Join(root, p, "*.go"))
		if err != nil {
			return "", err
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				return "", err
			}
			if strings.Contains(string(text), "\n//go:build "+Tag+"\n") ||
				strings.Contains(string(text), "\n//go:build !"+Tag+"\n") {
				continue
			}
			if strings.HasSuffix(name, "_test.go") {
				replace[name] = ""
				continue
			}
			if text, err = patched(root, name, text, patches); err != nil {
				return "", err
			}
			if text, err = File(name, text); err != nil {
				return "", err
			}
			copied := filepath.Join(to, strings.ReplaceAll(p, "/", "_")+
				"_"+filepath.Base(name))
			if err := os.WriteFile(copied, text, 0o600); err != nil {
				return "", err
			}
			replace[name] = copied
		}
	}
	return writeList(to, replace)
}

// Patched writes a file with a defect to a directory, not simulated, and the list for -overlay.
func Patched(root, to string, p Patch) (list string, err error) {
	name := filepath.Join(root, p.File)
	text, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	if text, err = patched(root, name, text, []Patch{p}); err != nil {
		return "", err
	}
	copied := filepath.Join(to, filepath.Base(name))
	if err := os.WriteFile(copied, text, 0o600); err != nil {
		return "", err
	}
	return writeList(to, map[string]string{name: copied})
}

// Compile compiles the tests of a package, a directory from the root of the module, with a list for
// -overlay: with the flags of the libraries, so that what these are made of is not compiled again.
func Compile(root, list, pkg, binary string, tags ...string) error {
	tags = append(tags, "netgo", "osusergo")
	build := exec.Command("go", "test", "-c", "-trimpath", "-buildmode=pie", "-overlay", list,
		"-tags", strings.Join(tags, ","), "-o", binary, "./"+pkg)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", build, err, out)
	}
	return nil
}

// writeList writes the list of the files that replace others.
func writeList(to string, replace map[string]string) (list string, err error) {
	all, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	list = filepath.Join(to, "overlay.json")
	return list, os.WriteFile(list, all, 0o600)
}

// patched makes the patches of a file.
func patched(root, name string, text []byte, patches []Patch) ([]byte, error) {
	for _, p := range patches {
		if filepath.Join(root, p.File) != name {
			continue
		}
		if n := strings.Count(string(text), p.Old); n != 1 {
			return nil, fmt.Errorf("%s has %q %d times, not once", p.File, p.Old, n)
		}
		text = []byte(strings.Replace(string(text), p.Old, p.New, 1))
	}
	return text, nil
}
