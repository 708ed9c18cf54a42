// SPDX-License-Identifier: BSD-3-Clause

// The command bench history: charts of figures.jsonl, how much more each figure cost than its raw
// baseline, commit by commit.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"libarmci/internal/figure"
)

// drawHistory draws DIRECTORY/history-OPERATION.svg for each operation of a file.
func drawHistory(args []string) error {
	var dir string
	f := flag.NewFlagSet("bench history", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&dir, "svg", "", "")
	if err := f.Parse(args); err != nil || f.NArg() != 1 || dir == "" {
		return fmt.Errorf("history: want -svg DIRECTORY and a file\n%s", usage)
	}
	lines, err := readFigures(f.Arg(0))
	if err != nil {
		return err
	}
	for op, chart := range history(lines) {
		path := filepath.Join(dir, "history-"+op+".svg")
		if err := figure.WriteFile(path, chart.Write); err != nil {
			return err
		}
	}
	return nil
}

const historyColours = 7 // series beyond them are dashed

// history is a chart for each operation, with a series for each place, a size or a shape, in the
// order of the last line.
func history(lines []figuresLine) map[string]*figure.Chart {
	all := map[string]*figure.Chart{}
	if len(lines) == 0 {
		return all
	}
	names := map[string]bool{}
	for _, l := range lines {
		for name := range l.Ratio {
			names[name] = true
		}
	}
	first, last := lines[0], lines[len(lines)-1]
	order := slices.SortedFunc(maps.Keys(names), func(a, b string) int {
		return cmp.Or(cmp.Compare(last.Ratio[b], last.Ratio[a]), cmp.Compare(a, b))
	})
	for _, name := range order {
		op, place, _ := strings.Cut(name, " ")
		if all[op] == nil {
			all[op] = &figure.Chart{Title: op + " beside raw", YLabel: "ours by raw",
				XLabel: "line of figures.jsonl",
				Footer: fmt.Sprintf("Line 1 is %s of %s, line %d %s of %s.",
					first.Commit, first.Date, len(lines), last.Commit,
					last.Date)}
		}
		s := figure.Series{Name: place, Colour: len(all[op].Series),
			Dashed: len(all[op].Series) >= historyColours}
		for i, l := range lines {
			if v, found := l.Ratio[name]; found {
				s.Points = append(s.Points, figure.Point{Bytes: float64(i + 1),
					Value: figure.Value{Median: v, Least: v, Most: v}})
			}
		}
		all[op].Series = append(all[op].Series, s)
	}
	return all
}
