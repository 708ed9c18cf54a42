// SPDX-License-Identifier: BSD-3-Clause

// Command papers reruns the experiments of the papers that the library follows, and
// draws their figures beside what the papers say. It is not installed; run.sh
// starts it where there are hosts. This file is its command line; experiments.go
// says what is run, figures.go what is drawn.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"libarmci/bench/launch"
	"libarmci/internal/figure"
)

const usage = `usage: papers -out DIR [OPTION]...

Runs what the figures need and writes DIR/papers.html, DIR/papers.md and DIR/figures. What
DIR/data has is not run again.

  -out DIR         where everything is written
  -only LIST       figures, comma-separated (default all); -list names them
  -hosts A,B,...   hosts; without, ranks of several hosts run on pretended nodes of this one
  -agent COMMAND   what brings a command to a host
  -source DIR      the sources (default: the directory above the build)
  -runs N          starts of each step (default 3, of -quick 1); the median counts
  -quick           the smallest problems, on two ranks, to show that everything works; kept in
                   DIR/quick
  -list            print the figures and stop
  -draw            run nothing, draw what DIR/data has
  -keep DATA       put what was measured into DATA, as bench/papers/data, of which
                   go test ./bench/papers -update makes docs/papers.md and its pictures
  -note TEXT       what else there is to say of this run, with -keep
  -v               print the command of every step
`

// options is the command line of papers, with the programs that were found.
type options struct {
	dir, build, source, agent  string
	kept, note                 string // the figures that are kept, and what to say of new ones
	hosts, figures             []string
	quick, list, draw, verbose bool
	runs                       int
	left                       []string // what cannot be done here
	programs
}

// programs are what not every machine has.
type programs struct {
	device, blas string // the software verbs device; OpenBLAS
	ucx          bool   // it finds that device
}

// main lists the figures, or measures and draws them: status 2 is a wrong command line.
func main() {
	o, err := parse(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(usage)
		return
	case err != nil:
		fmt.Fprintf(os.Stderr, "papers: %v\n%s", err, usage)
		os.Exit(2)
	case o.list:
		for i := range figures {
			fmt.Printf("%-12s %s\n", figures[i].id, figures[i].title)
		}
		return
	}
	if err := o.runAndDraw(); err != nil {
		fmt.Fprintf(os.Stderr, "papers: %v\n", err)
		os.Exit(1)
	}
}

// parse reads the command line and finds the programs that its steps need.
func parse(args []string) (*options, error) {
	var o options
	var hosts, only string
	f := flag.NewFlagSet("papers", flag.ContinueOnError)
	f.Usage = func() {}
	f.SetOutput(io.Discard)
	f.StringVar(&o.dir, "out", "", "")
	f.StringVar(&only, "only", "", "")
	f.StringVar(&hosts, "hosts", "", "")
	f.StringVar(&o.agent, "agent", "", "")
	f.StringVar(&o.source, "source", "", "")
	f.StringVar(&o.kept, "keep", "", "")
	f.StringVar(&o.note, "note", "", "")
	f.IntVar(&o.runs, "runs", 0, "")
	f.BoolVar(&o.quick, "quick", false, "")
	f.BoolVar(&o.list, "list", false, "")
	f.BoolVar(&o.draw, "draw", false, "")
	f.BoolVar(&o.verbose, "v", false, "")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	o.hosts, o.figures = launch.List(hosts), launch.List(only)
	given := false
	f.Visit(func(f *flag.Flag) { given = given || f.Name == "runs" })
	if !given {
		o.runs = map[bool]int{true: 1, false: fewestReps}[o.quick]
	}
	if o.list {
		return &o, nil
	}
	switch {
	case f.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.dir == "":
		return nil, errors.New("no -out")
	case len(o.hosts) > 0 && o.agent == "":
		return nil, errors.New("-hosts needs -agent")
	case o.kept != "" && o.quick:
		return nil, errors.New("-quick is not kept")
	case o.runs < 1 || o.runs > 99:
		return nil, errors.New("-runs must be 1..99")
	}
	for _, id := range o.figures {
		if !slices.ContainsFunc(figures, func(f paperFigure) bool { return f.id == id }) {
			return nil, fmt.Errorf("no figure %q; -list names them", id)
		}
	}
	return &o, o.findPrograms()
}

// findPrograms makes directories absolute, and looks for what the steps need.
func (o *options) findPrograms() error {
	bench, err := figure.Beside()
	if err != nil {
		return err
	}
	o.build = filepath.Dir(bench)
	if o.source == "" {
		o.source = filepath.Dir(o.build)
	}
	if o.dir, err = filepath.Abs(o.dir); err == nil {
		o.source, err = filepath.Abs(o.source)
	}
	if device := filepath.Join(o.build, "tests", "softverbs"); err == nil {
		if _, err := os.Stat(filepath.Join(device, "libibverbs.so.1")); err == nil {
			o.device, o.ucx = device, launch.HasUCX()
		}
		err = os.MkdirAll(o.data(), 0o777)
	}
	if found, _ := filepath.Glob(filepath.Join(o.build, "openblas", "usr", "lib", "*",
		"openblas-serial", "libblas.so.3")); len(found) > 0 {
		o.blas = found[0]
	}
	return err
}

// noteSkipped notes what cannot be done here, once.
func (o *options) noteSkipped(reason string) {
	if !slices.Contains(o.left, reason) {
		o.left = append(o.left, reason)
	}
}

// wanted are the figures asked for.
func (o *options) wanted() []*paperFigure {
	var all []*paperFigure
	for i := range figures {
		if f := &figures[i]; len(o.figures) == 0 || slices.Contains(o.figures, f.id) {
			all = append(all, f)
		}
	}
	return all
}

// runAndDraw runs the steps and draws the figures. A step that fails does not keep the others from
// it.
func (o *options) runAndDraw() error {
	var needed []string
	for _, f := range o.wanted() {
		needed = append(needed, f.experiments()...)
	}
	steps := o.steps(needed)
	var failed error
	if !o.draw {
		failed = o.runAll(steps)
	}
	rows, err := o.readSteps(steps)
	failed = errors.Join(failed, err)
	if o.kept != "" {
		failed = errors.Join(failed, o.keep(steps))
	}
	for _, reason := range o.left {
		fmt.Println("left out:", reason)
	}
	return errors.Join(failed,
		o.writePages(rows, []run{today(0, "")}, o.dir, filepath.Join(o.dir, "figures")))
}

// runAll runs the steps that have no file yet, and returns the errors of all that failed.
func (o *options) runAll(steps []*step) error {
	var failed error
	begin, total := time.Now(), o.total(steps)
	fmt.Printf("%d steps, about %s on two processors\n", len(steps), total)
	for i, s := range steps {
		if _, err := os.Stat(o.file(s, "csv")); err == nil {
			continue
		}
		started := time.Now()
		fmt.Printf("[%d/%d, %s of about %s] %s", i+1, len(steps),
			started.Sub(begin).Round(time.Second), total, s)
		if o.runs > 1 {
			fmt.Printf(", run %d", s.run+1)
		}
		if o.verbose {
			fmt.Printf("\n%s\n", strings.Join(o.command(s).Argv, " "))
		}
		err := o.measureStep(s)
		failed = errors.Join(failed, err)
		fmt.Printf(": %.0f s%s\n", time.Since(started).Seconds(),
			map[bool]string{true: "", false: ", FAILED"}[err == nil])
	}
	return failed
}
