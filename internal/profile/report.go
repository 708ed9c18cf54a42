// SPDX-License-Identifier: BSD-3-Clause

// The tables that ARMCI_STATS prints: operations by size, nodes, ranks. Here is only how they look.
package profile

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// How much is printed.
const (
	MostRanks = 16 // ranks that have a line of their own; of more, the extremes are told
	MostNodes = 8  // nodes that the table of nodes has
)

// Rank is what is told of one rank.
type Rank struct {
	// Here, There: bytes within the node and to and from others
	Calls, Here, There, Nanos, InC, Peak int64
}

// Extremes are the least and the greatest value over the ranks, whose they are, and the sum of all.
type Extremes struct {
	Least, Most         int64
	LeastRank, MostRank int
	Sum                 int64
}

// Count is what a transport or a cache has counted.
type Count struct {
	Name  string
	Value int64
}

// Summary is that of a job, or of one rank of it.
type Summary struct {
	Title   string
	Size    int   // ranks
	Elapsed int64 // ns from init to finalize, summed over the ranks
	Table   Table
	Nodes   [][]Cell // by node of the caller, by node of the rank it is about; nil: too many
	Here    Cell     // within nodes
	There   Cell     // between nodes
	Ranks   []Rank   // nil: too many
	Spread  []Extremes
	Counts  []Count
}

// Spreads names the columns of Spread and their units.
var Spreads = [...]struct{ Name, Unit string }{{"calls", ""}, {"bytes", "B"},
	{"time in calls", "ns"}, {"peak memory", "B"}}

// Values are those of a rank for Spread.
func (r *Rank) Values() [len(Spreads)]int64 {
	return [...]int64{r.Calls, r.Here + r.There, r.Nanos, r.Peak}
}

// Write prints a summary.
func (s *Summary) Write(w io.Writer) {
	fmt.Fprintf(w, "%s\n", s.Title)
	s.Table.Write(w, s.Elapsed)
	fmt.Fprintf(w, "within nodes %s in %d calls, between nodes %s in %d calls\n",
		Bytes(s.Here.Bytes), s.Here.Calls, Bytes(s.There.Bytes), s.There.Calls)
	s.writeNodes(w)
	s.writeRanks(w)
	for _, c := range s.Counts {
		fmt.Fprintf(w, "%s: %d\n", c.Name, c.Value)
	}
}

// Write prints the operations that were called, by size. elapsed is the run time in ns, summed over
// the ranks that have been counted.
func (t *Table) Write(w io.Writer, elapsed int64) {
	width := t.width()
	fmt.Fprintf(w, "  %-*s %12s %12s %12s %10s %8s %10s %9s\n", width, "operation", "size",
		"calls", "bytes", "time", "of run", "mean", "fast path")
	for row := range t {
		for k, c := range t[row] {
			if c.Calls > 0 {
				line(w, width, Operations[row], Classes[k], c, elapsed)
			}
		}
	}
	line(w, width, "all", "", t.All(), elapsed)
}

// width is that of the column of names: as the longest that is printed.
func (t *Table) width() int {
	width := 14
	for row := range t {
		if t.Total(row).Calls > 0 {
			width = max(width, len(Operations[row]))
		}
	}
	return width
}

func line(w io.Writer, width int, name, size string, c Cell, elapsed int64) {
	fmt.Fprintf(w, "  %-*s %12s %12d %12s %10s %8s %10s %9s\n", width, name, size, c.Calls,
		Bytes(c.Bytes), Time(c.Nanos), share(c.Nanos, uint64(max(elapsed, 0))),
		Time(c.Nanos/max(c.Calls, 1)), share(c.InC, c.Calls))
}

func share(part, all uint64) string {
	if all == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(all))
}

// writeNodes prints the bytes that each node moved, by the node at the other end.
func (s *Summary) writeNodes(w io.Writer) {
	if len(s.Nodes) < 2 {
		return
	}
	fmt.Fprintf(w, "  %-14s", "bytes by node")
	for to := range s.Nodes {
		fmt.Fprintf(w, " %12s", fmt.Sprintf("with node %d", to))
	}
	fmt.Fprintln(w)
	for from, cells := range s.Nodes {
		fmt.Fprintf(w, "  %-14s", fmt.Sprintf("node %d", from))
		for _, c := range cells {
			fmt.Fprintf(w, " %12s", Bytes(c.Bytes))
		}
		fmt.Fprintln(w)
	}
}

// writeRanks prints a line for each rank, or the extremes over ranks if there are many.
func (s *Summary) writeRanks(w io.Writer) {
	if s.Ranks != nil {
		fmt.Fprintf(w, "  %-6s %12s %12s %12s %13s %9s %12s\n", "rank", "calls", "on node",
			"to others", "time in calls", "fast path", "peak memory")
	}
	for i, r := range s.Ranks {
		fmt.Fprintf(w, "  %-6d %12d %12s %12s %13s %9s %12s\n", i, r.Calls,
			Bytes(uint64(r.Here)), Bytes(uint64(r.There)), Time(uint64(r.Nanos)),
			share(uint64(r.InC), uint64(r.Calls)), Bytes(uint64(r.Peak)))
	}
	if s.Spread == nil {
		return
	}
	fmt.Fprintf(w, "  %-14s %20s %12s %20s\n", "over ranks", "least (rank)", "mean",
		"greatest (rank)")
	for i, e := range s.Spread {
		amount := func(v int64) string { return amountIn(v, Spreads[i].Unit) }
		fmt.Fprintf(w, "  %-14s %20s %12s %20s\n", Spreads[i].Name,
			fmt.Sprintf("%s (%d)", amount(e.Least), e.LeastRank),
			amount(e.Sum/int64(max(s.Size, 1))), fmt.Sprintf("%s (%d)", amount(e.Most),
				e.MostRank))
	}
}

func amountIn(v int64, unit string) string {
	switch unit {
	case "B":
		return Bytes(uint64(v))
	case "ns":
		return Time(uint64(v))
	}
	return fmt.Sprint(v)
}

// Bytes is a number of bytes with a unit of 1024.
func Bytes(n uint64) string {
	x, i := float64(n), 0
	for x >= 1024 && i < 5 {
		x, i = x/1024, i+1
	}
	if i == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %ciB", x, "KMGTP"[i-1])
}

// Time is a number of nanoseconds with a unit.
func Time(ns uint64) string {
	d := time.Duration(ns)
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{time.Second, "s"}, {time.Millisecond, "ms"}, {time.Microsecond, "us"}} {
		if d >= u.unit {
			return strings.TrimSpace(fmt.Sprintf("%.2f %s", float64(d)/float64(u.unit),
				u.name))
		}
	}
	return fmt.Sprintf("%d ns", ns)
}
