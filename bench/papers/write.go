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
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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
	Starts                          string // of the programs: 3, or 1 to 3
	Charts                          []drawing
}

// drawing is a chart as the page shows it: a picture and a table.
type drawing struct {
	Title   string
	File    string        // of the picture, below figures; "": a table only
	Picture template.HTML // the same
	Head    []string
	Rows    [][]string
}

// writePages draws the wanted figures that something was measured of.
func (o *options) writePages(rows map[string][]figure.Row) error {
	if err := os.MkdirAll(filepath.Join(o.dir, "figures"), 0o777); err != nil {
		return err
	}
	var all []section
	var failed error
	for _, f := range o.wanted() {
		s := section{ID: f.id, Title: f.title, Caption: f.caption, Paper: f.paper,
			Here: f.here, Starts: o.starts(f)}
		for i := range f.charts {
			d, err := o.draw1(f, i, rows)
			failed = errors.Join(failed, err)
			if len(d.Rows) > 0 {
				s.Charts = append(s.Charts, d)
			} else {
				fmt.Printf("%s: not measured\n", f.chartFile(i))
			}
		}
		all = append(all, s)
	}
	data := map[string]any{"Sections": all, "Machine": figure.Machine(config.Version),
		"Left": o.left}
	page := template.Must(template.New("page").Parse(pageText))
	functions := text.FuncMap{"wrap": wrap}
	markdown := text.Must(text.New("markdown").Funcs(functions).Parse(markdownText))
	return errors.Join(failed,
		figure.WriteFile(filepath.Join(o.dir, "papers.html"),
			func(w io.Writer) error { return page.Execute(w, data) }),
		figure.WriteFile(filepath.Join(o.dir, "papers.md"),
			func(w io.Writer) error { return markdown.Execute(w, data) }))
}

// starts is how often the programs of a figure were started that have left figures.
func (o *options) starts(f *paperFigure) string {
	count := map[string]int{}
	for _, s := range o.steps(f.experiments()) {
		if _, err := os.Stat(o.file(s, "csv")); err == nil {
			count[s.String()]++
		}
	}
	if len(count) == 0 {
		return ""
	}
	all := slices.Sorted(maps.Values(count))
	least, most := all[0], all[len(all)-1]
	if least == most {
		return strconv.Itoa(most)
	}
	return fmt.Sprintf("%d to %d", least, most)
}

// columns is the widest line of the text in the markdown page.
const columns = 100

// wrap breaks a text into lines.
func wrap(s string) string {
	var b strings.Builder
	width := 0
	for _, word := range strings.Fields(s) {
		switch {
		case width == 0:
		case width+1+len(word) > columns:
			b.WriteByte('\n')
			width = 0
		default:
			b.WriteByte(' ')
			width++
		}
		b.WriteString(word)
		width += len(word)
	}
	return b.String()
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
	err := c.draw(&picture, all, figure.Machine(config.Version)+
		". Medians; bands and thin lines go from the least to the greatest repetition.")
	if err == nil {
		d.File, d.Picture = f.chartFile(i)+".svg", template.HTML(picture.String())
		err = os.WriteFile(filepath.Join(o.dir, "figures", d.File),
			[]byte(picture.String()), 0o666)
	}
	return d, err
}

// draw draws bars, or lines.
func (c *chart) draw(w io.Writer, all []points, footer string) error {
	unit := all[0].points[0].unit
	if c.kind == overPlaces || c.kind == overRanks {
		b := figure.Bars{Title: c.title, XLabel: c.axis(), YLabel: c.yLabel, Unit: unit,
			Footer: footer, Log: c.log, Groups: c.labels(all)}
		for i := range all {
			s := figure.BarSeries{Name: all[i].name}
			for _, g := range b.Groups {
				p, _ := all[i].pointNamed(g)
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
