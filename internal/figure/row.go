// SPDX-License-Identifier: BSD-3-Clause

// Package figure is what armci_perf and bench/ share: a figure as their workers
// print it (cmd/armci_perf/worker/report.c), running a job of workers, CSV, and
// charts. It knows no operation and judges nothing.
package figure

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Value is the median of a figure's repetitions and their extremes.
type Value struct{ Median, Least, Most float64 }

// Row is one figure. Raw and Ratio, the median of ours/raw pair by pair, are 0
// without a baseline.
type Row struct {
	Op, Shape string
	Bytes     int64
	Ranks     int
	Unit      string // ns, MB/s, Mop/s, %, MiB or share
	Ours, Raw Value
	Ratio     float64
	Where     string // not printed by the worker: what the ranks run on
}

// ParseRow reads the fields after the word PERF.
func ParseRow(text string) (Row, error) {
	f := strings.Split(text, "\t")
	if len(f) != 12 {
		return Row{}, fmt.Errorf("not a figure: %q", text)
	}
	r := Row{Op: f[0], Shape: f[1], Unit: f[4]}
	var err error
	if r.Bytes, err = strconv.ParseInt(f[2], 10, 64); err == nil {
		r.Ranks, err = strconv.Atoi(f[3])
	}
	to := []*float64{&r.Ours.Median, &r.Ours.Least, &r.Ours.Most, &r.Raw.Median, &r.Raw.Least,
		&r.Raw.Most, &r.Ratio}
	for i := range to {
		if err == nil {
			*to[i], err = strconv.ParseFloat(f[5+i], 64)
		}
	}
	if err != nil {
		return Row{}, fmt.Errorf("not a figure: %q: %w", text, err)
	}
	return r, nil
}

// Rate is a time of a figure as bytes per second, in MB/s; what is no time stays as it is.
func (r *Row) Rate(v Value) (rate Value, unit string) {
	if r.Unit != "ns" || v.Least <= 0 {
		return v, r.Unit
	}
	of := func(ns float64) float64 { return float64(r.Bytes) / ns * 1e3 }
	return Value{of(v.Median), of(v.Most), of(v.Least)}, "MB/s"
}

// Median is that of some values, 0 of none.
func Median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	if len(s) == 0 {
		return 0
	}
	return (s[len(s)/2] + s[(len(s)-1)/2]) / 2
}

// Place is where a figure lies among those of its operation: a shape or a size.
func (r *Row) Place() string {
	if strings.Contains(r.Shape, "x") {
		return r.Shape
	}
	return Size(r.Bytes)
}

// WriteCSV writes all rows with a heading.
func WriteCSV(w io.Writer, rows []Row) error {
	out := csv.NewWriter(w)
	out.Write([]string{"op", "shape", "bytes", "ranks", "where", "unit", "median", "least",
		"most", "raw", "raw_least", "raw_most", "ratio"})
	for _, r := range rows {
		line := []string{r.Op, r.Shape, strconv.FormatInt(r.Bytes, 10),
			strconv.Itoa(r.Ranks), r.Where, r.Unit}
		for _, x := range []float64{r.Ours.Median, r.Ours.Least, r.Ours.Most, r.Raw.Median,
			r.Raw.Least, r.Raw.Most, r.Ratio} {
			line = append(line, strconv.FormatFloat(x, 'g', 6, 64))
		}
		out.Write(line)
	}
	out.Flush()
	return out.Error()
}

// ReadCSV reads what WriteCSV has written.
func ReadCSV(from io.Reader) ([]Row, error) {
	lines, err := csv.NewReader(from).ReadAll()
	var rows []Row
	for i := 1; i < len(lines) && err == nil; i++ {
		l := lines[i]
		var r Row
		r, err = ParseRow(strings.Join(slices.Delete(slices.Clone(l), 4, 5), "\t"))
		r.Where = l[4]
		rows = append(rows, r)
	}
	return rows, err
}
