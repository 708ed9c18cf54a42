// SPDX-License-Identifier: BSD-3-Clause

// The command bench -waits: operations in which ranks wait for each other, by many
// starts of ours and of the MPIs by turns, on a quiet machine and on one that a
// program disturbs. This file is its command line; waitrun.go makes the starts,
// waitplan.go says what they are, waitrows.go which rows and bars there are, and
// waitreport.go what is made of the figures.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/bench/launch"
	"libarmci/internal/figure"
)

const waitUsage = `usage: bench -waits [OPTION]...

Measures operations in which ranks wait for each other: many starts of ours and
of the MPIs, by turns, on a quiet machine and on one where a program takes each
core for 1 ms out of every 10. Prints the median and the 90th percentile of the
starts, the ratio to the faster rival, and whether each bar is held. No figure
makes it fail.

  -starts N        starts of each way in each condition (default 20)
  -rows REGEXP     rows by name, PLACE/ROW: node-2/barrier; -list names them
  -quiet           without the program that disturbs only
  -disturbed       with it only
  -beside DIR      another build of ours, by turns with this one: before and after
  -build DIR       the build to measure (default the one bench is in)
  -mpi LIST        MPIs to compare with: openmpi,mpich (the default), or none
  -hosts A,B,...   hosts that are network namespaces of this machine (bench/waits.sh
                   makes them); without them ranks run on pretended nodes
  -agent COMMAND   what brings a command to a host, of -hosts
  -limit TIME      begin no further round after so long (default 2h); the tables
                   say how many starts there are
  -sample MS       length of a sample (default 20); a start takes the median of five
  -quick           samples of 1 ms, which only show that everything works
  -csv FILE        write the figure of every start as CSV
  -json FILE       write them as JSON
  -markdown FILE   write the tables for documents
  -list            print the rows and stop
  -v               print the command of every start
`

// waitOptions is the command line of bench -waits, with what was found on this machine.
type waitOptions struct {
	waitPrograms
	waitHosts
	outputOptions
	list, verbose, quick bool
	rows                 *regexp.Regexp // of PLACE/ROW
	conditions           []condition
	mpi                  []string      // to compare with
	starts               int           // of each way in each condition
	limit                time.Duration // no round begins after it
	sample               float64       // ms
}

// waitPrograms are the directories of builds, programs and the software verbs device.
type waitPrograms struct {
	build, beside string // beside "": no other build
	workers       string // of the programs that measure
	device        string // "": not built
}

// waitHosts is where ranks run.
type waitHosts struct {
	hosts []string // empty: pretended nodes
	agent string   // command that brings a command to a host
	cores []int    // of this machine that this process may use
}

// condition is what else the machine does.
type condition int

const (
	quiet     condition = iota
	disturbed           // a program takes each core for 1 ms out of every 10
)

func (c condition) String() string { return [...]string{"quiet", "disturbed"}[c] }

// runWaits is the command; args are those without -waits.
func runWaits(args []string) error {
	o, err := parseWaits(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Print(waitUsage)
		return nil
	}
	if err != nil {
		return fmt.Errorf("-waits: %w\n%s", err, waitUsage)
	}
	if !o.list {
		return o.measureWaits(os.Stdout)
	}
	for _, p := range o.chosen() {
		for _, r := range p.rows {
			fmt.Println(p.name + "/" + r.name)
		}
	}
	return nil
}

// parseWaits reads and checks the command line of bench -waits.
func parseWaits(args []string) (*waitOptions, error) {
	var o waitOptions
	var rows, mpi, hosts string
	var onlyQuiet, onlyDisturbed bool
	f := flag.NewFlagSet("bench -waits", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.IntVar(&o.starts, "starts", 20, "")
	f.StringVar(&rows, "rows", "", "")
	f.BoolVar(&onlyQuiet, "quiet", false, "")
	f.BoolVar(&onlyDisturbed, "disturbed", false, "")
	f.StringVar(&o.beside, "beside", "", "")
	f.StringVar(&o.build, "build", "", "")
	f.StringVar(&mpi, "mpi", "openmpi,mpich", "")
	f.StringVar(&hosts, "hosts", "", "")
	f.StringVar(&o.agent, "agent", "", "")
	f.DurationVar(&o.limit, "limit", 2*time.Hour, "")
	f.Float64Var(&o.sample, "sample", 20, "")
	f.BoolVar(&o.quick, "quick", false, "")
	f.StringVar(&o.csv, "csv", "", "")
	f.StringVar(&o.json, "json", "", "")
	f.StringVar(&o.markdown, "markdown", "", "")
	f.BoolVar(&o.list, "list", false, "")
	f.BoolVar(&o.verbose, "v", false, "")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if onlyQuiet && onlyDisturbed {
		return nil, errors.New("-quiet and -disturbed: not together; without them both")
	}
	o.mpi, o.hosts = launch.List(mpi), launch.List(hosts)
	o.conditions = conditions(onlyQuiet, onlyDisturbed)
	var err error
	if o.rows, err = regexp.Compile(rows); err != nil {
		return nil, fmt.Errorf("-rows: %w", err)
	}
	return &o, o.checkWaits()
}

// conditions are those to measure in: both, or the only one.
func conditions(onlyQuiet, onlyDisturbed bool) []condition {
	switch {
	case onlyQuiet:
		return []condition{quiet}
	case onlyDisturbed:
		return []condition{disturbed}
	}
	return []condition{quiet, disturbed}
}

// checkWaits refuses what cannot be meant.
func (o *waitOptions) checkWaits() error {
	switch {
	case o.starts < 1 || o.starts > 1000:
		return errors.New("-starts must be 1..1000")
	case !(o.sample >= 0.1 && o.sample <= 10000):
		return errors.New("-sample must be 0.1..10000 ms")
	case o.limit <= 0:
		return errors.New("-limit must be a time above 0, as 30m")
	case len(o.hosts) == 1:
		return errors.New("-hosts: at least two")
	case (len(o.hosts) > 0) != (o.agent != ""):
		return errors.New("-hosts and -agent: one needs the other")
	case len(o.chosen()) == 0:
		return fmt.Errorf("-rows %s: no such row; -list names them", o.rows)
	}
	if o.quick {
		o.sample = 1
	}
	return o.locate()
}

// locate finds the builds, the programs, the software device and the cores.
func (o *waitOptions) locate() (err error) {
	if o.workers, err = figure.Beside(); err != nil {
		return err
	}
	if o.build == "" {
		o.build = filepath.Dir(o.workers)
	}
	for _, dir := range []*string{&o.build, &o.beside} {
		if *dir == "" {
			continue
		}
		if *dir, err = filepath.Abs(*dir); err != nil {
			return err
		}
	}
	o.device = filepath.Join(o.build, "tests", "softverbs")
	if _, err := os.Stat(filepath.Join(o.device, "libibverbs.so.1")); err != nil {
		o.device = ""
	}
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return fmt.Errorf("the cores that may be used: %w", err)
	}
	for i := 0; len(o.cores) < set.Count(); i++ {
		if set.IsSet(i) {
			o.cores = append(o.cores, i)
		}
	}
	return nil
}
