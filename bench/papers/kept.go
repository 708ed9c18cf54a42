// SPDX-License-Identifier: BSD-3-Clause

// The figures that docs/papers.md is made of, which are kept in data/: a file for each experiment,
// and runs.csv, which says when and on what they were measured.
package main

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"libarmci/internal/config"
	"libarmci/internal/figure"
)

// measured is a figure of one step or, where it is kept, of several: over all its repetitions.
type measured struct {
	figure.Row         // without Ratio and Where
	starts, reps   int // of programs, and repetitions in all of them
	run            int // the line of runs.csv; 0: this one
	place, variant string
}

// rowsOf are figures by steps.
type rowsOf map[string][]measured

// run is a line of runs.csv.
type run struct {
	number                       int
	date, machine, version, note string
}

func (r *run) String() string {
	return fmt.Sprintf("%s, libarmci %s, %s", r.machine, r.version, r.date)
}

// keptHead is the first line of the file of an experiment.
var keptHead = strings.Split("run,place,variant,starts,reps,op,shape,bytes,ranks,unit,median,"+
	"least,most,raw,raw_least,raw_most", ",")

// today is the run that this program makes.
func today(number int, note string) run {
	machine, _, _ := strings.Cut(figure.Machine(config.Version), ", libarmci ")
	return run{number, time.Now().Format("2 January 2006"), machine, config.Version, note}
}

// readLines reads a table and drops its first line.
func readLines(file string) ([][]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil || len(lines) == 0 {
		return nil, errors.Join(err, fmt.Errorf("%s: no table", file))
	}
	return lines[1:], nil
}

func readRuns(dir string) ([]run, error) {
	lines, err := readLines(filepath.Join(dir, "runs.csv"))
	var all []run
	for _, l := range lines {
		number, e := strconv.Atoi(l[0])
		err = errors.Join(err, e)
		all = append(all, run{number, l[1], l[2], l[3], l[4]})
	}
	return all, err
}

// readKept reads the figures of all experiments.
func readKept(dir string) (rowsOf, error) {
	all := rowsOf{}
	for i := range experiments {
		e := &experiments[i]
		some, err := readExperiment(dir, e)
		if err != nil {
			return nil, err
		}
		for _, m := range some {
			all[m.step(e)] = append(all[m.step(e)], m)
		}
	}
	return all, nil
}

// step is the name of the step that has measured a figure.
func (m *measured) step(e *experiment) string {
	s := step{experiment: e, place: place{name: m.place}, variant: variant{name: m.variant}}
	return s.String()
}

// readExperiment reads the figures of an experiment; there are none before it is kept.
func readExperiment(dir string, e *experiment) ([]measured, error) {
	file := filepath.Join(dir, e.name+".csv")
	lines, err := readLines(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var all []measured
	for _, l := range lines {
		m, e := parseKept(l)
		if e != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", file, e))
		}
		all = append(all, m)
	}
	return all, err
}

// parseKept reads a line in the order of keptHead.
func parseKept(l []string) (measured, error) {
	m := measured{place: l[1], variant: l[2]}
	var err error
	number := func(text string) int {
		n, e := strconv.Atoi(text)
		err = errors.Join(err, e)
		return n
	}
	m.run, m.starts, m.reps = number(l[0]), number(l[3]), number(l[4])
	m.Op, m.Shape, m.Unit = l[5], l[6], l[9]
	m.Bytes, m.Ranks = int64(number(l[7])), number(l[8])
	for i, v := range []*float64{&m.Ours.Median, &m.Ours.Least, &m.Ours.Most, &m.Raw.Median,
		&m.Raw.Least, &m.Raw.Most} {
		var e error
		*v, e = strconv.ParseFloat(l[10+i], 64)
		err = errors.Join(err, e)
	}
	return m, err
}

// line is a figure in the order of keptHead.
func (m *measured) line() []string {
	l := []string{strconv.Itoa(m.run), m.place, m.variant, strconv.Itoa(m.starts),
		strconv.Itoa(m.reps), m.Op, m.Shape, strconv.FormatInt(m.Bytes, 10),
		strconv.Itoa(m.Ranks), m.Unit}
	for _, v := range []float64{m.Ours.Median, m.Ours.Least, m.Ours.Most, m.Raw.Median,
		m.Raw.Least, m.Raw.Most} {
		l = append(l, digits(v))
	}
	return l
}

// digits writes a value with the four digits that are kept of it.
func digits(v float64) string {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64) // it was written so
	return strconv.FormatFloat(short, 'f', -1, 64)
}

// keep puts what the steps have measured into the kept figures, where it takes the place of what
// the same steps had measured before.
func (o *options) keep(steps []*step) error {
	runs, err := readRuns(o.kept)
	if err != nil {
		return err
	}
	this := today(runs[len(runs)-1].number+1, o.note)
	fresh, err := o.readSteps(steps)
	if err != nil || len(fresh) == 0 {
		return err
	}
	for i := range experiments {
		e := &experiments[i]
		old, err := readExperiment(o.kept, e)
		if err != nil {
			return err
		}
		old = slices.DeleteFunc(old,
			func(m measured) bool { return len(fresh[m.step(e)]) > 0 })
		before := len(old)
		for _, key := range slices.Sorted(maps.Keys(fresh)) {
			for _, m := range together(fresh[key]) {
				if m.step(e) == key {
					m.run = this.number
					old = append(old, m)
				}
			}
		}
		if len(old) == before {
			continue
		}
		if err := writeKept(o.kept, e.name, old); err != nil {
			return err
		}
	}
	return writeRuns(o.kept, append(runs, this))
}

// readSteps reads the figures of the steps that were run.
func (o *options) readSteps(steps []*step) (rowsOf, error) {
	all := rowsOf{}
	var failed error
	for _, s := range steps {
		rows, err := o.read(s)
		failed = errors.Join(failed, err)
		for _, r := range rows {
			all[s.String()] = append(all[s.String()], measured{Row: r, starts: 1,
				reps:  cmp.Or(len(r.Samples), s.reps, 1),
				place: s.place.name, variant: s.variant.name})
		}
	}
	return all, failed
}

// together makes one figure of those that several starts have of the same.
func together(all []measured) []measured {
	var order []measured
	same := map[string][]measured{}
	for _, m := range all {
		key := fmt.Sprint(m.Op, m.Shape, m.Bytes)
		if len(same[key]) == 0 {
			order = append(order, m)
		}
		same[key] = append(same[key], m)
	}
	for i := range order {
		m := &order[i]
		var ours, raw []figure.Value
		m.starts, m.reps = 0, 0
		for _, s := range same[fmt.Sprint(m.Op, m.Shape, m.Bytes)] {
			ours, raw = append(ours, s.Ours), append(raw, s.Raw)
			m.starts, m.reps = m.starts+s.starts, m.reps+s.reps
		}
		m.Ours, m.Raw = summary(ours), summary(raw)
	}
	return order
}

func writeKept(dir, name string, all []measured) error {
	lines := [][]string{keptHead}
	for i := range all {
		lines = append(lines, all[i].line())
	}
	return writeLines(filepath.Join(dir, name+".csv"), lines)
}

func writeRuns(dir string, all []run) error {
	lines := [][]string{{"run", "date", "machine", "version", "note"}}
	for _, r := range all {
		lines = append(lines,
			[]string{strconv.Itoa(r.number), r.date, r.machine, r.version, r.note})
	}
	return writeLines(filepath.Join(dir, "runs.csv"), lines)
}

func writeLines(file string, lines [][]string) error {
	return figure.WriteFile(file,
		func(w io.Writer) error { return csv.NewWriter(w).WriteAll(lines) })
}
