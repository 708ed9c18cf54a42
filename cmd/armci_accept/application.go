// SPDX-License-Identifier: BSD-3-Clause

// Applications that verify their results: a matrix product (examples/c/matmul.c) over each
// transport; beside messages of an MPI the multigrid benchmark MG and the matrix product SRUMMA
// (bench/apps), where they are installed.

package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"libarmci/internal/figure"
)

// runApplications runs all that there are.
func (a *acceptance) runApplications() {
	if matmul, err := program("accept-matmul"); err != nil {
		a.report.fail("%v", err)
	} else {
		for _, t := range a.timed() {
			a.multiply(t, matmul)
		}
	}
	some := false
	for _, m := range a.mpis() {
		for _, p := range []struct{ name, usual, quick string }{{"mg", "A", "S"},
			{"srumma", "1000", "128"}} {
			if file, err := program("accept-" + p.name + "-" + m.program); err == nil {
				problem := p.usual
				if a.quick {
					problem = p.quick
				}
				a.besideMessages(m, p.name, file, problem)
				some = true
			}
		}
	}
	if !some {
		a.report.note("No application was measured beside messages: that needs a " +
			"launcher of an MPI, and the compiler of that MPI when the library was " +
			"built.")
	}
}

var product = regexp.MustCompile(`: ([\d.]+) s, .*, (.*)$`)

// multiply runs the matrix product over a transport.
func (a *acceptance) multiply(t transport, matmul string) {
	blocks := strconv.Itoa(a.pace(0, 2, 16))
	one := Application{Name: "matrix product, get and accumulate", Transport: t.String(),
		Result: passed, Unit: "ns"}
	var times figure.Samples
	for i := range a.starts {
		a.progress("matrix product over %s, start %d of %d", t, i+1, a.starts)
		j := a.run(a.limit(2*time.Minute), a.launcher.ranks, t.settings(), matmul, blocks)
		good := false
		for _, line := range j.lines {
			if m := product.FindStringSubmatch(line); m != nil {
				seconds, err := strconv.ParseFloat(m[1], 64)
				good = err == nil && m[2] == "exact"
				times = append(times, seconds*1e9)
			}
		}
		if j.err != nil || !good {
			one.Result, one.Detail = failed, j.why()
			a.report.fail("Matrix product over %s: %s", t, one.Detail)
			break
		}
	}
	one.Ours = rangeOf(times)
	a.report.Application = append(a.report.Application, one)
}

// besideMessages runs an application in its version by messages and in ours, over the best
// transport. The application verifies both.
func (a *acceptance) besideMessages(m mpi, name, file, problem string) {
	t := a.good[0]
	one := Application{Name: fmt.Sprintf("%s %s, %s", strings.ToUpper(name), problem, m.title),
		Transport: t.String(), Result: passed, Unit: "ns"}
	var ours, messages, ratio figure.Samples
	for i := range a.starts {
		a.progress("%s beside messages of %s, start %d of %d", name, m.title, i+1, a.starts)
		j := a.run(a.limit(3*time.Minute), a.launcher.ranks, t.settings(), file, "-r",
			strconv.Itoa(a.pace(0, 1, 3)), problem)
		if why := j.why(); strings.Contains(why, "power of two") ||
			strings.Contains(why, "too many ranks") {
			one.Result, one.Detail = "skipped", firstLine(j.stderr)
			break
		}
		mine, theirs := j.median(name+"/armci", name+"/srumma"),
			j.median(name+"/mpi", name+"/pdgemm")
		if !a.mpiIsSure() && len(j.rows) == 0 {
			one.Result, one.Detail = "skipped", "the launcher does not start it: "+
				firstLine(j.why())
			break
		}
		if j.err != nil || j.wrong > 0 || mine == 0 || theirs == 0 {
			one.Result, one.Detail = failed, j.why()
			a.report.fail("%s: %s", one.Name, one.Detail)
			break
		}
		ours, messages = append(ours, mine), append(messages, theirs)
		ratio = append(ratio, mine/theirs)
	}
	one.Ours, one.Messages, one.Ratio = rangeOf(ours), rangeOf(messages), rangeOf(ratio)
	a.report.Application = append(a.report.Application, one)
}

// median is that of the first figure with one of the names; 0 if there is none.
func (j *job) median(names ...string) float64 {
	for _, r := range j.rows {
		for _, name := range names {
			if r.Op == name {
				return r.Ours.Median
			}
		}
	}
	return 0
}
