// SPDX-License-Identifier: BSD-3-Clause

// What is not measured but computed of points: gains, and what is hidden.
package main

import (
	"cmp"
	"slices"

	"libarmci/internal/figure"
)

// gains are by how much per cent each series takes less time than the base; at the most where it is
// at its fastest and the base at its slowest.
func gains(all []points, base string) []points {
	from := slices.IndexFunc(all, func(p points) bool { return p.name == base })
	if from < 0 {
		return nil
	}
	gain := func(p, b float64) float64 { return 100 * (1 - p/b) }
	var out []points
	for i, s := range all {
		if i == from {
			continue
		}
		g := points{name: s.name}
		for _, p := range s.points {
			b, ok := all[from].pointNamed(p.label)
			if !ok || b.Least <= 0 {
				continue
			}
			p.unit, p.reps = "%", min(p.reps, b.reps)
			p.Value = figure.Value{Median: gain(p.Median, b.Median),
				Least: gain(p.Most, b.Least), Most: gain(p.Least, b.Most)}
			g.points = append(g.points, p)
		}
		out = append(out, g)
	}
	return out
}

// alike is by how much transfer and work may differ for their overlap to be told.
const alike = 4

// hiddenShares are what part of the shorter of transfer and work disappears when they are together:
// (apart - together) / shorter, where apart is the time without work and that of the work alone,
// or,
// where that was not measured, x microseconds for each of so many calls. Only where neither is
// much longer than the other:
// what
// is measured then is not the difference of two large numbers.
func hiddenShares(all []points, calls float64) []points {
	var out []points
	for _, s := range all {
		alone, ok := s.pointNamed("0")
		if !ok {
			continue
		}
		h := points{name: s.name}
		for _, p := range s.points {
			work := cmp.Or(p.alone, p.x*1e3*calls)
			share := func(together float64) float64 {
				return 100 * (alone.Median + work - together) /
					min(alone.Median, work)
			}
			if work >= alone.Median/alike && work <= alone.Median*alike {
				p.unit = "%"
				p.Value = figure.Value{Median: share(p.Median),
					Least: share(p.Most),
					Most:  share(p.Least)}
				h.points = append(h.points, p)
			}
		}
		if len(h.points) > 0 {
			out = append(out, h)
		}
	}
	return out
}
