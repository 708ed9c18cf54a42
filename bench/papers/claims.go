// SPDX-License-Identifier: BSD-3-Clause

// What the papers claim, as rules over the series of charts: the data alone gives the verdicts and
// the ratios of docs/papers.md.
package main

import (
	"math"
	"slices"
)

// claim is something that a paper says, and the rule by which it holds here. The rule is about a
// number at each point of a chart: how many times as fast a series is as another, or, with share,
// the value of the series in per cent. It is met where the number is in the bounds.
type claim struct {
	says  string   // what the paper claims
	chart int      // of the figure
	of    string   // the series that it is about
	over  []string // the series that it is held against: the best of them at the same point
	base  string   // instead of those: the label of the point of the same series
	share bool     // instead of those: the value itself
	even  bool     // one number: how many times as much the values of the other differ

	least, most float64  // bounds of the number; 0: none
	from, to    float64  // only points between; 0: all
	at          []string // only points of these labels
	some        bool     // it holds if one point meets it
	why         string   // what is different here, without numbers; told unless it holds
}

// verdict says whether a claim holds here.
type verdict string

const (
	holds     verdict = "holds"
	inPart    verdict = "in part"
	not       verdict = "does not hold"
	undecided verdict = "not decided" // too few repetitions
	missing   verdict = "not measured"
)

// Where a third of the points meets a rule, its claim holds in part. What was repeated less often
// than three times decides nothing.
const (
	partly     = 1.0 / 3
	fewestReps = 3
)

// number is what a rule is about at a point.
type number struct {
	label string
	value float64
	met   bool
}

// judged is a claim with what the data says of it.
type judged struct {
	*claim
	verdict verdict
	numbers []number
	median  float64
}

// judge applies the rule to the points of the claim's chart.
func (c *claim) judge(all []points) judged {
	j := judged{claim: c, verdict: missing}
	few := false
	if c.even {
		j.numbers, few = c.evenness(all)
	} else {
		j.numbers, few = c.pointwise(all)
	}
	var values []float64
	met := 0
	for i := range j.numbers {
		n := &j.numbers[i]
		n.met = c.within(n.value)
		if n.met {
			met++
		}
		values = append(values, n.value)
	}
	slices.Sort(values)
	total := len(j.numbers)
	if total > 0 {
		j.median = (values[total/2] + values[(total-1)/2]) / 2
	}
	switch {
	case total == 0:
	case few:
		j.verdict = undecided
	case met == total || c.some && met > 0:
		j.verdict = holds
	case float64(met) >= partly*float64(total):
		j.verdict = inPart
	default:
		j.verdict = not
	}
	return j
}

// within reports whether a number, as it is written, is in the bounds as they are written.
func (c *claim) within(v float64) bool {
	digits := 100.0
	if c.share {
		digits = 1
	}
	written := func(v float64) float64 { return math.Round(v*digits) / digits }
	return written(v) >= written(c.least) && (c.most == 0 || written(v) <= written(c.most))
}

// seriesNamed is a series of a chart, nil if it was not measured.
func seriesNamed(all []points, name string) *points {
	for i := range all {
		if all[i].name == name {
			return &all[i]
		}
	}
	return nil
}

// wants reports whether a point is one that the claim is about.
func (c *claim) wants(p *point) bool {
	return p.x >= c.from && (c.to == 0 || p.x <= c.to) && p.label != c.base &&
		(len(c.at) == 0 || slices.Contains(c.at, p.label))
}

// pointwise returns a number for each point, and whether one has too few repetitions.
func (c *claim) pointwise(all []points) (numbers []number, few bool) {
	s := seriesNamed(all, c.of)
	if s == nil {
		return nil, false
	}
	for i := range s.points {
		p := &s.points[i]
		if !c.wants(p) {
			continue
		}
		value, reps := c.numberAt(all, s, p)
		if !math.IsNaN(value) {
			numbers = append(numbers, number{label: p.label, value: value})
			few = few || reps < fewestReps
		}
	}
	return numbers, few
}

// numberAt is the number of a point, NaN where there is nothing to hold it against, and the
// repetitions behind it.
func (c *claim) numberAt(all []points, s *points, p *point) (value float64, reps int) {
	value, reps = math.NaN(), p.reps
	against := func(q point, ok bool) {
		if ok && (math.IsNaN(value) || speed(p, &q) < value) {
			value, reps = speed(p, &q), min(reps, q.reps)
		}
	}
	switch {
	case c.share:
		value = p.Median
	case c.base != "":
		against(s.pointNamed(c.base))
	default:
		for _, name := range c.over {
			if o := seriesNamed(all, name); o != nil {
				against(o.pointNamed(p.label))
			}
		}
	}
	return value, reps
}

// speed is how many times as fast p is as q: times are the better the less they are.
func speed(p, q *point) float64 {
	if p.unit == "ns" {
		return q.Median / p.Median
	}
	return p.Median / q.Median
}

// evenness is how many times as much the values of the other series differ from point to point.
func (c *claim) evenness(all []points) (numbers []number, few bool) {
	differ := func(name string) float64 {
		s := seriesNamed(all, name)
		if s == nil {
			return math.NaN()
		}
		least, most := math.Inf(1), 0.0
		for _, p := range s.points {
			least, most = min(least, p.Median), max(most, p.Median)
			few = few || p.reps < fewestReps
		}
		return most / least
	}
	value := differ(c.over[0]) / differ(c.of)
	if math.IsNaN(value) {
		return nil, few
	}
	return []number{{label: "all", value: value}}, few
}
