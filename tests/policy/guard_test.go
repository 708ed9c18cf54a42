// SPDX-License-Identifier: BSD-3-Clause

// A Go panic must not cross into C: every function that C can call defers the guard that reports it
// and ends the process.

package policy

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestEveryExportIsGuarded checks that each exported function begins by deferring the guard.
func TestEveryExportIsGuarded(t *testing.T) {
	export := regexp.MustCompile(`(?m)^//export (\w+)\nfunc [^\n]*\{([^}]*)`)
	long := regexp.MustCompile(`(?m)^//export (\w+)\nfunc (?:[^{]|\n)*?\{\n([^\n]*)`)
	var files []string
	for _, library := range []string{"capi", "mpirma"} {
		more, err := filepath.Glob("../../" + library + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	exports := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range export.FindAllSubmatch(text, -1) {
			if string(m[2]) != "" && m[2][0] != '\n' {
				t.Errorf("%s: %s has its body on one line: it cannot defer the "+
					"guard", file, m[1])
			}
		}
		for _, m := range long.FindAllSubmatch(text, -1) {
			exports++
			if string(m[2]) != "\tdefer guest.Guard(guest.Faults())" {
				t.Errorf("%s: %s does not begin with defer "+
					"guest.Guard(guest.Faults())", file, m[1])
			}
		}
	}
	if exports < 70 {
		t.Errorf("only %d exported functions were found", exports)
	}
}
