// SPDX-License-Identifier: BSD-3-Clause

// Growth: what a job of 2, 4, 8 and so on up to all ranks costs to start, and its processes in
// memory.

package main

import "time"

// measureGrowth starts jobs of more and more ranks, over the best transport.
func (a *acceptance) measureGrowth() {
	worker, err := program("perf-worker")
	if err != nil {
		a.report.fail("%v", err)
		return
	}
	if a.launcher.at < 0 {
		a.report.note("No word of the launcher is known to be the number of ranks " +
			"(-n N): growth is shown for all ranks only.")
	}
	for _, n := range a.steps() {
		a.progress("growth: %d ranks", n)
		a.report.Growth = append(a.report.Growth, a.grow(n, worker))
	}
}

// steps are the numbers of ranks: 2, 4, 8 and so on to 64, from there eight times as many each, and
// all.
func (a *acceptance) steps() (all []int) {
	factor := 2
	for n := 2; n < a.launcher.ranks && a.launcher.at >= 0; n *= factor {
		if n >= 1<<6 {
			factor = 8
		}
		all = append(all, n)
	}
	return append(all, a.launcher.ranks)
}

// grow starts one job.
func (a *acceptance) grow(n int, worker string) Growth {
	j := a.run(a.limit(time.Minute), n, a.good[0].settings(), worker, "init", "growth")
	g := Growth{Ranks: n, Seconds: j.took.Seconds()}
	for _, r := range j.rows {
		switch r.Op {
		case "init":
			g.Start = r.Ours.Median / 1e6
		case "resident":
			g.Resident = r.Ours.Median
		case "own":
			g.Own = r.Ours.Median
		case "own-used":
			g.Used = r.Ours.Median
		}
		g.Ranks = r.Ranks
	}
	if j.err != nil || j.wrong > 0 {
		g.Detail = j.why()
		a.report.fail("A job of %d ranks: %s", n, g.Detail)
	} else if g.Ranks != n {
		a.report.note("Growth: the launcher started %d ranks, not %d.", g.Ranks, n)
	}
	return g
}
