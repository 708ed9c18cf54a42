// SPDX-License-Identifier: BSD-3-Clause

// The bars that figures are held against (bars.txt), and the table on the
// screen, a line as soon as a figure is known.
package main

import (
	_ "embed"
	"fmt"
	"io"
	"strconv"
	"strings"

	"libarmci/internal/figure"
)

// judged is a figure, its bar and whether it holds; without a bar both are empty.
type judged struct {
	figure.Row
	bar, state string
}

// bar is a reference value for some figures.
type bar struct {
	op          string
	least, most int64 // bytes
	ranks       int   // 0: any
	what        string
	atMost      bool
	value       float64
	text        string
}

//go:embed bars.txt
var ourBars string

// loadBars reads those of a network from a table.
func loadBars(table, network string) ([]bar, error) {
	var all []bar
	number := 0
	for line := range strings.Lines(table) {
		number++
		if line, _, _ = strings.Cut(line, "#"); strings.TrimSpace(line) == "" {
			continue
		}
		b, where, err := parseBar(line)
		if err != nil {
			return nil, fmt.Errorf("table of bars, line %d: %w", number, err)
		}
		if where == network {
			all = append(all, b)
		}
	}
	return all, nil
}

// parseBar parses a line of the table of bars, and returns the bar and its network.
func parseBar(line string) (bar, string, error) {
	f := strings.Fields(line)
	if len(f) < 6 || len(f[5]) < 3 {
		return bar{}, "", fmt.Errorf("%q: want network, op, bytes, ranks, what, bar", line)
	}
	b := bar{op: f[1], most: 1 << 62, what: f[4], atMost: strings.HasPrefix(f[5], "<="),
		text: f[5]}
	var err error
	if f[2] != "*" {
		low, high, open := strings.Cut(f[2], "-")
		if b.least, err = strconv.ParseInt(low, 10, 64); err == nil && !open {
			b.most = b.least
		} else if err == nil && high != "" {
			b.most, err = strconv.ParseInt(high, 10, 64)
		}
	}
	if err == nil && f[3] != "*" {
		b.ranks, err = strconv.Atoi(f[3])
	}
	if err == nil {
		b.value, err = strconv.ParseFloat(f[5][2:], 64)
	}
	if err == nil && (!strings.Contains("node tcp rdma ofi", f[0]) ||
		!strings.Contains("ratio diff ours", b.what) ||
		!b.atMost && !strings.HasPrefix(f[5], ">=")) {
		err = fmt.Errorf("%q: want node, tcp, rdma or ofi; ratio, diff or ours; <= or >=",
			line)
	}
	return b, f[0], err
}

// judge finds a figure's bar and on which side of it the figure lies.
func judge(r figure.Row, bars []bar) judged {
	for i := range bars {
		b := &bars[i]
		if b.op != r.Op || r.Bytes < b.least || r.Bytes > b.most || b.ranks != 0 &&
			b.ranks != r.Ranks ||
			b.what != "ours" && r.Raw.Median == 0 {
			continue
		}
		got := map[string]float64{"ratio": r.Ratio, "diff": r.Ours.Median - r.Raw.Median,
			"ours": r.Ours.Median}[b.what]
		if got == b.value || b.atMost == (got < b.value) {
			return judged{r, b.in(r.Unit), "ok"}
		}
		return judged{r, b.in(r.Unit), "over"}
	}
	return judged{Row: r}
}

// in is a bar in words; one of the figure itself has its unit.
func (b *bar) in(unit string) string {
	if b.what == "ratio" {
		return b.text
	}
	text := b.text[:2] + figure.Amount(b.value, unit)
	if b.what == "diff" {
		text += " more"
	}
	return text
}

// report collects figures and prints them.
type report struct {
	out   io.Writer
	bars  []bar
	rows  []judged
	wrong int
	where string
}

const lineFormat = "%-26s %9s %5s %11s %11s %7s  %-16s %s\n"

// addRow judges a figure and prints its line, after a heading where a new place begins.
func (r *report) addRow(row figure.Row) {
	x := judge(row, r.bars)
	r.rows = append(r.rows, x)
	if r.where != x.Where {
		r.where = x.Where
		fmt.Fprintf(r.out, "\n%s\n"+lineFormat, r.where, "operation", "size", "ranks",
			"ours", "raw", "ratio", "bar", "")
	}
	raw, ratio := "-", "-"
	if x.Raw.Median != 0 {
		raw, ratio = figure.Amount(x.Raw.Median, x.Unit), strconv.FormatFloat(x.Ratio, 'f',
			2, 64)
	}
	fmt.Fprintf(r.out, lineFormat, x.Op, x.Place(), strconv.Itoa(x.Ranks),
		figure.Amount(x.Ours.Median, x.Unit), raw, ratio, x.bar, x.state)
}

// printSummary prints how many figures there are and how many bars were held.
func (r *report) printSummary() {
	held, all := 0, 0
	for _, x := range r.rows {
		if x.state != "" {
			all++
		}
		if x.state == "ok" {
			held++
		}
	}
	fmt.Fprintf(r.out, "\n%d figures, %d of %d bars held, %d totals not exact\n", len(r.rows),
		held, all, r.wrong)
}

func (r *report) figures() []figure.Row {
	var all []figure.Row
	for _, x := range r.rows {
		all = append(all, x.Row)
	}
	return all
}
