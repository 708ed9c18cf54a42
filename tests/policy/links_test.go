// SPDX-License-Identifier: BSD-3-Clause

// Links in the documents lead somewhere.

package policy

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"libarmci/docs/reference/anchor"
)

var (
	link    = regexp.MustCompile(`(?:\]\(|src=")([^()\s"]+)[)"]`)
	heading = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *$`)
	fenced  = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	quoted  = regexp.MustCompile("`[^`\n]*`")
)

// TestLinks follows the relative links of all documents, to files and to headings in them.
func TestLinks(t *testing.T) {
	for _, document := range documents(t) {
		for _, match := range link.FindAllStringSubmatch(
			quoted.ReplaceAllString(unfenced(t, document), ""), -1) {
			if !strings.Contains(match[1], ":") {
				checkLink(t, document, match[1])
			}
		}
	}
}

// checkLink says so if target, a link in file, leads nowhere.
func checkLink(t *testing.T, file, target string) {
	path, fragment, _ := strings.Cut(target, "#")
	goal := file
	if path != "" {
		goal = filepath.Join(filepath.Dir(file), path)
	}
	if _, err := os.Stat(filepath.Join("..", "..", goal)); err != nil {
		t.Errorf("%s: link %s: no such file", file, target)
		return
	}
	if fragment == "" || filepath.Ext(goal) != ".md" {
		return
	}
	for _, match := range heading.FindAllStringSubmatch(unfenced(t, goal), -1) {
		if anchor.Of(match[1]) == fragment {
			return
		}
	}
	t.Errorf("%s: link %s: no such heading", file, target)
}

// unfenced is the text of a file without its blocks of code, in which nothing is a link or a
// heading.
func unfenced(t *testing.T, file string) string {
	t.Helper()
	return fenced.ReplaceAllString(read(t, file), "")
}
