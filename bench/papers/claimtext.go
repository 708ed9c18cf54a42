// SPDX-License-Identifier: BSD-3-Clause

// The words of a claim in the page: its rule, what the numbers are, and where they meet it.
package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// rule says what is looked at, and the bounds.
func (c *claim) rule() string {
	of := c.of + " / " + strings.Join(c.over, " or ")
	switch {
	case c.share:
		of = c.of
	case c.even:
		of = "differences of " + c.over[0] + " / " + c.of
	case c.base != "":
		of = c.of + " / the same at " + c.base
	}
	var bounds []string
	if c.least != 0 {
		bounds = append(bounds, "at least "+c.amount(c.least))
	}
	if c.most != 0 {
		bounds = append(bounds, "at most "+c.amount(c.most))
	}
	text := of + ": " + strings.Join(bounds, ", ")
	if c.some {
		text += ", somewhere"
	}
	return text
}

// amount writes a number of the rule: a ratio, or per cent.
func (c *claim) amount(v float64) string {
	if c.share {
		return fmt.Sprintf("%.0f %%", math.Round(v)+0) // no -0
	}
	switch a := math.Abs(v); {
	case a >= 100:
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// here says what the numbers are, and where the rule is met.
func (j *judged) here() string {
	if len(j.numbers) == 0 {
		return "-"
	}
	low, high := slices.MinFunc(j.numbers, byValue), slices.MaxFunc(j.numbers, byValue)
	text := j.amount(low.value)
	if len(j.numbers) > 1 {
		text += " to " + j.amount(high.value) + ", median " + j.amount(j.median)
	}
	var met []string
	for _, n := range j.numbers {
		if n.met {
			met = append(met, n.label)
		}
	}
	switch {
	case len(met) == len(j.numbers):
		return text
	case len(met) == 0:
		return text + "; met nowhere"
	}
	return fmt.Sprintf("%s; met at %d of %d: %s", text, len(met), len(j.numbers),
		strings.Join(runsOf(j.numbers), ", "))
}

func byValue(a, b number) int {
	switch {
	case a.value < b.value:
		return -1
	case a.value > b.value:
		return 1
	}
	return 0
}

// runsOf names the points that meet the rule: of three and more in a row the first and the last.
func runsOf(all []number) []string {
	var names []string
	for i := 0; i < len(all); i++ {
		if !all[i].met {
			continue
		}
		last := i
		for last+1 < len(all) && all[last+1].met {
			last++
		}
		switch {
		case last-i >= 2:
			names = append(names, all[i].label+" to "+all[last].label)
		case last > i:
			names = append(names, all[i].label, all[last].label)
		default:
			names = append(names, all[i].label)
		}
		i = last
	}
	return names
}
