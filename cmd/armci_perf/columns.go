// SPDX-License-Identifier: BSD-3-Clause

// Draws groups of columns side by side, from zero, as SVG, with the value on
// top of each. It knows nothing of what is drawn.
package main

import (
	"fmt"
	"io"
)

type columnGroup struct {
	name   string
	values []float64 // one for each name of the chart
}

type columns struct {
	title, y string
	names    []string
	groups   []columnGroup
}

func (c *columns) greatest() float64 {
	most := 0.0
	for _, g := range c.groups {
		for _, v := range g.values {
			most = max(most, v)
		}
	}
	return most
}

// draw writes the whole picture.
func (c *columns) draw(w io.Writer) {
	begin(w, c.title)
	text(w, 20, (top+height-bottom)/2, "middle", fmt.Sprintf(`transform="rotate(-90 20 %g)"`, (top+height-bottom)/2), c.y)
	floor := height - bottom
	most := c.greatest()
	if most == 0 {
		most = 1 // columns without height
	}
	scale := (floor - top - 40) / most // room for the legend above
	group := (width - left - right) / float64(len(c.groups))
	one := group / float64(len(c.names)+1)
	for i, g := range c.groups {
		x := left + group*float64(i) + one/2
		for k, v := range g.values {
			high := v * scale
			fmt.Fprintf(w, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", x+one*float64(k), floor-high,
				one*0.9, high, colours[k%len(colours)])
			text(w, x+one*(float64(k)+0.45), floor-high-4, "middle", `font-size="11"`, short(v))
		}
		text(w, x+one*float64(len(g.values))/2, floor+20, "middle", "", g.name)
	}
	line(w, left, floor, width-right, floor, "#555555")
	for k, name := range c.names {
		x := left + 10 + 170*float64(k)
		fmt.Fprintf(w, `<rect x="%g" y="%g" width="14" height="14" fill="%s"/>`+"\n", x, top-2, colours[k%len(colours)])
		text(w, x+20, top+10, "start", "", name)
	}
	fmt.Fprintln(w, "</svg>")
}
