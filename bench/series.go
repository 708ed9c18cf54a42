// SPDX-License-Identifier: BSD-3-Clause

// What bench windows and bench caf start: the series (an MPI with settings, or ours
// over it or without it), the batches of figures and their ranks. The words of a
// launcher for each network are in package launch.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"libarmci/bench/launch"
)

// suite is what one of the commands measures.
type suite struct {
	name         string // of the command, and what the names of its programs begin with
	usage, title string
	ranks        int // at most, unless told
	series       []series
	batches      []batch
	bars         *string
	plots        []windowPlot
}

// series is one way to run the program.
type series struct {
	name, title string
	mpi         string // openmpi or mpich; armci: none, by armcirun
	ours        bool
	fair        bool     // natively, as users would run it: what ours is held against
	networks    string   // where it says something
	words       []string // of Open MPI's launcher
	env         []string
}

// Open MPI's osc/pt2pt is one-sided communication by messages, as the original design of the paper;
// osc/sm is not what Open MPI chooses, but what it could. As it comes Open MPI uses shared memory
// between pretended nodes, whatever it is told. Over RDMA there is no device for the MPIs: sending
// and receiving is shown over shared memory.
var allSeries = []series{
	{name: "openmpi", title: "Open MPI", mpi: "openmpi", fair: true, networks: "node hosts"},
	{name: "openmpi-sm", title: "Open MPI, osc/sm", mpi: "openmpi", networks: "node",
		words: []string{"--mca", "osc", "sm"}},
	{name: "openmpi-pt2pt", title: "Open MPI, send/receive", mpi: "openmpi", fair: true,
		networks: "node nodes hosts rdma",
		words:    []string{"--mca", "osc", "pt2pt"}},
	{name: "mpich", title: "MPICH", mpi: "mpich", fair: true, networks: "node nodes hosts"},
	{name: "armci-openmpi", title: "ours over Open MPI", mpi: "openmpi", ours: true,
		networks: "node nodes hosts rdma"},
	{name: "armci-mpich", title: "ours over MPICH", mpi: "mpich", ours: true,
		networks: "node nodes hosts rdma"},
}

// batch is what one start measures.
type batch struct {
	figures []string
	ranks   int
	created bool // by MPI_Win_create
}

func (b *batch) String() string {
	text := fmt.Sprintf("%s on %d ranks", strings.Join(b.figures, " "), b.ranks)
	if b.created {
		text += " by MPI_Win_create"
	}
	return text
}

var allBatches = []batch{
	{[]string{"pingpong", "bidirectional", "get-fence"}, 2, false},
	{[]string{"bandwidth"}, 2, false},
	{[]string{"overlap", "skew"}, 2, false},
	{[]string{"small", "fetch", "swap", "accumulate", "strided", "locks"}, 2, false},
	{[]string{"small", "fetch", "swap", "accumulate", "strided", "locks"}, 2, true},
	{[]string{"synchronisation", "origins"}, 2, false},
	{[]string{"synchronisation", "origins"}, 3, false},
	{[]string{"synchronisation", "origins"}, 4, false},
	{[]string{"synchronisation", "origins"}, 8, false},
}

// asked are the batches of a command line.
func (w *windows) asked() []batch {
	var all []batch
	for _, b := range w.batches {
		b.figures = slices.DeleteFunc(slices.Clone(b.figures),
			func(f string) bool {
				return len(w.only) > 0 &&
					!slices.Contains(w.only, f)
			})
		if len(b.figures) > 0 && b.ranks <= w.most {
			all = append(all, b)
		}
	}
	return all
}

// availableSeries are the series that can be measured, and tells which cannot.
func (w *windows) availableSeries() []*series {
	var all []*series
	for _, s := range w.series {
		if len(w.chosen) > 0 && !slices.Contains(w.chosen, s.name) ||
			!slices.Contains(strings.Fields(s.networks), w.network) {
			continue
		}
		reason := ""
		if _, err := os.Stat(w.program(&s)); err != nil {
			reason = "its program is not built"
		} else if _, err := exec.LookPath(w.launcher(&s)[0]); err != nil {
			reason = "no launcher"
		} else if _, err := os.Stat(w.library); s.preloads() && err != nil {
			reason = "no library to preload"
		}
		if reason != "" {
			w.missing = append(w.missing, absence{s.title, "all", false, reason})
			continue
		}
		s.env = append(s.env, launch.Environment(s.mpi)...)
		all = append(all, &s)
	}
	return all
}

func (w *windows) program(s *series) string { return filepath.Join(w.dir, w.name+"-"+s.mpi) }

// preloads: a program of an MPI gets our library.
func (s *series) preloads() bool { return s.ours && s.mpi != "armci" }

// launcher is the first word of a series and its settings.
func (w *windows) launcher(s *series) []string {
	return append(launch.Words(s.mpi, filepath.Dir(w.dir)), s.words...)
}

// placeOf is where the ranks of a batch run: between nodes each on a node of its own.
func (w *windows) placeOf(b batch) launch.Place {
	p := launch.Place{Network: w.network, Hosts: w.hosts, Agent: w.agent, Ranks: b.ranks,
		Each: 1}
	if !p.Remote() {
		p.Each = b.ranks
	}
	return p
}

// argv is the command line of a batch: launcher, what each rank needs in its environment, program,
// figures.
func (s *series) argv(w *windows, b batch, figures []string) []string {
	place := w.placeOf(b)
	argv, env := place.Words(s.mpi)
	argv = append(w.launcher(s), argv...)
	if s.mpi == launch.OpenMPI && len(s.words) > 0 && w.barNetwork() != "tcp" {
		argv = append(argv, "--mca", "pml", "ob1")
	}
	if s.ours && w.network == "rdma" {
		env = append(env, "ARMCI_TRANSPORT=rdma")
	}
	if s.preloads() {
		env = append(env, "LD_PRELOAD="+w.library)
		argv = append(argv, place.Pretend()...)
	}
	if len(env) > 0 {
		argv = append(append(argv, "env"), env...)
	}
	argv = append(argv, w.program(s), "-r", strconv.Itoa(w.reps))
	if w.quick {
		argv = append(argv, "-q")
	}
	if b.created {
		argv = append(argv, "-c")
	}
	if w.barNetwork() == "tcp" && w.suite == &oneSided {
		argv = append(argv, "-s")
	}
	return append(argv, figures...)
}

// barNetwork is the network as tables of bars name it.
func (w *windows) barNetwork() string {
	if w.network == "nodes" || w.network == "hosts" {
		return "tcp"
	}
	return w.network
}
