// SPDX-License-Identifier: BSD-3-Clause

// Writes charts as SVG, and all figures with their tables as one HTML page and as markdown for
// docs/papers.md.
package main

import (
	_ "embed"
	"errors"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	text "text/template"

	"libarmci/internal/figure"
)

//go:embed papers.html
var pageText string

//go:embed papers.md
var markdownText string

// writePages draws the wanted figures that something was measured of: pictures into one directory,
// a page of HTML and one of markdown into the other.
func (o *options) writePages(rows rowsOf, runs []run, dir, pictures string) error {
	if err := os.MkdirAll(pictures, 0o777); err != nil {
		return err
	}
	all, err := o.page(rows, runs, pictures)
	html := template.Must(template.New("page").Parse(pageText))
	functions := text.FuncMap{"wrap": wrap}
	markdown := text.Must(text.New("markdown").Funcs(functions).Parse(markdownText))
	return errors.Join(err,
		figure.WriteFile(filepath.Join(dir, "papers.html"),
			func(w io.Writer) error { return html.Execute(w, all) }),
		figure.WriteFile(filepath.Join(dir, "papers.md"),
			func(w io.Writer) error { return markdown.Execute(w, all) }))
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

// drawChart draws a chart of a figure into a directory.
func drawChart(f *paperFigure, i int, all []points, runs []run, pictures string) (drawing, error) {
	c := &f.charts[i]
	d := drawing{Title: c.title}
	t := c.table(all)
	d.Head, d.Rows = t[0], t[1:]
	if c.kind == asTable {
		return d, nil
	}
	var picture strings.Builder
	err := c.draw(&picture, all, footer(all, runs))
	if err == nil {
		d.File, d.Picture = f.chartFile(i)+".svg", template.HTML(picture.String())
		err = os.WriteFile(filepath.Join(pictures, d.File), []byte(picture.String()), 0o666)
	}
	return d, err
}

// footer says below a chart what was measured on, when, and how often.
func footer(all []points, runs []run) string {
	used := map[int]bool{}
	often := repeated(all, runs, used)
	var on []string
	for i := range runs {
		if used[runs[i].number] {
			on = append(on, runs[i].String())
		}
	}
	often, _, _ = strings.Cut(often, ",")
	return strings.Join(on, "; ") + ". Medians of " + often +
		"; bands and thin lines go from the least to the greatest repetition."
}

// draw draws bars, or lines.
func (c *chart) draw(w io.Writer, all []points, footer string) error {
	unit, colour := all[0].points[0].unit, coloursOf(all)
	var marks []figure.Mark
	for _, q := range c.quotes {
		if q.x == 0 {
			marks = append(marks, figure.Mark{Name: q.name, Low: q.low, High: q.high,
				Colour: figure.Quoted[len(marks)%len(figure.Quoted)]})
		}
	}
	if c.kind == overPlaces || c.kind == overRanks {
		b := figure.Bars{Title: c.title, XLabel: c.axis(), YLabel: c.yLabel, Unit: unit,
			Footer: footer, Log: c.log, Groups: c.labels(all), Marks: marks}
		for i := range all {
			s := figure.BarSeries{Name: all[i].name, Colour: colour[i]}
			for _, g := range b.Groups {
				p, _ := all[i].pointNamed(g)
				s.Values = append(s.Values, p.Value)
			}
			b.Series = append(b.Series, s)
		}
		return b.Write(w)
	}
	l := figure.Chart{Title: c.title, YLabel: c.yLabel, Unit: unit, Footer: footer,
		Marks: marks}
	if c.kind != overBytes {
		l.XLabel = c.axis()
	}
	for i := range all {
		s := figure.Series{Name: all[i].name, Colour: colour[i],
			Dashed: isBaseline(all[i].name)}
		for _, p := range all[i].points {
			s.Points = append(s.Points, figure.Point{Bytes: p.x, Value: p.Value})
		}
		l.Series = append(l.Series, s)
	}
	l.Series = append(l.Series, c.quotedSeries()...)
	return l.Write(w)
}

// quotedSeries are the paper's own points, in black and grey.
func (c *chart) quotedSeries() []figure.Series {
	var all []figure.Series
	for _, name := range c.quoteNames() {
		s := figure.Series{Name: name, Quoted: true,
			Colour: []int{figure.Black, figure.Light}[len(all)%2]}
		for _, q := range c.quotes {
			if q.name == name && q.x != 0 {
				v := figure.Value{Median: q.low, Least: q.low, Most: q.high}
				s.Points = append(s.Points, figure.Point{Bytes: q.x, Value: v})
			}
		}
		if len(s.Points) > 0 {
			all = append(all, s)
		}
	}
	return all
}

// isBaseline reports whether a series is no way of communication: the machine's own speed, a model.
func isBaseline(name string) bool {
	return strings.HasPrefix(name, "raw") || strings.HasPrefix(name, "model") ||
		strings.HasPrefix(name, "memcpy")
}

// isMessages reports whether a series is of MPI's messages.
func isMessages(name string) bool {
	lower := strings.ToLower(name)
	return strings.HasPrefix(lower, "mpi") && !strings.Contains(lower, "libarmci") ||
		slices.Contains([]string{"pdgemm", "two-sided", "send/receive design"}, name)
}

// coloursOf gives messages the same colours in all charts, and the others theirs in order.
func coloursOf(all []points) []int {
	grey := []int{figure.Dark, figure.Light}
	next := 0
	var list []int
	for i := range all {
		if isMessages(all[i].name) && len(grey) > 0 {
			list, grey = append(list, grey[0]), grey[1:]
			continue
		}
		list = append(list, next)
		next = (next + 1) % figure.Dark
	}
	return list
}
