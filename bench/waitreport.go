// SPDX-License-Identifier: BSD-3-Clause

// What bench -waits prints: a table for each place and condition with the medians
// and the 90th percentiles of starts, and which bars hold; and CSV with every start.
// All verdicts are computed from the figures.
package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"libarmci/internal/figure"
)

// waitKey is a row of a place by one way, in one condition.
type waitKey struct {
	place, op string
	bytes     int64
	way       string
	condition condition
}

// waitFigures are figures in ns, one of each start.
type waitFigures map[waitKey][]float64

// percentile is the least value that so many in a hundred do not exceed; 0 of none.
func percentile(values []float64, percent int) float64 {
	s := slices.Sorted(slices.Values(values))
	if len(s) == 0 {
		return 0
	}
	return s[max(int(math.Ceil(float64(len(s)*percent)/100)), 1)-1]
}

// starts are what the starts of a way gave; median and late are their median and 90th percentile.
type startFigures struct {
	title        string
	median, late float64
	count        int
}

func (m *waitRun) of(p *waitPlace, r *waitRow, w *waitWay, c condition) startFigures {
	values := m.figures[waitKey{p.name, w.op(r), r.bytes, w.name, c}]
	return startFigures{w.title, figure.Median(values), percentile(values, 90), len(values)}
}

// barResult is a figure beside its bar. The bar is "" where there is none, or nothing to compare with.
type barResult struct {
	value, bar string
	held       bool
}

// against compares a value with a bar by a rival's; a bar of 0 is none.
func against(value, rival, bar float64, what string) barResult {
	if value == 0 || rival == 0 {
		return barResult{}
	}
	ratio := value / rival
	v := barResult{value: strconv.FormatFloat(ratio, 'f', 2, 64)}
	if bar > 0 {
		v.bar, v.held = "<="+strconv.FormatFloat(bar, 'g', -1, 64)+what, ratio <= bar
	}
	return v
}

// waitLine is a row as it is printed.
type waitLine struct {
	name                    string
	ours                    startFigures
	before                  *startFigures
	rivals                  []startFigures // in the order of the place's ways
	median, tail, beforeBar barResult
}

// line judges a row in a condition.
func (m *waitRun) line(p *waitPlace, r *waitRow, c condition) waitLine {
	l := waitLine{name: r.name}
	var fastest, fastestLate float64 // of the rivals that the bar is about
	least := func(a, b float64) float64 {
		if a == 0 || b != 0 && b < a {
			return b
		}
		return a
	}
	for i := range p.ways {
		w := &p.ways[i]
		s := m.of(p, r, w, c)
		switch w.role {
		case isOurs:
			l.ours = s
		case isBefore:
			l.before = &s
		case isRival:
			l.rivals = append(l.rivals, s)
			if strings.HasPrefix(w.name, r.by) {
				fastest, fastestLate = least(fastest, s.median), least(fastestLate, s.late)
			}
		}
	}
	l.median = against(l.ours.median, fastest, r.ratio, "")
	if r.most > 0 && l.ours.median > 0 {
		l.median = barResult{figure.Amount(l.ours.median, "ns"), "<=" + figure.Amount(r.most, "ns"), l.ours.median <= r.most}
	}
	l.tail = tailVerdict(p.tail, c, &l.ours, fastestLate)
	if l.before != nil {
		l.beforeBar = against(l.ours.median, l.before.median, mostBeside, "")
	}
	return l
}

// tailVerdict holds the 90th percentile of ours against what a place's bar is about.
func tailVerdict(bar tailBar, c condition, ours *startFigures, rivalLate float64) barResult {
	switch {
	case bar == rivalTail && c == disturbed:
		return against(ours.late, rivalLate, 1, " of theirs")
	case bar != noTail:
		return against(ours.late, ours.median, mostTail, " of the median")
	}
	return against(ours.late, ours.median, 0, "")
}

// cells are what a table shows of a result: value, bar, yes or no.
func (v barResult) cells() []string {
	switch {
	case v.bar == "":
		return []string{v.value, "", ""}
	case v.held:
		return []string{v.value, v.bar, "yes"}
	}
	return []string{v.value, v.bar, "**no**"}
}

func (s startFigures) cells() []string {
	if s.count == 0 {
		return []string{"-", "-"}
	}
	return []string{figure.Amount(s.median, "ns"), figure.Amount(s.late, "ns")}
}

// table writes a place in a condition, and counts the bars.
func (m *waitRun) table(w io.Writer, p *waitPlace, c condition) (held, bars int) {
	head := []string{p.name + ": " + p.title + ", " + c.String()}
	for _, way := range p.ways {
		head = append(head, way.title, "90 %")
	}
	head = append(head, "ratio", "bar", "held", "90 %, ratio", "bar", "held")
	if m.beside != "" {
		head = append(head, "after/before", "bar", "held")
	}
	fmt.Fprintf(w, "\n| %s | starts |\n|%s\n", strings.Join(head, " | "), strings.Repeat("---|", len(head)+1))
	for i := range p.rows {
		l := m.line(p, &p.rows[i], c)
		cells := append([]string{"`" + l.name + "`"}, m.inOrder(p, &l)...)
		verdicts := []barResult{l.median, l.tail}
		if m.beside != "" {
			verdicts = append(verdicts, l.beforeBar)
		}
		for _, v := range verdicts {
			cells = append(cells, v.cells()...)
			if v.bar != "" {
				bars++
			}
			if v.held {
				held++
			}
		}
		fmt.Fprintf(w, "| %s | %d |\n", strings.Join(cells, " | "), l.ours.count)
	}
	return held, bars
}

// inOrder are the figures of a row in the order of the place's ways.
func (m *waitRun) inOrder(p *waitPlace, l *waitLine) []string {
	var cells []string
	rival := 0
	for _, w := range p.ways {
		switch w.role {
		case isOurs:
			cells = append(cells, l.ours.cells()...)
		case isBefore:
			cells = append(cells, l.before.cells()...)
		case isRival:
			cells = append(cells, l.rivals[rival].cells()...)
			rival++
		}
	}
	return cells
}

// tables writes all of them, what was left out, and the sum of the verdicts.
func (m *waitRun) tables(w io.Writer) {
	held, bars := 0, 0
	for i := range m.places {
		for _, c := range m.conditions {
			h, b := m.table(w, &m.places[i], c)
			held, bars = held+h, bars+b
		}
	}
	fmt.Fprintln(w)
	for _, reason := range m.left {
		fmt.Fprintln(w, "- left out: "+reason)
	}
	fmt.Fprintf(w, "\n%d of %d bars held. Applications: `bench/papers/run.sh` with `OPTIONS=\"-runs 5\"`, figures 000-21 to 000-23, "+
		"002-lu and 004-8.\n", held, bars)
}

// write writes the tables and the files that were asked for.
func (m *waitRun) write(out io.Writer) error {
	m.tables(out)
	var err error
	if m.wrong > 0 {
		err = fmt.Errorf("-waits: %d results are wrong", m.wrong)
	}
	if len(m.figures) == 0 {
		err = errors.Join(err, errors.New("-waits: no start gave a figure"))
	}
	if m.csv != "" {
		err = errors.Join(err, figure.WriteFile(m.csv, m.writeCSV))
	}
	if m.markdown != "" {
		err = errors.Join(err, figure.WriteFile(m.markdown, func(w io.Writer) error { m.tables(w); return nil }))
	}
	return err
}

// writeCSV writes a line for each start of each way.
func (m *waitRun) writeCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write([]string{"place", "condition", "op", "bytes", "way", "start", "ns"})
	keys := make([]waitKey, 0, len(m.figures))
	for k := range m.figures {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b waitKey) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	for _, k := range keys {
		for i, ns := range m.figures[k] {
			out.Write([]string{k.place, k.condition.String(), k.op, strconv.FormatInt(k.bytes, 10), k.way, strconv.Itoa(i + 1),
				strconv.FormatFloat(ns, 'g', 6, 64)})
		}
	}
	out.Flush()
	return out.Error()
}
