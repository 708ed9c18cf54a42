// SPDX-License-Identifier: BSD-3-Clause

// Draws bars in groups, one bar of a group for each series, from 0 upwards; over a logarithmic
// axis, which has no 0, dots. The rest is as in a chart over size.

package figure

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// Bars is what is drawn.
type Bars struct {
	Title, XLabel, YLabel, Unit, Footer string
	// a logarithmic axis, for values that are far apart
	Log    bool
	Groups []string // labels below the axis
	Series []BarSeries
	Marks  []Mark
}

// BarSeries are the bars of one colour, one for each group; one without a value is left out.
type BarSeries struct {
	Name   string
	Colour int
	Values []Value
}

// bar is what the template is given, in pixels.
type bar struct {
	X, Y, Width, Height, Middle float64
	Colour, Label, Spread       string
	Beyond                      []string // tips
	Dot                         bool
}

// Write draws the bars as SVG.
func (b *Bars) Write(w io.Writer) error {
	y := b.scale()
	rules, bars := b.rules(y), []bar{}
	var legend []curve
	var names []string
	for i, s := range b.Series {
		at := legendAt(i)
		legend = append(legend, curve{Name: s.Name, Colour: colours[s.Colour%len(colours)],
			LegendY: at, LegendText: at + 4})
		names = append(names, s.Name)
		for g, v := range s.Values {
			if v.Median != 0 {
				bars = append(bars, b.bar(i, g, v, y))
			}
		}
	}
	for _, m := range b.Marks {
		names = append(names, m.Name)
	}
	width := pictureWidth(b.Title, names)
	return chartTemplate.Execute(w, map[string]any{
		"Title": b.Title, "XLabel": b.XLabel, "YLabel": b.YLabel, "Left": left,
		"Middle": (left + right) / 2, "Width": width, "Rules": rules, "Bars": bars,
		"Curves": legend, "Marks": placeMarks(b.Marks, y, b.Unit, len(b.Series)),
		"Footer": footerLines(b.Footer, width),
	})
}

// scale covers the medians, and the spread up to half as much again; what is beyond is cut off, and
// a tip says so.
func (b *Bars) scale() scale {
	least, low, high := math.Inf(1), 0.0, 0.0
	lowest, most := 0.0, 0.0
	for _, s := range b.Series {
		for _, v := range s.Values {
			if v.Median > 0 {
				least = min(least, v.Median)
			}
			low, high = min(low, v.Median), max(high, v.Median)
			lowest, most = min(lowest, v.Least), max(most, v.Most)
		}
	}
	for _, m := range b.Marks {
		least, low, high = min(least, m.Low), min(low, m.Low), max(high, m.High)
	}
	switch {
	case high <= 0 && low == 0:
		return scale{low: 0, high: 1, from: bottom, to: top, linear: true}
	case b.Log:
		return over(least/2, max(high, min(most, 1.5*high)), 10, bottom, top)
	}
	reach := 0.5 * max(high, -low)
	high, low = min(max(most, high), high+reach), max(min(lowest, low), low-reach)
	return scale{low: low * 1.08, high: max(high*1.08, -low/20), from: bottom, to: top,
		linear: true}
}

// group is how wide a group of bars is, with the gap beside it.
func (b *Bars) group() float64 { return (right - left) / float64(max(len(b.Groups), 1)) }

// bar returns the rectangle of a value, with its spread and label; below 0 it hangs.
func (b *Bars) bar(series, group int, v Value, y scale) bar {
	width := b.group() * 0.8 / float64(len(b.Series))
	x := left + b.group()*(float64(group)+0.1) + width*float64(series)
	in := func(v float64) float64 { return min(max(y.coordinate(v), top), bottom) }
	zero := bottom
	if y.linear {
		zero = in(0)
	}
	s := &b.Series[series]
	a := bar{X: round(x), Y: min(in(v.Median), zero), Width: round(width * 0.94),
		Height: round(math.Abs(zero - in(v.Median))), Middle: round(x + width*0.47),
		Colour: colours[s.Colour%len(colours)], Dot: b.Log,
		Label: s.Name + ", " + b.Groups[group] + ": " + v.text(b.Unit)}
	if a.Dot {
		a.Y = in(v.Median)
	}
	if v.Least < v.Most {
		a.Spread = fmt.Sprintf("%g,%g %g,%g", a.Middle, in(v.Least), a.Middle, in(v.Most))
	}
	a.Beyond = tips(a.Middle, v, y)
	return a
}

// tips say that a spread goes on beyond the axis: each is the corners of a triangle.
func tips(x float64, v Value, y scale) []string {
	var all []string
	tip := func(end, base float64) {
		all = append(all, fmt.Sprintf("%g,%g %g,%g %g,%g", round(x-4), base, round(x+4),
			base, x, end))
	}
	if v.Most > y.high {
		tip(top, top+7)
	}
	if v.Least < y.low && y.linear {
		tip(bottom, bottom-7)
	}
	return all
}

// rules are the labels of the groups, of two lines if they have two words, and some lines at round
// numbers.
func (b *Bars) rules(y scale) []rule {
	var all []rule
	for i, label := range b.Groups {
		at := round(left + b.group()*(float64(i)+0.5))
		above, below, _ := strings.Cut(label, " ")
		all = append(all, rule{X1: at, Y1: bottom, X2: at, Y2: bottom + 4, TextX: at,
			TextY: bottom + 18, Label: above, Below: below, BelowY: bottom + 33,
			Upright: true})
	}
	if b.Log {
		return append(all, rulesY(y, b.Unit)...)
	}
	step := math.Pow(10, math.Floor(math.Log10(y.high-y.low)))
	for _, part := range []float64{1, 0.5, 0.2} {
		if (y.high-y.low)/(step*part) >= 4 {
			step *= part
			break
		}
	}
	for n := math.Ceil(y.low / step); n*step <= y.high; n++ {
		at := y.coordinate(n * step)
		all = append(all, rule{X1: left, Y1: at, X2: right, Y2: at, TextX: left - 8,
			TextY: at + 4, Label: tick(n*step+0, b.Unit)})
	}
	return all
}
