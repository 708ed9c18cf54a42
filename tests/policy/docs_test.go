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
