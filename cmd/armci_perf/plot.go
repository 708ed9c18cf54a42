// SPDX-License-Identifier: BSD-3-Clause

// Which figures become plots: within a node, every operation that was measured
// at several sizes, ours beside raw over the number of bytes; between nodes,
// what plotnodes.go and plotrdma.go say. How a plot is drawn is svg.go's business.
package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// drawAll draws a file per operation and launcher into a directory.
func drawAll(dir string, rows []row) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, p := range slices.Concat(plots(rows), nodePlots(rows), rdmaPlots(rows)) {
		if err := writeFile(filepath.Join(dir, p.file), p.picture.draw); err != nil {
			return err
		}
	}
	return nil
}

type plot struct {
	file    string
	picture interface{ draw(w io.Writer) }
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// plots groups rows by operation, launcher and ranks; groups of one or two sizes make no plot.
func plots(rows []row) []plot {
	var names []string
	sets := map[string][]row{}
	for _, r := range rows {
		if r.Bytes == 0 || strings.HasPrefix(r.Op, remotePrefix) || strings.HasPrefix(r.Op, rdmaPrefix) {
			continue
		}
		name := r.Op + " " + r.Where + " " + size(int64(r.Ranks)) + " ranks"
		if sets[name] == nil {
			names = append(names, name)
		}
		sets[name] = append(sets[name], r)
	}
	var all []plot
	for _, name := range names {
		if set := sets[name]; len(set) >= 3 {
			file := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(name), "-"), "-") + ".svg"
			all = append(all, plot{file, chartOf(name, set)})
		}
	}
	return all
}

// baselines says what raw is, by the first word of an operation's name.
var baselines = map[string]string{
	"put-bandwidth": "memcpy", "get-bandwidth": "memcpy",
	"put-strided": "loop of memcpys", "get-strided": "loop of memcpys",
	"message": "mailbox in shared memory",
}

func chartOf(title string, set []row) *chart {
	first := set[0]
	raw := baselines[first.Op]
	if first.Where == "openmpi" || first.Where == "mpich" {
		raw = first.Where
	} else if raw == "" {
		raw = "raw"
	}
	ours, base := series{name: "ARMCI"}, series{name: raw, colour: 1}
	for _, r := range set {
		ours.points = append(ours.points, point{float64(r.Bytes), r.Ours})
		if r.Raw > 0 {
			base.points = append(base.points, point{float64(r.Bytes), r.Raw})
		}
	}
	c := chart{title: title, x: "bytes", y: first.Unit, series: []series{ours}}
	if len(base.points) > 0 {
		c.series = append(c.series, base)
	}
	return &c
}
