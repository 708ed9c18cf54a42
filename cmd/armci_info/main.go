// SPDX-License-Identifier: BSD-3-Clause

// Command armci_info shows what the library finds on this machine, or in the job that it was started in: here are the
// command line and the order of the sections. It changes nothing and measures nothing.
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
)

const usage = `usage: armci_info [-bcdht]

Shows what the ARMCI library finds here and why. Without options, everything.

  -b  version and build
  -c  every setting: meaning, kind, unit and origin, and a line NAME=value that can be pasted into a shell
  -d  transports, usable or why not; the arena that the ranks of a node share; memory and who limits it
  -t  the map of ranks and nodes; started by armcirun or an MPI launcher, that of the job
  -h  print this

The exit status is 0; 1 if something that the library needs is missing or a setting cannot be read; 2 for a wrong
command line.
`

const (
	statusMissing = 1
	statusUsage   = 2
)

// sections says what is wanted.
type sections struct {
	build, config, devices, topology bool
}

func parse(args []string) (sections, error) {
	var s sections
	flags := flag.NewFlagSet("armci_info", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.BoolVar(&s.build, "b", false, "")
	flags.BoolVar(&s.config, "c", false, "")
	flags.BoolVar(&s.devices, "d", false, "")
	flags.BoolVar(&s.topology, "t", false, "")
	if err := flags.Parse(split(args)); err != nil {
		return s, err
	}
	if flags.NArg() > 0 {
		return s, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if s == (sections{}) {
		s = sections{true, true, true, true}
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
