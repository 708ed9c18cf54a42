// SPDX-License-Identifier: BSD-3-Clause

// What documents show: tables with a line for each operation, with ranges where
// it was measured at several sizes; tables of contests, an operation in several
// ways (protocol-OP/WAY) with a column for each; and charts.
package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"libarmci/internal/figure"
)

const contest = "protocol-"

// contestOf splits the name of a figure of a contest. OP/WAY:OTHER compares two ways: it belongs to
// the summary.
func contestOf(op string) (base, way string, ok bool) {
	base, way, ok = strings.Cut(op, "/")
	return base, way, ok && strings.HasPrefix(op, contest) && !strings.Contains(way, ":")
}

// writeMarkdown writes a table for each place that was measured, then the contests.
func writeMarkdown(w io.Writer, rows []judged) {
	rest, where := slices.Clone(rows), ""
	var contests []string
	for len(rest) > 0 {
		first := rest[0]
		same := func(r judged) bool {
			return r.Op == first.Op && r.Where == first.Where &&
				r.Ranks == first.Ranks
		}
		set := slices.DeleteFunc(slices.Clone(rest),
			func(r judged) bool { return !same(r) })
		rest = slices.DeleteFunc(rest, same)
		if base, _, ok := contestOf(first.Op); ok {
			if !slices.Contains(contests, base) {
				contests = append(contests, base)
			}
			if !slices.ContainsFunc(set, func(r judged) bool { return r.state != "" }) {
				continue // the contest's table has it
			}
		}
		if first.Where != where {
			where = first.Where
			fmt.Fprintf(w, "\n| %s | size | ours | raw | ours/raw | bar | "+
				"|\n|---|---|---|---|---|---|---|\n", where)
		}
		writeSummary(w, set)
	}
	for _, base := range contests {
		writeContest(w, base, rows)
	}
}

// writeSummary writes one operation's line.
func writeSummary(w io.Writer, set []judged) {
	var ours, raw, ratio []float64
	var bars []string
	held, all := 0, 0
	for _, r := range set {
		ours, raw = append(ours, r.Ours.Median), append(raw, r.Raw.Median)
		if r.Unit != "%" { // the ratio of those says nothing
			ratio = append(ratio, r.Ratio)
		}
		if r.state == "" {
			continue
		}
		all++
		if r.state == "ok" {
			held++
		}
		if !slices.Contains(bars, r.bar) {
			bars = append(bars, r.bar)
		}
	}
	first, last := set[0], set[len(set)-1]
	fmt.Fprintf(w, "| `%s` | %s | %s | %s | %s | %s | %s |\n", first.Op,
		between(first.Place(), last.Place()), span(ours, first.Unit),
		span(raw, first.Unit), span(ratio, ""), strings.Join(bars, ", "),
		verdict(held, all))
}

// verdict says how many of a set's bars are held, in words for a table.
func verdict(held, all int) string {
	switch {
	case all == 0:
		return ""
	case held == all:
		return "held"
	case held == 0:
		return "**missed**"
	}
	return fmt.Sprintf("**held at %d of %d**", held, all)
}

// writeContest writes a line for each size, a column for each way.
func writeContest(w io.Writer, base string, rows []judged) {
	var ways, places []string
	cells := map[string]string{}
	for _, r := range rows {
		b, way, ok := contestOf(r.Op)
		if !ok || b != base {
			continue
		}
		if !slices.Contains(ways, way) {
			ways = append(ways, way)
		}
		if !slices.Contains(places, r.Place()) {
			places = append(places, r.Place())
		}
		cells[r.Place()+way] = figure.Amount(r.Ours.Median, r.Unit)
		cells[r.Place()+"raw"] = figure.Amount(r.Raw.Median, r.Unit)
	}
	ways = append(ways, "raw")
	fmt.Fprintf(w, "\n| `%s` | %s |\n|---|%s\n", base, strings.Join(ways, " | "),
		strings.Repeat("---|", len(ways)))
	for _, place := range places {
		line := "| " + place
		for _, way := range ways {
			line += " | " + cells[place+way]
		}
		fmt.Fprintln(w, line+" |")
	}
}

// span is the least and the greatest of some values; nothing if there are none.
func span(values []float64, unit string) string {
	if len(values) == 0 || slices.Min(values) == 0 && slices.Max(values) == 0 {
		return ""
	}
	return between(figure.Amount(slices.Min(values), unit), figure.Amount(slices.Max(values),
		unit))
}

func between(a, b string) string {
	if a == b {
		return a
	}
	return a + " to " + b
}

// plots are the common ones, those of contests, and those of what only bench measures.
func plots() []figure.Plot {
	all := slices.Clone(figure.Common)
	for _, p := range []struct{ op, title, ways string }{
		{"put", "Contiguous put and fence by protocol", "auto buffered zerocopy"},
		{"get", "Contiguous get by protocol", "auto buffered zerocopy"},
		{"put-strided", "Put and fence of n x n doubles by protocol",
			"auto nic host host-atomic packed by-hand"},
		{"get-strided", "Get of n x n doubles by protocol",
			"auto nic host host-atomic push packed by-hand"},
	} {
		plot := figure.Plot{File: contest + p.op, Title: p.title, YLabel: "bandwidth",
			Rate: true, OneRaw: true}
		for _, way := range strings.Fields(p.ways) {
			plot.Lines = append(plot.Lines, figure.Line{Op: contest + p.op + "/" + way,
				Name: way})
		}
		all = append(all, plot)
	}
	return append(all,
		figure.Plot{File: "acc", Title: "Accumulate", YLabel: "bandwidth", Rate: true,
			OneRaw: true, Lines: []figure.Line{
				{Op: "acc", Name: "accumulate"},
				{Op: "acc/device", Name: "by the device"}}},
		figure.Plot{File: "notify", Title: "Data and the word that it has arrived, one way",
			YLabel: "time", OneRaw: true, Lines: []figure.Line{
				{Op: "put+notify", Name: "put and notify"},
				{Op: "put-flag", Name: "put with a flag"}}},
		registered("put", "Put and fence"), registered("get", "Get"),
		figure.Plot{File: "put-new", Title: "Put and fence from memory never used before",
			YLabel: "time", Lines: []figure.Line{
				{Op: "put-new", Name: "put"}}},
		figure.Plot{File: "fences", Title: "8 bytes to each of some nodes and a fence",
			YLabel: "time", Lines: []figure.Line{
				{Op: "put+fence-nodes", Name: "put and fence"}}})
}

// registered is put or get of registered memory, and of other memory that is used again and again.
func registered(op, title string) figure.Plot {
	return figure.Plot{File: "registered-" + op, Title: title + " beside a bare request",
		YLabel: "time", OneRaw: true, Lines: []figure.Line{
			{Op: op + "/registered", Name: "registered memory"},
			{Op: op + "/again", Name: "used again"}}}
}
