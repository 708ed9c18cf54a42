// SPDX-License-Identifier: BSD-3-Clause

// A chart as a table, with the numbers of the paper beside those measured here.
package main

import (
	"slices"

	"libarmci/internal/figure"
)

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
