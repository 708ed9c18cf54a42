// SPDX-License-Identifier: BSD-3-Clause

// The manual pages of the commands have the options that their usage texts have.

package policy

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

var (
	usageText  = regexp.MustCompile("(?s)const usage = `(.*?)`")
	usedOption = regexp.MustCompile(`(?m)^  -([a-z]+)\b`)
	pageOption = regexp.MustCompile(`\bFl ([a-z]+)\b`)
	pageItem   = regexp.MustCompile(`(?m)^\.It Fl .*$`)
)

func TestManualOptions(t *testing.T) {
	commands, err := filepath.Glob("../../cmd/*/main.go")
	if err != nil || len(commands) < 3 {
		t.Fatalf("%d commands: %v", len(commands), err)
	}
	for _, source := range commands {
		name := filepath.Base(filepath.Dir(source))
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		usage := usageText.FindSubmatch(text)
		if usage == nil {
			t.Errorf("%s: no usage text", source)
			continue
		}
		checkPage(t, name, options(usedOption, string(usage[1])))
	}
}

// checkPage compares the options of a command with the items of its page, both ways.
func checkPage(t *testing.T, name string, want []string) {
	var got []string
	for _, item := range pageItem.FindAllString(read(t, "docs/man/"+name+".1"), -1) {
		got = append(got, options(pageOption, item)...)
	}
	if len(want) < 5 {
		t.Errorf("%s: only %d options in its usage text", name, len(want))
	}
	for _, option := range want {
		if !slices.Contains(got, option) {
			t.Errorf("docs/man/%s.1 has no -%s", name, option)
		}
	}
	for _, option := range got {
		if !slices.Contains(want, option) && option != "np" { // named beside -n
			t.Errorf("docs/man/%s.1 has -%s, which %s -h does not", name, option, name)
		}
	}
}

// options are those that the pattern finds.
func options(pattern *regexp.Regexp, text string) (found []string) {
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	return found
}
