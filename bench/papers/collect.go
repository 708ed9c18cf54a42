// SPDX-License-Identifier: BSD-3-Clause

// From the figures of steps to the points of a chart.
package main

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"libarmci/internal/figure"
)

// point is a figure where it belongs.
type point struct {
	label  string // of a group of bars and in tables
	x      float64
	unit   string
	reps   int // that it is the median of
	starts int
	run    int
	alone  float64 // what the work beside it takes alone, in ns; 0: not measured
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
	if c.hidden > 0 {
		p.alone = r.Raw.Median
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
