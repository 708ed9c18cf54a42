// SPDX-License-Identifier: BSD-3-Clause

// The command bench windows: MPI one-sided communication, natively under each
// MPI and over our preloaded library, by the plain MPI program of bench/windows;
// and what it has in common with bench caf (caf.go), the same for coarrays.
// This file is their command line and their rounds; series.go says under what the
// program is started, winreport.go and winplots.go what is made of its figures.
package main

import (
	"bytes"
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
	"libarmci/internal/config"
	"libarmci/internal/figure"
)

const windowsUsage = `usage: bench windows [OPTION]...

Measures MPI one-sided communication of a plain MPI program, natively and over our preloaded
library, by turns. What a series cannot do is said in the tables.

  -network NAME    node (the default), nodes (pretended ones, over TCP) or rdma (the same over RDMA)
  -hosts A,B,...   between these hosts, over TCP
  -agent COMMAND   what brings a command to a host, of -hosts
  -library FILE    the library that is preloaded (default lib/libarmci-mpirma.so of the build);
                   none: natively only
  -only LIST       figures, comma-separated: pingpong,bidirectional,get-fence,bandwidth,
                   synchronisation,overlap,skew,origins,small,fetch,swap,accumulate,strided,locks
  -series LIST     series, comma-separated: openmpi,openmpi-sm,openmpi-pt2pt,mpich,armci-openmpi,
                   armci-mpich
  -ranks N         at most (default 8): synchronisation and origins run with 2, 3, 4 and 8
  -runs N          starts of every series (default 3); their median counts
  -reps N          repetitions in each (default 5, quick 1)
  -best            the best repetition counts, not the median: on machines that are busy with
                   something else
  -quick           short runs that only show that everything works
  -out DIR         write NETWORK.csv, .json, .md and charts there
  -v               print the command of every job
`

// oneSided is bench windows.
var oneSided = suite{name: "windows", usage: windowsUsage, title: "One-sided communication of MPI",
	ranks:  8,
	series: allSeries, batches: allBatches, bars: &windowBars, plots: windowPlots}

// windows is a suite that is measured: its command line, and the figures so far.
type windows struct {
	*suite
	windowOptions
	dir     string // of the program
	figures table
	missing []absence
	wrong   int // results that were not exact
}

// windowOptions is the command line of bench windows and bench caf.
type windowOptions struct {
	network, agent       string
	library, out         string // the preloaded file, or "none"; a directory, "": no files
	hosts, only, chosen  []string
	most, runs, reps     int // ranks, starts of every series, repetitions in each
	quick, verbose, best bool
}

// absence is a figure that a series does not have.
type absence struct {
	series, figure string
	created        bool
	reason         string
}

// run is the command; args are those behind its name.
func (s *suite) run(args []string) error {
	w, err := s.parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Print(s.usage)
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", s.name, err, s.usage)
	}
	return w.measureSeries(os.Stdout)
}

// parse reads and checks the command line of a suite.
func (s *suite) parse(args []string) (*windows, error) {
	w := windows{suite: s}
	var hosts, only, series string
	f := flag.NewFlagSet("bench "+s.name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&w.network, "network", "node", "")
	f.StringVar(&hosts, "hosts", "", "")
	f.StringVar(&w.agent, "agent", "", "")
	f.StringVar(&w.library, "library", "", "")
	f.StringVar(&only, "only", "", "")
	f.StringVar(&series, "series", "", "")
	f.IntVar(&w.most, "ranks", s.ranks, "")
	f.IntVar(&w.runs, "runs", 3, "")
	f.IntVar(&w.reps, "reps", 0, "")
	f.BoolVar(&w.quick, "quick", false, "")
	f.BoolVar(&w.best, "best", false, "")
	f.StringVar(&w.out, "out", "", "")
	f.BoolVar(&w.verbose, "v", false, "")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	w.hosts, w.only, w.chosen = launch.List(hosts), launch.List(only), launch.List(series)
	return &w, w.checkWindows()
}

// checkWindows refuses what cannot be meant, and fills in defaults.
func (w *windows) checkWindows() (err error) {
	if len(w.hosts) > 0 {
		w.network = "hosts"
		w.most = min(w.most, len(w.hosts))
	}
	switch {
	case !slices.Contains([]string{"node", "nodes", "hosts", "rdma"}, w.network) ||
		w.network == "hosts" && len(w.hosts) == 0:
		return fmt.Errorf("-network %s: want node, nodes or rdma; or -hosts", w.network)
	case w.network == "hosts" && w.most < 2 || w.agent == "" && w.network == "hosts":
		return errors.New("-hosts: at least two, and -agent")
	case w.most < 2 || w.most > 64 || w.runs < 1 || w.reps < 0 || w.reps > 99:
		return errors.New("-ranks must be 2..64, -runs at least 1, -reps 1..99")
	}
	for _, name := range w.only {
		if !slices.ContainsFunc(w.batches,
			func(b batch) bool { return slices.Contains(b.figures, name) }) {
			return fmt.Errorf("-only %s: no such figure", name)
		}
	}
	for _, name := range w.chosen {
		if !slices.ContainsFunc(w.series, func(s series) bool { return s.name == name }) {
			return fmt.Errorf("-series %s: no such series", name)
		}
	}
	if w.reps == 0 {
		w.reps = map[bool]int{true: 1, false: 5}[w.quick]
	}
	if w.dir, err = figure.Beside(); err != nil {
		return err
	}
	if w.library == "" {
		w.library = filepath.Join(filepath.Dir(w.dir), "lib", "libarmci-mpirma.so")
	}
	if w.library != "none" {
		w.library, err = filepath.Abs(w.library)
	}
	return err
}

// measureSeries runs every batch under every series, in rounds, and writes what is asked for.
func (w *windows) measureSeries(out io.Writer) error {
	all := w.availableSeries()
	if len(all) == 0 {
		return fmt.Errorf("%s: no series can be measured here: no MPI, or no program of "+
			"it (target armci_bench)", w.name)
	}
	for run := range w.runs {
		for _, b := range w.asked() {
			for i := range all {
				s := all[(i+run)%len(all)] // none always follows the same
				fmt.Fprintf(os.Stderr, "run %d of %d, %s, %s\n", run+1, w.runs,
					b.String(), s.title)
				w.start(s, b)
			}
		}
	}
	bars, err := loadBars(*w.bars, w.barNetwork())
	if err != nil {
		return err
	}
	report := func(to io.Writer) error { w.writeTables(to, all, bars); return nil }
	if w.wrong > 0 {
		err = fmt.Errorf("%s: %d results are not exact", w.name, w.wrong)
	}
	if report(out); w.out == "" {
		return err
	}
	if err := os.MkdirAll(w.out, 0o777); err != nil {
		return err
	}
	rows, name := w.rows(), filepath.Join(w.out, w.network)
	files := outputOptions{csv: name + ".csv", json: name + ".json"}
	return errors.Join(err,
		figure.WriteFile(name+".md", report),
		files.writeRows(rows, w.runs),
		w.draw(w.out, w.network, rows, figure.Footer(config.Version, w.runs*w.reps)))
}

// start starts a series on a batch, again for what comes after a figure that it does not survive.
func (w *windows) start(s *series, b batch) {
	left := slices.DeleteFunc(slices.Clone(b.figures),
		func(f string) bool { return w.isMissing(s, f, b.created) })
	for len(left) > 0 {
		running, reason, ended := "", "", false
		var stderr bytes.Buffer
		j := figure.Job{Title: s.title, Argv: s.argv(w, b, left), Env: s.env,
			Limit: w.patience(), Err: &stderr}
		if w.verbose {
			fmt.Fprintln(os.Stderr, strings.Join(append(j.Env, j.Argv...), " "))
		}
		j.Other = func(word, rest string) {
			switch word {
			case "BEGIN":
				running = rest
			case "END": // what comes then is no figure
				ended = true
			case "SKIP":
				_, why, _ := strings.Cut(rest, "\t")
				w.missing = append(w.missing, absence{s.title, running, b.created,
					why})
			}
		}
		begin := time.Now()
		var rows []figure.Row
		wrong, err := j.Run(func(r figure.Row) { rows = append(rows, r) })
		w.wrong += wrong
		if !w.keepFigures(s, b.created, left, rows, stderr.Bytes()) {
			return
		}
		if err == nil || ended {
			return
		}
		if w.verbose {
			os.Stderr.Write(stderr.Bytes())
		}
		if running == "" {
			running = left[0]
		}
		if reason = w.why(stderr.String(), err); time.Since(begin) >= w.patience() {
			reason = late
		}
		w.missing = append(w.missing, absence{s.title, running, b.created, reason})
		left = left[slices.Index(left, running)+1:]
	}
}

// keepFigures takes the figures of a start. If a preloaded library says something, the windows may
// be the MPI's own: then all figures are missing, and it is false.
func (w *windows) keepFigures(s *series, created bool, named []string, rows []figure.Row,
	stderr []byte) bool {
	line := figure.LibrarySays(stderr)
	if s.preloads() && line != "" {
		for _, name := range named {
			w.missing = append(w.missing, absence{s.title, name, created, line})
		}
		return false
	}
	for _, r := range rows {
		w.figures.addRow(r)
	}
	return true
}

// late is a reason that may not be one the next time.
const late = "took too long"

func (w *windows) patience() time.Duration {
	if w.quick {
		return 20 * time.Second
	}
	return 2 * time.Minute
}

func (w *windows) isMissing(s *series, name string, created bool) bool {
	return slices.ContainsFunc(w.missing, func(a absence) bool {
		return a.series == s.title && a.figure == name && a.created == created &&
			a.reason != late
	})
}

// why looks for the line that says what happened.
func (w *windows) why(stderr string, err error) string {
	for _, word := range []string{"Signal: ", "exited on signal", "BAD TERMINATION",
		"error class", "MPI_ERR", "rror", w.name + ":", "armci"} {
		for line := range strings.Lines(stderr) {
			if strings.Contains(line, word) &&
				!strings.Contains(line, "Process received") {
				return strings.Trim(strings.TrimSpace(line), "=* ")
			}
		}
	}
	text := err.Error()
	text = text[strings.LastIndex(text, ": ")+2:]
	for line := range strings.Lines(stderr) { // whatever it says first
		if line = strings.Trim(line, "-\n "); line != "" {
			return text + ": " + line
		}
	}
	return text
}
