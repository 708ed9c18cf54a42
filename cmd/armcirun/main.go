// SPDX-License-Identifier: BSD-3-Clause

// Command armcirun starts a program on several ranks of this machine without
// MPI. Here is only its command line; package launch does the work.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"

	"libarmci/internal/bootstrap/launch"
)

const usage = `usage: armcirun [-n RANKS] [-nodes NODES] [-v] [--] PROGRAM [ARGUMENT]...

Starts RANKS copies of PROGRAM (default 1) on this machine as one ARMCI job.

  -n RANKS      number of ranks (also -np)
  -nodes NODES  pretend NODES hosts: ranks in blocks, ARMCI_NODE=node0, node1, ...
  -v            print when ranks start and end
  -h            print this

Rank 0 reads the standard input; the output of all ranks is left as it is. When
a rank fails, the others are ended: they have 1 s to notice it, 2 s after
SIGTERM, then SIGKILL. Signals are forwarded. The exit status is that of the
rank that failed first, 128 and the number of the signal that killed it, 126 or
127 if PROGRAM cannot be started, 2 for a wrong command line.
`

// Exit statuses of our own, as shells use them.
const (
	statusUsage     = 2
	statusCannotRun = 126
	statusNotFound  = 127
	mostRanks       = 4096
)

func main() {
	options, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		fmt.Print(usage)
		return
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "armcirun: %v\n%s", err, usage)
		os.Exit(statusUsage)
	}
	os.Exit(run(options))
}

func parse(args []string) (launch.Options, error) {
	o := launch.Options{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Report: os.Stderr}
	flags := flag.NewFlagSet("armcirun", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.IntVar(&o.Ranks, "n", 1, "")
	flags.IntVar(&o.Ranks, "np", 1, "")
	flags.IntVar(&o.Nodes, "nodes", 0, "")
	flags.BoolVar(&o.Verbose, "v", false, "")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.Argv = flags.Args()
	switch {
	case o.Ranks < 1 || o.Ranks > mostRanks:
		return o, fmt.Errorf("-n %d: must be 1..%d", o.Ranks, mostRanks)
	case o.Nodes < 0 || o.Nodes > o.Ranks:
		return o, fmt.Errorf("-nodes %d: must be 1..%d, the number of ranks", o.Nodes, o.Ranks)
	case len(o.Argv) == 0:
		return o, errors.New("no program given")
	}
	return o, nil
}

func run(o launch.Options) int {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, launch.Signals()...)
	job, err := launch.Start(o)
	if err != nil {
		fmt.Fprintf(os.Stderr, "armcirun: %v\n", err)
		return statusOf(err)
	}
	go func() {
		for s := range signals {
			job.Signal(s)
		}
	}()
	return job.Wait()
}

func statusOf(err error) int {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return statusNotFound
	}
	return statusCannotRun
}
