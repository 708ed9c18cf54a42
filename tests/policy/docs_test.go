// SPDX-License-Identifier: BSD-3-Clause

// What the README repeats from elsewhere is what is said there, and the glossary is short.

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

// mostSettings is how many the README lists.
const mostSettings = 20

func TestReadmeSettings(t *testing.T) {
	table := regexp.MustCompile(`(?s)<!-- settings -->\n(.*?)<!-- end -->`)
	want := table.FindString(read(t, "docs/configuration.md"))
	if want == "" || table.FindString(read(t, "README.md")) != want {
		t.Error("README.md: its table of settings is not that of docs/configuration.md")
	}
	if rows := strings.Count(want, "\n| `ARMCI_"); rows == 0 || rows > mostSettings {
		t.Errorf("README.md lists %d settings; more than %d are too many to read: make "+
			"it one for tests and measurements", rows, mostSettings)
	}
}

// mostOwnWords is how many words of its own the code may have, which a newcomer has to look up.
const mostOwnWords = 20

func TestGlossary(t *testing.T) {
	_, glossary, found := strings.Cut(read(t, "CONTRIBUTING.md"), "\n## Glossary\n")
	glossary, _, _ = strings.Cut(glossary, "\n## ")
	if n := strings.Count(glossary, "\n| **"); !found || n == 0 || n > mostOwnWords {
		t.Errorf("the glossary of CONTRIBUTING.md has %d words, the most is %d", n, mostOwnWords)
	}
}
