// SPDX-License-Identifier: BSD-3-Clause

// Draws bars in groups, one bar of a group for each series, from 0 upwards or over a
// logarithmic axis; the rest is as in a chart over size.

package figure

import (
	"fmt"
	"io"
	"math"
)

// Bars is what is drawn.
type Bars struct {
	Title, XLabel, YLabel, Unit, Footer string
	// a logarithmic axis, for values that are far apart
	Log    bool
	Groups []string // labels below the axis
	Series []BarSeries
}

// BarSeries are the bars of one colour, one for each group; one without a value is left out.
type BarSeries struct {
	Name   string
	Values []Value
}

// bar is what the template is given, in pixels.
type bar struct {
	X, Y, Width, Height   float64
	Colour, Label, Spread string
}

// Write draws the bars as SVG.
func (b *Bars) Write(w io.Writer) error {
	y := b.scale()
	rules, bars := b.rules(y), []bar{}
	var legend []curve
	for i, s := range b.Series {
		at := top + 12 + 22*float64(i)
		legend = append(legend, curve{Name: s.Name, Colour: colours[i%len(colours)],
			LegendY: at, LegendText: at + 4})
		for g, v := range s.Values {
			if v.Median != 0 {
				bars = append(bars, b.bar(i, g, v, y))
			}
		}
	}
	return chartTemplate.Execute(w, map[string]any{
		"Title": b.Title, "Footer": b.Footer, "XLabel": b.XLabel, "YLabel": b.YLabel,
		"Left": left, "Middle": (left + right) / 2,
		"Rules": rules, "Bars": bars, "Curves": legend,
	})
}

// scale covers the medians; what is beyond is cut off.
func (b *Bars) scale() scale {
	least, most := math.Inf(1), 0.0
	for _, s := range b.Series {
		for _, v := range s.Values {
			if v.Median > 0 {
				least, most = min(least, v.Median), max(most, v.Median)
			}
		}
	}
	switch {
	case most == 0:
		return scale{low: 0, high: 1, from: bottom, to: top, linear: true}
	case b.Log:
		return over(least/2, most, 10, bottom, top)
	}
	return scale{low: 0, high: most * 1.08, from: bottom, to: top, linear: true}
}

// group is how wide a group of bars is, with the gap beside it.
func (b *Bars) group() float64 { return (right - left) / float64(max(len(b.Groups), 1)) }

// bar returns the rectangle of a value, with its spread and label.
func (b *Bars) bar(series, group int, v Value, y scale) bar {
	width := b.group() * 0.8 / float64(len(b.Series))
	x := left + b.group()*(float64(group)+0.1) + width*float64(series)
	in := func(v float64) float64 { return min(max(y.coordinate(v), top), bottom) }
	a := bar{X: round(x), Y: in(v.Median), Width: round(width * 0.94),
		Height: round(bottom - in(v.Median)), Colour: colours[series%len(colours)],
		Label: fmt.Sprintf("%s, %s: %s (%s to %s)", b.Series[series].Name, b.Groups[group],
			Amount(v.Median, b.Unit), Amount(v.Least, b.Unit), Amount(v.Most, b.Unit))}
	if v.Least < v.Most {
		middle := round(x + width*0.47)
		a.Spread = fmt.Sprintf("%g,%g %g,%g", middle, in(v.Least), middle, in(v.Most))
	}
	return a
}

func round(v float64) float64 { return math.Round(10*v) / 10 }

// rules are the labels of the groups, and some lines at round numbers.
func (b *Bars) rules(y scale) []rule {
	var all []rule
	for i, label := range b.Groups {
		at := round(left + b.group()*(float64(i)+0.5))
		all = append(all, rule{X1: at, Y1: bottom, X2: at, Y2: bottom + 4, TextX: at,
			TextY: bottom + 18, Label: label, Upright: true})
	}
	if b.Log {
		return append(all, rulesY(y, b.Unit)...)
	}
	step := math.Pow(10, math.Floor(math.Log10(y.high)))
	for _, part := range []float64{1, 0.5, 0.2} {
		if y.high/(step*part) >= 4 {
			step *= part
			break
		}
	}
	for v := 0.0; v <= y.high; v += step {
		at := y.coordinate(v)
		all = append(all, rule{X1: left, Y1: at, X2: right, Y2: at, TextX: left - 8,
			TextY: at + 4, Label: tick(v, b.Unit)})
	}
	return all
}
