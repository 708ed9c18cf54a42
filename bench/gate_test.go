// SPDX-License-Identifier: BSD-3-Clause

// The gate fails for what is slower in every series, and for nothing else.
package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestWorseInAllSeries shows that a figure is worse only if it is slower in every series, or
// missing.
func TestWorseInAllSeries(t *testing.T) {
	last := map[string]float64{"once": 1, "always": 1, "a little": 2, "gone": 1}
	tries := []map[string]float64{
		{"once": 3, "always": 1.2, "a little": 2.2, "new": 9},
		{"once": 1, "always": 1.3, "a little": 2.3},
		{"once": 3, "always": 1.16, "a little": 2.3},
	}
	if got := worseInAll(last, tries); !slices.Equal(got, []string{"always", "gone"}) {
		t.Errorf("worse are %v", got)
	}
	if got := worseInAll(nil, tries); len(got) > 0 {
		t.Errorf("worse than nothing are %v", got)
	}
}

// TestFiguresFile writes two lines; the last one counts, with the medians of its series.
func TestFiguresFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "figures.jsonl")
	if lines, err := readFigures(file); err != nil || len(lines) > 0 {
		t.Errorf("without a file: %v, %v", lines, err)
	}
	for _, factor := range []float64{1, 2} {
		err := appendFigures(file, []map[string]float64{{"put 8 B": 3 * factor},
			{"put 8 B": factor}, {"put 8 B": 2 * factor}})
		if err != nil {
			t.Fatal(err)
		}
	}
	lines, err := readFigures(file)
	if err != nil || len(lines) != 2 || lines[1].Ratio["put 8 B"] != 4 || lines[1].Date == "" {
		t.Errorf("the lines are %v, %v", lines, err)
	}
	dir := t.TempDir()
	if err := drawHistory([]string{"-svg", dir, file}); err != nil {
		t.Fatal(err)
	}
	picture, err := os.ReadFile(filepath.Join(dir, "history-put.svg"))
	if err != nil || strings.Count(string(picture), "<circle") != 2 {
		t.Errorf("two lines are drawn as %s, %v", picture, err)
	}
	if err := os.WriteFile(file, []byte("no JSON\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := readFigures(file); err == nil {
		t.Error("a line that is no JSON is accepted")
	}
}
