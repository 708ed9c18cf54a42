// SPDX-License-Identifier: BSD-3-Clause

// The language of the code: lines of at most 100 columns, comments whose subject is a thing, a doc
// comment on each type and each longer function, types of bounded size, method names that say what
// they are of, and sentences of documents that can be read at once. What is still against a rule
// is counted in debts.txt, and may only become less.
package policy

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	columns     = 100
	longSilent  = 10 // lines of a function that needs no doc comment
	mostFields  = 15
	mostMethods = 40
	mostTypes   = 3  // with a method of one name that is not in commonMethods; see methodNames
	mostWords   = 30 // of a sentence
)

// commonMethods are names that mean the same for all types that have them.
var commonMethods = strings.Fields(`Close Error String Send Receive Wait Poll Listen Connect
	Progress Put Get Acc Update CompareSwap RMW Call Info
	Handle Read Write Size Bytes Register Start close send
	receive wait poll start open run release Release Free FD`)

// subjects are words of which the subject of a comment is better named: the caller, the origin,
// the peer, the waiter.
var subjects = regexp.MustCompile(
	`(?i)\b(who|whom|whoever|some` + `body|no` + `body)\b|(^|[.:;] +)whose\b`)

var update = flag.Bool("update", false, "write debts.txt and the table of lines anew")

// debts counts what is against a rule: "rule directory".
type debts map[string]int

// TestLanguage compares what is against a rule with debts.txt, which may only shrink.
func TestLanguage(t *testing.T) {
	found := debts{}
	for _, s := range sources(t) {
		found.lines(s)
		found.comments(s)
	}
	found.declarations(t)
	for _, name := range textPages(t) {
		if long, all := longSentences(read(t, name)); long*10 > all {
			found["sentences "+name] = long
		}
	}
	const list = "debts.txt"
	if *update {
		if err := os.WriteFile(list, found.text(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	for rule, allowed := range parseDebts(t, string(text)) {
		if found[rule] < allowed {
			t.Errorf("%s allows %d of %q, there are %d: go test ./tests/policy -update",
				list, allowed, rule, found[rule])
		}
		found[rule] -= min(allowed, found[rule])
	}
	for rule, n := range found {
		if n > 0 {
			t.Errorf("%d more of %q than %s allows", n, rule, list)
		}
	}
}

func (d debts) text() []byte {
	var b strings.Builder
	b.WriteString("# SPDX-License-Identifier: BSD-3-Clause\n" +
		"# What is still against a rule of language_test.go, which writes this file: " +
		"rule, place, count.\n")
	for _, rule := range slices.Sorted(maps.Keys(d)) {
		fmt.Fprintln(&b, rule, d[rule])
	}
	return []byte(b.String())
}

// parseDebts reads debts.txt.
func parseDebts(t *testing.T, text string) debts {
	d := debts{}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var rule, place string
		var n int
		if _, err := fmt.Sscan(line, &rule, &place, &n); err != nil {
			t.Fatalf("debts.txt: %q: %v", line, err)
		}
		d[rule+" "+place] = n
	}
	return d
}

// lines counts lines that are too wide.
func (d debts) lines(s source) {
	for line := range strings.Lines(string(s.text)) {
		if width(strings.TrimRight(line, "\n")) > columns {
			d["columns "+s.path]++
		}
	}
}

func width(line string) (n int) {
	for _, r := range line {
		if n++; r == '\t' {
			n = (n + 7) / 8 * 8
		}
	}
	return n
}

// commentText is what a line has of a comment, by the first mark that is not in a string.
var commentText = regexp.MustCompile("^(?:[^\"'`/#!*]|\"[^\"]*\"|'[^']*'|`[^`]*`|/[^/*])*?" +
	`(?://|/\*|#[ !]|! | \* )(.*)`)

// quotedText is what a comment quotes, which may say anything.
var quotedText = regexp.MustCompile("\"[^\"]*\"|`[^`]*`")

// comments counts comments about nothing that can be named. Most lines have no word of interest,
// which is found out first, since it takes least.
func (d debts) comments(s source) {
	for line := range strings.Lines(string(s.text)) {
		lower := strings.ToLower(line)
		if !strings.Contains(lower, "who") && !strings.Contains(lower, "body") ||
			strings.HasPrefix(strings.TrimSpace(line), "#include") {
			continue
		}
		m := commentText.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		said := quotedText.ReplaceAllString(m[1], "")
		if subjects.MatchString(strings.TrimSpace(said)) {
			d["subject "+filepath.Dir(s.path)]++
		}
	}
}

// standIns has types with the methods of those of Go's library for which they stand.
const standIns = "internal/testutil/simulate"

// declarations counts types and functions without a comment, and what is too large.
func (d debts) declarations(t *testing.T) {
	set := token.NewFileSet()
	methods := newMethodNames()
	size := map[string]int{} // of a type, in methods
	for _, s := range sources(t) {
		if filepath.Ext(s.path) != ".go" {
			continue
		}
		file, err := parser.ParseFile(set, s.path, s.text, parser.ParseComments)
		if err != nil {
			t.Error(err)
			continue
		}
		test := strings.HasSuffix(s.path, "_test.go")
		dir := filepath.Dir(s.path)
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if decl.Doc == nil && lines(set, decl) > longSilent {
					d["undocumented "+dir]++
				}
				if name := receiver(decl); name != "" && !test && dir != standIns {
					size[dir+"."+name]++
					methods.addMethod(dir, name, decl)
				}
			case *ast.GenDecl:
				d.types(decl, dir, test)
				if !test {
					methods.addTypes(dir, decl)
				}
			}
		}
	}
	for name, n := range size {
		if n > mostMethods {
			d["methods "+name] = n
		}
	}
	for name, n := range methods.count() {
		if n > mostTypes && !slices.Contains(commonMethods, name) {
			d["method-name "+name] = n
		}
	}
}

// types counts types without a comment, and structs with too many fields.
func (d debts) types(decl *ast.GenDecl, dir string, test bool) {
	for _, spec := range decl.Specs {
		spec, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
		if decl.Doc == nil && spec.Doc == nil && spec.Comment == nil {
			d["undocumented "+dir]++
		}
		record, ok := spec.Type.(*ast.StructType)
		if !ok || test {
			continue
		}
		if n := record.Fields.NumFields(); n > mostFields {
			d["fields "+dir+"."+spec.Name.Name] = n
		}
	}
}

func lines(set *token.FileSet, n ast.Node) int {
	return set.Position(n.End()).Line - set.Position(n.Pos()).Line + 1
}

// receiver is the name of a method's type, "" of a function.
func receiver(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return ""
	}
	of := fn.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if generic, ok := of.(*ast.IndexExpr); ok {
		of = generic.X
	}
	name, _ := of.(*ast.Ident)
	return name.Name
}

// textPages are the documents whose sentences are counted.
func textPages(t *testing.T) []string {
	t.Helper()
	names := []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"}
	docs, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil || len(docs) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	for _, d := range docs {
		names = append(names, "docs/"+filepath.Base(d))
	}
	return names
}

var (
	notProse  = regexp.MustCompile("(?s)```.*?```|<!--.*?-->|(?m:^[|#].*$)")
	noWords   = regexp.MustCompile("`[^`]*`|\\]\\([^)]*\\)")
	paragraph = regexp.MustCompile(`\n\s*\n|\n\s*(?:[-*]|\d+\.)\s`)
	sentence  = regexp.MustCompile(`[.!?:]\s+`)
)

// longSentences counts sentences of more than mostWords words, and all.
func longSentences(text string) (long, all int) {
	text = noWords.ReplaceAllString(notProse.ReplaceAllString(text, ""), "X")
	for _, p := range paragraph.Split(text, -1) {
		for _, s := range sentence.Split(strings.Join(strings.Fields(p), " "), -1) {
			switch n := len(strings.Fields(s)); {
			case n > mostWords:
				long++
				fallthrough
			case n > 2:
				all++
			}
		}
	}
	return long, all
}
