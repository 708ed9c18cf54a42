// SPDX-License-Identifier: BSD-3-Clause

// The command bench -waits: operations in which ranks wait for each other, by many
// starts of ours and of the MPIs by turns, on a quiet machine and on one that a
// program disturbs. This file is its command line and its rounds; waitplan.go says
// what is started where, waitrows.go which rows and bars there are, waitreport.go
// what is made of the figures.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"libarmci/bench/launch"
	"libarmci/internal/figure"
)

const waitUsage = `usage: bench -waits [OPTION]...

Measures operations in which ranks wait for each other: many starts of ours and of the MPIs, by turns, on a
quiet machine and on one where a program takes each core for 1 ms out of every 10. Prints the median and the
90th percentile of the starts, the ratio to the faster rival, and whether each bar is held. No figure makes it fail.

  -starts N        starts of each way in each condition (default 20)
  -rows REGEXP     rows by name, PLACE/ROW: node-2/barrier; -list names them
  -quiet           without the program that disturbs only
  -disturbed       with it only
  -beside DIR      another build of ours, by turns with this one: before and after
  -build DIR       the build to measure (default the one bench is in)
  -mpi LIST        MPIs to compare with: openmpi,mpich (the default), or none
  -hosts A,B,...   hosts of this machine's network namespaces (bench/waits.sh makes them); else pretended nodes
  -agent COMMAND   what brings a command to a host, of -hosts
  -limit TIME      begin no further round after so long (default 2h); the tables say how many starts there are
  -sample MS       length of a sample (default 20); a start takes the median of five
  -quick           samples of 1 ms, which only show that everything works
  -csv FILE        write the figure of every start as CSV
  -markdown FILE   write the tables for documents
  -list            print the rows and stop
  -v               print the command of every start
`

type waitOptions struct {
	quick, list, verbose          bool
	starts                        int
	rows                          *regexp.Regexp
	conditions                    []condition
	build, beside, agent, workers string
	mpi, hosts                    []string
	limit                         time.Duration
	sample                        float64 // ms
	csv, markdown                 string
	cores                         []int  // that this process may use
	device                        string // directory of the software verbs device; "": not built
}

// condition is what else the machine does.
type condition int

const (
	quiet     condition = iota
	disturbed           // a program takes each core for 1 ms out of every 10
)

func (c condition) String() string { return [...]string{"quiet", "disturbed"}[c] }

// runWaits is the command; args are those behind -waits.
func runWaits(args []string) error {
	o, err := parseWaits(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Print(waitUsage)
		return nil
	}
	if err != nil {
		return fmt.Errorf("-waits: %w\n%s", err, waitUsage)
	}
	if o.list {
		for _, p := range o.chosen() {
			for _, r := range p.rows {
				fmt.Println(p.name + "/" + r.name)
			}
		}
		return nil
	}
	return o.measure(os.Stdout)
}

func parseWaits(args []string) (*waitOptions, error) {
	var o waitOptions
	var rows, mpi, hosts string
	var onlyQuiet, onlyDisturbed bool
	f := flag.NewFlagSet("bench -waits", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.IntVar(&o.starts, "starts", 20, "")
	f.StringVar(&rows, "rows", "", "")
	f.BoolVar(&onlyQuiet, "quiet", false, "")
	f.BoolVar(&onlyDisturbed, "disturbed", false, "")
	f.StringVar(&o.beside, "beside", "", "")
	f.StringVar(&o.build, "build", "", "")
	f.StringVar(&mpi, "mpi", "openmpi,mpich", "")
	f.StringVar(&hosts, "hosts", "", "")
	f.StringVar(&o.agent, "agent", "", "")
	f.DurationVar(&o.limit, "limit", 2*time.Hour, "")
	f.Float64Var(&o.sample, "sample", 20, "")
	f.BoolVar(&o.quick, "quick", false, "")
	f.StringVar(&o.csv, "csv", "", "")
	f.StringVar(&o.markdown, "markdown", "", "")
	f.BoolVar(&o.list, "list", false, "")
	f.BoolVar(&o.verbose, "v", false, "")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	o.mpi, o.hosts = launch.List(mpi), launch.List(hosts)
	if !onlyDisturbed {
		o.conditions = append(o.conditions, quiet)
	}
	if !onlyQuiet {
		o.conditions = append(o.conditions, disturbed)
	}
	var err error
	if o.rows, err = regexp.Compile(rows); err != nil {
		return nil, fmt.Errorf("-rows: %w", err)
	}
	return &o, o.check()
}

// check refuses what cannot be meant, and finds the programs and the cores.
func (o *waitOptions) check() (err error) {
	switch {
	case o.starts < 1 || o.starts > 1000:
		return errors.New("-starts must be 1..1000")
	case !(o.sample >= 0.1 && o.sample <= 10000):
		return errors.New("-sample must be 0.1..10000 ms")
	case len(o.conditions) == 0:
		return errors.New("-quiet and -disturbed: not together; without both, each start is made in both conditions")
	case o.limit <= 0:
		return errors.New("-limit must be a time above 0, as 30m")
	case len(o.hosts) == 1:
		return errors.New("-hosts: at least two")
	case (len(o.hosts) > 0) != (o.agent != ""):
		return errors.New("-hosts and -agent: one needs the other")
	case len(o.chosen()) == 0:
		return fmt.Errorf("-rows %s: no such row; -list names them", o.rows)
	}
	if o.quick {
		o.sample = 1
	}
	if o.workers, err = figure.Beside(); err != nil {
		return err
	}
	if o.build == "" {
		o.build = filepath.Dir(o.workers)
	}
	for _, dir := range []*string{&o.build, &o.beside} {
		if *dir == "" {
			continue
		}
		if *dir, err = filepath.Abs(*dir); err != nil {
			return err
		}
	}
	o.device = filepath.Join(o.build, "tests", "softverbs")
	if _, err := os.Stat(filepath.Join(o.device, "libibverbs.so.1")); err != nil {
		o.device = ""
	}
	o.cores, err = allowedCores()
	return err
}

// measure makes all starts, a round of each place after the other, and writes what is asked for.
func (o *waitOptions) measure(out io.Writer) error {
	m := waitRun{waitOptions: o, figures: waitFigures{}, begin: time.Now()}
	m.find()
	if len(m.places) == 0 {
		return errors.New("-waits: nothing can be measured here: " + strings.Join(m.left, "; "))
	}
	each := 0
	for _, p := range m.places {
		each += len(p.ways) * len(o.conditions)
	}
	m.total = each * o.starts
	fmt.Fprintf(os.Stderr, "%d starts, about %s on two quiet cores; no round begins after %s\n", m.total,
		(time.Duration(m.total) * 2 * time.Second).Round(time.Minute), o.limit)
	for round := range o.starts {
		for i := range m.places {
			if time.Since(m.begin) > o.limit {
				m.left = append(m.left, fmt.Sprintf("the time of %s was over in round %d of %d", o.limit, round+1, o.starts))
				return m.write(out)
			}
			m.round(&m.places[i], round)
		}
	}
	return m.write(out)
}

// waitRun is what one command has measured so far.
type waitRun struct {
	*waitOptions
	places      []waitPlace
	figures     waitFigures
	left        []string // what was not measured, and why
	begin       time.Time
	done, total int
	wrong       int // results that an operation should not have had
}

// round starts each way of a place once in each condition.
func (m *waitRun) round(p *waitPlace, round int) {
	for _, c := range m.conditions {
		for i := range p.ways {
			w := &p.ways[(i+round)%len(p.ways)] // none always comes after the same
			m.done++
			if w.failures >= mostFailures {
				continue
			}
			fmt.Fprintf(os.Stderr, "[%d/%d, %s] start %d of %d, %s, %s, %s\n", m.done, m.total,
				time.Since(m.begin).Round(time.Second), round+1, m.starts, p.name, c, w.title)
			m.start(p, w, c)
		}
	}
}

// mostFailures: a way that has failed so often is not started again.
const mostFailures = 3

// start makes one start; a figure that it printed before it failed counts.
func (m *waitRun) start(p *waitPlace, w *waitWay, c condition) {
	j := m.job(p, w)
	ended := false
	j.Other = func(word, _ string) {
		ended = ended || word == "END" // what comes then is no figure
	}
	if m.verbose {
		fmt.Fprintln(os.Stderr, strings.Join(append(j.Env, j.Argv...), " "))
	}
	stop, err := m.disturb(c)
	if err == nil {
		var wrong int
		wrong, err = j.Run(func(r figure.Row) {
			key := waitKey{p.name, r.Op, r.Bytes, w.name, c}
			m.figures[key] = append(m.figures[key], r.Ours.Median)
		})
		if m.wrong += wrong; wrong > 0 {
			m.left = append(m.left, fmt.Sprintf("%s, %s, %s: %d results of a start were wrong", p.name, c, w.title, wrong))
		}
		stop()
	}
	if err == nil || ended {
		return
	}
	w.failures++
	reason := fmt.Sprintf("%s, %s, %s: a start failed: %v", p.name, c, w.title, err)
	if w.failures == mostFailures {
		reason += fmt.Sprintf("; %d have failed, no more are made", mostFailures)
	}
	fmt.Fprintln(os.Stderr, "bench: "+reason)
	m.left = append(m.left, reason)
}

// disturb starts the program that disturbs, if the condition wants it. It ends with its standard input.
func (m *waitRun) disturb(c condition) (stop func(), err error) {
	if c != disturbed {
		return func() {}, nil
	}
	cmd := exec.Command(filepath.Join(m.workers, "disturb"))
	cmd.Stderr = os.Stderr
	input, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	return func() { input.Close(); cmd.Wait() }, err
}
