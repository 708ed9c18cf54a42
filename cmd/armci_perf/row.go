// SPDX-License-Identifier: BSD-3-Clause

// A figure as the worker prints it (worker/report.c), and the table of bars it
// is held against.
package main

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// row is one figure. Ours and Raw are medians of the repetitions, the best is
// the least cost or the highest rate, Ratio the median of ours/raw pair by
// pair. Raw is 0 where there is no baseline.
type row struct {
	Op, Shape            string
	Bytes                int64
	Ranks                int
	Unit                 string
	Ours, OursBest       float64
	Raw, RawBest, Ratio  float64
	Where, Bar, BarState string
}

// parseRow reads the fields after the word PERF.
func parseRow(text string) (row, error) {
	f := strings.Split(text, "\t")
	if len(f) != 10 {
		return row{}, fmt.Errorf("not a figure: %q", text)
	}
	r := row{Op: f[0], Shape: f[1], Unit: f[4]}
	var err error
	if r.Bytes, err = strconv.ParseInt(f[2], 10, 64); err == nil {
		r.Ranks, err = strconv.Atoi(f[3])
	}
	for i, to := range []*float64{&r.Ours, &r.OursBest, &r.Raw, &r.RawBest, &r.Ratio} {
		if err == nil {
			*to, err = strconv.ParseFloat(f[5+i], 64)
		}
	}
	if err != nil {
		return row{}, fmt.Errorf("not a figure: %q: %w", text, err)
	}
	return r, nil
}

// bar is a reference value for some rows.
type bar struct {
	op         string
	least      int64 // bytes
	most       int64
	ranks      int // 0: any
	what       string
	atMost     bool
	value      float64
	text, note string
}

//go:embed bars.txt
var ourBars string

// loadBars reads a table of bars, ours if no file is named.
func loadBars(file string) ([]bar, error) {
	text := ourBars
	if file != "" {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		text = string(b)
	}
	var all []bar
	number := 0
	for line := range strings.Lines(text) {
		number++
		if line, _, _ = strings.Cut(line, "#"); strings.TrimSpace(line) == "" {
			continue
		}
		b, err := parseBar(line)
		if err != nil {
			return nil, fmt.Errorf("table of bars, line %d: %w", number, err)
		}
		all = append(all, b)
	}
	return all, nil
}

func parseBar(line string) (bar, error) {
	f := strings.Fields(line)
	if len(f) < 5 || len(f[4]) < 3 {
		return bar{}, fmt.Errorf("%q: want op, bytes, ranks, what, bar", line)
	}
	b := bar{op: f[0], most: 1 << 62, what: f[3], atMost: strings.HasPrefix(f[4], "<="), text: f[4], note: strings.Join(f[5:], " ")}
	var err error
	if f[1] != "*" {
		low, high, open := strings.Cut(f[1], "-")
		if b.least, err = strconv.ParseInt(low, 10, 64); err == nil && !open {
			b.most = b.least
		} else if err == nil && high != "" {
			b.most, err = strconv.ParseInt(high, 10, 64)
		}
	}
	if err == nil && f[2] != "*" {
		b.ranks, err = strconv.Atoi(f[2])
	}
	if err == nil {
		b.value, err = strconv.ParseFloat(f[4][2:], 64)
	}
	if err == nil && b.what != "ratio" && b.what != "diff" && b.what != "ours" || !b.atMost && !strings.HasPrefix(f[4], ">=") {
		err = fmt.Errorf("%q: want ratio, diff or ours, and <= or >=", line)
	}
	return b, err
}

func (b *bar) fits(r *row) bool {
	return b.op == r.Op && r.Bytes >= b.least && r.Bytes <= b.most && (b.ranks == 0 || b.ranks == r.Ranks)
}

// judge fills a row's bar and on which side of it the figure lies.
func judge(r *row, bars []bar) {
	for i := range bars {
		b := &bars[i]
		if !b.fits(r) || b.what != "ours" && r.Raw == 0 {
			continue
		}
		got := map[string]float64{"ratio": r.Ratio, "diff": r.Ours - r.Raw, "ours": r.Ours}[b.what]
		r.Bar, r.BarState = b.what+" "+b.text, "over"
		if b.atMost == (got <= b.value) || got == b.value {
			r.BarState = "ok"
		}
		return
	}
}

// writeCSV writes all rows with a heading.
func writeCSV(w io.Writer, rows []row) {
	out := csv.NewWriter(w)
	out.Write([]string{"op", "shape", "bytes", "ranks", "where", "unit", "ours", "ours_best", "raw", "raw_best", "ratio", "bar", "state"})
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
	for _, r := range rows {
		out.Write([]string{r.Op, r.Shape, strconv.FormatInt(r.Bytes, 10), strconv.Itoa(r.Ranks), r.Where, r.Unit, number(r.Ours),
			number(r.OursBest), number(r.Raw), number(r.RawBest), number(r.Ratio), r.Bar, r.BarState})
	}
	out.Flush()
}
