// SPDX-License-Identifier: BSD-3-Clause

// Speed: the workers of armci_perf with raw baselines in the same processes (bench/worker), and
// with an MPI's windows and messages. Each start gives one median of its repetitions; the report
// has the median of the starts and their extremes.

package main

import (
	"strings"
	"time"

	"libarmci/internal/figure"
)

// Groups of the workers, of a usual and of a quick run.
const (
	rawGroups      = "small bandwidth strided acc rmw lock barrier notify"
	quickRawGroups = "small rmw"
	mpiGroups      = "message one-sided barrier collective"
	quickMPIGroups = "one-sided"
)

// workers are the programs with raw baselines: of each transport, its name and what it has beside
// ours.
var workers = map[string]struct{ program, beside string }{
	"node": {"accept-tcp", "plain memory"},
	"tcp":  {"accept-tcp", "raw TCP"},
	"rdma": {"accept-verbs", "raw verbs"},
	"ofi":  {"accept-ofi", "raw libfabric"},
}

// longMeasurement is the time after which a worker is not started again.
const longMeasurement = 90 * time.Second

// measureSpeed measures over all transports, and beside the MPI.
func (a *acceptance) measureSpeed() {
	if n := a.launcher.ranks; n < 2 {
		a.report.note("One rank: no speed between ranks was measured.")
		return
	} else if len(a.report.Nodes) > 1 && a.nodeOf(0) == a.nodeOf(n/2) {
		a.report.note("Ranks 0 and %d, between which speed is measured, are on one node: "+
			"no speed of a network is shown. Place ranks in blocks.", n/2)
	}
	for _, t := range a.timed() {
		w := workers[t.name]
		worker, err := program(w.program)
		if err != nil {
			a.report.note("%s: no %s beside ours over %s. It is built where the "+
				"header of its library is.", sentence(err), w.beside, t)
			if worker, err = program("perf-worker"); err != nil {
				a.report.fail("%v", err)
				return
			}
			w.beside = ""
		}
		a.measure(t, w.beside, worker, a.groups(rawGroups, quickRawGroups), true)
	}
	a.besideMPI()
}

// besideMPI measures what an MPI does, too, in its processes, by the transport that is the best.
func (a *acceptance) besideMPI() {
	if a.pretended && len(a.mpis()) > 0 {
		a.report.note("Between pretended nodes an MPI may use shared memory where ours " +
			"uses a network.")
	}
	for _, m := range a.mpis() {
		worker, err := program("accept-" + m.program)
		if err != nil {
			a.report.note("%s: nothing of %s beside ours. It is built where the "+
				"compiler of that MPI is.", sentence(err), m.title)
			continue
		}
		a.measure(a.good[0], m.title, worker, a.groups(mpiGroups, quickMPIGroups),
			a.mpiIsSure())
	}
	if len(a.mpis()) == 0 {
		a.report.note("The launcher (%s) starts programs without an MPI: nothing of an "+
			"MPI was measured.", a.report.Launcher)
	}
}

// mpi is an MPI that the launcher may start programs of.
type mpi struct{ program, title string }

// mpis are those of the job: the one in its processes, or, under a launcher that has none of its
// own, each of which there is a program. Whether that launcher can start them is then found out.
func (a *acceptance) mpis() []mpi {
	open, mpich := mpi{"openmpi", "Open MPI"}, mpi{"mpich", "MPICH"}
	switch kind := a.report.Launcher; {
	case kind == "armcirun" || kind == "single":
		return nil
	case strings.Contains(kind, open.title):
		return []mpi{open}
	case strings.Contains(kind, mpich.title):
		return []mpi{mpich}
	}
	return []mpi{open, mpich}
}

// mpiIsSure tells whether the launcher is that of an MPI: then its programs must start.
func (a *acceptance) mpiIsSure() bool { return strings.HasPrefix(a.report.Launcher, "mpi (") }

func (a *acceptance) groups(usual, quick string) []string {
	if a.quick {
		return strings.Fields(quick)
	}
	return strings.Fields(usual)
}

// measure starts a worker several times and reports its figures. That it does not start or end well
// is a failure if it is sure that the launcher can start it; wrong results always are.
func (a *acceptance) measure(t transport, beside, worker string, groups []string, sure bool) {
	args := []string{worker, "-r", a.repetitions()}
	if a.quick {
		args = append(args, "-q")
	}
	var all series
	begun := time.Now()
	for i := range a.starts {
		if time.Since(begun) > longMeasurement {
			a.report.note("Speed over %s%s: starts were left out, one takes %.0f s.",
				t, besideWords(beside), time.Since(begun).Seconds()/float64(i))
			break
		}
		a.progress("speed over %s%s, start %d of %d", t, besideWords(beside), i+1, a.starts)
		j := a.run(a.limit(4*time.Minute), a.launcher.ranks, t.settings(),
			append(args, groups...)...)
		if j.err != nil || j.wrong > 0 {
			report := a.report.note
			if sure || j.wrong > 0 {
				report = a.report.fail
			}
			report("Speed over %s%s: %s", t, besideWords(beside), j.why())
			break
		}
		all.add(j.rows)
	}
	for _, f := range all.figures() {
		f.Transport, f.Beside = t.String(), beside
		a.report.Figures = append(a.report.Figures, f)
	}
}

func besideWords(beside string) string {
	if beside == "" {
		return ""
	}
	return " beside " + beside
}

// series are the figures of several starts, in the order in which they first came.
type series struct {
	rows [][]figure.Row // of each figure, a row of each start
}

// add adds the figures of one more start.
func (s *series) add(rows []figure.Row) {
next:
	for _, r := range rows {
		for i, some := range s.rows {
			if f := some[0]; f.Op == r.Op && f.Shape == r.Shape && f.Bytes == r.Bytes {
				s.rows[i] = append(some, r)
				continue next
			}
		}
		s.rows = append(s.rows, []figure.Row{r})
	}
}

// figures summarises the starts.
func (s *series) figures() (all []Figure) {
	for _, some := range s.rows {
		var ours, raw, ratio figure.Samples
		for _, r := range some {
			ours = append(ours, r.Ours.Median)
			if len(r.RawSamples) > 0 {
				raw = append(raw, r.Raw.Median)
			}
			if costs := r.Costs(); len(costs) > 0 {
				ratio = append(ratio, costs.Median())
			}
		}
		f := some[0]
		all = append(all, Figure{Operation: f.Op, Place: f.Place(), Ranks: f.Ranks,
			Unit: f.Unit, Starts: len(some), Ours: rangeOf(ours), Raw: rangeOf(raw),
			Ratio: rangeOf(ratio)})
	}
	return all
}

// nodeOf is the node of a rank.
func (a *acceptance) nodeOf(rank int) int {
	for i, n := range a.report.Nodes {
		for _, r := range n.Ranks {
			if r == rank {
				return i
			}
		}
	}
	return -1
}
