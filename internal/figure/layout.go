// SPDX-License-Identifier: BSD-3-Clause

// The layout that bars and charts share: how wide a picture is, so that its legend, title and
// footer are inside, and marks that go across the grid.

package figure

import (
	"math"
	"strings"
)

// The drawing area in pixels; the template knows the rest.
const left, right, top, bottom = 92.0, 664.0, 46.0, 392.0

// colours are told apart by readers that do not see red or green, too; the last one is black.
var colours = []string{"#0b62a4", "#d1541f", "#2e8540", "#6b4ba1", "#a8326e", "#7a6a1f",
	"#1a9ba1", "#444444", "#999999", "#000000"}

// Colours of series that have the same one in all pictures.
const (
	Dark  = 7 // of messages
	Light = 8 // of other messages in the same picture
	Black = 9 // of figures of a paper
)

// Quoted are the colours of several figures of a paper in one picture.
var Quoted = []int{Black, 5, 6}

// Mark is a value, or a range of them, across the whole grid: what a paper says.
type Mark struct {
	Name      string
	Low, High float64 // equal: a line
	Colour    int
}

// mark is what the template is given, in pixels.
type mark struct {
	Name, Label, Colour            string
	Y, Height, LegendY, LegendText float64
	BoxY                           float64 // of the legend of a range
}

// footerLine is a line below the picture.
type footerLine struct {
	Text string
	Y    float64
}

// Places of the legend, and the size of its letters.
const (
	legendX, legendStep = 720.0, 22.0
	letter              = 0.62 // the width of a letter as a part of its height, at most
	narrowest           = 900.0
)

// legendAt is the height of the n-th entry of the legend.
func legendAt(n int) float64 { return top + 12 + legendStep*float64(n) }

func textWidth(text string, size float64) float64 {
	return math.Ceil(letter * size * float64(len([]rune(text))))
}

// pictureWidth is as wide as the title and the longest name of the legend need.
func pictureWidth(title string, names []string) float64 {
	width := max(narrowest, left+textWidth(title, 17)+12)
	for _, n := range names {
		width = max(width, legendX+textWidth(n, 13)+12)
	}
	return width
}

// footerLines breaks a footer into lines that are inside a picture.
func footerLines(text string, width float64) []footerLine {
	var lines []footerLine
	line := ""
	add := func() {
		lines = append(lines, footerLine{line, 470 + 15*float64(len(lines))})
	}
	for _, word := range strings.Fields(text) {
		if longer := strings.TrimSpace(line + " " + word); line == "" ||
			left+textWidth(longer, 11) <= width-12 {
			line = longer
			continue
		}
		add()
		line = word
	}
	add()
	return lines
}

// place returns a mark on an axis, with its entry of the legend.
func (m *Mark) place(y scale, unit string, entry int) mark {
	at := func(v float64) float64 { return min(max(y.coordinate(v), top), bottom) }
	k := mark{Name: m.Name, Colour: colours[m.Colour%len(colours)], Y: at(m.High),
		Height:  round(at(m.Low) - at(m.High)),
		LegendY: legendAt(entry), LegendText: legendAt(entry) + 4,
		BoxY: legendAt(entry) - 5, Label: m.Name + ": " + Amount(m.Low, unit)}
	if m.Low < m.High {
		k.Label += " to " + Amount(m.High, unit)
	}
	return k
}

// placeMarks returns all marks. In the legend, their entries follow `before` others.
func placeMarks(all []Mark, y scale, unit string, before int) []mark {
	var marks []mark
	for i := range all {
		marks = append(marks, all[i].place(y, unit, before+i))
	}
	return marks
}

func round(v float64) float64 { return math.Round(10*v) / 10 }
