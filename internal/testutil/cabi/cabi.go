// SPDX-License-Identifier: BSD-3-Clause

// Package cabi compares structures and constants of headers of ours with those of a library's
// headers, for tests: a C compiler looks at both. Where it or the library's headers are not
// installed, the test is skipped.
package cabi

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Layout is a structure, or the beginning of one, by my name and by theirs, and the fields whose
// places must agree; "sizeof" is its size. A field that is called something else over there is
// "mine=theirs".
type Layout [3]string

// Pairs are expressions that must have the same value: mine and theirs.
type Pairs map[string]string

// Compare compares. theirs are the library's headers, mine is one in the directory of the test;
// more is C between them and the comparison.
func Compare(t *testing.T, theirs []string, mine, more string, layouts []Layout, values Pairs) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	compiler, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler (cc)")
	}
	compile := func(text string) (string, error) {
		file := filepath.Join(t.TempDir(), "layout.c")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(compiler, "-std=gnu11", "-fsyntax-only", "-I", here,
			file).CombinedOutput()
		return string(out), err
	}
	includes := ""
	for _, h := range theirs {
		includes += "#include <" + h + ">\n"
	}
	if _, err := compile(includes); err != nil {
		t.Skipf("<%s> is not installed", theirs[0])
	}
	var text strings.Builder
	text.WriteString(includes + "#include \"" + mine + "\"\n" + more)
	equal := func(a, b, what string) {
		fmt.Fprintf(&text, "_Static_assert((long long)(%s) == (long long)(%s), \"%s\");\n",
			a, b, what)
	}
	for _, l := range layouts {
		mine, theirs := "struct "+l[0], "struct "+l[1]
		for _, f := range strings.Fields(l[2]) {
			a, b, renamed := strings.Cut(f, "=")
			if !renamed {
				b = a
			}
			if f == "sizeof" {
				equal("sizeof("+mine+")", "sizeof("+theirs+")", l[0]+": "+f)
			} else {
				equal("offsetof("+mine+", "+a+")", "offsetof("+theirs+", "+b+")",
					l[0]+": "+f)
			}
		}
	}
	for a, b := range values {
		equal(a, b, a)
	}
	if out, err := compile(text.String()); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
