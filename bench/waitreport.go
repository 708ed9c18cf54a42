// SPDX-License-Identifier: BSD-3-Clause

// What bench -waits prints: a table for each place and condition with the medians
// and the 90th percentiles of starts, and which bars hold; and files with every start.
// All verdicts are computed from the figures.
package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"libarmci/internal/figure"
)

// startFigures are the median and the 90th percentile of starts; 0 of none.
type startFigures struct {
	median, late float64
	count        int
}

func (m *waitRun) startsOf(p *waitPlace, r *waitRow, w *waitWay, c condition) startFigures {
	values := m.figures[waitKey{p.name, w.op(r), r.bytes, w.name, c}]
	return startFigures{values.Median(), values.Percentile(90), len(values)}
}

// barResult is a figure beside its bar, which is "" where there is none, or nothing to compare
// with.
type barResult struct {
	value, bar string
	held       bool
}

// against holds a value against a bar by a rival's; a bar of 0 is none.
func against(value, rival, bar float64, what string) barResult {
	if value == 0 || rival == 0 {
		return barResult{}
	}
	ratio := value / rival
	b := barResult{value: strconv.FormatFloat(ratio, 'f', 2, 64)}
	if bar > 0 {
		b.bar, b.held = "<="+strconv.FormatFloat(bar, 'g', -1, 64)+what, ratio <= bar
	}
	return b
}

// waitLine is a row as it is printed: the figures by way, and its bars.
type waitLine struct {
	figures              []startFigures
	starts               int // of ours
	median, tail, beside barResult
}

// line judges a row in a condition.
func (m *waitRun) line(p *waitPlace, r *waitRow, c condition) waitLine {
	var l waitLine
	var ours, before, rival startFigures // rival: the least of those that the bar is about
	for i := range p.ways {
		w := &p.ways[i]
		s := m.startsOf(p, r, w, c)
		l.figures = append(l.figures, s)
		switch {
		case w.role == isOurs:
			ours = s
		case w.role == isBefore:
			before = s
		case strings.HasPrefix(w.name, r.by):
			rival.median = least(rival.median, s.median)
			rival.late = least(rival.late, s.late)
		}
	}
	l.starts = ours.count
	l.median = against(ours.median, rival.median, r.ratio, "")
	if r.most > 0 && ours.median > 0 {
		bar := "<=" + figure.Amount(r.most, "ns")
		l.median = barResult{figure.Amount(ours.median, "ns"), bar, ours.median <= r.most}
	}
	l.tail = tailResult(p.tail, c, ours, rival.late)
	l.beside = against(ours.median, before.median, mostBeside, "")
	return l
}

// least is the lesser of two figures, of which 0 is none.
func least(a, b float64) float64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// tailResult holds the 90th percentile of ours against what a place's bar is about.
func tailResult(bar tailBar, c condition, ours startFigures, rivalLate float64) barResult {
	switch {
	case bar == rivalTail && c == disturbed:
		return against(ours.late, rivalLate, 1, " of theirs")
	case bar != noTail:
		return against(ours.late, ours.median, mostTail, " of the median")
	}
	return against(ours.late, ours.median, 0, "")
}

// cells are what a table shows of a result: the value, and the bar with yes or no.
func (b barResult) cells() []string {
	switch {
	case b.bar == "":
		return []string{b.value, ""}
	case b.held:
		return []string{b.value, b.bar + ": yes"}
	}
	return []string{b.value, b.bar + ": **no**"}
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
	head = append(head, "ratio", "bar: held", "90 %, ratio", "bar: held")
	if m.beside != "" {
		head = append(head, "after/before", "bar: held")
	}
	fmt.Fprintf(w, "\n| %s | starts |\n|%s\n", strings.Join(head, " | "),
		strings.Repeat("---|", len(head)+1))
	for i := range p.rows {
		l := m.line(p, &p.rows[i], c)
		cells := []string{"`" + p.rows[i].name + "`"}
		for _, s := range l.figures {
			cells = append(cells, s.cells()...)
		}
		results := []barResult{l.median, l.tail, l.beside}
		for _, b := range results[:map[bool]int{true: 2, false: 3}[m.beside == ""]] {
			cells = append(cells, b.cells()...)
			if b.bar != "" {
				bars++
			}
			if b.held {
				held++
			}
		}
		fmt.Fprintf(w, "| %s | %d |\n", strings.Join(cells, " | "), l.starts)
	}
	return held, bars
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
	fmt.Fprintf(w, "\n%d of %d bars held. The applications have a command of their own: "+
		"OPTIONS=\"-runs 5\" bench/papers/run.sh.\n", held, bars)
}

// writeReport writes the tables and the files that were asked for.
func (m *waitRun) writeReport(out io.Writer) error {
	m.tables(out)
	var err error
	if m.wrong > 0 {
		err = fmt.Errorf("-waits: %d results are wrong", m.wrong)
	}
	if len(m.figures) == 0 {
		err = errors.Join(err, errors.New("-waits: no start gave a figure"))
	}
	err = errors.Join(err, m.writeRows(m.startRows(), m.starts))
	if m.markdown != "" {
		tables := func(w io.Writer) error { m.tables(w); return nil }
		err = errors.Join(err, figure.WriteFile(m.markdown, tables))
	}
	return err
}

// startRows are the figures of each way; a sample is a start. The way stands in the place of the
// shape.
func (m *waitRun) startRows() []figure.Row {
	var all []figure.Row
	for k, starts := range m.figures {
		if len(starts) == 0 {
			continue
		}
		r := figure.Row{Op: k.op, Shape: k.way, Bytes: k.bytes, Ranks: m.ranks(k.place),
			Where: k.place + ", " + k.condition.String(), Unit: "ns", Samples: starts}
		r.Summarise()
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b figure.Row) int {
		return cmp.Or(cmp.Compare(a.Where, b.Where), cmp.Compare(a.Op, b.Op),
			cmp.Compare(a.Bytes, b.Bytes), cmp.Compare(a.Shape, b.Shape))
	})
	return all
}

// ranks are how many ranks a place has.
func (m *waitRun) ranks(place string) int {
	i := slices.IndexFunc(m.places, func(p waitPlace) bool { return p.name == place })
	return m.places[i].ranks
}
