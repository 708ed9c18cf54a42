// SPDX-License-Identifier: BSD-3-Clause

// Which jobs are run: groups of figures, on how many ranks, under which
// launcher, with which settings. It starts nothing.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"libarmci/internal/figure"
)

// part is a set of groups that one job measures. The groups are the workers'
// (cmd/armci_perf/worker, bench/worker).
type part struct {
	network string // node, tcp, rdma or ofi
	ranks   int    // on a node; between nodes one each on two nodes
	groups  string
	env     []string
	label   string // is appended to the names of its figures
	vary    string // a setting in which the ranks of a node differ: NAME=VALUE,...
	mpi     bool   // under each MPI, beside its own operations
	all     bool   // on all nodes there are
	least   int    // so many nodes at least
	// with more ranks than cores, or beside busy programs: with -crowded or -busy only
	crowded bool
}

// ownCore has ranks wait as if each had a core of its own: of those that take turns only one does
// anything.
var ownCore = []string{"ARMCI_SPIN=2000"}

var parts = []part{
	{network: "node", ranks: 2,
		groups: "small bandwidth stream strided vector nonblocking acc rmw lock barrier " +
			"malloc message notify collective init acc-together"},
	{network: "node", ranks: 4, groups: "rmw lock barrier init"},
	{network: "node", ranks: 2, groups: "malloc-new", env: []string{"ARMCI_SHM_KEEP=0"}},
	{network: "node", ranks: 2, groups: "idle"},
	{network: "node", ranks: 2, groups: "barrier message collective one-sided", mpi: true},
	{network: "tcp", groups: "small bandwidth stream strided vector nonblocking acc rmw lock " +
		"barrier message notify collective overlap rare owner busy crowded " +
		"overlap-crowded"},
	{network: "tcp", groups: "small rmw", label: "/asleep",
		env: []string{"ARMCI_SPIN=1", "ARMCI_POLL=0"}},
	{network: "tcp", groups: "all-nodes", all: true, least: 3},
	{network: "tcp", groups: "barrier message collective one-sided", mpi: true, all: true},
	{network: "rdma", groups: "small bandwidth strided vector nonblocking acc rmw lock " +
		"barrier message notify overlap busy put-new registered"},
	{network: "rdma", groups: "small rmw", label: "/asleep",
		env: []string{"ARMCI_SPIN=1", "ARMCI_POLL=0"}},
	{network: "rdma", groups: "acc", label: "/device", env: []string{"ARMCI_RDMA_ACC=device"}},
	{network: "rdma", groups: "protocols", env: ownCore,
		vary: "ARMCI_CONTIGUOUS=auto,buffered,zerocopy"},
	{network: "rdma", groups: "protocols-strided", env: ownCore,
		vary: "ARMCI_STRIDED=auto,nic,host,host-atomic,push"},
	{network: "rdma", groups: "fences", all: true, least: 3},
	{network: "rdma", groups: "barrier message collective one-sided", mpi: true},
	{network: "ofi", groups: "small bandwidth strided acc rmw lock barrier message notify"},
	{network: "ofi", groups: "small rmw", label: "/asleep",
		env: []string{"ARMCI_SPIN=1", "ARMCI_POLL=0"}},
	{network: "node", groups: crowd, mpi: true, crowded: true},
	{network: "node", groups: crowd, env: allAsleep, label: "/asleep", crowded: true},
	{network: "tcp", groups: crowd, mpi: true, all: true, crowded: true},
	{network: "tcp", groups: crowd, env: allAsleep, label: "/asleep", all: true, crowded: true},
}

// onlyBeside are groups that say nothing without baselines, or need raw verbs.
var onlyBeside = []string{"put-new", "registered", "fences"}

// job is a part as it is run here.
type job struct {
	part
	load
	title    string
	groups   []string
	launcher string // of an MPI
	worker   string
}

func known(group string) bool {
	return slices.ContainsFunc(parts,
		func(p part) bool { return slices.Contains(strings.Fields(p.groups), group) })
}

// network is the network of the command line, as the tables of parts and bars name it.
func (o *options) network() string {
	switch {
	case o.rdma:
		return "rdma"
	case o.ofi != "":
		return "ofi"
	case o.nodes > 1:
		return "tcp"
	}
	return "node"
}

// plan lists the jobs of a command line.
func (o *options) plan() ([]job, error) {
	var jobs []job
	for _, p := range parts {
		j := job{part: p, groups: slices.DeleteFunc(strings.Fields(p.groups),
			func(g string) bool {
				return len(o.only) > 0 && !slices.Contains(o.only, g) ||
					o.against != "" &&
						slices.Contains(onlyBeside, g)
			})}
		if p.network != o.network() || len(j.groups) == 0 || o.nodes < p.least ||
			p.crowded != (len(o.loads()) > 0) {
			continue
		}
		if o.against != "" && (p.mpi || p.vary != "") || p.mpi && len(o.hosts) > 0 {
			// what is compared there is not the library with itself; an MPI starts
			// ranks on this machine
			continue
		}
		some, err := o.loaded(j)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, some...)
	}
	if len(jobs) == 0 {
		return nil, fmt.Errorf("nothing to measure: no such group on this network (%s)",
			o.network())
	}
	return jobs, nil
}

// launched is a job by armcirun, or one for each MPI.
func (o *options) launched(j job) ([]job, error) {
	if j.mpi {
		return o.underMPI(j), nil
	}
	j.title, j.worker = o.title(&j), filepath.Join(o.workers, "worker-none")
	switch {
	case o.rdma && o.against == "":
		j.worker = filepath.Join(o.workers, "worker-verbs")
	case o.ofi != "" && o.against == "":
		j.worker = filepath.Join(o.workers, "worker-ofi")
	}
	if _, err := os.Stat(j.worker); err != nil {
		return nil, fmt.Errorf("%w: build the target armci_bench; raw verbs need "+
			"libibverbs, raw libfabric libfabric", err)
	}
	return []job{j}, nil
}

// on is how many nodes a part runs on.
func (o *options) on(p *part) int {
	if p.all {
		return o.nodes
	}
	return min(o.nodes, 2)
}

// ranks is how many ranks a part that is not crowded has: on each node one for each value of what
// ranks differ in.
func (o *options) ranks(p *part) int {
	if o.nodes == 1 {
		return p.ranks
	}
	return o.on(p) * (1 + strings.Count(p.vary, ","))
}

// title says what a job runs on.
func (o *options) title(j *job) string {
	title, n := o.where(j), runtime.NumCPU()
	switch {
	case j.busy:
		return fmt.Sprintf("%s, %d cores with a busy program each", title, n)
	case j.crowded:
		return fmt.Sprintf("%s, %d cores", title, n)
	}
	return title
}

// where says on how many ranks or nodes a job runs, and over which network.
func (o *options) where(j *job) string {
	n := o.on(&j.part)
	switch {
	case o.nodes == 1:
		return strconv.Itoa(j.load.ranks) + " ranks of a node"
	case j.crowded:
		return fmt.Sprintf("%d ranks of %d pretended nodes over TCP", j.load.ranks, n)
	case len(o.hosts) == 0:
		return fmt.Sprintf("%d pretended nodes over %s", n, o.over())
	}
	return fmt.Sprintf("%d hosts over %s", n, o.over())
}

// over is the network between nodes as titles name it.
func (o *options) over() string {
	if o.ofi != "" {
		return "libfabric's " + o.ofi
	}
	return strings.ToUpper(o.network())
}

// with is the job with the library and the launcher of a build.
func (j *job) with(build string, o *options) figure.Job {
	run := figure.Job{Title: j.title, Env: append(slices.Clone(j.env),
		"LD_LIBRARY_PATH="+libraries(build))}
	if o.rdma {
		run.Env = append(run.Env, "ARMCI_TRANSPORT=rdma")
	}
	if o.ofi != "" {
		// The raw worker is linked with libfabric, and so with PSM, which would handle the
		// signals of the process that loads it.
		run.Env = append(run.Env, "ARMCI_TRANSPORT=ofi", "ARMCI_OFI_PROVIDER="+o.ofi,
			"IPATH_NO_BACKTRACE=1")
	}
	if j.launcher != "" {
		run.Argv = strings.Fields(j.launcher)
	} else {
		run.Argv = append([]string{filepath.Join(build, "bin", "armcirun")},
			o.placeArguments(j)...)
	}
	run.Argv = append(run.Argv, j.worker, "-b", build)
	if j.vary != "" {
		run.Argv = append(run.Argv, "-e", j.vary)
	}
	if j.mpi && o.nodes > 1 {
		run.Argv = append(run.Argv, "-n", strconv.Itoa(o.nodes))
	}
	run.Argv = append(run.Argv, "-r", strconv.Itoa(o.reps))
	if o.quick {
		run.Argv = append(run.Argv, "-q")
	}
	if o.against != "" {
		run.Argv = append(run.Argv, "-a")
	}
	if j.label != "" {
		run.Argv = append(run.Argv, "-l", j.label)
	}
	run.Argv = append(run.Argv, j.groups...)
	return run
}

// libraries is where a build's library is looked for, and then others.
func libraries(build string) string {
	path := filepath.Join(build, "lib")
	if others := os.Getenv("LD_LIBRARY_PATH"); others != "" {
		path += ":" + others
	}
	return path
}

// placeArguments is where armcirun starts how many ranks.
func (o *options) placeArguments(j *job) []string {
	n, argv := o.on(&j.part), []string{"-n", strconv.Itoa(j.load.ranks)}
	switch {
	case o.nodes == 1:
		return argv
	case len(o.hosts) == 0:
		return append(argv, "-nodes", strconv.Itoa(n))
	}
	argv = append(argv, "-ppn", strconv.Itoa(j.load.ranks/n), "-hosts",
		strings.Join(o.hosts[:n], ","))
	if o.agent != "" {
		argv = append(argv, "-agent", o.agent)
	}
	return argv
}
