// SPDX-License-Identifier: BSD-3-Clause

// Which jobs are run: the groups of the worker, on how many ranks, under which
// launcher, with which setting. It starts nothing.
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// group is a set of figures that the worker measures in one go.
type group struct {
	name  string
	ranks []int    // one job for each
	mpi   bool     // compared with an MPI where there is one
	apart bool     // in a job of its own
	nodes bool     // needs ranks on different nodes
	env   []string // settings of that job
	doc   string
	ops   []string // the figures it must produce
}

var groups = []group{
	{name: "put", ranks: []int{2}, doc: "8-byte put, get and value operations, and put with fence, beside an 8-byte memcpy",
		ops: []string{"put", "get", "put-value", "get-value", "put+fence/put", "put+fence"}},
	{name: "bandwidth", ranks: []int{2}, doc: "contiguous put and get of 1 KiB to 16 MiB beside memcpy",
		ops: []string{"put-bandwidth", "get-bandwidth"}},
	{name: "strided", ranks: []int{2}, doc: "patches of 4x4 to 512x512 doubles beside a loop of memcpys",
		ops: []string{"put-strided", "get-strided"}},
	{name: "vector", ranks: []int{2}, doc: "1000 scattered doubles beside a loop of assignments",
		ops: []string{"put-vector", "get-vector"}},
	{name: "acc", ranks: []int{2}, doc: "accumulate of 8 bytes and 1 MiB, by one rank and by all, beside loops without a lock",
		ops: []string{"acc", "acc-neighbours", "acc-same-array"}},
	{name: "rmw", ranks: []int{2, 4}, doc: "fetch-and-add and swap, alone and contended, beside the bare atomic",
		ops: []string{"fetch-add", "fetch-add-contended", "swap"}},
	{name: "lock", ranks: []int{2, 4}, doc: "mutexes, alone and contended, with shares, beside a process-shared pthread mutex",
		ops: []string{"lock+unlock", "lock-contended", "lock-least-share"}},
	{name: "barrier", ranks: []int{2, 4}, doc: "barriers beside a sense-reversing barrier that yields",
		ops: []string{"barrier", "msg-barrier"}},
	{name: "malloc", ranks: []int{2}, doc: "ARMCI_Malloc and ARMCI_Free of 1 MiB, memory reused",
		ops: []string{"malloc+free", "malloc+free-local"}},
	{name: "nonblocking", ranks: []int{2}, doc: "1000 nonblocking 8-byte puts: implicit, with handles, aggregated",
		ops: []string{"nbput-implicit", "nbput-handles", "nbput-aggregate"}},
	{name: "message", ranks: []int{2}, mpi: true, doc: "armci_msg_snd and _rcv there and back beside a bare mailbox or an MPI",
		ops: []string{"message"}},
	{name: "collective", ranks: []int{2}, mpi: true, doc: "broadcast and sum of 8 B to 4 MiB beside an MPI",
		ops: []string{"bcast", "gop-sum"}},
	{name: "malloc-new", ranks: []int{2}, apart: true, env: []string{"ARMCI_SHM_KEEP=0"},
		doc: "ARMCI_Malloc of 1 MiB of new pages, and ARMCI_Free, beside populating a memory file and punching a hole",
		ops: []string{"malloc-new", "free-new"}},
	{name: "init", ranks: []int{4}, apart: true, doc: "time to initialise", ops: []string{"init"}},
	{name: "idle", ranks: []int{2}, apart: true, doc: "processor time while idle, resident memory",
		ops: []string{"resident", "idle-asleep", "idle-in-barrier"}},
	{name: "remote-small", nodes: true, doc: "8-byte get, put and fence, fetch-and-add beside round trips of a raw socket",
		ops: []string{"remote-get", "remote-put+fence", "remote-put", "remote-fetch-add", "remote-fence-idle"}},
	{name: "remote-bandwidth", nodes: true, doc: "contiguous put and get of 1 KiB to 8 MiB beside a raw socket",
		ops: []string{"remote-put-bandwidth", "remote-get-bandwidth", "remote-put-stream"}},
	{name: "remote-strided", nodes: true, doc: "patches of 16x16 to 512x512 doubles beside as many bytes on a raw socket",
		ops: []string{"remote-put-strided", "remote-get-strided", "remote-acc-strided"}},
	{name: "remote-vector", nodes: true, doc: "1000 scattered doubles beside as many bytes on a raw socket",
		ops: []string{"remote-put-vector", "remote-get-vector"}},
	{name: "remote-batch", nodes: true, doc: "1000 nonblocking 8-byte puts and a fence, aggregated and not, beside a raw socket",
		ops: []string{"remote-nbput", "remote-nbput-aggregate"}},
	{name: "remote-meeting", nodes: true, doc: "locks beside fetch-and-add, a fence of all beside one, barriers beside round trips",
		ops: []string{"remote-lock+unlock", "remote-lock-contended", "remote-fence-all", "remote-barrier"}},
	{name: "remote-busy", nodes: true, doc: "operations on a rank that computes beside those on one that sleeps",
		ops: []string{"remote-busy-get", "remote-busy-put+fence", "remote-busy-acc+fence", "remote-busy-fetch-add",
			"remote-busy-lock"}},
	{name: "remote-overlap", nodes: true, doc: "how much of a 1 MiB nonblocking get hides behind computation",
		ops: []string{"remote-overlap"}},
}

func findGroup(name string) *group {
	i := slices.IndexFunc(groups, func(g group) bool { return g.name == name })
	if i < 0 {
		return nil
	}
	return &groups[i]
}

func printGroups(w io.Writer) {
	for _, g := range groups {
		fmt.Fprintf(w, "%-12s %s\n", g.name, g.doc)
	}
}

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
		if len(o.only) == 0 && groups[i].nodes == (o.nodes > 1) || slices.Contains(o.only, groups[i].name) {
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
		launcher := []string{run, "-n", strconv.Itoa(o.nodes), "-nodes", strconv.Itoa(o.nodes)}
		return o.byLauncher(chosen, launcher, filepath.Join(dir, "perf-none"), "armcirun"), nil
	}
	var jobs []job
	for _, ranks := range []int{2, 4} {
		launcher := []string{run, "-n", strconv.Itoa(ranks)}
		here := slices.DeleteFunc(slices.Clone(chosen), func(g *group) bool { return !slices.Contains(g.ranks, ranks) })
		jobs = append(jobs, o.byLauncher(here, launcher, filepath.Join(dir, "perf-none"), "armcirun")...)
	}
	return jobs, nil
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
