// SPDX-License-Identifier: BSD-3-Clause

// The table on the screen: a line as soon as a figure is known, a summary at
// the end.
package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// report collects rows and prints them.
type report struct {
	out    io.Writer
	bars   []bar
	rows   []row
	checks int
	wrong  int
	where  string
}

const lineFormat = "%-26s %9s %5s %6s %11s %11s %7s  %-16s %s\n"

// add judges a row, keeps it and prints it.
func (r *report) add(x row) {
	if x.Op == "resident-bare" {
		r.bare(x)
		return
	}
	judge(&x, r.bars)
	r.rows = append(r.rows, x)
	if x.Op == "resident" {
		return // waits for the program without the library
	}
	r.print(&x)
}

// bare completes the row of resident memory.
func (r *report) bare(x row) {
	for i := range r.rows {
		if row := &r.rows[i]; row.Op == "resident" {
			row.Raw, row.RawBest, row.Ratio = x.Ours, x.Ours, row.Ours/x.Ours
			judge(row, r.bars)
			r.print(row)
		}
	}
}

func (r *report) print(x *row) {
	if r.where != x.Where {
		r.where = x.Where
		fmt.Fprintf(r.out, "\n%s\n"+lineFormat, r.where, "operation", "bytes", "ranks", "unit", "ours", "raw", "ratio", "bar", "")
	}
	raw, ratio := "-", "-"
	if x.Raw != 0 {
		raw, ratio = short(x.Raw), strconv.FormatFloat(x.Ratio, 'f', 2, 64)
	}
	what := size(x.Bytes)
	if strings.Contains(x.Shape, "x") {
		what = x.Shape
	}
	fmt.Fprintf(r.out, lineFormat, x.Op, what, strconv.Itoa(x.Ranks), x.Unit, short(x.Ours), raw, ratio, x.Bar, x.BarState)
}

// check counts a total that must be exact: name, got, want, verdict.
func (r *report) check(text string) {
	r.checks++
	f := strings.Split(text, "\t")
	if len(f) == 4 && f[3] == "ok" {
		return
	}
	r.wrong++
	fmt.Fprintf(r.out, "NOT EXACT: %s\n", strings.Join(f, " "))
}

func (r *report) finish() {
	held, over := 0, 0
	for _, x := range r.rows {
		switch x.BarState {
		case "ok":
			held++
		case "over":
			over++
		}
	}
	fmt.Fprintf(r.out, "\n%d figures, %d of %d bars held; %d of %d totals exact\n", len(r.rows), held, held+over,
		r.checks-r.wrong, r.checks)
}

// short is a number with at least three digits that count.
func short(x float64) string {
	decimals := 0
	switch {
	case x < 10:
		decimals = 2
	case x < 100:
		decimals = 1
	}
	return strconv.FormatFloat(x, 'f', decimals, 64)
}

// size is a number of bytes in the largest unit that divides it.
func size(n int64) string {
	switch {
	case n == 0:
		return "-"
	case n%(1<<20) == 0:
		return strconv.FormatInt(n>>20, 10) + "M"
	case n%(1<<10) == 0:
		return strconv.FormatInt(n>>10, 10) + "K"
	}
	return strconv.FormatInt(n, 10)
}
