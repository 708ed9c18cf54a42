// SPDX-License-Identifier: BSD-3-Clause

// What the README repeats from elsewhere must be what is said there.

package policy

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestReadmeSettings(t *testing.T) {
	table := regexp.MustCompile(`(?s)<!-- settings -->\n(.*?)<!-- end -->`)
	want := table.FindString(read(t, "docs/configuration.md"))
	if want == "" || table.FindString(read(t, "README.md")) != want {
		t.Error("README.md: its table of settings is not that of docs/configuration.md")
	}
}

// TestLinks follows the relative links of the documents for users and contributors.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	for _, document := range []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"} {
		for _, m := range link.FindAllStringSubmatch(read(t, document), -1) {
			if _, err := os.Stat(filepath.Join("..", "..", strings.TrimSpace(m[1]))); err != nil {
				t.Errorf("%s: link to %s: %v", document, m[1], err)
			}
		}
	}
}
