// SPDX-License-Identifier: BSD-3-Clause

// The command bench run: any program that prints the lines of timing.h, in whatever language.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"libarmci/internal/figure"
)

// runProgram runs a program and prints its figures as bench prints its own. args are options and
// the program's command line.
func runProgram(args []string, out io.Writer) error {
	var o outputOptions
	f := flag.NewFlagSet("bench run", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&o.csv, "csv", "", "")
	f.StringVar(&o.json, "json", "", "")
	if err := f.Parse(args); err != nil {
		return fmt.Errorf("run: %w\n%s", err, usage)
	}
	if f.NArg() == 0 {
		return errors.New("run: what command?\n" + usage)
	}
	r, repetitions := report{out: out}, 0
	j := figure.Job{Title: strings.Join(f.Args(), " "), Argv: f.Args()}
	wrong, err := j.Run(func(row figure.Row) {
		r.addRow(row)
		repetitions = max(repetitions, len(row.Samples))
	})
	if r.wrong = wrong; wrong > 0 {
		err = errors.Join(err, fmt.Errorf("%d results are not exact", wrong))
	}
	r.printSummary()
	return errors.Join(err, o.writeRows(r.figures(), repetitions))
}
