// SPDX-License-Identifier: BSD-3-Clause

// A gate for speed: a short series beside its raw baseline, compared with the last line of
// figures.jsonl. A commit that changes a figure appends a line (-record), so that the file is the
// history of the ratios.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"libarmci/internal/figure"
)

// gateTries is how many series there are: a figure fails that is worse in all of them.
const gateTries = 3

// figuresLine is a line of figures.jsonl: how much more each figure costs than its raw baseline.
type figuresLine struct {
	Commit string             `json:"commit"`
	Date   string             `json:"date"`
	Ratio  map[string]float64 `json:"ratio"`
}

// gate measures up to gateTries series and returns an error that names each figure whose ratio was
// more than `slower` times that of the last line in all of them. With -record it measures all and
// appends their medians.
func (o *options) gate(jobs []job, out io.Writer) error {
	lines, err := readFigures(o.gateFile)
	if err != nil {
		return err
	}
	var last figuresLine
	if len(lines) > 0 {
		last = lines[len(lines)-1]
	}
	var tries []map[string]float64
	for try := range gateTries {
		ratios, wrong := map[string]float64{}, 0
		for _, j := range jobs {
			err := o.start(j, o.build, func(r figure.Row) {
				if ratio := r.Costs().Median(); ratio > 0 {
					ratios[r.Op+" "+r.Place()] = ratio
				}
			}, &wrong)
			if err != nil {
				return err
			}
		}
		if wrong > 0 {
			return fmt.Errorf("%d totals are not exact", wrong)
		}
		tries = append(tries, ratios)
		worse := worseInAll(last.Ratio, tries)
		fmt.Fprintf(out,
			"series %d of %d: %d figures, %d worse than %.2f times those of %s\n",
			try+1, gateTries, len(ratios), len(worse), slower, last.Commit)
		if len(worse) == 0 && !o.record {
			return nil
		}
	}
	if o.record {
		return appendFigures(o.gateFile, tries)
	}
	for _, name := range worseInAll(last.Ratio, tries) {
		fmt.Fprintf(out, "%-40s was %.2f of raw, is", name, last.Ratio[name])
		for _, ratios := range tries {
			fmt.Fprintf(out, " %.2f", ratios[name])
		}
		fmt.Fprintln(out)
	}
	return errors.New("slower than the last line of " + o.gateFile + " in each series")
}

// worseInAll lists the figures that cost more than `slower` times what they did in every series. A
// figure that is not measured any more is among them.
func worseInAll(last map[string]float64, tries []map[string]float64) (names []string) {
	for name, was := range last {
		better := slices.ContainsFunc(tries, func(ratios map[string]float64) bool {
			is, found := ratios[name]
			return found && is <= was*slower
		})
		if !better {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// readFigures reads the lines of a file; none where there is no file yet.
func readFigures(file string) (all []figuresLine, err error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	for text := range strings.Lines(string(text)) {
		var line figuresLine
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", file, len(all)+1, err)
		}
		all = append(all, line)
	}
	return all, err
}

// appendFigures writes the medians of the series as a line of today's commit.
func appendFigures(file string, tries []map[string]float64) error {
	line := figuresLine{Commit: commit(), Date: time.Now().Format(time.DateOnly),
		Ratio: map[string]float64{}}
	for name := range maps.Keys(tries[0]) {
		var all figure.Samples
		for _, ratios := range tries {
			if ratio, found := ratios[name]; found {
				all = append(all, ratio)
			}
		}
		line.Ratio[name] = float64(int(all.Median()*1000+0.5)) / 1000
	}
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	return errors.Join(err, f.Close())
}

// commit is the short name of the checked out commit, "" where git does not know it.
func commit() string {
	name, err := exec.Command("git", "rev-parse", "--short=8", "HEAD").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(name))
}
