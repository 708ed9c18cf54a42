// SPDX-License-Identifier: BSD-3-Clause

// The tables of bench windows and bench caf: figures of all series beside each other, ours
// held against bars (windows.txt), and what there is not, with the reason.
package main

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"libarmci/internal/figure"
)

//go:embed windows.txt
var windowBars string

// table collects the figures of all runs.
type table struct {
	order []string
	runs  map[string][]figure.Row
}

func (t *table) addRow(r figure.Row) {
	if t.runs == nil {
		t.runs = map[string][]figure.Row{}
	}
	k := key(&r)
	if t.runs[k] == nil {
		t.order = append(t.order, k)
	}
	t.runs[k] = append(t.runs[k], r)
}

// rows are the figures, medians of the runs' medians.
func (t *table) rows() []figure.Row {
	var all []figure.Row
	for _, k := range t.order {
		runs := t.runs[k]
		r := runs[0]
		if len(runs) > 1 {
			r.Samples, r.RawSamples = nil, nil
			var ratios figure.Samples
			for _, run := range runs {
				r.Samples = append(r.Samples, run.Ours.Median)
				r.RawSamples = append(r.RawSamples, run.Raw.Median)
				ratios = append(ratios, run.Ratio)
			}
			r.Summarise()
			r.Ratio = ratios.Median()
		}
		all = append(all, r)
	}
	return all
}

// rows are the figures that count.
func (w *windows) rows() []figure.Row {
	all := w.figures.rows()
	for i := range all {
		if r := &all[i]; w.best {
			r.Ours, r.Raw = w.figures.best(r,
				func(r *figure.Row) figure.Value { return r.Ours }),
				w.figures.best(r, func(r *figure.Row) figure.Value { return r.Raw })
			r.Ratio = 0
			if r.Raw.Median != 0 {
				r.Ratio = r.Ours.Median / r.Raw.Median
			}
		}
	}
	return all
}

// best is the best repetition of all runs in the place of the median.
func (t *table) best(r *figure.Row, of func(*figure.Row) figure.Value) figure.Value {
	v := of(r)
	for _, run := range t.runs[key(r)] {
		v.Least, v.Most = min(v.Least, of(&run).Least), max(v.Most, of(&run).Most)
	}
	if v.Median = v.Most; r.Unit == "ns" {
		v.Median = v.Least
	}
	return v
}

// point is where a figure lies, of whatever series.
func point(r *figure.Row) string {
	return fmt.Sprint(r.Op, "\t", r.Shape, "\t", r.Bytes, "\t", r.Ranks)
}

// place is that for people: a size, a shape, or what the figure is drawn over.
func place(r *figure.Row) string {
	if label, ok := axes[axisOf(r.Op)]; ok && r.Shape != "-" {
		return r.Shape + " " + label.short
	}
	return r.Place()
}

// writeTables writes the tables as markdown.
func (w *windows) writeTables(to io.Writer, all []*series, bars []bar) {
	rows := w.rows()
	where := map[string]string{"node": "on a node", "nodes": "between pretended nodes over TCP",
		"hosts": "between hosts over TCP",
		"rdma":  "between pretended nodes over RDMA"}[w.network]
	fmt.Fprintf(to, "## %s %s\n\n", w.title, where)
	what := "Medians"
	if w.best {
		what = "The best"
	}
	fmt.Fprintf(to, "%s of %d runs of %d repetitions; in brackets the baseline of the same "+
		"processes.\n", what, w.runs, w.reps)
	w.writeBars(to, rows, all, bars)
	writeFigures(to, rows, all)
	w.writeMissing(to)
}

// writeMissing writes a line for each series and reason.
func (w *windows) writeMissing(to io.Writer) {
	var order []string
	figures := map[string][]string{}
	for _, a := range w.missing {
		k, name := a.series+"\t"+a.reason, a.figure
		if a.created {
			name += " by MPI_Win_create"
		}
		if figures[k] == nil {
			order = append(order, k)
		}
		if !slices.Contains(figures[k], name) {
			figures[k] = append(figures[k], name)
		}
	}
	if len(order) > 0 {
		fmt.Fprint(to, "\nNot to be had:\n\n")
	}
	for _, k := range order {
		title, reason, _ := strings.Cut(k, "\t")
		fmt.Fprintf(to, "- %s: %s (%s)\n", title, reason, strings.Join(figures[k], ", "))
	}
}

// writeFigures writes a line for each point, a column for each series.
func writeFigures(to io.Writer, rows []figure.Row, all []*series) {
	cells, order, first := map[string]string{}, []string{}, map[string]figure.Row{}
	for _, r := range rows {
		p := point(&r)
		if _, ok := first[p]; !ok {
			first[p], order = r, append(order, p)
		}
		text := figure.Amount(r.Ours.Median, r.Unit)
		if r.Raw.Median != 0 {
			text += " (" + figure.Amount(r.Raw.Median, r.Unit) + ")"
		}
		cells[p+r.Where] = text
	}
	// A series that stopped early may have left later points to others: what belongs together
	// comes together.
	slices.SortStableFunc(order,
		func(a, b string) int { return group(order, first, a) - group(order, first, b) })
	fmt.Fprint(to, "\n| operation | |")
	for _, s := range all {
		fmt.Fprintf(to, " %s |", s.title)
	}
	fmt.Fprintf(to, "\n|---|---|%s\n", strings.Repeat("---|", len(all)))
	for _, p := range order {
		r := first[p]
		fmt.Fprintf(to, "| `%s` | %s |", r.Op, place(&r))
		for _, s := range all {
			text := cells[p+s.title]
			if text == "" {
				text = "-"
			}
			fmt.Fprintf(to, " %s |", text)
		}
		fmt.Fprintln(to)
	}
}

// group is where an operation first appears.
func group(order []string, first map[string]figure.Row, p string) int {
	return slices.IndexFunc(order, func(q string) bool { return first[q].Op == first[p].Op })
}

// writeBars writes what of ours is held against something.
func (w *windows) writeBars(to io.Writer, rows []figure.Row, all []*series, bars []bar) {
	var lines []string
	for _, r := range derived(rows, all) {
		x := judge(r, bars)
		if x.state == "" {
			continue
		}
		raw, ratio, state := "", "",
			map[string]string{"ok": "held", "over": "**missed**"}[x.state]
		if r.Raw.Median != 0 {
			raw, ratio = figure.Amount(r.Raw.Median, r.Unit),
				strconv.FormatFloat(r.Ratio, 'f', 2, 64)
		}
		lines = append(lines, fmt.Sprintf("| `%s` | %s | %s | %s | %s | %s | %s | %s |\n",
			r.Op, place(&r), r.Where,
			figure.Amount(r.Ours.Median, r.Unit), raw, ratio, x.bar, state))
	}
	if len(lines) > 0 {
		fmt.Fprint(to, "\n| held against | | series | | beside | ratio | bar | "+
			"|\n|---|---|---|---|---|---|---|---|\n", strings.Join(lines, ""))
	}
}

// derived are the rows of ours as bars name them: OP, OP:native, OP:raw, OP:late, OP:busy
// (windows.txt).
func derived(rows []figure.Row, all []*series) []figure.Row {
	var found []figure.Row
	for _, r := range rows {
		if !slices.ContainsFunc(all, func(s *series) bool {
			return s.ours &&
				s.title == r.Where
		}) {
			continue
		}
		found = append(found, r)
		if r.Raw.Median != 0 {
			found = append(found, beside(r, ":raw", r.Raw, r.Ratio))
		}
		if raw := faster(rows, all, &r); raw.Median != 0 {
			found = append(found, beside(r, ":native", raw, r.Ours.Median/raw.Median))
		}
		if i := slices.IndexFunc(rows, func(q figure.Row) bool {
			return q.Op == r.Op &&
				q.Where == r.Where && q.Shape == "0"
		}); i >= 0 &&
			axisOf(r.Op) == "skew" && r.Shape == "10" {
			found = append(found, beside(r, ":late", rows[i].Ours,
				r.Ours.Median/rows[i].Ours.Median))
		}
		if r.Op == "overlap-part" && r.Shape == "100" {
			found = append(found, beside(r, ":busy", figure.Value{}, 0))
		}
	}
	return found
}

func beside(r figure.Row, suffix string, raw figure.Value, ratio float64) figure.Row {
	r.Op, r.Raw, r.Ratio = r.Op+suffix, raw, ratio
	return r
}

// faster is the faster of the MPIs at the same point; 0 if there is none.
func faster(rows []figure.Row, all []*series, r *figure.Row) (best figure.Value) {
	for _, q := range rows {
		fair := slices.ContainsFunc(all, func(s *series) bool {
			return s.fair &&
				s.title == q.Where
		})
		if fair && point(&q) == point(r) &&
			(best.Median == 0 || (q.Unit == "ns") == (q.Ours.Median < best.Median)) {
			best = q.Ours
		}
	}
	return best
}
