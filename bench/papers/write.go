// SPDX-License-Identifier: BSD-3-Clause

// Writes charts as SVG, and all figures with their tables as one HTML page and as
// markdown for docs/papers.md.
package main

import (
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"strings"
	text "text/template"

	"libarmci/internal/config"
	"libarmci/internal/figure"
)

//go:embed papers.html
var pageText string

//go:embed papers.md
var markdownText string

// section is a figure in the page.
type section struct {
	ID, Title, Caption, Paper, Here string
	Charts                          []drawing
}

type drawing struct {
	Title   string
	File    string        // of the picture, below figures; "": a table only
	Picture template.HTML // the same
	Head    []string
	Rows    [][]string
}

// write draws the wanted figures that something was measured of.
func (o *options) write(rows map[string][]figure.Row) error {
	if err := os.MkdirAll(filepath.Join(o.dir, "figures"), 0o777); err != nil {
		return err
	}
	var all []section
	var failed error
	for _, f := range o.wanted() {
		s := section{ID: f.id, Title: f.title, Caption: f.caption, Paper: f.paper, Here: f.here}
		for i := range f.charts {
			d, err := o.draw1(f, i, rows)
			failed = errors.Join(failed, err)
			if len(d.Rows) > 0 {
				s.Charts = append(s.Charts, d)
			} else {
				fmt.Printf("%s: not measured\n", f.name(i))
			}
		}
		all = append(all, s)
	}
	data := map[string]any{"Sections": all, "Machine": figure.Machine(config.Version), "Left": o.left}
	page := template.Must(template.New("page").Parse(pageText))
	markdown := text.Must(text.New("markdown").Parse(markdownText))
	return errors.Join(failed,
		figure.WriteFile(filepath.Join(o.dir, "papers.html"), func(w io.Writer) error { return page.Execute(w, data) }),
		figure.WriteFile(filepath.Join(o.dir, "papers.md"), func(w io.Writer) error { return markdown.Execute(w, data) }))
}

// draw1 draws a chart of a figure.
func (o *options) draw1(f *paperFigure, i int, rows map[string][]figure.Row) (drawing, error) {
	c := &f.charts[i]
	all := o.collect(c, rows)
	d := drawing{Title: c.title}
	if len(all) == 0 {
		return d, nil
	}
	t := c.table(all)
	d.Head, d.Rows = t[0], t[1:]
	if c.kind == asTable {
		return d, nil
	}
	var picture strings.Builder
	err := c.draw(&picture, all, figure.Machine(config.Version)+". Medians; bands and thin lines go from the least to the greatest repetition.")
	if err == nil {
		d.File, d.Picture = f.name(i)+".svg", template.HTML(picture.String())
		err = os.WriteFile(filepath.Join(o.dir, "figures", d.File), []byte(picture.String()), 0o666)
	}
	return d, err
}

// draw draws bars, or lines.
func (c *chart) draw(w io.Writer, all []points, footer string) error {
	unit := all[0].points[0].unit
	if c.kind == overPlaces || c.kind == overRanks {
		b := figure.Bars{Title: c.title, XLabel: c.axis(), YLabel: c.yLabel, Unit: unit, Footer: footer, Log: c.log, Groups: c.labels(all)}
		for i := range all {
			s := figure.BarSeries{Name: all[i].name}
			for _, g := range b.Groups {
				p, _ := all[i].at(g)
				s.Values = append(s.Values, p.Value)
			}
			b.Series = append(b.Series, s)
		}
		return b.Write(w)
	}
	l := figure.Chart{Title: c.title, YLabel: c.yLabel, Unit: unit, Footer: footer}
	if c.kind != overBytes {
		l.XLabel = c.axis()
	}
	for i := range all {
		s := figure.Series{Name: all[i].name, Colour: i}
		for _, p := range all[i].points {
			s.Points = append(s.Points, figure.Point{Bytes: p.x, Value: p.Value})
		}
		l.Series = append(l.Series, s)
	}
	return l.Write(w)
}
