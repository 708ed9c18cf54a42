// SPDX-License-Identifier: BSD-3-Clause

// The page of all figures: what was measured how often and when, the claims with their verdicts,
// and the charts. The templates papers.html and papers.md make text of it.
package main

import (
	"errors"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
)

// section is a figure in the page.
type section struct {
	ID, Title, Caption, Paper string
	Repeated                  string // how often, and when
	Claims                    []claimLine
	Charts                    []drawing
}

// claimLine is a claim as the page shows it. Why is empty where the claim holds.
type claimLine struct {
	Says, Rule, Here, Why string
	Verdict               verdict
}

// drawing is a chart as the page shows it: a picture and a table.
type drawing struct {
	Title   string
	File    string        // of the picture, below figures; "": a table only
	Picture template.HTML // the same
	Head    []string
	Rows    [][]string
}

// page is what the templates are given.
type page struct {
	Sections []section
	Runs     []pageRun
	Total    string   // of verdicts
	Left     []string // what cannot be done here
}

// pageRun is a run of which figures are in the page: a sentence, and what else there is to say.
type pageRun struct{ Measured, Note string }

// page judges and draws all wanted figures.
func (o *options) page(rows rowsOf, runs []run, pictures string) (*page, error) {
	p := &page{Left: o.left}
	var failed error
	counts, used := map[verdict]int{}, map[int]bool{}
	for _, f := range o.wanted() {
		s := section{ID: f.id, Title: f.title, Caption: f.caption, Paper: f.paper}
		var charts [][]points
		for i := range f.charts {
			c := &f.charts[i]
			all := o.collect(c, rows)
			charts = append(charts, all)
			if len(all) == 0 {
				fmt.Printf("%s: not measured\n", f.chartFile(i))
				continue
			}
			d, err := drawChart(f, i, all, runs, pictures)
			failed = errors.Join(failed, err)
			s.Charts = append(s.Charts, d)
		}
		for i := range f.claims {
			j := f.claims[i].judge(charts[f.claims[i].chart])
			counts[j.verdict]++
			s.Claims = append(s.Claims, j.line())
		}
		s.Repeated = repeated(slices.Concat(charts...), runs, used)
		p.Sections = append(p.Sections, s)
	}
	p.Total = total(counts)
	for i := range runs {
		if used[runs[i].number] {
			p.Runs = append(p.Runs, pageRun{runs[i].String(), runs[i].note})
		}
	}
	return p, failed
}

// total says how many claims have each verdict.
func total(counts map[verdict]int) string {
	all := 0
	for _, n := range counts {
		all += n
	}
	text := fmt.Sprintf("Of %d claims %d hold, %d hold in part, and %d do not.", all,
		counts[holds], counts[inPart], counts[not])
	if n := counts[undecided]; n > 0 {
		text += fmt.Sprintf(" Of %d too little was measured to decide.", n)
	}
	if n := counts[missing]; n > 0 {
		text += fmt.Sprintf(" Of %d nothing was measured.", n)
	}
	return text
}

// line is a claim as the page shows it.
func (j *judged) line() claimLine {
	l := claimLine{j.says, j.rule(), j.here(), "", j.verdict}
	if j.verdict == inPart || j.verdict == not {
		l.Why = j.why
	}
	return l
}

// Whys are what is different here, each once.
func (s *section) Whys() []string {
	var all []string
	for _, c := range s.Claims {
		if c.Why != "" && !slices.Contains(all, c.Why) {
			all = append(all, c.Why)
		}
	}
	return all
}

// Anchor is where a section begins in the page of markdown.
func (s *section) Anchor() string {
	keep := func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		}
		return -1
	}
	return strings.Map(keep, strings.ToLower(s.ID+" "+s.Title))
}

// repeated says how often the figures of some series were measured, and when.
func repeated(all []points, runs []run, used map[int]bool) string {
	least, most, fewest, often := math.MaxInt, 0, math.MaxInt, 0
	var dates []string
	for _, s := range all {
		for _, p := range s.points {
			least, most = min(least, p.reps), max(most, p.reps)
			fewest, often = min(fewest, p.starts), max(often, p.starts)
			used[p.run] = true
			for i := range runs {
				if r := &runs[i]; r.number == p.run && !slices.Contains(dates,
					r.date) {
					dates = append(dates, r.date)
				}
			}
		}
	}
	if most == 0 {
		return "not measured"
	}
	return fmt.Sprintf("%s in %s, %s", counted(least, most, "repetition"),
		counted(fewest, often, "start"), strings.Join(dates, " and "))
}

// counted is a number of things, or the least and the most.
func counted(least, most int, what string) string {
	text := strconv.Itoa(most)
	if least < most {
		text = fmt.Sprintf("%d to %d", least, most)
	}
	if most != 1 {
		what += "s"
	}
	return text + " " + what
}
