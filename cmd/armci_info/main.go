// SPDX-License-Identifier: BSD-3-Clause

// Command armci_info shows what the library finds on this machine, or in the job that it was
// started in: here are the command line and the order of the sections. It changes nothing and
// measures nothing.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"

	"libarmci/internal/bootstrap"
	"libarmci/internal/config"
	"libarmci/internal/drivers"
)

const usage = `usage: armci_info [-bcdht]
       armci_info -s [PID]
       armci_info -m FILE

Shows what the ARMCI library finds here and why. Without options, everything.

  -b  version and build
  -c  every setting: meaning, kind, unit and origin, and a line NAME=value that can be pasted
      into a shell
  -d  transports, usable or why not; the arena that the ranks of a node share; memory and what
      limits it
  -t  the map of ranks and nodes; started by armcirun or an MPI launcher, that of the job
  -s  counters of the running jobs of this user on this host, or of one process; they must have
      been started with ARMCI_STATS=1
  -m  put the files FILE.0, FILE.1, ... of ARMCI_TRACE=FILE together into FILE, and remove them
  -h  print this

The exit status is 0; 1 if something that the library needs is missing or a setting cannot be
read; 2 for a wrong command line.
`

const (
	statusMissing = 1
	statusUsage   = 2
)

// sections says what is wanted.
type sections struct {
	build, config, devices, topology bool
	running                          bool
	pid                              int
	merge                            string
}

// parse reads the options that select sections; without any, all are selected.
func parse(args []string) (sections, error) {
	var s sections
	flags := flag.NewFlagSet("armci_info", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.BoolVar(&s.build, "b", false, "")
	flags.BoolVar(&s.config, "c", false, "")
	flags.BoolVar(&s.devices, "d", false, "")
	flags.BoolVar(&s.topology, "t", false, "")
	flags.BoolVar(&s.running, "s", false, "")
	flags.StringVar(&s.merge, "m", "", "")
	if err := flags.Parse(split(args)); err != nil {
		return s, err
	}
	if alone := s; s.running || s.merge != "" {
		alone.running, alone.merge = false, ""
		if alone != (sections{}) || s.running && s.merge != "" || s.merge != "" &&
			flags.NArg() > 0 {
			return s, errors.New("-s and -m go with nothing else")
		}
		var err error
		s.pid, err = pidOf(flags.Args())
		return s, err
	}
	if flags.NArg() > 0 {
		return s, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if s == (sections{}) {
		s = sections{build: true, config: true, devices: true, topology: true}
	}
	return s, nil
}

// split lets options be written together: -bc is -b -c.
func split(args []string) []string {
	var all []string
	for _, a := range args {
		if len(a) < 3 || a[0] != '-' || a[1] == '-' {
			all = append(all, a)
			continue
		}
		for _, c := range a[1:] {
			all = append(all, "-"+string(c))
		}
	}
	return all
}

// main prints the selected sections: statusUsage is a wrong option, statusMissing an error.
func main() {
	runtime.LockOSThread() // MPI is called on the main thread only
	s, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		fmt.Print(usage)
		return
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "armci_info: %v\n%s", err, usage)
		os.Exit(statusUsage)
	}
	show := show
	switch {
	case s.running:
		show = func(out io.Writer, s sections) error { return showRunning(out, s.pid) }
	case s.merge != "":
		show = func(out io.Writer, s sections) error { return mergeTrace(out, s.merge) }
	}
	if err := show(os.Stdout, s); err != nil {
		if config.Launcher().Rank <= 0 { // rank 0 speaks for all
			fmt.Fprintf(os.Stderr, "armci_info: %v\n", err)
		}
		os.Exit(statusMissing)
	}
}

// show prints the sections; in a job, on rank 0 only. It returns what is missing.
func show(out io.Writer, s sections) error {
	cfg, err := config.LoadFrom(bootstrap.Environ())
	if err == nil {
		err = drivers.Check(cfg)
	}
	if config.Launcher().Rank > 0 {
		out = io.Discard
	}
	if s.build {
		showBuild(out)
	}
	if err != nil {
		return err
	}
	var missing error
	if s.topology || s.devices {
		missing = showJob(out, cfg, s)
	}
	if s.config {
		showSettings(out, cfg)
	}
	return missing
}
