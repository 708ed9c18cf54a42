// SPDX-License-Identifier: BSD-3-Clause

// Which jobs are run: the groups of the worker, on how many ranks, under which
// launcher, with which setting. It starts nothing.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// job is one start of a worker.
type job struct {
	title  string
	argv   []string
	env    []string
	expect []string // figures it must produce
}

// plan lists the jobs of a command line.
func plan(o *options, dir string) ([]job, error) {
	var chosen []*group
	for i := range groups {
		if o.takes(&groups[i]) {
			chosen = append(chosen, &groups[i])
		}
	}
	if len(o.launcher) > 0 {
		worker := o.worker
		if worker == "" {
			worker = filepath.Join(dir, "perf-none")
		}
		return withBare(o.byLauncher(chosen, o.launcher, worker, strings.Join(o.launcher, " ")), chosen, dir), nil
	}
	jobs, err := o.plain(chosen, dir)
	if err != nil {
		return nil, err
	}
	with := slices.DeleteFunc(slices.Clone(chosen), func(g *group) bool { return !g.mpi })
	if len(with) > 0 {
		for _, m := range mpis(o, dir) {
			jobs = append(jobs, o.byLauncher(with, m.launcher, m.worker, m.name)...)
		}
	}
	return withBare(jobs, chosen, dir), nil
}

// takes tells whether a group is measured: if it is named, or all that the number of nodes allows.
func (o *options) takes(g *group) bool {
	if len(o.only) > 0 {
		return slices.Contains(o.only, g.name)
	}
	return g.nodes == (o.nodes > 1) && (!g.all || o.nodes > 2) && g.rdma == o.rdma
}

// withBare adds the program without the library, which resident memory is compared with.
func withBare(jobs []job, chosen []*group, dir string) []job {
	if !slices.Contains(chosen, findGroup("idle")) {
		return jobs
	}
	return append(jobs, job{title: "armcirun", argv: []string{filepath.Join(dir, "perf-bare")}, expect: []string{"resident-bare"}})
}

// plain lists the jobs under armcirun: one for each number of ranks, and those that must be apart.
func (o *options) plain(chosen []*group, dir string) ([]job, error) {
	run, err := beside("armcirun")
	if err != nil {
		return nil, err
	}
	if o.nodes > 1 {
		return o.between(chosen, run, dir)
	}
	var jobs []job
	for _, ranks := range []int{2, 4} {
		launcher := []string{run, "-n", strconv.Itoa(ranks)}
		here := slices.DeleteFunc(slices.Clone(chosen), func(g *group) bool { return !slices.Contains(g.ranks, ranks) })
		jobs = append(jobs, o.byLauncher(here, launcher, filepath.Join(dir, "perf-none"), "armcirun")...)
	}
	return jobs, nil
}

// between lists the jobs on several nodes: two nodes and one rank on each for most groups, all nodes for some; and a rank
// for each value of what ranks differ in.
func (o *options) between(chosen []*group, run, dir string) ([]job, error) {
	worker := filepath.Join(dir, "perf-none")
	if o.rdma {
		if worker = filepath.Join(dir, "perf-verbs"); !isFile(worker) {
			return nil, fmt.Errorf("no %s: libibverbs was not there when this was built", worker)
		}
	}
	pick := func(all, vary bool) []*group {
		return slices.DeleteFunc(slices.Clone(chosen), func(g *group) bool { return g.all != all || (g.vary != "") != vary })
	}
	launcher, title := o.onNodes(run, 2, 1)
	jobs := o.byLauncher(pick(false, false), launcher, worker, title)
	for _, g := range pick(false, true) {
		launcher, title := o.onNodes(run, 2, 1+strings.Count(g.vary, ","))
		jobs = append(jobs, job{title: title, argv: o.command(launcher, worker, "-e", g.vary, g.name), env: g.env, expect: g.ops})
	}
	launcher, title = o.onNodes(run, o.nodes, 1)
	jobs = append(jobs, o.byLauncher(pick(true, false), launcher, worker, title)...)
	for i := range jobs {
		if o.rdma {
			jobs[i].env = append(slices.Clone(jobs[i].env), "ARMCI_TRANSPORT=rdma")
		}
	}
	return jobs, nil
}

// onNodes is how so many ranks are started on each of the first n nodes, pretended ones or hosts.
func (o *options) onNodes(run string, n, ranks int) (launcher []string, title string) {
	count := strconv.Itoa(n)
	launcher = []string{run, "-n", strconv.Itoa(n * ranks)}
	if len(o.hosts) == 0 {
		return append(launcher, "-nodes", count), count + " pretended nodes"
	}
	launcher = append(launcher, "-ppn", strconv.Itoa(ranks), "-hosts", strings.Join(o.hosts[:n], ","))
	if o.agent != "" {
		launcher = append(launcher, "-agent", o.agent)
	}
	return launcher, count + " hosts"
}

// byLauncher puts groups that need nothing special into one job, the others each into its own.
func (o *options) byLauncher(chosen []*group, launcher []string, worker, title string) []job {
	var together job
	var jobs []job
	for _, g := range chosen {
		if g.apart {
			jobs = append(jobs, job{title: title, argv: o.command(launcher, worker, g.name), env: g.env, expect: g.ops})
			continue
		}
		if together.argv == nil {
			together = job{title: title, argv: o.command(launcher, worker)}
		}
		together.argv = append(together.argv, g.name)
		together.expect = append(together.expect, g.ops...)
	}
	if together.argv != nil {
		jobs = append([]job{together}, jobs...)
	}
	return jobs
}

func (o *options) command(launcher []string, worker string, names ...string) []string {
	argv := append(slices.Clone(launcher), worker, "-r", strconv.Itoa(o.reps))
	if o.quick {
		argv = append(argv, "-q")
	}
	return append(argv, names...)
}

// mpi is an MPI to compare with: its launcher for two ranks and the worker built with it.
type mpi struct {
	name     string
	launcher []string
	worker   string
}

// mpis finds the MPIs asked for that are here: a worker and a launcher.
func mpis(o *options, dir string) []mpi {
	known := []struct{ name, launcher, options string }{
		{"openmpi", "mpirun.openmpi", "--allow-run-as-root --oversubscribe -n 2"},
		{"mpich", "mpiexec.hydra", "-n 2"},
	}
	var found []mpi
	for _, k := range known {
		if !slices.Contains(o.mpi, "auto") && !slices.Contains(o.mpi, k.name) {
			continue
		}
		worker := filepath.Join(dir, "perf-"+k.name)
		launcher, err := exec.LookPath(k.launcher)
		if err != nil || !isFile(worker) {
			fmt.Fprintf(os.Stderr, "armci_perf: no comparison with %s: no %s or no %s\n", k.name, k.launcher, worker)
			continue
		}
		found = append(found, mpi{k.name, append([]string{launcher}, words(k.options)...), worker})
	}
	return found
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// beside finds a program in the directory of this one.
func beside(name string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if self, err = filepath.EvalSymlinks(self); err != nil {
		return "", err
	}
	path := filepath.Join(filepath.Dir(self), name)
	if !isFile(path) {
		return "", fmt.Errorf("no %s", path)
	}
	return path, nil
}
