// SPDX-License-Identifier: BSD-3-Clause

// Policies held by tests: docs/configuration.md shows the table as it is, and no other package
// reads the environment. `go test ./internal/config -update` writes the tables of the document
// anew.

package config

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the tables in docs/configuration.md")

const root = "../.."

var kindNames = map[Kind]string{KindBool: "y or n", KindInt: "number", KindSize: "size",
	KindDuration: "time",
	KindString:   "text", KindAddress: "address"}

// rendered is the table of the document for one class.
func rendered(class Class) string {
	var b strings.Builder
	b.WriteString("| name | kind | default | what it does | set it if |\n" +
		"|---|---|---|---|---|\n")
	for _, row := range table {
		if row.Class != class {
			continue
		}
		kind := kindNames[row.Kind]
		if row.Kind == KindChoice {
			kind = strings.Join(row.Choices, ", ")
		}
		if row.Unit != "" {
			kind += ", " + row.Unit
		}
		if bounds := row.bounds(); bounds != "" {
			kind += ", " + bounds
		}
		value := "`" + row.Default + "`"
		if row.Default == "" {
			value = "unset"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", row.Name, kind, value, row.Doc,
			cmp.Or(row.When, "never: armcirun does"))
	}
	return b.String()
}

func renderedFormer() string {
	var b strings.Builder
	b.WriteString("| former name | now |\n|---|---|\n")
	for _, row := range former {
		fmt.Fprintf(&b, "| `%s` | %s |\n", row.Name,
			strings.TrimPrefix(row.Doc, "former name of "))
	}
	return b.String()
}

// renderedForeign is the list of names that are accepted without effect.
func renderedForeign() string {
	var b strings.Builder
	doc := ""
	for _, row := range foreign {
		if row.Doc != doc {
			if doc != "" {
				b.WriteString(".\n")
			}
			doc = row.Doc
			fmt.Fprintf(&b, "- %s: `%s`", strings.TrimPrefix(strings.Split(doc, ";")[0],
				"known to "), row.Name)
			continue
		}
		fmt.Fprintf(&b, ", `%s`", row.Name)
	}
	return b.String() + ".\n"
}

// TestWording shows that each setting is described in sentences that can be read at once.
func TestWording(t *testing.T) {
	for _, row := range table {
		if !strings.HasSuffix(row.Doc, ".") {
			t.Errorf("%s: %q is no sentence", row.Name, row.Doc)
		}
		if (row.When == "") != (row.Class == ClassJob) || strings.HasSuffix(row.When, ".") {
			t.Errorf("%s: set it if %q?", row.Name, row.When)
		}
		for _, sentence := range strings.Split(row.Doc+" Set it if "+row.When, ". ") {
			if n := len(strings.Fields(sentence)); n > 30 {
				t.Errorf("%s: a sentence of %d words: %s", row.Name, n, sentence)
			}
		}
	}
}

// TestDocument shows that the tables of docs/configuration.md are those of the code.
func TestDocument(t *testing.T) {
	path := filepath.Join(root, "docs", "configuration.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := text
	for mark, table := range map[string]string{
		"settings": rendered(ClassUser), "expert": rendered(ClassExpert),
		"former": renderedFormer(),
		"job":    rendered(ClassJob), "foreign": renderedForeign(),
	} {
		between := regexp.MustCompile(`(?s)(<!-- ` + mark + ` -->\n).*?(<!-- end -->)`)
		if !between.Match(want) {
			t.Fatalf("%s has no place for %s", path, mark)
		}
		want = between.ReplaceAllFunc(want, func([]byte) []byte {
			return []byte("<!-- " + mark + " -->\n" + table + "<!-- end -->")
		})
	}
	if bytes.Equal(text, want) {
		return
	}
	if !*update {
		t.Fatalf("%s differs from the table; go test ./internal/config -update corrects it",
			path)
	}
	if err := os.WriteFile(path, want, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestNobodyElseReadsTheEnvironment shows that no other package reads the environment.
func TestNobodyElseReadsTheEnvironment(t *testing.T) {
	reads := map[string]*regexp.Regexp{
		".go": regexp.MustCompile(
			`\b(os|syscall|unix)\.(Getenv|LookupEnv|Environ|ExpandEnv)\b|` +
				`\bgetenv\s*\(`),
		".c": regexp.MustCompile(`\b(secure_)?getenv\s*\(`),
		".h": regexp.MustCompile(`\b(secure_)?getenv\s*\(`),
	}
	files := 0
	for _, dir := range []string{"internal", "capi", "cmd"} {
		filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry,
			err error) error {
			re := reads[filepath.Ext(path)]
			if err != nil || d.IsDir() || re == nil ||
				strings.HasSuffix(path, "_test.go") ||
				filepath.Base(filepath.Dir(path)) == "testdata" ||
				strings.HasPrefix(path, filepath.Join(root, "internal", "config")) {
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Error(err)
			}
			files++
			if found := re.Find(text); found != nil {
				t.Errorf("%s reads the environment (%s): make it a row of the "+
					"table", path, found)
			}
			return nil
		})
	}
	if files < 10 {
		t.Errorf("only %d files looked at", files)
	}
}
