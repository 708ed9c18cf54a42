// SPDX-License-Identifier: BSD-3-Clause

// From the figures of steps to the points of a chart.
package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"libarmci/internal/figure"
)

// paperFigure is a figure or a table of a paper, as it is measured here.
type paperFigure struct {
	id      string // the paper's number in docs/protocols.md, and the figure's or the table's
	title   string
	caption string // the paper's own
	paper   string // what the paper says of it in numbers
	here    string // what agrees with the paper, what does not, and why
	charts  []chart
}

// kind is what a chart is drawn over.
type kind int

const (
	overBytes  kind = iota // logarithmic
	overNumber             // the number that a row's shape begins with
	overRanks              // bars for each rank of the job
	overPlaces             // bars for each place
	overProcs              // ranks of the places
	asTable                // a table only: series are its rows, places its columns
)

// chart is one picture of a figure: its series, and over what they are drawn.
type chart struct {
	title, yLabel, xLabel string
	kind                  kind
	log                   bool // bars over a logarithmic axis
	rate                  bool // bandwidth of what was measured in ns
	// percent by which each series is faster than the series of this name, instead of its own
	// value
	gain   string
	places []string // of overPlaces, overProcs and asTable
	lines  []line
}

// line is a series: an operation of an experiment, at a place unless the chart has several.
type line struct {
	name, experiment, op, place, variant string
	shape                                string // only rows of this shape; "": all
	raw                                  bool   // the baseline of the rows
}

// experiments are what a figure needs.
func (f *paperFigure) experiments() []string {
	var all []string
	for _, c := range f.charts {
		for _, l := range c.lines {
			if !slices.Contains(all, l.experiment) {
				all = append(all, l.experiment)
			}
		}
	}
	return all
}

// point is a figure where it belongs.
type point struct {
	label string // of a group of bars and in tables
	x     float64
	unit  string
	figure.Value
}

// points is a series with the points that were measured.
type points struct {
	name   string
	points []point
}

// collect finds the points of all lines. A line without any is left out.
func (o *options) collect(c *chart, rows map[string][]figure.Row) []points {
	var all []points
	for _, l := range c.lines {
		p := points{name: l.name}
		places := c.places
		if l.place != "" {
			places = []string{l.place}
		}
		for _, place := range places {
			p.points = append(p.points, o.pointsAt(c, &l, place, rows)...)
		}
		if len(p.points) > 0 {
			all = append(all, p)
		}
	}
	if c.gain != "" {
		all = gains(all, c.gain)
	}
	return all
}

// pointsAt are the points of a line at a place, over all runs.
func (o *options) pointsAt(c *chart, l *line, place string, rows map[string][]figure.Row) []point {
	measured := place
	if o.quick && !named(l.experiment).fixed {
		measured = smoke(place)
	}
	key := l.experiment + "@" + measured
	if l.variant != "" {
		key += "@" + l.variant
	}
	var order []point
	values := map[string][]figure.Value{}
	for _, r := range rows[key] {
		if r.Op != l.op || l.shape != "" && !o.quick && r.Shape != l.shape {
			continue
		}
		p := c.point(&r, l.raw, place)
		if values[p.label] == nil {
			order = append(order, p)
		}
		values[p.label] = append(values[p.label], p.Value)
	}
	for i := range order {
		order[i].Value = summary(values[order[i].label])
	}
	if c.kind != overPlaces && c.kind != asTable {
		slices.SortStableFunc(order, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	}
	return order
}

// point places a row.
func (c *chart) point(r *figure.Row, raw bool, place string) point {
	p := point{label: r.Place(), x: float64(r.Bytes), unit: r.Unit, Value: r.Ours}
	if raw {
		p.Value = r.Raw
	}
	if c.rate {
		p.Value, p.unit = r.Rate(p.Value)
	}
	switch c.kind {
	case overNumber, overRanks:
		digits := strings.TrimRightFunc(r.Shape, func(c rune) bool {
			return c < '0' ||
				c > '9'
		})
		digits, _, _ = strings.Cut(digits, "x")
		p.x, _ = strconv.ParseFloat(digits, 64)
		p.label = digits
	case overPlaces, asTable:
		p.label = label(place)
	case overProcs:
		p.x = float64(r.Ranks)
		p.label = strconv.Itoa(r.Ranks)
	}
	return p
}

// summary is the median of the runs' medians, and the extremes of all.
func summary(runs []figure.Value) figure.Value {
	v := runs[0]
	var medians []float64
	for _, r := range runs {
		medians = append(medians, r.Median)
		v.Least, v.Most = min(v.Least, r.Least), max(v.Most, r.Most)
	}
	v.Median = figure.Median(medians)
	return v
}

// gains are by how much per cent each series takes less time than the base.
func gains(all []points, base string) []points {
	from := slices.IndexFunc(all, func(p points) bool { return p.name == base })
	if from < 0 {
		return nil
	}
	var out []points
	for i, s := range all {
		if i == from {
			continue
		}
		g := points{name: s.name}
		for _, p := range s.points {
			for _, b := range all[from].points {
				if b.label == p.label && b.Median > 0 {
					gain := 100 * (1 - p.Median/b.Median)
					g.points = append(g.points,
						point{label: p.label, x: p.x, unit: "%",
							Value: figure.Value{Median: gain,
								Least: gain, Most: gain}})
				}
			}
		}
		out = append(out, g)
	}
	return out
}

// labels are those of all series, from left to right; those of places as they come.
func (c *chart) labels(all []points) []string {
	var order []point
	for _, s := range all {
		for _, p := range s.points {
			if !slices.ContainsFunc(order,
				func(q point) bool { return q.label == p.label }) {
				order = append(order, p)
			}
		}
	}
	if c.kind != overPlaces && c.kind != asTable {
		slices.SortStableFunc(order, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	}
	var names []string
	for _, p := range order {
		names = append(names, p.label)
	}
	return names
}

// pointNamed is the point of a series with a label.
func (s *points) pointNamed(label string) (point, bool) {
	i := slices.IndexFunc(s.points, func(p point) bool { return p.label == label })
	if i < 0 {
		return point{}, false
	}
	return s.points[i], true
}

// cell is a point in a table.
func cell(s *points, label string) string {
	p, ok := s.pointNamed(label)
	if !ok {
		return "-"
	}
	return figure.Amount(p.Median, p.unit)
}

// table has a line for each label and a column for each series, or, as a table only, the other way
// round.
func (c *chart) table(all []points) [][]string {
	names := c.labels(all)
	head := []string{c.axis()}
	if c.kind == asTable {
		t := [][]string{append(head, names...)}
		for i := range all {
			l := []string{all[i].name}
			for _, n := range names {
				l = append(l, cell(&all[i], n))
			}
			t = append(t, l)
		}
		return t
	}
	for i := range all {
		head = append(head, all[i].name)
	}
	t := [][]string{head}
	for _, n := range names {
		l := []string{n}
		for i := range all {
			l = append(l, cell(&all[i], n))
		}
		t = append(t, l)
	}
	return t
}

// axis names what a chart is drawn over.
func (c *chart) axis() string {
	return cmp.Or(c.xLabel, map[kind]string{overBytes: "size", overRanks: "rank",
		overPlaces: "ranks", overProcs: "processes"}[c.kind])
}

// chartFile is the file of a chart, without its ending.
func (f *paperFigure) chartFile(i int) string {
	if len(f.charts) == 1 {
		return f.id
	}
	return fmt.Sprintf("%s-%c", f.id, 'a'+i)
}
