// SPDX-License-Identifier: BSD-3-Clause

// Tests that docs/papers.md and its pictures are what the kept figures give, and of what is kept.
package main

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"libarmci/internal/figure"
)

var update = flag.Bool("update", false, "write docs/papers.md and docs/plots/papers anew")

const (
	keptDir  = "data"
	docsPage = "../../docs/papers.md"
	docPlots = "../../docs/plots/papers"
)

// fromKept writes the page and the pictures of the kept figures into a directory.
func fromKept(t *testing.T, dir string) {
	t.Helper()
	rows, err := readKept(keptDir)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := readRuns(keptDir)
	if err != nil {
		t.Fatal(err)
	}
	o := options{dir: dir}
	if err := o.writePages(rows, runs, dir, filepath.Join(dir, "figures")); err != nil {
		t.Fatal(err)
	}
}

// files are the names in a directory.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestPapersPage compares docs/papers.md and its pictures with what the rules make of the figures.
func TestPapersPage(t *testing.T) {
	dir := t.TempDir()
	fromKept(t, dir)
	figures := filepath.Join(dir, "figures")
	if *update {
		publish(t, dir, figures)
	}
	same := func(made, kept string) {
		a, err := os.ReadFile(made)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(kept); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s is not what the figures give: go test ./bench/papers "+
				"-update (%v)",
				kept, err)
		}
	}
	same(filepath.Join(dir, "papers.md"), docsPage)
	names := files(t, figures)
	if !slices.Equal(names, files(t, docPlots)) {
		t.Errorf("there are other pictures in %s", docPlots)
	}
	for _, name := range names {
		same(filepath.Join(figures, name), filepath.Join(docPlots, name))
	}
}

// publish takes the page and the pictures for those of the documents.
func publish(t *testing.T, dir, figures string) {
	t.Helper()
	if err := os.RemoveAll(docPlots); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(docPlots, os.DirFS(figures)); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "papers.md"))
	if err == nil {
		err = os.WriteFile(docsPage, page, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// What is kept is written as it was read.
func TestKeptFigures(t *testing.T) {
	for i := range experiments {
		e := &experiments[i]
		all, err := readExperiment(keptDir, e)
		if err != nil {
			t.Fatal(err)
		}
		if len(all) == 0 {
			continue
		}
		dir := t.TempDir()
		if err := writeKept(dir, e.name, all); err != nil {
			t.Fatal(err)
		}
		if *update {
			err = writeKept(keptDir, e.name, all)
		}
		want, e1 := os.ReadFile(filepath.Join(keptDir, e.name+".csv"))
		got, e2 := os.ReadFile(filepath.Join(dir, e.name+".csv"))
		if err := errors.Join(err, e1, e2); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(want, got) {
			t.Errorf("%s.csv is not as it would be written", e.name)
		}
	}
}

// saysFigure finds what only the data may say: numbers with a unit, and which one is ahead.
var saysFigure = regexp.MustCompile(
	`[0-9]|\b(ahead|behind|faster|slower|level|times|agrees|per cent)\b|%`)

// Explanations of the rules contain no figure and no verdict, so that none can be wrong. The series
// of each claim are those of its chart.
func TestClaims(t *testing.T) {
	for _, f := range figures {
		for i := range f.claims {
			c := &f.claims[i]
			if word := saysFigure.FindString(c.why); word != "" {
				t.Errorf("%s: %q says %q", f.id, c.why, word)
			}
			if c.chart >= len(f.charts) {
				t.Errorf("%s: %q is about chart %d", f.id, c.says, c.chart)
				continue
			}
			lines := f.charts[c.chart].lines
			for _, name := range append(slices.Clone(c.over), c.of) {
				if !slices.ContainsFunc(lines,
					func(l line) bool { return l.name == name }) {
					t.Errorf("%s: %q: no series %q", f.id, c.says, name)
				}
			}
			if c.least == 0 && c.most == 0 ||
				len(c.over) == 0 && c.base == "" && !c.share {
				t.Errorf("%s: %q has no rule", f.id, c.says)
			}
		}
	}
}

// TestJudge gives rules a few points.
func TestJudge(t *testing.T) {
	series := func(name, unit string, reps int, medians ...float64) points {
		s := points{name: name}
		for i, m := range medians {
			s.points = append(s.points, point{label: string(rune('a' + i)),
				x: float64(i), unit: unit, reps: reps,
				Value: figure.Value{Median: m, Least: m, Most: m}})
		}
		return s
	}
	all := []points{series("ours", "ns", 3, 10, 10, 10, 40), series("mpi", "ns", 3, 20, 20, 20,
		20), series("rate", "MB/s", 3, 10, 10, 10, 10), series("once", "ns", 2, 10),
		series("hidden", "%", 3, 95, 20, 10)}
	for _, test := range []struct {
		claim claim
		want  verdict
		here  string
	}{
		{claim{of: "ours", over: []string{"mpi"}, least: 1}, inPart,
			"0.50 to 2.00, median 2.00; met at 3 of 4: a to c"},
		{claim{of: "ours", over: []string{"mpi"}, least: 1, to: 2}, holds,
			"2.00 to 2.00, median 2.00"},
		{claim{of: "ours", over: []string{"mpi"}, least: 3}, not,
			"0.50 to 2.00, median 2.00; met nowhere"},
		{claim{of: "ours", over: []string{"mpi"}, least: 1, at: []string{"d"}}, not,
			"0.50; met nowhere"},
		{claim{of: "ours", over: []string{"mpi"}, least: 2, some: true}, holds,
			"0.50 to 2.00, median 2.00; met at 3 of 4: a to c"},
		{claim{of: "ours", base: "a", least: 0.9}, inPart,
			"0.25 to 1.00, median 1.00; met at 2 of 3: b, c"},
		{claim{of: "ours", over: []string{"mpi", "once"}, least: 1, at: []string{"a"}},
			undecided, "1.00"},
		{claim{of: "hidden", share: true, least: 90}, inPart,
			"10 % to 95 %, median 20 %; met at 1 of 3: a"},
		{claim{of: "rate", base: "a", least: 1}, holds, "1.00 to 1.00, median 1.00"},
		{claim{of: "mpi", over: []string{"ours"}, even: true, least: 1}, holds, "4.00"},
		{claim{of: "moon", over: []string{"ours"}, least: 1}, missing, "-"},
	} {
		j := test.claim.judge(all)
		if j.verdict != test.want || j.here() != test.here {
			t.Errorf("%s: %s, %q; want %s, %q", j.rule(), j.verdict, j.here(),
				test.want,
				test.here)
		}
	}
}

// Of a transfer of 100 us and work of 50 us that take 110 together, 80 % of the work is hidden.
func TestHiddenShares(t *testing.T) {
	s := points{name: "get"}
	for x, ns := range map[float64]float64{0: 100e3, 50: 110e3} {
		s.points = append(s.points, point{label: strings.TrimSuffix(figure.Amount(x,
			""), ".0"),
			x: x, unit: "ns", Value: figure.Value{Median: ns, Least: ns, Most: ns}})
	}
	for i := range s.points {
		if s.points[i].x == 0 {
			s.points[i].label = "0"
		}
	}
	all := hiddenShares([]points{s}, 1)
	if len(all) != 1 || len(all[0].points) != 1 || all[0].points[0].Median != 80 ||
		all[0].points[0].unit != "%" {
		t.Errorf("got %+v", all)
	}
}

// What was measured takes the place of what the same steps had measured before: medians of the
// starts' medians, extremes of all. What other steps have measured stays.
func TestKeep(t *testing.T) {
	o := options{dir: t.TempDir(), kept: t.TempDir(), runs: 2, figures: []string{"000-22"},
		draw: true, programs: programs{device: "device"}, note: "The machine was quiet."}
	const head = "op,shape,bytes,ranks,where,unit,median,least,most,raw,raw_least,raw_most," +
		"ratio\n"
	old := "1,node-2,,1,3,mg/mpi,W,0,2,ns,9,9,9,0,0,0\n"
	stays := "1,node-4,,1,3,mg/mpi,W,0,4,ns,8,8,8,0,0,0\n"
	for path, text := range map[string]string{
		o.kept + "/runs.csv": "run,date,machine,version,note\n" +
			"1,28 November 2026,here,0.1.0,\n",
		o.kept + "/mg-W.csv":              strings.Join(keptHead, ",") + "\n" + old + stays,
		o.dir + "/data/mg-W@node-2.0.csv": head + "mg/mpi,W,0,2,x,ns,3,2,4,0,0,0,0\n",
		o.dir + "/data/mg-W@node-2.1.csv": head + "mg/mpi,W,0,2,x,ns,5,5,6,0,0,0,0\n",
	} {
		err := os.MkdirAll(filepath.Dir(path), 0o777)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := o.runAndDraw(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(o.kept + "/mg-W.csv")
	want := strings.Join(keptHead, ",") + "\n" + stays +
		"2,node-2,,2,6,mg/mpi,W,0,2,ns,4,2,6,0,0,0\n"
	if err != nil || string(text) != want {
		t.Errorf("%v, got\n%swant\n%s", err, text, want)
	}
	runs, err := readRuns(o.kept)
	if err != nil || len(runs) != 2 || runs[1].number != 2 || runs[1].note != o.note {
		t.Errorf("%v, runs %+v", err, runs)
	}
}
