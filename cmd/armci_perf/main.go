// SPDX-License-Identifier: BSD-3-Clause

// Command armci_perf measures the library against raw baselines. This file is
// its command line; plan.go says which jobs are run, job.go runs one, and the
// C worker in worker/ does the measuring. No figure is judged here: the bars
// it prints are reference values.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

const usage = `usage: armci_perf [OPTION]...

Measures the ARMCI operations of this machine beside raw baselines, in the same
run and alternating, and prints one line a figure: operation, bytes, ranks,
ours, raw, their ratio, and the bar the project has set itself.

  -quick             short runs that only show that everything works
  -only LIST         groups to run, comma-separated; -list names them
  -list              print the groups and what each measures
  -reps N            repetitions of every figure (default 11, quick 3)
  -mpi LIST          MPIs to compare broadcast and reductions with: openmpi,
                     mpich, all that are here (auto, the default), or none
  -csv FILE          write the figures as CSV too
  -markdown FILE     write a line for each operation as a table for documents
  -svg DIRECTORY     draw plots of figures over size
  -nodes N           measure between nodes, beside raw sockets: one rank on each
                     of N pretended nodes, or, with -launcher, on N real ones;
                     most figures are about two, those about all want 3 or more
  -hosts A,B,...     measure between these hosts, as armcirun starts ranks there
  -rdma              measure between hosts over RDMA instead, beside raw verbs
  -agent COMMAND     what brings a command to a host (default armcirun's: ssh)
  -launcher COMMAND  start every job with COMMAND, for example
                     "mpirun -n 2", instead of armcirun and the MPIs' own
  -worker FILE       the worker program -launcher starts (default perf-none)
  -workers DIRECTORY where the workers are (default ../libexec/armci beside
                     this program)
  -bars FILE         another table of bars
  -v                 print the command of every job
  -h                 print this

The exit status is 0 if every job ended well and every exact total was exact,
1 if not, 2 for a wrong command line. No figure makes it fail.
`

// options is the command line.
type options struct {
	quick, list, verbose     bool
	rdma                     bool
	only, mpi                []string
	reps                     int
	csv, markdown, svg       string
	nodes                    int
	hosts                    []string
	agent                    string
	launcher                 []string
	worker, workers, barFile string
}

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
		printGroups(os.Stdout)
		return
	}
	ok, err := run(o, os.Stdout)
	if err != nil {
		fmt.Fprintf(os.Stderr, "armci_perf: %v\n", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

func parse(args []string) (options, error) {
	var o options
	var only, mpi, launcher, hosts string
	f := flag.NewFlagSet("armci_perf", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.BoolVar(&o.quick, "quick", false, "")
	f.BoolVar(&o.list, "list", false, "")
	f.BoolVar(&o.verbose, "v", false, "")
	f.StringVar(&only, "only", "", "")
	f.StringVar(&mpi, "mpi", "auto", "")
	f.IntVar(&o.reps, "reps", 0, "")
	f.StringVar(&o.csv, "csv", "", "")
	f.StringVar(&o.markdown, "markdown", "", "")
	f.StringVar(&o.svg, "svg", "", "")
	f.IntVar(&o.nodes, "nodes", 1, "")
	f.StringVar(&hosts, "hosts", "", "")
	f.BoolVar(&o.rdma, "rdma", false, "")
	f.StringVar(&o.agent, "agent", "", "")
	f.StringVar(&launcher, "launcher", "", "")
	f.StringVar(&o.worker, "worker", "", "")
	f.StringVar(&o.workers, "workers", "", "")
	f.StringVar(&o.barFile, "bars", "", "")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	o.only, o.mpi, o.launcher = words(only), words(mpi), strings.Fields(launcher)
	o.hosts = words(hosts)
	return o, o.check(f.Args())
}

func (o *options) check(rest []string) error {
	if len(rest) > 0 {
		return fmt.Errorf("unexpected argument %q", rest[0])
	}
	for _, name := range o.only {
		if g := findGroup(name); g == nil {
			return fmt.Errorf("-only %s: no such group; -list names them", name)
		} else if g.rdma != o.rdma {
			return fmt.Errorf("-only %s: with -rdma those over RDMA, without it the others", name)
		}
	}
	for _, name := range o.mpi {
		if name != "auto" && name != "none" && name != "openmpi" && name != "mpich" {
			return fmt.Errorf("-mpi %s: must be openmpi, mpich, auto or none", name)
		}
	}
	if o.reps < 0 || o.reps > 99 {
		return fmt.Errorf("-reps %d: must be 1..99", o.reps)
	}
	if err := o.checkHosts(); err != nil {
		return err
	}
	if o.nodes < 1 || o.nodes > 64 {
		return fmt.Errorf("-nodes %d: must be 1..64", o.nodes)
	}
	if o.worker != "" && len(o.launcher) == 0 {
		return errors.New("-worker needs -launcher")
	}
	if o.reps == 0 {
		o.reps = 11
		if o.quick {
			o.reps = 3
		}
	}
	return nil
}

// checkHosts makes nodes the number of hosts if any are given.
func (o *options) checkHosts() error {
	switch n := len(o.hosts); {
	case n == 0 && o.rdma:
		return errors.New("-rdma needs -hosts")
	case n == 0 && o.agent != "":
		return errors.New("-agent needs -hosts")
	case n == 0:
		return nil
	case n == 1:
		return errors.New("-hosts: at least two")
	case o.nodes > 1 || len(o.launcher) > 0:
		return errors.New("-hosts, -nodes and -launcher: not together")
	default:
		o.nodes = n
		return nil
	}
}

func words(list string) []string {
	return strings.FieldsFunc(list, func(c rune) bool { return c == ',' || c == ' ' })
}
