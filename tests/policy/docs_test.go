// SPDX-License-Identifier: BSD-3-Clause

// README.md, the glossary and the table of settings are short.

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

// mostSettings is how many the first table of docs/configuration.md has; mostReadme lines
// README.md.
const (
	mostSettings = 20
	mostReadme   = 120
)

func TestFewSettings(t *testing.T) {
	table := regexp.MustCompile(`(?s)<!-- settings -->\n(.*?)<!-- end -->`)
	rows := strings.Count(table.FindString(read(t, "docs/configuration.md")), "\n| `ARMCI_")
	if rows == 0 || rows > mostSettings {
		t.Errorf("docs/configuration.md has %d settings for users; more than %d are too "+
			"many to read: make it one for tests and measurements", rows, mostSettings)
	}
}

func TestReadmeLength(t *testing.T) {
	if n := strings.Count(read(t, "README.md"), "\n"); n > mostReadme {
		t.Errorf("README.md has %d lines, more than %d: move them to pages", n, mostReadme)
	}
}

// mostOwnWords is how many words of its own the code may have, which a newcomer has to look up.
const mostOwnWords = 20

func TestGlossary(t *testing.T) {
	_, glossary, found := strings.Cut(read(t, "CONTRIBUTING.md"), "\n## Glossary\n")
	glossary, _, _ = strings.Cut(glossary, "\n## ")
	if n := strings.Count(glossary, "\n| **"); !found || n == 0 || n > mostOwnWords {
		t.Errorf("the glossary of CONTRIBUTING.md has %d words, the most is %d", n,
			mostOwnWords)
	}
}
