// SPDX-License-Identifier: BSD-3-Clause

// Package figure is what armci_perf and bench/ share: a figure as programs that measure print it
// (cmd/armci_perf/worker/timing.h), its median, spread and ratio, running a job of workers, CSV,
// JSON and charts. It knows no operation and judges nothing.
package figure

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Row is one figure. What is about a baseline is 0, or has no samples, where there is none.
type Row struct {
	Op, Shape string
	Bytes     int64
	Ranks     int
	Unit      string // ns, MB/s, Mop/s, %, MiB or share
	Ours, Raw Value
	Ratio     float64 // median of ours/raw, pair by pair
	Where     string  // not printed by the worker: what the ranks run on
	Samples   Samples // that Ours is of
	// those that Raw is of: each was taken beside the one of Samples at the same place
	RawSamples Samples
}

// ParseRow reads the fields after the word PERF.
func ParseRow(text string) (Row, error) {
	f := strings.Split(text, "\t")
	if len(f) != 7 {
		return Row{}, fmt.Errorf("not a figure: %q", text)
	}
	r := Row{Op: f[0], Shape: f[1], Unit: f[4]}
	var errs [4]error
	r.Bytes, errs[0] = strconv.ParseInt(f[2], 10, 64)
	r.Ranks, errs[1] = strconv.Atoi(f[3])
	if r.Samples, errs[2] = parseSamples(f[5]); len(r.Samples) == 0 && errs[2] == nil {
		errs[2] = errors.New("no samples")
	}
	if f[6] != "-" {
		r.RawSamples, errs[3] = parseSamples(f[6])
	}
	if err := errors.Join(errs[:]...); err != nil {
		return Row{}, fmt.Errorf("not a figure: %q: %w", text, err)
	}
	r.Summarise()
	return r, nil
}

// Summarise computes values and ratio of the samples.
func (r *Row) Summarise() {
	r.Ours, r.Raw = r.Samples.Value(), r.RawSamples.Value()
	r.Ratio = r.Samples.Ratios(r.RawSamples).Median()
}

// Costs are by how much a figure costs more than its baseline, pair by pair: above 1 it is slower,
// whether it is a time or a rate. They are none for what is neither, and without a baseline.
func (r *Row) Costs() Samples {
	switch r.Unit {
	case "ns":
		return r.Samples.Ratios(r.RawSamples)
	case "MB/s", "Mop/s":
		return r.RawSamples.Ratios(r.Samples)
	}
	return nil
}

// Rate is a time of a figure as bytes per second, in MB/s; what is no time stays as it is.
func (r *Row) Rate(v Value) (rate Value, unit string) {
	if r.Unit != "ns" || v.Least <= 0 {
		return v, r.Unit
	}
	of := func(ns float64) float64 { return float64(r.Bytes) / ns * 1e3 }
	return Value{of(v.Median), of(v.Most), of(v.Least)}, "MB/s"
}

// Place is where a figure lies among those of its operation: a shape or a size.
func (r *Row) Place() string {
	if strings.Contains(r.Shape, "x") {
		return r.Shape
	}
	return Size(r.Bytes)
}

// columns are those of CSV. Files of older programs end before the samples.
var columns = []string{"op", "shape", "bytes", "ranks", "where", "unit", "median", "least", "most",
	"raw", "raw_least", "raw_most", "ratio", "samples", "raw_samples"}

// WriteCSV writes all rows with a heading.
func WriteCSV(w io.Writer, rows []Row) error {
	out := csv.NewWriter(w)
	out.Write(columns)
	for _, r := range rows {
		line := []string{r.Op, r.Shape, strconv.FormatInt(r.Bytes, 10),
			strconv.Itoa(r.Ranks), r.Where, r.Unit}
		for _, x := range []float64{r.Ours.Median, r.Ours.Least, r.Ours.Most, r.Raw.Median,
			r.Raw.Least, r.Raw.Most, r.Ratio} {
			line = append(line, strconv.FormatFloat(x, 'g', 6, 64))
		}
		out.Write(append(line, r.Samples.String(), r.RawSamples.String()))
	}
	out.Flush()
	return out.Error()
}

// WriteFiles writes the rows as CSV and as JSON, where a file is named.
func WriteFiles(csv, json string, run Run, rows []Row) (err error) {
	if csv != "" {
		err = WriteFile(csv, func(w io.Writer) error { return WriteCSV(w, rows) })
	}
	if json != "" {
		err = errors.Join(err, WriteFile(json,
			func(w io.Writer) error { return WriteJSON(w, run, rows) }))
	}
	return err
}

// ReadCSV reads what WriteCSV has written, without samples, too.
func ReadCSV(from io.Reader) ([]Row, error) {
	lines, err := csv.NewReader(from).ReadAll()
	var rows []Row
	for i := 1; i < len(lines) && err == nil; i++ {
		var r Row
		r, err = readLine(lines[i])
		rows = append(rows, r)
	}
	return rows, err
}

// readLine reads the fields of a line of CSV.
func readLine(l []string) (Row, error) {
	if len(l) < len(columns)-2 {
		return Row{}, fmt.Errorf("not a figure: %q", l)
	}
	r := Row{Op: l[0], Shape: l[1], Where: l[4], Unit: l[5]}
	var errs [5]error
	r.Bytes, errs[0] = strconv.ParseInt(l[2], 10, 64)
	r.Ranks, errs[1] = strconv.Atoi(l[3])
	v, err := parseSamples(strings.Join(l[6:13], " "))
	if errs[2] = err; err == nil {
		r.Ours, r.Raw, r.Ratio = Value{v[0], v[1], v[2]}, Value{v[3], v[4], v[5]}, v[6]
	}
	if len(l) == len(columns) {
		r.Samples, errs[3] = parseSamples(l[13])
		r.RawSamples, errs[4] = parseSamples(l[14])
	}
	return r, errors.Join(errs[:]...)
}
