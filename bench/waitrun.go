// SPDX-License-Identifier: BSD-3-Clause

// The starts of bench -waits, in rounds: in each of them every way of every place is
// started once in each condition. It collects figures and judges nothing.
package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"libarmci/internal/figure"
)

// waitRun is what one command has measured so far.
type waitRun struct {
	*waitOptions
	places      []waitPlace
	figures     waitFigures
	left        []string // what was not measured, and why
	begin       time.Time
	done, total int // starts
	wrong       int // results that an operation should not have had
}

// waitKey is an operation at a place by one way, in one condition.
type waitKey struct {
	place, op string
	bytes     int64
	way       string
	condition condition
}

// waitFigures are figures in ns, one of each start.
type waitFigures map[waitKey]figure.Samples

const (
	mostFailures = 3                // a way that has failed so often is not started again
	startLimit   = 90 * time.Second // ends a start that hangs
	usualStart   = 2 * time.Second  // what a start takes on two quiet cores, about
)

// measureWaits makes all starts, and writes what is asked for.
func (o *waitOptions) measureWaits(out io.Writer) error {
	m := waitRun{waitOptions: o, figures: waitFigures{}, begin: time.Now()}
	m.findPlaces()
	if len(m.places) == 0 {
		left := strings.Join(m.left, "; ")
		return errors.New("-waits: nothing can be measured here: " + left)
	}
	for _, p := range m.places {
		m.total += o.starts * len(p.ways) * len(o.conditions)
	}
	about := time.Duration(m.total) * usualStart
	fmt.Fprintf(os.Stderr, "%d starts, about %s on two quiet cores; no round begins after %s\n",
		m.total, about.Round(time.Minute), o.limit)
	for round := range o.starts {
		for i := range m.places {
			if time.Since(m.begin) > o.limit {
				m.noteSkipped("the limit of %s was over in round %d of %d", o.limit,
					round+1, o.starts)
				return m.writeReport(out)
			}
			m.round(&m.places[i], round)
		}
	}
	return m.writeReport(out)
}

// noteSkipped notes what was not measured.
func (m *waitRun) noteSkipped(format string, args ...any) {
	m.left = append(m.left, fmt.Sprintf(format, args...))
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
			fmt.Fprintf(os.Stderr, "[%d/%d, %s] start %d of %d, %s, %s, %s\n",
				m.done, m.total, time.Since(m.begin).Round(time.Second),
				round+1, m.starts, p.name, c, w.title)
			m.start(p, w, c)
		}
	}
}

// start makes one start. A figure that it has printed before it failed counts.
func (m *waitRun) start(p *waitPlace, w *waitWay, c condition) {
	stop, err := m.disturb(c)
	if err == nil {
		err = m.run(p, w, c)
		stop()
	}
	if err == nil {
		return
	}
	w.failures++
	reason := err.Error() // behind the command, which -v prints
	reason = strings.TrimPrefix(reason[max(strings.LastIndex(reason, ": "), 0):], ": ")
	m.noteSkipped("%s, %s, %s: a start failed: %s", p.name, c, w.title, reason)
	if w.failures == mostFailures {
		m.noteSkipped("%s, %s: no start after %d that failed", p.name, w.title,
			mostFailures)
	}
	fmt.Fprintln(os.Stderr, "bench: "+m.left[len(m.left)-1])
}

// run runs the program of a way once and takes its figures.
func (m *waitRun) run(p *waitPlace, w *waitWay, c condition) error {
	j := m.job(p, w)
	var stderr bytes.Buffer
	j.Err = io.MultiWriter(os.Stderr, &stderr)
	ended := false
	j.Other = func(word, _ string) { ended = ended || word == "END" }
	if m.verbose {
		fmt.Fprintln(os.Stderr, strings.Join(append(j.Env, j.Argv...), " "))
	}
	var rows []figure.Row
	wrong, err := j.Run(func(r figure.Row) { rows = append(rows, r) })
	if line := figure.LibrarySays(stderr.Bytes()); w.preload && line != "" {
		return fmt.Errorf("the windows may be the MPI's own: the library says %q", line)
	}
	for _, r := range rows {
		key := waitKey{p.name, r.Op, r.Bytes, w.name, c}
		m.figures[key] = append(m.figures[key], r.Ours.Median)
	}
	if m.wrong += wrong; wrong > 0 {
		m.noteSkipped("%s, %s, %s: %d results of a start were wrong", p.name, c, w.title,
			wrong)
	}
	if ended { // what comes then is no figure
		return nil
	}
	return cmp.Or(err, errNotEnded)
}

var errNotEnded = errors.New("the program did not come to its end")

// disturb starts the program that disturbs, if the condition wants it. It ends with its input.
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
