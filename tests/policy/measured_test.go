// SPDX-License-Identifier: BSD-3-Clause

// Figures that were measured say where, with what, when and how: the section that has them, or one
// above it, has a sentence
//
//	Measured on MACHINE, VERSION, DATE, by `COMMAND`.
//
// VERSION is "libarmci 0.1.0", the version of today, or "commit 0123abc" for figures that are
// history; DATE is 25 November 2026; "by hand" needs no command. What is not judged: ratios without
// a unit, and times in ms and s, which are mostly limits.

package policy

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"libarmci/docs/reference/anchor"
)

var (
	measured = regexp.MustCompile(
		`(?:^|[^\w.])\d[\d.,]* (?:ns|us|µs|[GMK]B/s|Mop/s|Gflop/s)\b|\[ns\]|Microseconds,`)
	provenance = regexp.MustCompile("Measured on [^,]+?, (libarmci|commit) ([\\w.]+), (\\d+ " +
		"\\w+ \\d{4}), by (`[^`]+`|hand)")
)

const day = "2 January 2006"

// exempt are documents, and of documents sections, whose figures with a unit were not measured
// here, with the reason.
var exempt = map[string]string{
	"docs/configuration.md": "defaults",
	"docs/performance.md#the-network": "thresholds, which figures_test.go " +
		"compares with the code",
	"docs/statistics.md#the-tables":                    "an example of what is printed",
	"docs/threads.md#the-data-server":                  "what Go's monitor does",
	"CHANGELOG.md":                                     "history",
	"bench/README.md#the-papers-microbenchmarks":       "what a paper prints",
	"docs/protocols.md#messages-to-a-node":             "a limit",
	"docs/protocols.md#collectives-over-several-nodes": "a limit",
}

// section is what is below one heading, without what is below deeper ones.
type section struct {
	name  string
	level int
	text  string
}

// sectionsOf divides a document at its headings.
func sectionsOf(text string) (all []section) {
	all = []section{{}}
	for _, line := range strings.SplitAfter(text, "\n") {
		if hashes := len(line) - len(strings.TrimLeft(line, "#")); hashes > 0 &&
			strings.HasPrefix(line[hashes:], " ") {
			name := anchor.Of(strings.TrimSpace(line[hashes:]))
			all = append(all, section{name, hashes, ""})
		}
		all[len(all)-1].text += line
	}
	return all
}

func TestMeasuredFigures(t *testing.T) {
	version := group(t, "CMakeLists.txt", `VERSION (\d+\.\d+\.\d+)`)
	for _, document := range documents(t) {
		if exempt[document] == "" {
			for _, problem := range judge(document, read(t, document), version) {
				t.Errorf("%s, section %s", document, problem)
			}
		}
	}
}

// judge returns what is wrong with the figures of a document.
func judge(document, text, version string) (problems []string) {
	var says [8]bool // by level: the section that is open there says when
	for _, s := range sectionsOf(fenced.ReplaceAllString(text, "")) {
		clear(says[s.level:])
		for _, m := range provenance.FindAllStringSubmatch(
			strings.Join(strings.Fields(s.text), " "), -1) {
			says[s.level] = true
			if when, err := time.Parse(day, m[3]); err != nil || when.Year() < 2026 {
				problems = append(problems,
					s.name+": "+m[3]+" is no date like 25 November 2026")
			}
			if m[1] == "libarmci" && m[2] != version {
				problems = append(problems, s.name+": measured with version "+m[2]+
					", this is "+version+
					": measure again, or name the commit if it is history")
			}
		}
		known := exempt[document+"#"+s.name] != ""
		for _, said := range says[:s.level+1] {
			known = known || said
		}
		if figure := measured.FindString(s.text); figure != "" && !known {
			problems = append(problems, s.name+": "+strings.TrimSpace(figure)+
				": no sentence \"Measured on ...\", see measured_test.go")
		}
	}
	return problems
}

// TestJudge shows which figures of a section lack machine, version, date or command.
func TestJudge(t *testing.T) {
	const by = ", by `armci_perf`."
	for text, want := range map[string]int{
		"# A\n\nIt takes 3 ns.\n": 1,
		"# A\n\nIt takes 3 ns. Measured on a machine, libarmci 1.2.3, 25 November 2026" +
			by: 0,
		"# A\n\nMeasured on a machine,\nlibarmci 1.2.3, 25 November 2026" + by +
			"\n\n## B\n\nIt takes 3 ns.": 0,
		"# A\n\n## B\n\nMeasured on it, commit 012abcd, 5 May 2026" + by +
			"\n\n## C\n\nIt takes 3 ns.": 1,
		"# A\n\nIt takes 3 ns. Measured on a machine, libarmci 1.0.0, 25 November 2026" +
			by: 1,
		"# A\n\nIt takes 3 ns. Measured on a machine, libarmci 1.2.3, 45 November 2026" +
			by: 1,
		"# A\n\nIt takes 3 ns. Measured on a machine, libarmci 1.2.3, 25 November 2026.": 1,
		"# A\n\nA time is written `5us`.\n":                                              0,
	} {
		if got := judge("page.md", text, "1.2.3"); len(got) != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// documents are all guides, by their paths from the root.
func documents(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) < 10 {
		t.Fatalf("%d pages in docs: %v", len(pages), err)
	}
	all := []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "bench/README.md",
		"tests/softverbs/README.md"}
	for _, page := range pages {
		all = append(all, "docs/"+filepath.Base(page))
	}
	return all
}
