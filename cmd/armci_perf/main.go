// SPDX-License-Identifier: BSD-3-Clause

// Command armci_perf measures the operations of the library on this machine or
// between hosts: medians and extremes, as a table, CSV and charts. The C worker
// in worker/ does the measuring. It compares with nothing: that is what bench/
// is for, which is not installed.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"libarmci/internal/config"
	"libarmci/internal/figure"
)

const usage = `usage: armci_perf [OPTION]... [GROUP]...

Measures the operations of ARMCI, all groups if none is named, and prints a line
for each figure: operation, size, ranks, the median of the repetitions, and the
least and the greatest of them.

  -list              print the groups and what each measures
  -n RANKS           (default 2, or a rank for each node or host)
  -nodes N           between N pretended nodes of this machine
  -hosts A,B,...     between these hosts
  -agent COMMAND     what brings a command to a host (default armcirun's: ssh)
  -launcher COMMAND  start the ranks with COMMAND, for example "mpirun -n 2",
                     instead of armcirun
  -reps N            repetitions of every figure (default 11, quick 3)
  -quick             short runs that only show that everything works
  -csv FILE          write the figures as CSV too
  -json FILE         write them as JSON
  -benchfmt FILE     write them as Go's benchmarks are printed, for benchstat
  -svg DIRECTORY     draw charts of figures over size
  -worker FILE       the worker (default ../libexec/armci/perf-worker beside this
                     program)
  -v                 print the command of the job
  -h                 print this

The exit status is 0 if the job ended well and every exact total was exact, 1 if
not, 2 for a wrong command line.
`

// groups are those of the worker (worker/main.c), in the order in which they run.
var groups = []struct{ name, doc string }{
	{"small", "put, get, put and get of a value, put with fence, of 8 bytes; a fence of " +
		"nothing"},
	{"bandwidth", "contiguous put and get of 1 KiB to 16 MiB"},
	{"stream", "16 puts or gets outstanding, of 1 MiB to 8 MiB each"},
	{"strided", "put, get, accumulate of patches of 4x4 to 512x512 doubles"},
	{"vector", "put and get of 1000 scattered doubles"},
	{"nonblocking", "1000 nonblocking puts of 8 bytes: implicit, with handles, aggregated"},
	{"acc", "contiguous accumulate of 8 bytes to 1 MiB"},
	{"rmw", "fetch-and-add and swap; fetch-and-add by all ranks at once"},
	{"lock", "mutexes, alone and contended, and the least share of a rank"},
	{"barrier", "ARMCI_Barrier and armci_msg_barrier"},
	{"malloc", "ARMCI_Malloc and ARMCI_Free of 1 MiB, collective and local"},
	{"message", "armci_msg_snd and armci_msg_rcv there and back, 8 B to 512 KiB"},
	{"notify", "a notification; a put of 8 B to 64 KiB with one, or with a flag: there and " +
		"back"},
	{"collective", "broadcast and sum of 8 B to 4 MiB"},
	{"overlap", "how much of a nonblocking put or get hides behind computation"},
	{"init", "time to initialise"},
	{"growth", "memory of the greatest process: resident, its own, and its own when it has " +
		"used all other ranks"},
}

// options is the command line of armci_perf.
type options struct {
	list, quick, verbose             bool
	ranks, nodes, reps               int
	hosts, agent, csv, svg, launcher string
	json, benchfmt                   string
	worker                           string
	groups                           []string
}

// main lists the groups, or measures them: status 2 is a wrong command line, 1 an error.
func main() {
	o, err := parse(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(usage)
		return
	case err != nil:
		fmt.Fprintf(os.Stderr, "armci_perf: %v\n%s", err, usage)
		os.Exit(2)
	case o.list:
		for _, g := range groups {
			fmt.Printf("%-12s %s\n", g.name, g.doc)
		}
		return
	}
	if err := o.run(os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "armci_perf: %v\n", err)
		os.Exit(1)
	}
}

// parse reads and checks the command line.
func parse(args []string) (*options, error) {
	var o options
	f := flag.NewFlagSet("armci_perf", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.BoolVar(&o.list, "list", false, "")
	f.BoolVar(&o.quick, "quick", false, "")
	f.BoolVar(&o.verbose, "v", false, "")
	f.IntVar(&o.ranks, "n", 0, "")
	f.IntVar(&o.nodes, "nodes", 1, "")
	f.IntVar(&o.reps, "reps", 0, "")
	f.StringVar(&o.hosts, "hosts", "", "")
	f.StringVar(&o.agent, "agent", "", "")
	f.StringVar(&o.launcher, "launcher", "", "")
	f.StringVar(&o.csv, "csv", "", "")
	f.StringVar(&o.json, "json", "", "")
	f.StringVar(&o.benchfmt, "benchfmt", "", "")
	f.StringVar(&o.svg, "svg", "", "")
	f.StringVar(&o.worker, "worker", "", "")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	o.groups = f.Args()
	return &o, o.checkOptions()
}

// checkOptions refuses what cannot be meant, and fills in defaults.
func (o *options) checkOptions() error {
	for _, name := range o.groups {
		if !known(name) {
			return fmt.Errorf("no group %q; -list names them", name)
		}
	}
	hosts := len(strings.FieldsFunc(o.hosts, func(c rune) bool { return c == ',' }))
	switch {
	case o.reps < 0 || o.reps > 99:
		return fmt.Errorf("-reps %d: must be 1..99", o.reps)
	case o.nodes < 1 || o.nodes > 64:
		return fmt.Errorf("-nodes %d: must be 1..64", o.nodes)
	case o.agent != "" && hosts == 0:
		return errors.New("-agent needs -hosts")
	case hosts > 0 && o.nodes > 1, o.launcher != "" && (hosts > 0 || o.nodes > 1 ||
		o.ranks > 0):
		return errors.New("-launcher, -hosts and -nodes: only one of them, and -launcher " +
			"without -n")
	}
	if o.ranks == 0 {
		o.ranks = max(2, o.nodes, hosts)
	}
	if o.ranks < max(1, o.nodes, hosts) {
		return fmt.Errorf("-n %d: fewer ranks than nodes", o.ranks)
	}
	if o.reps == 0 && o.quick {
		o.reps = 3
	} else if o.reps == 0 {
		o.reps = 11
	}
	return nil
}

func known(name string) bool {
	for _, g := range groups {
		if g.name == name {
			return true
		}
	}
	return false
}

// job is how the worker is started.
func (o *options) job(armcirun, worker string) figure.Job {
	j := figure.Job{Title: strconv.Itoa(o.ranks) + " ranks of a node",
		Argv: []string{armcirun, "-n", strconv.Itoa(o.ranks)}}
	switch {
	case o.launcher != "":
		j.Title, j.Argv = o.launcher, strings.Fields(o.launcher)
	case o.hosts != "":
		j.Title = fmt.Sprintf("%d ranks on %d hosts", o.ranks, strings.Count(o.hosts, ",")+
			1)
		j.Argv = append(j.Argv, "-hosts", o.hosts)
		if o.agent != "" {
			j.Argv = append(j.Argv, "-agent", o.agent)
		}
	case o.nodes > 1:
		j.Title = fmt.Sprintf("%d ranks on %d pretended nodes", o.ranks, o.nodes)
		j.Argv = append(j.Argv, "-nodes", strconv.Itoa(o.nodes))
	}
	j.Argv = append(j.Argv, worker, "-r", strconv.Itoa(o.reps))
	if o.quick {
		j.Argv = append(j.Argv, "-q")
	}
	if len(o.groups) > 0 {
		j.Argv = append(j.Argv, o.groups...)
		return j
	}
	for _, g := range groups {
		j.Argv = append(j.Argv, g.name)
	}
	return j
}

// run measures and writes what is asked for.
func (o *options) run(out io.Writer) error {
	armcirun, err := figure.Beside("armcirun")
	if err != nil && o.launcher == "" {
		return err
	}
	worker := o.worker
	if worker == "" {
		if worker, err = figure.Beside("..", "libexec", "armci",
			"perf-worker"); err != nil {
			return fmt.Errorf("%w; say -worker FILE", err)
		}
	}
	if worker, err = filepath.Abs(worker); err != nil {
		return err
	}
	j := o.job(armcirun, worker)
	if o.verbose {
		fmt.Fprintln(os.Stderr, strings.Join(j.Argv, " "))
	}
	var rows []figure.Row
	fmt.Fprintf(out, "%s\n%s, repetitions: %d\n", figure.Machine(config.Version), j.Title,
		o.reps)
	fmt.Fprintf(out, "%-20s %9s %5s %12s %12s %12s\n", "operation", "size", "ranks", "median",
		"least", "greatest")
	wrong, err := j.Run(func(r figure.Row) {
		rows = append(rows, r)
		fmt.Fprintf(out, "%-20s %9s %5d %12s %12s %12s\n", r.Op, r.Place(), r.Ranks,
			figure.Amount(r.Ours.Median, r.Unit),
			figure.Amount(r.Ours.Least, r.Unit), figure.Amount(r.Ours.Most, r.Unit))
	})
	if err == nil && wrong > 0 {
		err = fmt.Errorf("%d totals are not exact", wrong)
	}
	return errors.Join(err, o.writeFiles(j.Title, rows))
}

// writeFiles writes the files that are asked for.
func (o *options) writeFiles(where string, rows []figure.Row) (err error) {
	run := figure.Run{Version: config.Version, Where: where, Repetitions: o.reps}
	err = figure.WriteFiles(o.csv, o.json, run, rows)
	if o.benchfmt != "" {
		err = errors.Join(err, figure.WriteFile(o.benchfmt,
			func(w io.Writer) error { return figure.WriteBenchmarks(w, run, rows) }))
	}
	if o.svg != "" {
		err = errors.Join(err, figure.Draw(o.svg, figure.Common, rows,
			figure.Footer(config.Version, o.reps)))
	}
	return err
}
