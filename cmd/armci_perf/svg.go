// SPDX-License-Identifier: BSD-3-Clause

// Draws line charts with two logarithmic axes as SVG: a grid, labelled ticks,
// a marker per figure, a legend. It knows nothing of what is drawn.
package main

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strings"
)

type point struct{ x, y float64 } // both positive

type series struct {
	name   string
	points []point // by ascending x
	colour int
	dashed bool
}

type chart struct {
	title, x, y string
	series      []series
	right       bool // the legend is at the lower right, where rising lines are not
}

// The drawing area in pixels.
const (
	width, height            = 780.0, 480.0
	left, right, top, bottom = 78.0, 24.0, 46.0, 58.0
)

var colours = []string{"#0b62a4", "#d1541f", "#2e8540", "#6b4ba1", "#a8326e", "#7a6a1f"}

// axis maps [low, high] logarithmically to pixels [from, to].
type axis struct{ low, high, from, to float64 }

func (a axis) at(v float64) float64 {
	return a.from + (a.to-a.from)*math.Log(v/a.low)/math.Log(a.high/a.low)
}

// axisOver covers the values, rounded outwards to powers of base.
func axisOver(values []float64, base, from, to float64) axis {
	low, high := math.Inf(1), 0.0
	for _, v := range values {
		low, high = math.Min(low, v), math.Max(high, v)
	}
	power := func(v float64, round func(float64) float64) float64 {
		return math.Pow(base, round(math.Round(math.Log(v)/math.Log(base)*1e9)/1e9))
	}
	a := axis{power(low, math.Floor), power(high, math.Ceil), from, to}
	if a.low == a.high {
		a.high *= base
	}
	return a
}

func (c *chart) axes() (x, y axis) {
	var xs, ys []float64
	for _, s := range c.series {
		for _, p := range s.points {
			xs, ys = append(xs, p.x), append(ys, p.y)
		}
	}
	return axisOver(xs, 2, left, width-right), axisOver(ys, 10, height-bottom, top)
}

// draw writes the whole picture.
func (c *chart) draw(w io.Writer) {
	x, y := c.axes()
	begin(w, c.title)
	c.grid(w, x, y)
	text(w, (left+width-right)/2, height-14, "middle", "", c.x)
	text(w, 20, (top+height-bottom)/2, "middle", fmt.Sprintf(`transform="rotate(-90 20 %g)"`, (top+height-bottom)/2), c.y)
	for _, s := range c.series {
		s.draw(w, x, y)
	}
	c.legend(w)
	fmt.Fprintln(w, "</svg>")
}

// begin writes the head of a picture.
func begin(w io.Writer, title string) {
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" viewBox="0 0 %g %g" font-family="sans-serif" font-size="13">`+"\n",
		width, height, width, height)
	fmt.Fprintf(w, `<rect width="%g" height="%g" fill="white"/>`+"\n", width, height)
	text(w, width/2, 24, "middle", `font-size="16"`, title)
}

// grid draws lines and labels: at most a dozen powers of two across, decades with 2 and 5 upwards.
func (c *chart) grid(w io.Writer, x, y axis) {
	step := math.Pow(2, math.Ceil(math.Log2(x.high/x.low)/12))
	for v := x.low; v <= x.high*1.001; v *= step {
		line(w, x.at(v), y.from, x.at(v), y.to, "#dddddd")
		text(w, x.at(v), y.from+20, "middle", "", size(int64(v)))
	}
	for v := y.low; v <= y.high*1.001; v *= 10 {
		line(w, x.from, y.at(v), x.to, y.at(v), "#bbbbbb")
		text(w, x.from-8, y.at(v)+4, "end", "", quantity(v))
		for _, m := range []float64{2, 5} {
			if v*m < y.high {
				line(w, x.from, y.at(v*m), x.to, y.at(v*m), "#eeeeee")
				text(w, x.from-8, y.at(v*m)+4, "end", `font-size="10" fill="#777777"`, quantity(v*m))
			}
		}
	}
	fmt.Fprintf(w, `<rect x="%g" y="%g" width="%g" height="%g" fill="none" stroke="#555555"/>`+"\n", x.from, y.to, x.to-x.from, y.from-y.to)
}

func (s *series) paint() string { return colours[s.colour%len(colours)] }

func (s *series) dashes() string {
	if s.dashed {
		return ` stroke-dasharray="6 4"`
	}
	return ""
}

func (s *series) draw(w io.Writer, x, y axis) {
	var path []string
	for _, p := range s.points {
		path = append(path, fmt.Sprintf("%.1f,%.1f", x.at(p.x), y.at(p.y)))
	}
	fmt.Fprintf(w, `<polyline fill="none" stroke="%s" stroke-width="2"%s points="%s"/>`+"\n", s.paint(), s.dashes(), strings.Join(path, " "))
	for _, p := range s.points {
		fmt.Fprintf(w, `<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"><title>%s</title></circle>`+"\n", x.at(p.x), y.at(p.y), s.paint(),
			size(int64(p.x))+": "+quantity(p.y))
	}
}

func (c *chart) legend(w io.Writer) {
	for i, s := range c.series {
		at := top + 20 + 20*float64(i)
		x := left + 10.0
		if c.right {
			x, at = width-right-230, height-bottom-10-20*float64(len(c.series)-1-i)
		}
		fmt.Fprintf(w, `<rect x="%g" y="%g" width="220" height="20" fill="white" fill-opacity="0.8"/>`+"\n", x, at-14)
		fmt.Fprintf(w, `<line x1="%g" y1="%g" x2="%g" y2="%g" stroke="%s" stroke-width="3"%s/>`+"\n", x+6, at-4, x+34, at-4,
			s.paint(), s.dashes())
		text(w, x+42, at, "start", "", s.name)
	}
}

func line(w io.Writer, x1, y1, x2, y2 float64, colour string) {
	fmt.Fprintf(w, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`+"\n", x1, y1, x2, y2, colour)
}

func text(w io.Writer, x, y float64, anchor, more, content string) {
	fmt.Fprintf(w, `<text x="%.1f" y="%.1f" text-anchor="%s" %s>`, x, y, anchor, more)
	xml.EscapeText(w, []byte(content))
	fmt.Fprintln(w, "</text>")
}

// quantity writes a number of an axis briefly: 500, 20k, 3M.
func quantity(v float64) string {
	for _, u := range []struct {
		least float64
		name  string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= u.least {
			return fmt.Sprintf("%.4g%s", v/u.least, u.name)
		}
	}
	return fmt.Sprintf("%.4g", v)
}
