// SPDX-License-Identifier: BSD-3-Clause

// Draws a chart over size: lines with a marker for each median and, of what is
// not a baseline, a band from the least to the greatest repetition; the legend
// beside the grid; below, what was measured on and when. The picture itself is
// the template chart.svg, and layout.go says how wide it is; here are only positions.

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

// Chart is what is drawn. Its x axis is a number of bytes, logarithmic, or with a label of its own
// any number from 0, linear. Its y axis is logarithmic, too; that of per cent is linear and covers
// the medians.
type Chart struct {
	Title, YLabel, Footer string
	XLabel                string // of a linear axis
	Unit                  string
	Series                []Series
	Marks                 []Mark
}

// Series is one line.
type Series struct {
	Name   string
	Colour int  // a number: equal ones have the same colour
	Dashed bool // a baseline
	Quoted bool // figures of others: rings, which no line joins
	Points []Point
}

// Point is a figure at a size.
type Point struct {
	Bytes float64 // or what XLabel says
	Value
}

// What the template is given.
type (
	rule struct {
		X1, Y1, X2, Y2, TextX, TextY float64
		Label                        string
		Below                        string // the second line of a label
		BelowY                       float64
		Upright, Minor               bool
	}
	dot struct {
		X, Y  float64
		Label string
	}
	curve struct {
		Name, Colour, Line, Band string
		Dashed, Quoted           bool
		Dots                     []dot
		Spreads                  []string // of points that no line joins
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
	lowest, highest := 0.0, 100.0
	for _, s := range c.Series {
		for _, p := range s.Points {
			xs = [2]float64{min(xs[0], p.Bytes), max(xs[1], p.Bytes)}
			for _, v := range []float64{p.Median, p.Least, p.Most} {
				if v > 0 {
					ys = [2]float64{min(ys[0], v), max(ys[1], v)}
				}
			}
			lowest, highest = min(lowest, p.Median), max(highest, p.Median)
		}
	}
	for _, m := range c.Marks {
		ys = [2]float64{min(ys[0], m.Low), max(ys[1], m.High)}
		lowest, highest = min(lowest, m.Low), max(highest, m.High)
	}
	if c.XLabel == "" && xs[1] > xs[0] && c.points() < fewest {
		xs = [2]float64{xs[0] / 2, xs[1] * 2}
	}
	x = over(min(xs[0], xs[1]), xs[1], 2, left, right)
	if c.XLabel != "" {
		x = scale{low: 0, high: xs[1], from: left, to: right, linear: true}
	}
	if c.Unit == "%" {
		return x, scale{low: 20 * math.Floor(lowest/20), high: 20 * math.Ceil(highest/20),
			from: bottom, to: top, linear: true}
	}
	return x, over(min(ys[0], max(ys[1], 1)), max(ys[1], 1), 10, bottom, top)
}

// points is the number of points of the longest series.
func (c *Chart) points() int {
	most := 0
	for i := range c.Series {
		most = max(most, len(c.Series[i].Points))
	}
	return most
}

// Write draws the chart as SVG.
func (c *Chart) Write(w io.Writer) error {
	x, y := c.scales()
	var curves []curve
	var names []string
	for i := range c.Series {
		curves = append(curves, c.Series[i].curve(x, y, c.Unit, legendAt(i)))
		names = append(names, c.Series[i].Name)
	}
	for _, m := range c.Marks {
		names = append(names, m.Name)
	}
	width := pictureWidth(c.Title, names)
	return chartTemplate.Execute(w, map[string]any{
		"Title": c.Title, "XLabel": cmp.Or(c.XLabel, "size"), "YLabel": c.YLabel,
		"Left": left, "Middle": (left + right) / 2, "Width": width,
		"Rules": append(rulesX(x), rulesY(y, c.Unit)...), "Curves": curves,
		"Marks":  placeMarks(c.Marks, y, c.Unit, len(c.Series)),
		"Footer": footerLines(c.Footer, width),
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

// rulesY are decades, with 2 and 5 between them; those of per cent are apart by 20 or more.
func rulesY(y scale, unit string) []rule {
	var all []rule
	add := func(v float64, label string) {
		at := y.coordinate(v)
		all = append(all, rule{X1: left, Y1: at, X2: right, Y2: at, TextX: left - 8,
			TextY: at + 4, Label: label, Minor: label == ""})
	}
	if y.linear {
		step := 20.0
		for (y.high-y.low)/step > 10 {
			step *= 2
		}
		for v := step * math.Ceil(y.low/step); v <= y.high; v += step {
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

// fewest points are joined by a line: two say nothing of what is between them.
const fewest = 3

// curve returns the line, the band and the dots of a series.
func (s *Series) curve(x, y scale, unit string, legend float64) curve {
	c := curve{Name: s.Name, Colour: colours[s.Colour%len(colours)], Dashed: s.Dashed,
		Quoted: s.Quoted, LegendY: legend, LegendText: legend + 4}
	var line, upper, lower []string
	inside := func(v float64) float64 { return min(max(y.coordinate(v), top), bottom) }
	at := func(p Point, v float64) string {
		return fmt.Sprintf("%g,%g", x.coordinate(p.Bytes), min(y.coordinate(v), bottom))
	}
	joined := !s.Quoted && len(s.Points) >= fewest
	spread := false
	for i, p := range s.Points {
		line, upper = append(line, at(p, p.Median)), append(upper, at(p, p.Most))
		last := s.Points[len(s.Points)-1-i]
		lower = append(lower, at(last, last.Least))
		spread = spread || p.Least < p.Most
		if !joined && p.Least < p.Most {
			c.Spreads = append(c.Spreads, fmt.Sprintf("%g,%g %g,%g",
				x.coordinate(p.Bytes), inside(p.Least), x.coordinate(p.Bytes),
				inside(p.Most)))
		}
		c.Dots = append(c.Dots, dot{X: x.coordinate(p.Bytes), Y: inside(p.Median),
			Label: p.label(x, unit)})
	}
	if !joined {
		return c
	}
	c.Line = strings.Join(line, " ")
	if spread && !s.Dashed {
		c.Band = strings.Join(append(upper, lower...), " ")
	}
	return c
}

// label is what a reader is told of a point: where it is, and its values.
func (p *Point) label(x scale, unit string) string {
	where := Size(int64(p.Bytes))
	if x.linear {
		where = tick(p.Bytes, "")
	}
	return where + ": " + p.text(unit)
}

// text is a value with its extremes, where they differ.
func (v *Value) text(unit string) string {
	median := Amount(v.Median, unit)
	if v.Least == v.Most {
		return median
	}
	return fmt.Sprintf("%s (%s to %s)", median, Amount(v.Least, unit), Amount(v.Most, unit))
}
