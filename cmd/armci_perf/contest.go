// SPDX-License-Identifier: BSD-3-Clause

// Contests: an operation that was measured in several ways (protocols) at
// several sizes, as rows named operation/way. Their table has a column for each
// way; operation/way:other rows compare two and belong to the summary.
package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

const rdmaPrefix = "rdma-"

// contest is one operation by way and size.
type contest struct {
	op, unit string
	ways     []string
	sizes    []string
	bytes    []int64
	ours     map[string][]float64 // by way, then by size
	raw      []float64
}

// wayOf splits the name of a row of a contest.
func wayOf(op string) (base, way string, ok bool) {
	base, way, ok = strings.Cut(op, "/")
	return base, way, ok && strings.HasPrefix(op, rdmaPrefix) && !strings.Contains(way, ":")
}

// contests collects them in the order in which they were measured.
func contests(rows []row) []*contest {
	var all []*contest
	for i := range rows {
		base, way, ok := wayOf(rows[i].Op)
		if !ok {
			continue
		}
		k := slices.IndexFunc(all, func(c *contest) bool { return c.op == base })
		if k < 0 {
			k = len(all)
			all = append(all, &contest{op: base, unit: rows[i].Unit, ours: map[string][]float64{}})
		}
		all[k].add(way, &rows[i])
	}
	return all
}

func (c *contest) add(way string, r *row) {
	if !slices.Contains(c.ways, way) {
		c.ways = append(c.ways, way)
	}
	if way == c.ways[0] {
		c.sizes, c.bytes, c.raw = append(c.sizes, place(r)), append(c.bytes, r.Bytes), append(c.raw, r.Raw)
	}
	c.ours[way] = append(c.ours[way], r.Ours)
}

// write writes the table.
func (c *contest) write(w io.Writer) {
	fmt.Fprintf(w, "\n| `%s` | %s | raw |\n|---|%s---|\n", c.op, strings.Join(c.ways, " | "), strings.Repeat("---|", len(c.ways)))
	for i, size := range c.sizes {
		cells := []string{size}
		for _, way := range c.ways {
			cells = append(cells, c.cell(c.ours[way], i))
		}
		fmt.Fprintf(w, "| %s |\n", strings.Join(append(cells, c.cell(c.raw, i)), " | "))
	}
}

// cell is a figure; nothing if that way was not measured at that size.
func (c *contest) cell(values []float64, i int) string {
	if i >= len(values) {
		return ""
	}
	return amount(values[i], c.unit)
}
