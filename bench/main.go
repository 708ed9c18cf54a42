// SPDX-License-Identifier: BSD-3-Clause

// Command bench measures the library beside raw baselines and holds the ratios
// against the bars that the project has set itself, or compares two builds. It
// is not installed; README.md says how to use it. This file is its command
// line; plan.go says which jobs are run, the C workers do the measuring.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"libarmci/bench/launch"
	"libarmci/internal/config"
	"libarmci/internal/figure"
)

const usage = `usage: bench [OPTION]...
       bench windows [OPTION]...     MPI one-sided communication; -h says which
       bench caf [OPTION]...         coarrays of Fortran; -h says which
       bench -waits [OPTION]...      how ranks wait for each other; -waits -h says which
       bench history -svg DIRECTORY FILE                 charts of a file of -gate
       bench run [-csv FILE] [-json FILE] COMMAND...     the figures that a program prints

Measures on this machine, or between nodes, ours and a raw baseline alternating,
and prints their ratio and the bar it is held against. No figure makes it fail.

  -nodes N         between N pretended nodes, over TCP
  -hosts A,B,...   between these hosts, over TCP
  -agent COMMAND   what brings a command to a host (default armcirun's: ssh)
  -rdma            between hosts or pretended nodes over RDMA, beside raw verbs
  -ofi PROVIDER    the same over a provider of libfabric, as fi_info -p names it, beside raw
                   libfabric
  -only LIST       groups, comma-separated; -list names them by job
  -list            print the jobs and stop
  -crowded LIST    with so many ranks for each core, comma-separated, instead: what they do
                   together, and 8-byte operations
  -busy            the same with a rank and a busy program for each core
  -reps N          repetitions of every figure (default 11, quick 3)
  -quick           short runs that only show that everything works
  -mpi LIST        MPIs to compare with: openmpi,mpich (the default), or none; over RDMA
                   with any of them ucx_perftest, too
  -csv FILE        write the figures as CSV, with all samples
  -json FILE       write them as JSON
  -markdown FILE   write a line for each operation as a table for documents
  -svg DIRECTORY   draw charts of figures over size
  -build DIR       the build to measure (default the one bench is in)
  -against DIR     another build: compare -build with it, no baselines; -csv, -json and
                   -markdown are the comparison's, the rest is as above
  -runs N          of a comparison (default 3)
  -starts N        of each build in a run (default 1); their median counts: threads may be placed
                   well or badly
  -gate FILE       compare the ratios to raw with the last line of FILE (figures.jsonl), in up to
                   three series; fails where a figure is 1.15 times worse in all of them
  -record          with -gate: append the medians of three series to FILE
  -v               print the command of every job
  -waits           measure how ranks wait for each other instead, with options of its own
`

// options is the command line of bench.
type options struct {
	nodeOptions
	sampleOptions
	buildOptions
	outputOptions
	list, verbose bool
}

// nodeOptions say where ranks run and over which network: by default on this node.
type nodeOptions struct {
	nodes int      // pretended nodes, or the number of hosts
	hosts []string // empty: this machine only
	agent string   // command that brings a command to a host
	rdma  bool
	ofi   string // provider of libfabric; "": not over libfabric
}

// sampleOptions say which groups are measured, beside which MPIs and load, and how often.
type sampleOptions struct {
	only, mpi []string // groups (empty: all) and MPIs
	crowded   []int    // ranks for each core
	busy      bool     // with a busy program for each core
	quick     bool
	reps      int // repetitions of a figure
}

// buildOptions name the directories of the builds that are measured.
type buildOptions struct {
	build, against string // against "": no comparison
	workers        string // directory of the workers
	runs, starts   int    // of a comparison, and of each build in a run
}

// outputOptions name the files that are written, beside the table on standard output; "": none.
type outputOptions struct {
	csv, json, markdown, svg string // svg: a directory
	gateFile                 string // figures.jsonl of -gate
	record                   bool   // append a line to gateFile
}

// command is what the arguments name beside bench itself; nil: nothing.
func command(args []string) func() error {
	if i := slices.Index(args, "-waits"); i >= 0 {
		return func() error { return runWaits(slices.Delete(slices.Clone(args), i, i+1)) }
	}
	switch {
	case len(args) > 0 && args[0] == "run":
		return func() error { return runProgram(args[1:], os.Stdout) }
	case len(args) > 0 && args[0] == "history":
		return func() error { return drawHistory(args[1:]) }
	}
	for _, s := range []*suite{&oneSided, &coarrays} {
		if len(args) > 0 && args[0] == s.name {
			return func() error { return s.run(args[1:]) }
		}
	}
	return nil
}

// main runs the command that the arguments name: status 2 is a wrong command line, 1 an error.
func main() {
	if run := command(os.Args[1:]); run != nil {
		if err := run(); err != nil {
			fmt.Fprintf(os.Stderr, "bench: %v\n", err)
			os.Exit(1)
		}
		return
	}
	o, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		fmt.Print(usage)
		return
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n%s", err, usage)
		os.Exit(2)
	}
	jobs, err := o.plan()
	switch {
	case err != nil:
	case o.list:
		for _, j := range jobs {
			fmt.Printf("%s: %s\n", j.title, strings.Join(j.groups, " "))
		}
	case o.gateFile != "":
		err = o.gate(jobs, os.Stdout)
	case o.against != "":
		err = o.compare(jobs, os.Stdout)
	default:
		err = o.measureJobs(jobs, os.Stdout)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

// parse reads and checks the command line of bench itself.
func parse(args []string) (*options, error) {
	var o options
	var only, mpi, hosts, crowded string
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.BoolVar(&o.quick, "quick", false, "")
	f.BoolVar(&o.list, "list", false, "")
	f.BoolVar(&o.rdma, "rdma", false, "")
	f.StringVar(&o.ofi, "ofi", "", "")
	f.BoolVar(&o.verbose, "v", false, "")
	f.BoolVar(&o.busy, "busy", false, "")
	f.StringVar(&crowded, "crowded", "", "")
	f.StringVar(&only, "only", "", "")
	f.StringVar(&mpi, "mpi", "openmpi,mpich", "")
	f.StringVar(&hosts, "hosts", "", "")
	f.StringVar(&o.agent, "agent", "", "")
	f.StringVar(&o.build, "build", "", "")
	f.StringVar(&o.against, "against", "", "")
	f.IntVar(&o.reps, "reps", 0, "")
	f.IntVar(&o.nodes, "nodes", 1, "")
	f.IntVar(&o.runs, "runs", 3, "")
	f.IntVar(&o.starts, "starts", 1, "")
	f.StringVar(&o.csv, "csv", "", "")
	f.StringVar(&o.json, "json", "", "")
	f.StringVar(&o.markdown, "markdown", "", "")
	f.StringVar(&o.svg, "svg", "", "")
	f.StringVar(&o.gateFile, "gate", "", "")
	f.BoolVar(&o.record, "record", false, "")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	o.only, o.mpi, o.hosts = launch.List(only), launch.List(mpi), launch.List(hosts)
	for _, word := range launch.List(crowded) {
		factor, err := strconv.Atoi(word)
		if err != nil || factor < 1 || factor > 64 {
			return nil, fmt.Errorf("-crowded %s: ranks for each core are 1..64", word)
		}
		o.crowded = append(o.crowded, factor)
	}
	return &o, o.checkOptions()
}

// checkOptions refuses what cannot be meant, and fills in defaults.
func (o *options) checkOptions() error {
	switch {
	case len(o.hosts) > 0 && o.nodes > 1:
		return errors.New("-hosts and -nodes: not together")
	case len(o.hosts) == 1:
		return errors.New("-hosts: at least two")
	case o.rdma && len(o.hosts) == 0 && o.nodes < 2:
		return errors.New("-rdma needs -hosts or -nodes")
	case o.ofi != "" && (o.rdma || o.nodes < 2 && len(o.hosts) == 0):
		return errors.New("-ofi needs -hosts or -nodes, and is not for -rdma")
	case o.gateFile != "" && o.against != "" || o.record && o.gateFile == "":
		return errors.New("-gate is not for -against, and -record is for -gate only")
	case o.agent != "" && len(o.hosts) == 0:
		return errors.New("-agent needs -hosts")
	case (len(o.crowded) > 0 || o.busy) && (len(o.hosts) > 0 || o.rdma || o.ofi != ""):
		return errors.New("-crowded and -busy: on this machine only, not over RDMA or " +
			"libfabric")
	case o.nodes < 1 || o.nodes > 64 || o.runs < 1 || o.starts < 1 || o.reps < 0 || o.reps > 99:
		return errors.New("-nodes must be 1..64, -runs and -starts at least 1, -reps 1..99")
	}
	for _, name := range o.only {
		if !known(name) {
			return fmt.Errorf("-only %s: no such group", name)
		}
	}
	o.nodes = max(o.nodes, len(o.hosts))
	if o.reps == 0 && o.quick {
		o.reps = 3
	} else if o.reps == 0 {
		o.reps = 11
	}
	return o.findBuilds()
}

// findBuilds makes the builds absolute and finds the workers, which are beside this program.
func (o *options) findBuilds() error {
	self, err := figure.Beside()
	if err != nil {
		return err
	}
	o.workers = self
	if o.build == "" {
		o.build = filepath.Dir(self)
	}
	for _, dir := range []*string{&o.build, &o.against} {
		if *dir == "" {
			continue
		}
		if *dir, err = filepath.Abs(*dir); err != nil {
			return err
		}
	}
	return nil
}

// measureJobs runs the jobs and writes what is asked for.
func (o *options) measureJobs(jobs []job, out io.Writer) error {
	bars, err := loadBars(ourBars, o.network())
	if err != nil {
		return err
	}
	r := report{out: out, bars: bars}
	var failed error
	for _, j := range jobs {
		if err := o.start(j, o.build, r.addRow, &r.wrong); err != nil {
			fmt.Fprintf(os.Stderr, "bench: %v\n", err)
			failed = errors.Join(failed, err)
		}
	}
	if err := o.besideUCX(r.figures(), r.addRow); err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		failed = errors.Join(failed, err)
	}
	r.printSummary()
	if r.wrong > 0 {
		failed = errors.Join(failed, fmt.Errorf("%d totals are not exact", r.wrong))
	}
	failed = errors.Join(failed, o.writeRows(r.figures(), o.reps))
	if o.markdown != "" {
		failed = errors.Join(failed, figure.WriteFile(o.markdown,
			func(w io.Writer) error { writeMarkdown(w, r.rows); return nil }))
	}
	if o.svg != "" {
		failed = errors.Join(failed, figure.Draw(o.svg, o.plots(), r.figures(),
			figure.Footer(config.Version, o.reps)))
	}
	return failed
}

// writeRows writes the files of rows that are asked for.
func (o *outputOptions) writeRows(rows []figure.Row, repetitions int) error {
	run := figure.Run{Version: config.Version, Repetitions: repetitions}
	if len(rows) > 0 {
		run.Where = rows[0].Where
	}
	return figure.WriteFiles(o.csv, o.json, run, rows)
}

// start runs one job with the library and the launcher of a build.
func (o *options) start(j job, build string, add func(figure.Row), wrong *int) error {
	run := j.with(build, o)
	if o.verbose {
		fmt.Fprintln(os.Stderr, strings.Join(append(run.Env, run.Argv...), " "))
	}
	if j.busy {
		defer busy()()
	}
	bad, err := run.Run(add)
	*wrong += bad
	return err
}
