// SPDX-License-Identifier: BSD-3-Clause

// From figures to charts: which operations share a chart, and a file for each
// place they were measured at.

package figure

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Line is an operation in a chart, drawn with its baseline, if it has one.
type Line struct{ Op, Name string }

// Plot is a chart of some operations, over size.
type Plot struct {
	File, Title, YLabel string
	Rate                bool // bandwidth, also of what is measured in ns
	OneRaw              bool // all lines have the same baseline
	Lines               []Line
}

// Common are the plots of what the worker of armci_perf measures.
var Common = []Plot{
	{File: "bandwidth", Title: "Contiguous transfers", YLabel: "bandwidth", Rate: true,
		Lines: []Line{
			{"put-bandwidth", "put"}, {"get-bandwidth", "get"},
			{"put-stream", "16 puts outstanding"},
			{"get-stream", "16 gets outstanding"}}},
	{File: "strided", Title: "Patches of n x n doubles", YLabel: "bandwidth", Rate: true,
		Lines: []Line{
			{"put-strided", "put"}, {"get-strided", "get"},
			{"acc-strided", "accumulate"}}},
	{File: "message", Title: "Messages there and back", YLabel: "half a round trip",
		Lines: []Line{{"message", "message"}}},
	{File: "collective", Title: "Collective operations", YLabel: "time", Lines: []Line{
		{"bcast", "broadcast"}, {"gop-sum", "sum"}}},
	{File: "overlap", Title: "Hidden behind computation", YLabel: "part of the transfer",
		Lines: []Line{
			{"overlap-put", "nonblocking put"}, {"overlap-get", "nonblocking get"}}},
}

// charts draws those lines that were measured at two sizes or more: a chart for each place.
func (p *Plot) charts(rows []Row, footer string) map[string]*Chart {
	all := map[string]*Chart{}
	for i, l := range p.Lines {
		for _, where := range places(rows) {
			ours, raw := Series{Name: l.Name, Colour: i},
				Series{Name: l.Name + ", raw", Colour: i, Dashed: true}
			unit := ""
			for _, r := range rows {
				if r.Op != l.Op || r.Where != where {
					continue
				}
				unit = r.Unit
				if p.Rate {
					unit = "MB/s"
				}
				ours.Points = append(ours.Points,
					Point{float64(r.Bytes), p.value(&r, r.Ours)})
				if r.Raw.Median != 0 {
					raw.Points = append(raw.Points,
						Point{float64(r.Bytes), p.value(&r, r.Raw)})
				}
			}
			if len(ours.Points) < 2 {
				continue
			}
			if all[where] == nil {
				all[where] = &Chart{Title: p.Title + ", " + where, YLabel: p.YLabel,
					Unit: unit, Footer: footer}
			}
			all[where].Series = append(all[where].Series, ours)
			if p.OneRaw {
				raw.Name, raw.Colour = "raw", len(p.Lines)
			}
			if len(raw.Points) > 1 && (!p.OneRaw || i == len(p.Lines)-1) {
				all[where].Series = append(all[where].Series, raw)
			}
		}
	}
	return all
}

// value is a figure as the plot shows it: a rate where a rate is wanted.
func (p *Plot) value(r *Row, v Value) Value {
	if p.Rate {
		v, _ = r.Rate(v)
	}
	return v
}

// places are where the rows were measured, in their order.
func places(rows []Row) []string {
	var all []string
	for _, r := range rows {
		if !slices.Contains(all, r.Where) {
			all = append(all, r.Where)
		}
	}
	return all
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// Draw writes all plots into a directory, as NAME-PLACE.svg.
func Draw(dir string, plots []Plot, rows []Row, footer string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for i := range plots {
		for where, chart := range plots[i].charts(rows, footer) {
			name := notInNames.ReplaceAllString(strings.ToLower(plots[i].File+" "+
				where), "-") + ".svg"
			if err := WriteFile(filepath.Join(dir, name),
				func(w io.Writer) error { return chart.Write(w) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// Footer says what was measured on and when, and what is drawn.
func Footer(version string, repetitions int) string {
	if repetitions == 1 {
		return Machine(version) + ". Each point is one measurement."
	}
	return fmt.Sprintf("%s. Lines are medians of %d repetitions, bands go from the least to "+
		"the greatest.", Machine(version), repetitions)
}

// Machine says what was measured on and when.
func Machine(version string) string {
	return fmt.Sprintf("%s x %d, libarmci %s, %s", processor(), runtime.NumCPU(), version,
		time.Now().Format("2 January 2006"))
}

// processor is the model name of the first core.
func processor() string {
	cpuinfo, _ := os.ReadFile("/proc/cpuinfo") // without it the processor is not known
	model := "unknown processor"
	for line := range strings.Lines(string(cpuinfo)) {
		if name, value, ok := strings.Cut(line, ":"); ok &&
			strings.TrimSpace(name) == "model name" {
			model = strings.TrimSpace(value)
			break
		}
	}
	return model
}
