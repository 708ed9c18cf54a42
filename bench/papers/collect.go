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
	claims  []claim
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
	log                   bool // over a logarithmic axis: dots instead of bars
	rate                  bool // bandwidth of what was measured in ns
	// per cent by which each series is faster than the series of this name, instead of its own
	// value
	gain string
	// per cent of the shorter of transfer and work that disappears when they are together, so
	// many calls with work between them; 0: the time that is measured
	hidden int
	places []string // of overPlaces, overProcs and asTable
	lines  []line
	quotes []quote
}

// line is a series: an operation of an experiment, at a place unless the chart has several.
type line struct {
	name, experiment, op, place, variant string
	shape                                string // only rows of this shape; "": all
	raw                                  bool   // the baseline of the rows
}

// quote is a number of the paper, or a range: at a place of the axis, or across the picture; in a
// table in a column of its own.
type quote struct {
	name, row string
	x         float64 // 0: across
	low, high float64 // in ns, MB/s or per cent
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
	label  string // of a group of bars and in tables
	x      float64
	unit   string
	reps   int // that it is the median of
	starts int
	run    int
	figure.Value
}

// points is a series with the points that were measured.
type points struct {
	name   string
	points []point
}

// collect finds the points of all lines. A line without any is left out.
func (o *options) collect(c *chart, rows rowsOf) []points {
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
	switch {
	case c.gain != "":
		return gains(all, c.gain)
	case c.hidden > 0:
		return hiddenShares(all, float64(c.hidden))
	}
	return all
}

// pointsAt are the points of a line at a place, over all runs.
func (o *options) pointsAt(c *chart, l *line, place string, rows rowsOf) []point {
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
	reps, starts := map[string]int{}, map[string]int{}
	for _, r := range rows[key] {
		if r.Op != l.op || l.shape != "" && !o.quick && r.Shape != l.shape {
			continue
		}
		p := c.point(&r, l.raw, place)
		if p.Median == 0 && p.Most == 0 {
			continue // it has no baseline
		}
		reps[p.label], starts[p.label] = reps[p.label]+r.reps, starts[p.label]+r.starts
		if values[p.label] == nil {
			order = append(order, p)
		}
		values[p.label] = append(values[p.label], p.Value)
	}
	for i := range order {
		p := &order[i]
		p.Value, p.reps = summary(values[p.label]), reps[p.label]
		p.starts = starts[p.label]
	}
	if c.kind != overPlaces && c.kind != asTable {
		slices.SortStableFunc(order, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	}
	return order
}

// point places a row.
func (c *chart) point(r *measured, raw bool, place string) point {
	p := point{label: r.Place(), x: float64(r.Bytes), unit: r.Unit, run: r.run, Value: r.Ours}
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

// gains are by how much per cent each series takes less time than the base; at the most where it is
// at its fastest and the base at its slowest.
func gains(all []points, base string) []points {
	from := slices.IndexFunc(all, func(p points) bool { return p.name == base })
	if from < 0 {
		return nil
	}
	gain := func(p, b float64) float64 { return 100 * (1 - p/b) }
	var out []points
	for i, s := range all {
		if i == from {
			continue
		}
		g := points{name: s.name}
		for _, p := range s.points {
			b, ok := all[from].pointNamed(p.label)
			if !ok || b.Least <= 0 {
				continue
			}
			p.unit, p.reps = "%", min(p.reps, b.reps)
			p.Value = figure.Value{Median: gain(p.Median, b.Median),
				Least: gain(p.Most, b.Least), Most: gain(p.Least, b.Most)}
			g.points = append(g.points, p)
		}
		out = append(out, g)
	}
	return out
}

// alike is by how much transfer and work may differ for their overlap to be told.
const alike = 4

// hiddenShares are what part of the shorter of transfer and work disappears when they are together:
// (apart - together) / shorter, where apart is the time without work and the work, of which there
// are x microseconds in each of so many calls. Only where neither is much longer than the other:
// what
// is measured then is not the difference of two large numbers.
func hiddenShares(all []points, calls float64) []points {
	var out []points
	for _, s := range all {
		alone, ok := s.pointNamed("0")
		if !ok {
			continue
		}
		h := points{name: s.name}
		for _, p := range s.points {
			work := p.x * 1e3 * calls
			share := func(together float64) float64 {
				return 100 * (alone.Median + work - together) /
					min(alone.Median, work)
			}
			if work >= alone.Median/alike && work <= alone.Median*alike {
				p.unit = "%"
				p.Value = figure.Value{Median: share(p.Median),
					Least: share(p.Most),
					Most:  share(p.Least)}
				h.points = append(h.points, p)
			}
		}
		if len(h.points) > 0 {
			out = append(out, h)
		}
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

// cell is a point in a table: its median, and what the repetitions are between.
func cell(s *points, label string) string {
	p, ok := s.pointNamed(label)
	if !ok {
		return "-"
	}
	text := figure.Amount(p.Median, p.unit)
	if p.Least < p.Most {
		text += " (" + figure.Amount(p.Least, p.unit) + " to " + figure.Amount(p.Most,
			p.unit) +
			")"
	}
	return text
}

// table has a line for each label and a column for each series, or, as a table only, the other way
// round.
func (c *chart) table(all []points) [][]string {
	names := c.labels(all)
	head := []string{c.axis()}
	if c.kind == asTable {
		papers := c.quoteNames()
		t := [][]string{slices.Concat(head, names, papers)}
		for i := range all {
			l := []string{all[i].name}
			for _, n := range names {
				l = append(l, cell(&all[i], n))
			}
			for _, p := range papers {
				l = append(l, c.quoteIn(all[i].name, p, all[i].points[0].unit))
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
	if c.kind == overPlaces && slices.ContainsFunc(c.places,
		func(p string) bool { return strings.HasPrefix(p, "rdma") }) {
		return "ranks (rdma: a device in software)"
	}
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

// quoteNames are what is quoted, in its order.
func (c *chart) quoteNames() []string {
	var names []string
	for _, q := range c.quotes {
		if !slices.Contains(names, q.name) {
			names = append(names, q.name)
		}
	}
	return names
}

// quoteIn is a cell of a table that the paper has.
func (c *chart) quoteIn(row, name, unit string) string {
	for _, q := range c.quotes {
		if q.row == row && q.name == name {
			return figure.Amount(q.low, unit)
		}
	}
	return "-"
}
