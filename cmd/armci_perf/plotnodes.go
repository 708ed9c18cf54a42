// SPDX-License-Identifier: BSD-3-Clause

// The plots of figures between nodes: bandwidth over size, time of patches
// over their side, latency in every way to wait.
package main

import (
	"math"
	"slices"
)

const remotePrefix = "remote-"

// curve is what becomes a line of ours and a dashed one of the raw socket.
type curve struct{ op, ours, raw string }

// nodePlots draws what was measured; nothing if there is none of it.
func nodePlots(rows []row) []plot {
	byBytes := func(r *row) float64 { return float64(r.Bytes) }
	bySide := func(r *row) float64 { return math.Sqrt(float64(r.Bytes) / 8) }
	var all []plot
	bandwidth := curves(rows, byBytes, []curve{
		{"remote-put-bandwidth", "put and fence", "raw request, bytes one way"},
		{"remote-get-bandwidth", "get", "raw request, bytes back"},
		{"remote-put-stream", "16 puts and a fence", "raw, 16 pieces, an answer"},
		{"remote-get-stream", "16 gets under way", "raw, 16 requests under way"},
	})
	if bandwidth != nil {
		bandwidth.title, bandwidth.x, bandwidth.y, bandwidth.right = "contiguous, between nodes", "bytes", "MB/s", true
		all = append(all, plot{"remote-bandwidth.svg", bandwidth})
	}
	strided := curves(rows, bySide, []curve{
		{"remote-put-strided", "put and fence", "raw, contiguous, an answer"},
		{"remote-get-strided", "get", "raw request, contiguous"},
		{"remote-acc-strided", "accumulate and fence", ""},
	})
	if strided != nil {
		strided.title, strided.x, strided.y = "n x n doubles of an array 1024 wide, between nodes", "n", "ns"
		all = append(all, plot{"remote-strided.svg", strided})
	}
	if latency := latencies(rows); latency != nil {
		all = append(all, plot{"remote-latency.svg", latency})
	}
	return all
}

// curves is a chart of those operations that were measured at three places or more.
func curves(rows []row, x func(r *row) float64, wanted []curve) *chart {
	var c chart
	for i, w := range wanted {
		ours, raw := series{name: w.ours, colour: i}, series{name: w.raw, colour: i, dashed: true}
		for k := range rows {
			if r := &rows[k]; r.Op == w.op {
				ours.points = append(ours.points, point{x(r), r.Ours})
				raw.points = append(raw.points, point{x(r), r.Raw})
			}
		}
		if len(ours.points) < 3 {
			continue
		}
		c.series = append(c.series, ours)
		if w.raw != "" {
			c.series = append(c.series, raw)
		}
	}
	if len(c.series) == 0 {
		return nil
	}
	return &c
}

// latencies shows an operation beside the raw round trip in each way to wait: ours once, the median of the three rows.
func latencies(rows []row) *columns {
	c := columns{title: "8 bytes and barrier, between nodes", y: "microseconds",
		names: []string{"ARMCI", "raw, same style", "raw, spinning", "raw, blocking"}}
	for _, op := range []string{"get", "fetch-add", "put+fence", "barrier"} {
		g := columnGroup{name: op}
		var ours []float64
		for _, style := range []string{"mixed", "spinning", "blocking"} {
			for _, r := range rows {
				if r.Op == remotePrefix+op+"/"+style {
					ours = append(ours, r.Ours/1000)
					g.values = append(g.values, r.Raw/1000)
				}
			}
		}
		if len(ours) > 0 {
			slices.Sort(ours)
			g.values = slices.Insert(g.values, 0, ours[len(ours)/2])
		}
		if len(g.values) == len(c.names) {
			c.groups = append(c.groups, g)
		}
	}
	if len(c.groups) == 0 {
		return nil
	}
	return &c
}
