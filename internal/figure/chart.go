// SPDX-License-Identifier: BSD-3-Clause

// Draws a chart over size: lines with a marker for each median and, of what is
// not a baseline, a band from the least to the greatest repetition; the legend
// beside the grid; below, what was measured on and when. The picture itself is
// the template chart.svg; here are only positions.

package figure

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"math"
	"strings"
	"text/template"
)

//go:embed chart.svg
var picture string

var chartTemplate = template.Must(template.New("chart").Parse(picture))

// Chart is what is drawn. Its x axis is a number of bytes, logarithmic, or with
// a label of its own any number from 0, linear; its y axis is logarithmic too,
// but for per cent.
type Chart struct {
	Title, YLabel, Footer string
	XLabel                string // of a linear axis
	Unit                  string
	Series                []Series
}

// Series is one line.
type Series struct {
	Name   string
	Colour int  // a number: equal ones have the same colour
	Dashed bool // a baseline
	Points []Point
}

// Point is a figure at a size.
type Point struct {
	Bytes float64 // or what XLabel says
	Value
}

// The drawing area in pixels; the template knows the rest.
const left, right, top, bottom = 92.0, 664.0, 46.0, 392.0

var colours = []string{"#0b62a4", "#d1541f", "#2e8540", "#6b4ba1", "#a8326e", "#7a6a1f", "#444444"}

// What the template is given.
type (
	rule struct {
		X1, Y1, X2, Y2, TextX, TextY float64
		Label                        string
		Upright, Minor               bool
	}
	dot struct {
		X, Y  float64
		Label string
	}
	curve struct {
		Name, Colour, Line, Band string
		Dashed                   bool
		Dots                     []dot
		LegendY, LegendText      float64
	}
)

// scale maps [low, high] to pixels [from, to].
type scale struct {
	low, high, from, to float64
	linear              bool
}

func (s scale) coordinate(v float64) float64 {
	part := (v - s.low) / (s.high - s.low)
	if !s.linear {
		part = math.Log(max(v, s.low)/s.low) / math.Log(s.high/s.low)
	}
	return math.Round(10*(s.from+(s.to-s.from)*part)) / 10
}

// over covers the values from the least to the greatest, rounded outwards to powers of base.
func over(least, most, base, from, to float64) scale {
	power := func(v float64, round func(float64) float64) float64 {
		return math.Pow(base, round(math.Round(math.Log(v)/math.Log(base)*1e9)/1e9))
	}
	s := scale{low: power(least, math.Floor), high: power(most, math.Ceil), from: from, to: to}
	if s.low == s.high {
		s.high *= base
	}
	return s
}

// scales are those of both axes. What is not above 0 has no place on a logarithmic axis.
func (c *Chart) scales() (x, y scale) {
	xs, ys := [2]float64{math.Inf(1), 1}, [2]float64{math.Inf(1), 0}
	for _, s := range c.Series {
		for _, p := range s.Points {
			xs = [2]float64{min(xs[0], p.Bytes), max(xs[1], p.Bytes)}
			for _, v := range []float64{p.Median, p.Least, p.Most} {
				if v > 0 {
					ys = [2]float64{min(ys[0], v), max(ys[1], v)}
				}
			}
		}
	}
	x = over(min(xs[0], xs[1]), xs[1], 2, left, right)
	if c.XLabel != "" {
		x = scale{low: 0, high: xs[1], from: left, to: right, linear: true}
	}
	if c.Unit == "%" {
		return x, scale{low: 0, high: 100, from: bottom, to: top, linear: true}
	}
	return x, over(min(ys[0], max(ys[1], 1)), max(ys[1], 1), 10, bottom, top)
}

// Write draws the chart as SVG.
func (c *Chart) Write(w io.Writer) error {
	x, y := c.scales()
	var curves []curve
	for i := range c.Series {
		curves = append(curves, c.Series[i].curve(x, y, c.Unit, top+12+22*float64(i)))
	}
	return chartTemplate.Execute(w, map[string]any{
		"Title": c.Title, "Footer": c.Footer, "XLabel": cmp.Or(c.XLabel, "size"),
		"YLabel": c.YLabel, "Left": left, "Middle": (left + right) / 2,
		"Rules": append(rulesX(x), rulesY(y, c.Unit)...), "Curves": curves,
	})
}

// rulesX are at most a dozen powers of two, or of round numbers.
func rulesX(x scale) []rule {
	var all []rule
	if x.linear {
		step := math.Pow(10, math.Floor(math.Log10(x.high)))
		for _, part := range []float64{1, 0.5, 0.2} {
			if x.high/(step*part) >= 5 {
				step *= part
				break
			}
		}
		for v := 0.0; v <= x.high*1.001; v += step {
			at := x.coordinate(v)
			all = append(all, rule{X1: at, Y1: bottom, X2: at, Y2: top, TextX: at,
				TextY: bottom + 18, Label: tick(v, ""), Upright: true})
		}
		return all
	}
	step := math.Pow(2, math.Ceil(math.Log2(x.high/x.low)/8))
	for v := x.low; v <= x.high*1.001; v *= step {
		at := x.coordinate(v)
		all = append(all, rule{X1: at, Y1: bottom, X2: at, Y2: top, TextX: at,
			TextY: bottom + 18, Label: Size(int64(v)), Upright: true})
	}
	return all
}

// rulesY are decades, with 2 and 5 between them; those of per cent are apart by 20.
func rulesY(y scale, unit string) []rule {
	var all []rule
	add := func(v float64, label string) {
		at := y.coordinate(v)
		all = append(all, rule{X1: left, Y1: at, X2: right, Y2: at, TextX: left - 8,
			TextY: at + 4, Label: label, Minor: label == ""})
	}
	if y.linear {
		for v := y.low; v <= y.high; v += 20 {
			add(v, tick(v, unit))
		}
		return all
	}
	few := y.high/y.low <= 1000
	for v := y.low; v <= y.high*1.001; v *= 10 {
		add(v, tick(v, unit))
		for _, m := range []float64{2, 5} {
			if label := ""; v*m < y.high {
				if few {
					label = tick(v*m, unit)
				}
				add(v*m, label)
			}
		}
	}
	return all
}

// curve returns the line, the band and the dots of a series.
func (s *Series) curve(x, y scale, unit string, legend float64) curve {
	c := curve{Name: s.Name, Colour: colours[s.Colour%len(colours)], Dashed: s.Dashed,
		LegendY: legend, LegendText: legend + 4}
	var line, upper, lower []string
	at := func(p Point, v float64) string {
		return fmt.Sprintf("%g,%g", x.coordinate(p.Bytes), min(y.coordinate(v), bottom))
	}
	spread := false
	place := func(v float64) string {
		if x.linear {
			return tick(v, "")
		}
		return Size(int64(v))
	}
	for i, p := range s.Points {
		line, upper = append(line, at(p, p.Median)), append(upper, at(p, p.Most))
		last := s.Points[len(s.Points)-1-i]
		lower = append(lower, at(last, last.Least))
		spread = spread || p.Least < p.Most
		c.Dots = append(c.Dots, dot{X: x.coordinate(p.Bytes),
			Y: min(y.coordinate(p.Median), bottom),
			Label: fmt.Sprintf("%s: %s (%s to %s)",
				place(p.Bytes), Amount(p.Median, unit), Amount(p.Least, unit),
				Amount(p.Most, unit))})
	}
	c.Line = strings.Join(line, " ")
	if spread && !s.Dashed {
		c.Band = strings.Join(append(upper, lower...), " ")
	}
	return c
}
