// SPDX-License-Identifier: BSD-3-Clause

// What is drawn: figures of papers, their charts, and the series of each.
package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
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
	// per cent of the shorter of transfer and work that disappears when they are together; so
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
