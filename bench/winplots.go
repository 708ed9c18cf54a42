// SPDX-License-Identifier: BSD-3-Clause

// The charts of bench windows and bench caf: one for each figure, with all series.
package main

import (
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"libarmci/internal/figure"
)

// axes are what figures are drawn over that are not drawn over bytes.
var axes = map[string]struct{ label, short string }{
	"sync":    {"origins", "origins"},
	"origins": {"origins", "origins"},
	"overlap": {"work after each operation, us", "us of work"},
	"skew":    {"the target is late by, ms", "ms late"},
}

func axisOf(op string) string {
	axis, _, _ := strings.Cut(op, "-")
	return axis
}

// windowPlot is a chart of one operation; raw says what its baseline is, where that is drawn.
type windowPlot struct{ op, title, label, raw string }

// windowPlots are one for each figure of the paper on MPI-2 one-sided communication over InfiniBand
// (003 in docs/protocols.md).
var windowPlots = []windowPlot{
	{"pingpong-pscw", "Ping-pong by start, put, complete", "time of one epoch", "messages"},
	{"pingpong-lock", "Ping-pong by lock, put, unlock", "time of one way", "messages"},
	{"bidirectional", "Both put, and fence", "time", "messages"},
	{"bandwidth-put", "16 puts in an epoch", "bandwidth", "messages"},
	{"bandwidth-get", "16 gets in an epoch", "bandwidth", "messages"},
	{"sync-pscw", "Epochs without operations", "time of an epoch", ""},
	{"sync-fence", "Fences without operations", "time", ""},
	{"sync-lock", "Lock and unlock by all origins at once", "time", ""},
	{"overlap-time", "16 puts of 64 KiB, with work after each", "time of an epoch",
		"work alone"},
	{"overlap-part", "How much of the shorter is hidden, transfer or work", "part", ""},
	{"skew-put", "16 puts of 64 KiB to a target that is late", "bandwidth", ""},
	{"skew-get", "16 gets of 64 KiB from a target that is late", "bandwidth", ""},
	{"origins", "16 puts of 64 KiB by each origin", "bandwidth of all together", ""},
}

// draw writes NETWORK-OP.svg for each figure that has at least two points.
func (u *suite) draw(dir, network string, rows []figure.Row, footer string) error {
	place := map[string]string{"node": "on a node", "nodes": "pretended nodes, TCP",
		"hosts": "hosts, TCP", "rdma": "pretended nodes, " + rdmaName()}[network]
	for _, p := range u.plots {
		c := figure.Chart{Title: p.title + " (" + place + ")", YLabel: p.label,
			XLabel: axes[axisOf(p.op)].label, Footer: footer}
		socket := p.op + "/socket"
		for i, s := range u.series {
			c.Series = append(c.Series, curves(rows, &s, i, p.op, p.raw, &c.Unit)...)
			if !s.ours { // a raw socket is the same beside any MPI
				continue
			}
			if raw := curves(rows, &s, len(u.series), socket, "raw socket",
				&c.Unit); len(raw) == 2 {
				raw[1].Name = "raw socket"
				c.Series = slices.DeleteFunc(c.Series, func(x figure.Series) bool {
					return x.Name == "raw socket"
				})
				c.Series = append(c.Series, raw[1])
			}
		}
		if !slices.ContainsFunc(c.Series,
			func(s figure.Series) bool { return len(s.Points) > 1 }) {
			continue
		}
		path := filepath.Join(dir, network+"-"+p.op+".svg")
		if err := figure.WriteFile(path,
			func(to io.Writer) error { return c.Write(to) }); err != nil {
			return err
		}
	}
	return nil
}

// curves are a series' figures of an operation, and their baseline, if that is to be drawn and is
// there.
func curves(rows []figure.Row, s *series, colour int, op, raw string,
	unit *string) []figure.Series {
	ours := figure.Series{Name: s.title, Colour: colour}
	base := figure.Series{Name: s.title + ", " + raw, Colour: colour, Dashed: true}
	for _, r := range rows {
		if r.Op != op || r.Where != s.title {
			continue
		}
		x := float64(r.Bytes)
		if r.Shape != "-" {
			x, _ = strconv.ParseFloat(r.Shape, 64) // the program writes numbers there
		}
		*unit = r.Unit
		ours.Points = append(ours.Points, figure.Point{Bytes: x, Value: r.Ours})
		if raw != "" && r.Raw.Median != 0 {
			base.Points = append(base.Points, figure.Point{Bytes: x, Value: r.Raw})
		}
	}
	switch {
	case len(ours.Points) == 0:
		return nil
	case len(base.Points) == 0:
		return []figure.Series{ours}
	}
	return []figure.Series{ours, base}
}
