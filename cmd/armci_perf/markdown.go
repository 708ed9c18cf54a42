// SPDX-License-Identifier: BSD-3-Clause

// The table for documents: a line for each operation, with ranges where it was
// measured at several sizes.
package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// writeMarkdown writes a table for each place that was measured.
func writeMarkdown(w io.Writer, rows []row) {
	rest, where := slices.Clone(rows), ""
	for len(rest) > 0 {
		first := rest[0]
		same := func(r row) bool { return r.Op == first.Op && r.Where == first.Where && r.Ranks == first.Ranks }
		set := slices.DeleteFunc(slices.Clone(rest), func(r row) bool { return !same(r) })
		rest = slices.DeleteFunc(rest, same)
		if _, _, ok := wayOf(first.Op); ok && !slices.ContainsFunc(set, func(r row) bool { return r.BarState != "" }) {
			continue // the table of all ways has it
		}
		if first.Where != where {
			where = first.Where
			fmt.Fprintf(w, "\n| %s | size | ours | raw | ours/raw | bar | |\n|---|---|---|---|---|---|---|\n", where)
		}
		writeSummary(w, set)
	}
	for _, c := range contests(rows) {
		c.write(w)
	}
}

// writeSummary writes one operation's line.
func writeSummary(w io.Writer, set []row) {
	var sizes, bars []string
	var ours, raw, ratio []float64
	held, judged := 0, 0
	for _, r := range set {
		sizes = append(sizes, place(&r))
		ours, raw, ratio = append(ours, r.Ours), append(raw, r.Raw), append(ratio, r.Ratio)
		if r.BarState == "" {
			continue
		}
		if bar := inUnit(r.Bar, r.Unit); !slices.Contains(bars, bar) {
			bars = append(bars, bar)
		}
		judged++
		if r.BarState == "ok" {
			held++
		}
	}
	first := set[0]
	if first.Unit == "%" {
		clear(ratio) // it says nothing
	}
	fmt.Fprintf(w, "| `%s` | %s | %s | %s | %s | %s | %s |\n", first.Op, between(sizes[0], sizes[len(sizes)-1]),
		span(ours, first.Unit), span(raw, first.Unit), span(ratio, ""), strings.Join(bars, ", "), verdict(held, judged))
}

func verdict(held, judged int) string {
	switch {
	case judged == 0:
		return ""
	case held == judged:
		return "held"
	case held == 0:
		return "**missed**"
	}
	return fmt.Sprintf("**held at %d of %d**", held, judged)
}

// place is where a figure lies among those of its operation: a shape or a size.
func place(r *row) string {
	if strings.Contains(r.Shape, "x") {
		return r.Shape
	}
	return size(r.Bytes)
}

// inUnit is a bar without the word that says what it is about: a bar of the figure itself has its unit.
func inUnit(bar, unit string) string {
	what, limit, _ := strings.Cut(bar, " ")
	if v, err := strconv.ParseFloat(limit[min(2, len(limit)):], 64); err == nil && what == "ours" {
		v, unit = suited(v, unit)
		return limit[:2] + strconv.FormatFloat(v, 'g', -1, 64) + " " + unit
	}
	return limit
}

// span is the least and the greatest of some values; nothing if there are none.
func span(values []float64, unit string) string {
	least, most := slices.Min(values), slices.Max(values)
	if least == 0 && most == 0 {
		return ""
	}
	return between(amount(least, unit), amount(most, unit))
}

// amount is a figure with its unit.
func amount(v float64, unit string) string {
	v, unit = suited(v, unit)
	return strings.TrimSpace(short(v) + " " + unit)
}

// suited is a time in the unit that suits it.
func suited(v float64, unit string) (float64, string) {
	switch {
	case unit == "ns" && v >= 1e6:
		return v / 1e6, "ms"
	case unit == "ns" && v >= 1e3:
		return v / 1e3, "us"
	}
	return v, unit
}

func between(a, b string) string {
	if a == b {
		return a
	}
	return a + " to " + b
}
