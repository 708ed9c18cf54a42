// SPDX-License-Identifier: BSD-3-Clause

// A Go panic must not cross into C: every function that C can call defers the guard that reports it and ends the
// process.

package policy

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

func TestEveryExportIsGuarded(t *testing.T) {
	export := regexp.MustCompile(`(?m)^//export (\w+)\nfunc [^\n]*\{([^}]*)`)
	long := regexp.MustCompile(`(?m)^//export (\w+)\nfunc (?:[^{]|\n)*?\{\n([^\n]*)`)
	files, err := filepath.Glob("../../capi/*.go")
	if err != nil {
		t.Fatal(err)
	}
	exports := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range export.FindAllSubmatch(text, -1) {
			if string(m[2]) != "" && m[2][0] != '\n' {
				t.Errorf("%s: %s has its body on one line: it cannot defer the guard", file, m[1])
			}
		}
		for _, m := range long.FindAllSubmatch(text, -1) {
			exports++
			if string(m[2]) != "\tdefer guard(faults())" {
				t.Errorf("%s: %s does not begin with defer guard(faults())", file, m[1])
			}
		}
	}
	if exports < 70 {
		t.Errorf("only %d exported functions were found", exports)
	}
}
