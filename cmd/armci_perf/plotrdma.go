// SPDX-License-Identifier: BSD-3-Clause

// The plots over RDMA, as the papers on ARMCI have them: bandwidth by protocol,
// registration beside copying, overlap, fences of several nodes.
package main

import (
	"slices"
	"strings"
)

// rdmaPlots are those for which there are figures.
func rdmaPlots(rows []row) []plot {
	var all []plot
	for _, c := range contests(rows) {
		if len(c.sizes) >= 3 {
			all = append(all, plot{c.op + ".svg", c.chart()})
		}
	}
	memory := curves(rows, func(r *row) float64 { return float64(r.Bytes) }, []curve{
		{"rdma-register", "register and release", "copy"},
		{"rdma-put-new", "put and fence of new memory", "register, write, release"},
	})
	if memory != nil {
		memory.title, memory.x, memory.y = "memory that is not registered", "bytes", "ns"
		all = append(all, plot{"rdma-register.svg", memory})
	}
	if c := overlaps(rows); c != nil {
		all = append(all, plot{"rdma-overlap.svg", c})
	}
	if c := fences(rows); c != nil {
		all = append(all, plot{"rdma-fence.svg", c})
	}
	return all
}

// titles of contests.
var titles = map[string]string{
	"rdma-put": "contiguous put and fence", "rdma-get": "contiguous get",
	"rdma-put-strided": "put and fence of n x n doubles of an array 1024 wide",
	"rdma-get-strided": "get of n x n doubles of an array 1024 wide",
}

// chart is bandwidth over size, by way.
func (c *contest) chart() *chart {
	rate := func(v float64, i int) float64 {
		if c.unit == "ns" {
			return float64(c.bytes[i]) / v * 1e3
		}
		return v
	}
	drawn := chart{title: titles[c.op] + ", over RDMA", x: "bytes", y: "MB/s", right: true}
	add := func(name string, values []float64, dashed bool) {
		s := series{name: name, colour: len(drawn.series), dashed: dashed}
		for i, v := range values {
			s.points = append(s.points, point{float64(c.bytes[i]), rate(v, i)})
		}
		drawn.series = append(drawn.series, s)
	}
	for _, way := range c.ways {
		add(way, c.ours[way], way == "packed" || way == "by-hand")
	}
	raw := "raw write"
	if strings.Contains(c.op, "get") {
		raw = "raw read"
	}
	add(raw, c.raw, true)
	return &drawn
}

// overlaps shows what is hidden, ours beside raw, by size. Less than nothing is drawn as nothing.
func overlaps(rows []row) *columns {
	c := columns{title: "hidden behind computation, over RDMA", y: "% of the transfer"}
	var kinds []string
	for _, r := range rows {
		kind, ok := strings.CutPrefix(r.Op, "rdma-overlap-")
		if !ok {
			continue
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
			c.names = append(c.names, kind, kind+", raw")
		}
		i := slices.IndexFunc(c.groups, func(g columnGroup) bool { return g.name == size(r.Bytes) })
		if i < 0 {
			i = len(c.groups)
			c.groups = append(c.groups, columnGroup{name: size(r.Bytes)})
		}
		c.groups[i].values = append(c.groups[i].values, max(r.Ours, 0), max(r.Raw, 0))
	}
	return drawable(&c)
}

// fences shows a fence of several nodes beside as many fences of one.
func fences(rows []row) *columns {
	c := columns{title: "fence after a put to each of k nodes, over RDMA", y: "microseconds",
		names: []string{"of all at once", "k times that of one"}}
	for _, r := range rows {
		if nodes, _, ok := strings.Cut(r.Shape, "x"); ok && r.Op == "rdma-fence-all" {
			k := float64(len(c.groups) + 1)
			c.groups = append(c.groups, columnGroup{name: "k = " + nodes, values: []float64{r.Ours / 1e3, k * r.Raw / 1e3}})
		}
	}
	return drawable(&c)
}

// drawable is nil where nothing was measured.
func drawable(c *columns) *columns {
	if len(c.groups) == 0 {
		return nil
	}
	return c
}
