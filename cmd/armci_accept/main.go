// SPDX-License-Identifier: BSD-3-Clause

// Command armci_accept tries the library on a user's nodes, with cards and networks that its
// authors may never have seen, and writes a report without names. Here are the command line and the
// order of the parts; each part is in a file of its own. It decides nothing that the library
// decides.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

const usage = `usage: armci_accept [OPTION]... LAUNCHER [ARGUMENT]...

Tries the library on the nodes on which LAUNCHER starts ranks: what is there, whether
random operations over every network give exact results, how fast they are beside the
network itself, what more ranks cost, and an application. Writes a report without names
of hosts and people. Two nodes are enough:

    armci_accept srun -N 2 -n 4
    armci_accept mpirun -n 4 --host a:2,b:2
    armci_accept armcirun -nodes 2 -n 2

LAUNCHER is started several times, each time with a program behind its arguments. The
number behind -n, -np or --ntasks is the number of ranks; it is made smaller for jobs of
fewer ranks.

  -o PREFIX          write PREFIX.txt and PREFIX.json (default armci_accept)
  -transports LIST   only over these, which must then be usable: tcp, rdma, ofi:PROVIDER,
                     comma-separated (default those that all nodes can use, or
                     ARMCI_TRANSPORT if that is set)
  -only LIST         only these parts: correctness, speed, growth, application
  -seconds N         of random operations over each transport (default 20, quick 1)
  -starts N          of each measurement (default 3, quick 1)
  -seed N            of the random operations: repeats those of a report (default by the time)
  -quick             a minute at most, which shows that everything works, but no speed
  -v                 print the command of every job
  -h                 print this

The exit status is 0 if all passed, 1 if not, 2 for a wrong command line.
`

// parts are what -only chooses from, in the order in which they run.
var parts = []string{"correctness", "speed", "growth", "application"}

// options is the command line.
type options struct {
	prefix          string
	transports      []string // empty: those that can be used
	only            []string // of parts
	seconds, starts int
	seed            int64
	quick, verbose  bool
	launcher        launcher
}

// main is also the program of ranks that look at their node, and of processes that probe a
// transport for them.
func main() {
	if len(os.Args) == 3 && os.Args[1] == rankOption {
		runtime.LockOSThread() // MPI is called on the main thread only
		asked := list(os.Args[2])
		if os.Args[2] == allTransports {
			asked = nil
		}
		exitIf(describeNodes(os.Stdout, asked))
		return
	}
	if len(os.Args) == 3 && os.Args[1] == probeOption {
		exitIf(probe(os.Stdout, os.Args[2]))
		return
	}
	o, err := parse(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(usage)
		return
	case err != nil:
		fmt.Fprintf(os.Stderr, "armci_accept: %v\n%s", err, usage)
		os.Exit(2)
	}
	passed, err := o.accept()
	exitIf(err)
	if !passed {
		os.Exit(1)
	}
}

func exitIf(err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "armci_accept: %v\n", err)
		os.Exit(1)
	}
}

// parse reads and checks the command line.
func parse(args []string) (*options, error) {
	o := &options{}
	var only, transports string
	f := flag.NewFlagSet("armci_accept", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&o.prefix, "o", "armci_accept", "")
	f.StringVar(&transports, "transports", "", "")
	f.StringVar(&only, "only", strings.Join(parts, ","), "")
	f.IntVar(&o.seconds, "seconds", 0, "")
	f.IntVar(&o.starts, "starts", 0, "")
	f.Int64Var(&o.seed, "seed", 0, "")
	f.BoolVar(&o.quick, "quick", false, "")
	f.BoolVar(&o.verbose, "v", false, "")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	o.only, o.transports = list(only), list(transports)
	o.launcher = newLauncher(f.Args())
	return o, o.check()
}

// check refuses what cannot be meant, and fills in defaults.
func (o *options) check() error {
	for _, name := range o.only {
		if !slices.Contains(parts, name) {
			return fmt.Errorf("-only %s: there is no such part", name)
		}
	}
	for _, name := range o.transports {
		if _, err := parseTransport(name); err != nil {
			return err
		}
	}
	switch {
	case len(o.launcher.words) == 0:
		return errors.New("no LAUNCHER")
	case o.seconds < 0 || o.seconds > 3600:
		return fmt.Errorf("-seconds %d: must be 1..3600", o.seconds)
	case o.starts < 0 || o.starts > 99:
		return fmt.Errorf("-starts %d: must be 1..99", o.starts)
	case o.seed < 0:
		return fmt.Errorf("-seed %d: must be at least 1", o.seed)
	}
	o.seconds = o.pace(o.seconds, 1, 20)
	o.starts = o.pace(o.starts, 1, 3)
	if o.seed == 0 {
		o.seed = 1 + time.Now().Unix()%1_000_000_000
	}
	return nil
}

// pace is what was asked for; else a number for a quick run, or for the usual one.
func (o *options) pace(asked, quick, usual int) int {
	switch {
	case asked > 0:
		return asked
	case o.quick:
		return quick
	}
	return usual
}

// list are the words of a list with commas.
func list(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return c == ',' })
}
