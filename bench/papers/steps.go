// SPDX-License-Identifier: BSD-3-Clause

// Steps: an experiment in one variant at one place, once. What a step has measured
// is kept in a file; a step whose file is there is not run again.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"libarmci/internal/figure"
)

// experiment is a program with its arguments, where it runs, and in which variants.
type experiment struct {
	name, program string // the program below build/bench; or a script below the sources
	first         string // options that come before all others
	args          string // of a full run
	quick         string // of a smoke run
	reps          int    // of a full run
	places        string
	fixed         bool // the number of ranks belongs to it
	variants      []variant
	seconds       int // of a step, about; see total
}

// variant is a setting in which an experiment runs.
type variant struct {
	name    string
	env     []string
	words   []string // of Open MPI's launcher
	preload bool     // MPI's one-sided communication by our library
	blas    bool     // OpenBLAS in the place of the system's BLAS
}

// named is an experiment by its name.
func named(name string) *experiment {
	return &experiments[slices.IndexFunc(experiments,
		func(e experiment) bool { return e.name == name })]
}

// step is one start: a variant of an experiment, at a place, in a run.
type step struct {
	*experiment
	place   place
	variant variant
	run     int
}

func (s *step) String() string {
	text := s.name + "@" + s.place.name
	if s.variant.name != "" {
		text += "@" + s.variant.name
	}
	return text
}

// data is where the figures of steps are kept: those of small problems apart.
func (o *options) data() string {
	if o.quick {
		return filepath.Join(o.dir, "quick")
	}
	return filepath.Join(o.dir, "data")
}

// file is what a step keeps, figures or its other output.
func (o *options) file(s *step, ending string) string {
	return filepath.Join(o.data(), fmt.Sprintf("%s.%d.%s", s, s.run, ending))
}

// smoke are the places of a quick run: a node, and two nodes.
func smoke(name string) string {
	switch {
	case strings.HasPrefix(name, "node-"):
		return "node-2"
	case strings.HasPrefix(name, "hosts-"):
		return "hosts-2x1"
	}
	return "rdma-2x1"
}

// steps lists what the wanted experiments need here, variants by turns within a run. What cannot be
// done is said once.
func (o *options) steps(wanted []string) []*step {
	var all []*step
	for run := range o.runs {
		for i := range experiments {
			e := &experiments[i]
			if slices.Contains(wanted, e.name) {
				all = append(all, o.stepsOf(e, run)...)
			}
		}
	}
	return all
}

// stepsOf returns the steps of an experiment that are possible here; the others are noted.
func (o *options) stepsOf(e *experiment, run int) []*step {
	var all []*step
	seen := map[string]bool{}
	for _, name := range strings.Fields(e.places) {
		if o.quick && !e.fixed {
			name = smoke(name)
		}
		p, err := o.parsePlace(name)
		if seen[name] {
			continue
		}
		if seen[name] = true; err != nil {
			o.noteSkipped(err.Error())
			continue
		}
		variants := e.variants
		if len(variants) == 0 {
			variants = []variant{{}}
		}
		for i := range variants {
			v := variants[(i+run)%len(variants)] // none always follows the same
			if v.blas && o.blas == "" && !o.quick {
				o.noteSkipped(e.name + ": no OpenBLAS (bench/apps/openblas.sh)")
				continue
			}
			if p.Network == "node" && slices.ContainsFunc(v.env,
				func(s string) bool { return strings.HasPrefix(s, "ARMCI_RDMA") }) {
				continue
			}
			if p.Network == "rdma" && v.name == messages {
				continue // they hang on the device, and shared memory is no peer
			}
			all = append(all, &step{e, p, v, run})
		}
	}
	return all
}

// total is how long the steps take that are still to be run, about.
func (o *options) total(all []*step) time.Duration {
	seconds := 0
	for _, s := range all {
		switch _, err := os.Stat(o.file(s, "csv")); {
		case err == nil:
		case o.quick:
			seconds += 3
		default:
			seconds += s.seconds
		}
	}
	return time.Duration(seconds) * time.Second
}

// command is the whole command line of a step.
func (o *options) command(s *step) figure.Job {
	j := figure.Job{Title: s.String(), Limit: time.Duration(6*s.seconds+60) * time.Second}
	argv, env := o.argv(s)
	j.Env = append(env, "BUILD="+o.build)
	if strings.HasSuffix(s.program, ".sh") {
		j.Argv = append([]string{filepath.Join(o.source, s.program), o.dir},
			strings.Fields(o.arguments(s))...)
		j.Argv = append(append(j.Argv, "--"), argv...)
		return j
	}
	j.Argv = append(argv, filepath.Join(o.build, "bench", s.program))
	j.Argv = append(j.Argv, strings.Fields(s.first)...)
	if o.quick {
		j.Argv = append(j.Argv, "-q")
	} else if s.reps > 0 {
		j.Argv = append(j.Argv, "-r", strconv.Itoa(s.reps))
	}
	j.Argv = append(j.Argv, strings.Fields(o.arguments(s))...)
	return j
}

func (o *options) arguments(s *step) string {
	if o.quick {
		return s.quick
	}
	return s.args
}

// notHere is the exit status of what is not possible on a machine.
const notHere = 77

// measureStep runs a step and keeps what it prints. One that fails leaves no file: the next run
// tries again.
func (o *options) measureStep(s *step) error {
	j := o.command(s)
	log, err := os.Create(o.file(s, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	var stderr bytes.Buffer
	j.Err = io.MultiWriter(log, &stderr)
	j.Other = func(word, rest string) { fmt.Fprintf(log, "%s\t%s\n", word, rest) }
	var rows []figure.Row
	wrong, err := j.Run(func(r figure.Row) { rows = append(rows, r) })
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == notHere {
		o.noteSkipped(s.String() + " (see " + log.Name() + ")")
		return nil
	}
	if wrong > 0 {
		err = errors.Join(err, fmt.Errorf("%d results are wrong", wrong))
	}
	if line := figure.LibrarySays(stderr.Bytes()); s.variant.preload && line != "" {
		err = errors.Join(err, fmt.Errorf("the windows may be the MPI's own: %s", line))
	}
	if err == nil && len(rows) == 0 {
		err = errors.New("no figures")
	}
	if err != nil {
		return fmt.Errorf("%s: %w (see %s)", s, err, log.Name())
	}
	return figure.WriteFile(o.file(s, "csv"),
		func(w io.Writer) error { return figure.WriteCSV(w, rows) })
}

// read are the figures of a step; none, if it was not run.
func (o *options) read(s *step) ([]figure.Row, error) {
	f, err := os.Open(o.file(s, "csv"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := figure.ReadCSV(f)
	if err != nil {
		err = fmt.Errorf("%s: %w", f.Name(), err)
	}
	return rows, err
}
