// SPDX-License-Identifier: BSD-3-Clause

// One acceptance from start to end: the parts in their order, what they share, and the files.

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"libarmci/internal/figure"
)

// acceptance is what the parts share.
type acceptance struct {
	*options
	report    *Report
	names     *names
	pretended bool // all nodes are one machine
	// transports over which the random operations were right, the best first
	good []transport
}

// accept runs all parts and writes the report; it tells whether all passed.
func (o *options) accept() (bool, error) {
	a := &acceptance{options: o, report: newReport(o), names: newNames()}
	begun := time.Now()
	a.report.Command = a.names.words(append([]string{"armci_accept"}, os.Args[1:]...))
	if err := a.runParts(); err != nil {
		a.report.fail("%v", err)
	}
	a.report.Seconds = time.Since(begun).Seconds()
	a.report.conclude()
	where, err := "", a.save()
	if err == nil {
		where = fmt.Sprintf("; the report is in %s.txt and %s.json", o.prefix, o.prefix)
	}
	err = errors.Join(err, a.report.writeText(os.Stdout))
	a.progress("%s%s", a.report.Verdict, where)
	return a.report.Verdict == passed, err
}

// save writes both files, without names.
func (a *acceptance) save() error {
	a.names.clean(a.report)
	err := figure.WriteFile(a.prefix+".json", a.report.writeJSON)
	if err == nil {
		err = figure.WriteFile(a.prefix+".txt",
			func(w io.Writer) error { return a.report.writeText(w) })
	}
	return err
}

// runParts runs the parts that were asked for. What there is of the report is written after each,
// since a batch job may end before all have run.
func (a *acceptance) runParts() error {
	a.progress("looking at the nodes")
	if err := a.lookAround(); err != nil {
		return err
	}
	some, err := a.choose()
	if err != nil {
		return err
	}
	a.good = some
	for _, part := range []struct {
		name string
		run  func()
	}{{"correctness", a.checkAll}, {"speed", a.measureSpeed}, {"growth", a.measureGrowth},
		{"application", a.runApplications}} {
		switch {
		case !slices.Contains(a.only, part.name):
			a.report.note("Not asked for: %s.", part.name)
		case len(a.good) == 0:
			a.report.note("Not tried, since no transport is good: %s.", part.name)
		default:
			part.run()
			if err := a.save(); err != nil {
				return err
			}
		}
	}
	return nil
}

// progress says what comes next, since a part may take minutes.
func (a *acceptance) progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "armci_accept: %s\n", fmt.Sprintf(format, args...))
}

// program is a program that is installed with this command.
func program(name string) (string, error) {
	file, err := figure.Beside("..", "libexec", "armci", name)
	if err != nil {
		return "", fmt.Errorf("%s is not installed", name)
	}
	return filepath.Abs(file)
}

// limit is how long a job may take that should take so long: launchers of large machines need a
// minute to start one. Until the first job has told its ranks, those of the launcher's words count.
func (a *acceptance) limit(work time.Duration) time.Duration {
	return work + time.Minute + time.Duration(a.launcher.ranks)*time.Second/4
}

// repetitions is -r of workers.
func (a *acceptance) repetitions() string { return fmt.Sprint(a.pace(0, 2, 3)) }
