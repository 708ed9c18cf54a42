// SPDX-License-Identifier: BSD-3-Clause

// Which jobs are run: groups of figures, on how many ranks, under which
// launcher, with which settings. It starts nothing.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"libarmci/internal/figure"
)

// part is a set of groups that one job measures. The groups are the workers' (cmd/armci_perf/worker, bench/worker).
type part struct {
	network string // node, tcp or rdma
	ranks   int    // on a node; between nodes one each on two nodes
	groups  string
	env     []string
	label   string // is appended to the names of its figures
	vary    string // a setting in which the ranks of a node differ: NAME=VALUE,...
	mpi     bool   // under each MPI, beside its own operations
	all     bool   // on all nodes there are, three at least
}

// ownCore has ranks wait as if each had a core of its own: of those that take turns only one does anything.
var ownCore = []string{"ARMCI_SPIN=2000"}

var parts = []part{
	{network: "node", ranks: 2, groups: "small bandwidth stream strided vector nonblocking acc rmw lock barrier malloc message collective init acc-together"},
	{network: "node", ranks: 4, groups: "rmw lock barrier init"},
	{network: "node", ranks: 2, groups: "malloc-new", env: []string{"ARMCI_SHM_KEEP=0"}},
	{network: "node", ranks: 2, groups: "idle"},
	{network: "node", ranks: 2, groups: "message collective", mpi: true},
	{network: "tcp", groups: "small bandwidth stream strided vector nonblocking acc rmw lock barrier message collective overlap rare owner busy crowded overlap-crowded"},
	{network: "tcp", groups: "small rmw", label: "/asleep", env: []string{"ARMCI_SPIN=1", "ARMCI_TCP_POLL=0"}},
	{network: "tcp", groups: "all-nodes", all: true},
	{network: "rdma", groups: "small bandwidth strided vector nonblocking acc rmw lock barrier message overlap busy put-new"},
	{network: "rdma", groups: "small rmw", label: "/asleep", env: []string{"ARMCI_SPIN=1", "ARMCI_RDMA_POLL=0"}},
	{network: "rdma", groups: "protocols", env: ownCore, vary: "ARMCI_RDMA_CONTIGUOUS=auto,buffered,zerocopy"},
	{network: "rdma", groups: "protocols-strided", env: ownCore, vary: "ARMCI_RDMA_STRIDED=auto,nic,host,host-atomic,push"},
	{network: "rdma", groups: "fences", all: true},
}

// onlyBeside are groups that say nothing without baselines, or need raw verbs.
var onlyBeside = []string{"put-new"}

// job is a part as it is run here.
type job struct {
	part
	title    string
	groups   []string
	launcher string // of an MPI
	worker   string
}

func known(group string) bool {
	return slices.ContainsFunc(parts, func(p part) bool { return slices.Contains(strings.Fields(p.groups), group) })
}

func (o *options) network() string {
	switch {
	case o.rdma:
		return "rdma"
	case o.nodes > 1:
		return "tcp"
	}
	return "node"
}

// plan lists the jobs of a command line.
func (o *options) plan() ([]job, error) {
	var jobs []job
	for _, p := range parts {
		j := job{part: p, groups: slices.DeleteFunc(strings.Fields(p.groups), func(g string) bool {
			return len(o.only) > 0 && !slices.Contains(o.only, g) || o.against != "" && slices.Contains(onlyBeside, g)
		})}
		if p.network != o.network() || len(j.groups) == 0 || p.all && o.nodes < 3 {
			continue
		}
		if o.against != "" && (p.mpi || p.vary != "") {
			continue // what is compared there is not the library with itself
		}
		if p.mpi {
			jobs = append(jobs, o.underMPI(j)...)
			continue
		}
		j.title, j.worker = o.title(p), filepath.Join(o.workers, "worker-none")
		if o.rdma && o.against == "" {
			j.worker = filepath.Join(o.workers, "worker-verbs")
		}
		if _, err := os.Stat(j.worker); err != nil {
			return nil, fmt.Errorf("%w: build the target armci_bench; raw verbs need libibverbs", err)
		}
		jobs = append(jobs, j)
	}
	if len(jobs) == 0 {
		return nil, fmt.Errorf("nothing to measure: no such group on this network (%s)", o.network())
	}
	return jobs, nil
}

// title says what a part runs on.
func (o *options) title(p part) string {
	n := 2
	if p.all {
		n = o.nodes
	}
	switch {
	case o.nodes == 1:
		return strconv.Itoa(p.ranks) + " ranks of a node"
	case len(o.hosts) == 0:
		return fmt.Sprintf("%d pretended nodes over %s", n, strings.ToUpper(p.network))
	}
	return fmt.Sprintf("%d hosts over %s", n, strings.ToUpper(p.network))
}

// underMPI is a job for each MPI that is here.
func (o *options) underMPI(j job) []job {
	var jobs []job
	for _, m := range []struct{ name, title, launcher string }{
		{"openmpi", "Open MPI", "mpirun.openmpi --allow-run-as-root --oversubscribe -n 2"},
		{"mpich", "MPICH", "mpiexec.hydra -n 2"},
	} {
		j.worker, j.launcher, j.title = filepath.Join(o.workers, "worker-"+m.name), m.launcher, "2 ranks of "+m.title
		_, missing := exec.LookPath(strings.Fields(m.launcher)[0])
		if _, err := os.Stat(j.worker); slices.Contains(o.mpi, m.name) && (err != nil || missing != nil) {
			fmt.Fprintf(os.Stderr, "bench: no comparison with %s: no launcher or no worker of it\n", m.title)
		} else if slices.Contains(o.mpi, m.name) {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// with is the job with the library and the launcher of a build.
func (j *job) with(build string, o *options) figure.Job {
	run := figure.Job{Title: j.title, Env: append(slices.Clone(j.env), "LD_LIBRARY_PATH="+libraries(build))}
	if o.rdma {
		run.Env = append(run.Env, "ARMCI_TRANSPORT=rdma")
	}
	if j.launcher != "" {
		run.Argv = strings.Fields(j.launcher)
	} else {
		run.Argv = append([]string{filepath.Join(build, "bin", "armcirun")}, o.place(&j.part)...)
	}
	run.Argv = append(run.Argv, j.worker, "-b", build)
	if j.vary != "" {
		run.Argv = append(run.Argv, "-e", j.vary)
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

// place is where armcirun starts how many ranks: a rank on each node, or one for each value of what ranks differ in.
func (o *options) place(p *part) []string {
	if o.nodes == 1 {
		return []string{"-n", strconv.Itoa(p.ranks)}
	}
	n, each := 2, 1+strings.Count(p.vary, ",")
	if p.all {
		n = o.nodes
	}
	argv := []string{"-n", strconv.Itoa(n * each)}
	if len(o.hosts) == 0 {
		return append(argv, "-nodes", strconv.Itoa(n))
	}
	argv = append(argv, "-ppn", strconv.Itoa(each), "-hosts", strings.Join(o.hosts[:n], ","))
	if o.agent != "" {
		argv = append(argv, "-agent", o.agent)
	}
	return argv
}
