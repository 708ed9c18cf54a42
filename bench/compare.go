// SPDX-License-Identifier: BSD-3-Clause

// Compares two builds of the library: the same workers, which use the public C
// interface only, with the one and the other, job by job and in turns, in
// several runs. A ratio says how much more the later build costs: above 1 it is
// slower. Nothing is judged by one run.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"libarmci/internal/figure"
)

const (
	slower     = 1.15 // a row that costs so much more in every run is flagged
	mostMedian = 1.02 // of all rows of a network
)

// pair is a figure of the later build beside that of the earlier one. Its samples are runs: of one
// run, the median of its starts.
type pair struct {
	figure.Row
	starts [2]figure.Samples // of the current run: before, after
}

// endRun takes the medians of a run.
func (p *pair) endRun() {
	if len(p.starts[0]) > 0 && len(p.starts[1]) > 0 {
		p.RawSamples = append(p.RawSamples, p.starts[0].Median())
		p.Samples = append(p.Samples, p.starts[1].Median())
		p.Summarise()
	}
	p.starts = [2]figure.Samples{}
}

// key tells figures of two runs apart.
func key(r *figure.Row) string {
	return fmt.Sprint(r.Where, "\t", r.Op, "\t", r.Shape, "\t", r.Bytes, "\t", r.Ranks)
}

// compare measures both builds and writes the table.
func (o *options) compare(jobs []job, out io.Writer) error {
	var order []string
	pairs := map[string]*pair{}
	wrong := 0
	for run := range o.runs {
		for _, j := range jobs {
			fmt.Fprintf(os.Stderr, "run %d of %d, %s: %v\n", run+1, o.runs, j.title,
				j.groups)
			for turn := range 2 * o.starts {
				which := (turn + run) % 2 // the second build is not always the same
				build := [2]string{o.against, o.build}[which]
				err := o.start(j, build, func(r figure.Row) {
					if r.Ours.Median <= 0 {
						return
					}
					p := pairs[key(&r)]
					if p == nil {
						p = &pair{Row: r}
						p.Samples, p.RawSamples = nil, nil
						pairs[key(&r)], order = p, append(order, key(&r))
					}
					p.starts[which] = append(p.starts[which], r.Ours.Median)
				}, &wrong)
				if err != nil {
					return fmt.Errorf("%s: %w", build, err)
				}
			}
		}
		for _, p := range pairs {
			p.endRun()
		}
	}
	var all []*pair
	var rows []figure.Row
	for _, k := range order {
		if p := pairs[k]; len(p.Costs()) > 0 { // both have it, and it can be compared
			all, rows = append(all, p), append(rows, p.Row)
		}
	}
	var err error
	if wrong > 0 {
		err = fmt.Errorf("%d totals are not exact", wrong)
	}
	err = errors.Join(err, o.writeRows(rows, o.runs))
	if o.markdown != "" {
		err = errors.Join(err, figure.WriteFile(o.markdown,
			func(w io.Writer) error { writeComparison(w, all); return nil }))
	}
	writeComparison(out, all)
	return err
}

func (p *pair) flagged() bool {
	all := p.Costs()
	return len(all) > 0 && slices.Min(all) > slower
}

// writeComparison writes a table for each place and a summary.
func writeComparison(w io.Writer, all []*pair) {
	where := ""
	var ratios figure.Samples
	flagged := 0
	for _, p := range all {
		if p.Where != where {
			where = p.Where
			fmt.Fprintf(w, "\n| %s | size | before | after | after/before, by run | "+
				"|\n|---|---|---|---|---|---|\n", where)
		}
		text, mark := "", ""
		for _, r := range p.Costs() {
			text += strconv.FormatFloat(r, 'f', 2, 64) + " "
		}
		ratios = append(ratios, p.Costs()...)
		if p.flagged() {
			flagged++
			mark = "**slower**"
		}
		fmt.Fprintf(w, "| `%s` | %s | %s | %s | %s| %s |\n", p.Op, p.Place(),
			figure.Amount(p.Raw.Median, p.Unit), figure.Amount(p.Ours.Median, p.Unit),
			text, mark)
	}
	fmt.Fprintf(w, "\n%d rows; median of all ratios %.3f (at most %g wanted); %d rows above "+
		"%g in every run.\n", len(all), ratios.Median(),
		mostMedian, flagged, slower)
}
