// SPDX-License-Identifier: BSD-3-Clause

// What bench windows and bench caf start: the series (an MPI with settings, or ours
// over it or without it), the batches of figures and their ranks, the words of a
// launcher for each network.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
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
	fair        bool     // natively, as anybody would run it: what ours is held against
	networks    string   // where it says something
	words       []string // of Open MPI's launcher
	env         []string
}

// Open MPI's osc/pt2pt is one-sided communication by messages, as the original design of the paper; osc/sm is not what Open MPI
// chooses, but what it could. As it comes Open MPI uses shared memory between pretended nodes, whatever it is told. Over RDMA there
// is no device for the MPIs: sending and receiving is shown over shared memory.
var allSeries = []series{
	{name: "openmpi", title: "Open MPI", mpi: "openmpi", fair: true, networks: "node hosts"},
	{name: "openmpi-sm", title: "Open MPI, osc/sm", mpi: "openmpi", networks: "node", words: []string{"--mca", "osc", "sm"}},
	{name: "openmpi-pt2pt", title: "Open MPI, send/receive", mpi: "openmpi", fair: true, networks: "node nodes hosts rdma",
		words: []string{"--mca", "osc", "pt2pt"}},
	{name: "mpich", title: "MPICH", mpi: "mpich", fair: true, networks: "node nodes hosts"},
	{name: "armci-openmpi", title: "ours over Open MPI", mpi: "openmpi", ours: true, networks: "node nodes hosts rdma"},
	{name: "armci-mpich", title: "ours over MPICH", mpi: "mpich", ours: true, networks: "node nodes hosts rdma"},
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
	{[]string{"pingpong", "bidirectional"}, 2, false},
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
		b.figures = slices.DeleteFunc(slices.Clone(b.figures), func(f string) bool { return len(w.only) > 0 && !slices.Contains(w.only, f) })
		if len(b.figures) > 0 && b.ranks <= w.most {
			all = append(all, b)
		}
	}
	return all
}

// here are the series that can be measured, and tells which cannot.
func (w *windows) here() []*series {
	var all []*series
	for _, s := range w.series {
		if len(w.chosen) > 0 && !slices.Contains(w.chosen, s.name) || !slices.Contains(strings.Fields(s.networks), w.network) {
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
		if s.mpi == "openmpi" && os.Getuid() == 0 {
			s.env = append(s.env, "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
		}
		all = append(all, &s)
	}
	return all
}

func (w *windows) program(s *series) string { return filepath.Join(w.dir, w.name+"-"+s.mpi) }

// preloads: a program of an MPI gets our library.
func (s *series) preloads() bool { return s.ours && s.mpi != "armci" }

// launcher is the first word of a series and its settings.
func (w *windows) launcher(s *series) []string {
	switch s.mpi {
	case "openmpi":
		return append([]string{"mpirun.openmpi", "--oversubscribe"}, s.words...)
	case "armci":
		return []string{filepath.Join(filepath.Dir(w.dir), "bin", "armcirun")}
	}
	return []string{"mpiexec.hydra"}
}

// argv is the command line of a batch: launcher, what each rank needs in its environment, program, figures.
func (s *series) argv(w *windows, b batch, figures []string) []string {
	argv, env := s.network(w, b)
	argv = append(w.launcher(s), argv...)
	if s.preloads() {
		env = append(env, "LD_PRELOAD="+w.library)
	}
	if s.preloads() && (w.network == "nodes" || w.network == "rdma") { // each rank takes itself for a host of its own
		argv = append(argv, "sh", "-c", `ARMCI_NODE=node${OMPI_COMM_WORLD_RANK:-$PMI_RANK} && export ARMCI_NODE && exec "$@"`, "-")
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

// network is what keeps the MPI to a network: words of its launcher, and settings.
func (s *series) network(w *windows, b batch) (argv, env []string) {
	argv = []string{"-n", strconv.Itoa(b.ranks)}
	if s.mpi != "armci" {
		argv = append(argv, map[string]string{"openmpi": "--bind-to", "mpich": "-bind-to"}[s.mpi], w.binding(b))
	}
	if s.ours && w.network == "rdma" {
		env = append(env, "ARMCI_TRANSPORT=rdma")
	}
	if s.mpi == "openmpi" && (len(s.words) > 0 || w.barNetwork() == "tcp") {
		argv = append(argv, "--mca", "pml", "ob1")
	}
	hosts := w.hosts[:min(len(w.hosts), b.ranks)]
	switch w.network + " " + s.mpi {
	case "nodes openmpi":
		argv = append(argv, "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo", "--mca", "mpi_yield_when_idle", "1")
	case "nodes mpich":
		env = append(env, "MPIR_CVAR_NOLOCAL=1", "UCX_TLS=tcp,self", "UCX_NET_DEVICES=lo")
	case "hosts openmpi":
		argv = append(argv, "--host", strings.Join(hosts, ":1,")+":1", "--map-by", "slot", "--mca", "plm", "rsh", "--mca", "plm_rsh_agent", w.agent,
			"--mca", "plm_rsh_no_tree_spawn", "1", "--mca", "oob_tcp_if_include", "eth0", "--mca", "btl_tcp_if_include", "eth0",
			"--mca", "btl", "tcp,self", "--mca", "mpi_yield_when_idle", "1")
	case "hosts mpich":
		argv = append(argv, "-launcher", "rsh", "-launcher-exec", w.agent, "-hosts", strings.Join(hosts, ","), "-ppn", "1", "-iface", "eth0")
		env = append(env, "UCX_TLS=tcp,self")
	case "nodes armci", "rdma armci":
		argv = append(argv, "-nodes", strconv.Itoa(b.ranks))
	case "hosts armci":
		argv = append(argv, "-hosts", strings.Join(hosts, ","), "-ppn", "1", "-agent", w.agent)
	case "rdma openmpi":
		argv = append(argv, "--mca", "btl", "vader,self")
	}
	return argv, env
}

// binding gives each rank a core of its own where nothing else is busy: two ranks that poll may stay on one for milliseconds.
// Between nodes threads answer for ranks.
func (w *windows) binding(b batch) string {
	if w.network == "node" && b.ranks <= runtime.NumCPU() {
		return "core"
	}
	return "none"
}

// barNetwork is the network as tables of bars name it.
func (w *windows) barNetwork() string {
	if w.network == "nodes" || w.network == "hosts" {
		return "tcp"
	}
	return w.network
}
