// SPDX-License-Identifier: BSD-3-Clause

// The manual pages of the commands have the options that their usage texts have.

package policy

import (
	"path/filepath"
	"regexp"
	"testing"
)

var (
	pageItem   = regexp.MustCompile(`(?m)^\.It Fl .*$`)
	pageOption = regexp.MustCompile(`\bFl ([a-z]+)\b`)
)

// TestManualOptions checks that manual pages and -h have the same options.
func TestManualOptions(t *testing.T) {
	sources, err := filepath.Glob("../../cmd/*/main.go")
	if err != nil || len(sources) < 3 {
		t.Fatalf("%d commands: %v", len(sources), err)
	}
	all := commands(t)
	for _, source := range sources {
		name := filepath.Base(filepath.Dir(source))
		if all[name] == nil {
			t.Errorf("commands_test.go does not know %s", name)
			continue
		}
		page := "docs/man/" + name + ".1"
		has := map[string]bool{}
		for _, item := range pageItem.FindAllString(read(t, page), -1) {
			for _, m := range pageOption.FindAllStringSubmatch(item, -1) {
				has[m[1]] = true
				if !all[name].options[m[1]] {
					t.Errorf("%s has -%s, which %s -h does not", page, m[1],
						name)
				}
			}
		}
		for _, m := range optionLine.FindAllStringSubmatch(read(t, "cmd/"+name+"/main.go"),
			-1) {
			if !has[m[1]] {
				t.Errorf("%s has no -%s", page, m[1])
			}
		}
	}
}
