// Package policy holds the house rules that a machine can hold: size of files and functions, a
// first comment that says what a file is for, no leftovers. It must not judge style that gofmt or
// the compiler judges.
// SPDX-License-Identifier: BSD-3-Clause
package policy

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	explainLines = 400 // a longer file says why: "Long because ..." in its first comment
	maxLines     = 600
	maxFunction  = 100
	headLines    = 30
	licence      = "SPDX-License-Identifier: BSD-3-Clause"
	// public headers are the manual: their comments do not count as length
	manual = "include/"
)

// longBecause is how a file explains its length.
var longBecause = regexp.MustCompile(`(?i)long (only )?because`)

var sourceSuffixes = []string{".go", ".c", ".h", ".cc", ".hpp", ".cpp", ".f90", ".F90", ".inc",
	".sh", ".cmake", ".map", ".py"}

// source is one file of ours: its path from the root and its text.
type source struct {
	path string
	text []byte
}

// sources are all source files of the repository.
func sources(t *testing.T) []source {
	t.Helper()
	var found []source
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if name == ".git" || name == "vendor" || strings.HasPrefix(name, "build") {
				return filepath.SkipDir
			}
			return nil
		}
		if !slices.Contains(sourceSuffixes, filepath.Ext(name)) &&
			name != "CMakeLists.txt" && name != "Makefile" {
			return nil
		}
		text, err := os.ReadFile(path)
		rel, _ := filepath.Rel(root, path)
		found = append(found, source{rel, text})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Fatal("no source found")
	}
	return found
}

// TestFileSize checks that long files say why they are, and that none is too long.
func TestFileSize(t *testing.T) {
	for _, s := range sources(t) {
		text := s.text
		if strings.HasPrefix(s.path, manual) {
			text = regexp.MustCompile(`(?s)/\*.*?\*/\n*`).ReplaceAll(text, nil)
		}
		lines := bytes.Count(text, []byte("\n"))
		switch explained := longBecause.Match(head(s.text)); {
		case lines > maxLines:
			t.Errorf("%s: %d lines, the limit is %d", s.path, lines, maxLines)
		case lines > explainLines && !explained:
			t.Errorf("%s: %d lines: split it, or say \"Long because\" in its first "+
				"comment", s.path, lines)
		}
	}
}

func head(text []byte) []byte {
	lines := bytes.SplitAfterN(text, []byte("\n"), headLines+1)
	return bytes.Join(lines[:min(len(lines), headLines)], nil)
}

// TestFirstComment wants the licence line and at least one sentence of purpose before the first
// line of code.
func TestFirstComment(t *testing.T) {
	comment := regexp.MustCompile(`^\s*(//|#|/\*|\*|!|""")`)
	for _, s := range sources(t) {
		words, licensed := 0, false
		for line := range strings.Lines(string(s.text)) {
			if strings.TrimSpace(line) == "" {
				if words == 0 {
					continue
				}
				break
			}
			if !comment.MatchString(line) {
				break
			}
			if strings.Contains(line, licence) {
				licensed = true
			} else if !strings.HasPrefix(line, "#!") &&
				!strings.HasPrefix(line, "//go:build") {
				words += len(strings.Fields(line))
			}
		}
		if !licensed && !bytes.Contains(head(s.text), []byte(licence)) {
			t.Errorf("%s: no line %q at its top", s.path, licence)
		}
		if words < 6 {
			t.Errorf("%s: does not begin with a comment that says what it is for",
				s.path)
		}
	}
}

// TestNoLeftovers looks for marks of unfinished work, and for code that is compiled out.
func TestNoLeftovers(t *testing.T) {
	// Put together here so that this file does not contain what it looks for.
	leftovers := regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b|^\s*#\s*if\s+` + `0\b`)
	for _, s := range sources(t) {
		number := 0
		for line := range strings.Lines(string(s.text)) {
			number++
			if leftovers.MatchString(line) {
				t.Errorf("%s:%d: %s", s.path, number, strings.TrimSpace(line))
			}
		}
	}
}

// TestGoFunctionLength checks that no Go function has more than maxFunction lines.
func TestGoFunctionLength(t *testing.T) {
	for _, s := range sources(t) {
		if filepath.Ext(s.path) != ".go" {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, s.path, s.text, 0)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := set.Position(fn.End()).Line - set.Position(fn.Pos()).Line +
				1; n > maxFunction {
				t.Errorf("%s: function %s has %d lines, the limit is %d", s.path,
					fn.Name.Name, n, maxFunction)
			}
		}
	}
}

// TestPythonFunctionLength: a function ends before the next line that is indented no more than its
// first.
func TestPythonFunctionLength(t *testing.T) {
	function := regexp.MustCompile(`^(\s*)def (\w+)`)
	for _, s := range sources(t) {
		if filepath.Ext(s.path) != ".py" {
			continue
		}
		name, begin, indent, last := "", 0, 0, 0
		for number, line := range strings.Split(string(s.text)+"\nend", "\n") {
			if strings.TrimSpace(line) == "" {
				continue
			}
			within := len(line) - len(strings.TrimLeft(line, " "))
			if name != "" && within <= indent &&
				!strings.HasPrefix(strings.TrimSpace(line), ")") {
				if last-begin+1 > maxFunction {
					t.Errorf("%s:%d: function %s has %d lines, the limit is %d",
						s.path, begin+1, name, last-begin+1, maxFunction)
				}
				name = ""
			}
			if found := function.FindStringSubmatch(line); found != nil && name == "" {
				name, begin, indent = found[2], number, len(found[1])
			}
			last = number
		}
	}
}

// TestCFunctionLength relies on the house's layout: a function's braces stand alone in the first
// column.
func TestCFunctionLength(t *testing.T) {
	for _, s := range sources(t) {
		if !slices.Contains([]string{".c", ".h", ".cc", ".hpp"}, filepath.Ext(s.path)) {
			continue
		}
		number, begin := 0, 0
		for line := range strings.Lines(string(s.text)) {
			number++
			switch strings.TrimRight(line, " \t\n") {
			case "{":
				begin = number
			case "}":
				if begin > 0 && number-begin > maxFunction {
					t.Errorf("%s:%d: a function of %d lines, the limit is %d",
						s.path, begin, number-begin, maxFunction)
				}
				begin = 0
			}
		}
	}
}
