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
// README.md, of which mostFirstScreen are above its first heading.
const (
	mostSettings    = 20
	mostReadme      = 120
	mostFirstScreen = 65
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

// TestReadmeFirstScreen shows that README.md begins with plots, figures that are also in
// docs/validation.md, what was never tried, and a program with its output.
func TestReadmeFirstScreen(t *testing.T) {
	screen, _, found := strings.Cut(read(t, "README.md"), "\n## ")
	if !found || strings.Count(screen, "\n") > mostFirstScreen {
		t.Errorf("above its first heading README.md has more than %d lines",
			mostFirstScreen)
	}
	for _, want := range []string{"<img src=", "**Never tried**", "```c\n#include <armci.h>",
		"armcirun -n 4 ./app\n```\n\n```\n4 of 4\n"} {
		if !strings.Contains(screen, want) {
			t.Errorf("above its first heading README.md has no %q", want)
		}
	}
	_, table, found := strings.Cut(screen, "|---|---|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	if !found {
		t.Error("above its first heading README.md has no figures")
	}
	for row := range strings.SplitSeq(table, "\n") {
		if !strings.Contains(read(t, "docs/validation.md"), row+"\n") {
			t.Errorf("docs/validation.md does not have the row of README.md %s", row)
		}
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
