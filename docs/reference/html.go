// SPDX-License-Identifier: BSD-3-Clause

// The HTML reference: an index of guides and of functions by section, a file for each page, and the
// pictures. It needs nothing from elsewhere; its one script is the search.
package main

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:56rem;margin:2rem auto;
padding:0 1rem;color:#1a1a1a;background:#fff}
h1{font-size:1.5rem;margin-bottom:.2rem}
h2{font-size:1.1rem;margin:1.6rem 0 .4rem;border-bottom:1px solid #ddd}
pre{background:#f5f6f8;padding:.8rem;overflow-x:auto;font-size:.87rem}
dt{font-family:monospace;font-weight:600}dd{margin:0 0 .5rem 2rem}
nav ul{list-style:none;padding:0}nav input{width:100%;font:inherit;padding:.3rem}
table{border-collapse:collapse;font-size:.87rem}td,th{border:1px solid #ddd;padding:.2rem .5rem}
th{text-align:left}td{vertical-align:top}img{max-width:100%}
a{color:#0b57a4}ul{padding-left:1.2rem}li{margin:.15rem 0}
.foot{color:#666;font-size:.85rem;margin-top:2rem}`

// writeHTML writes a file for each page and guide, the index, the search and the pictures.
func writeHTML(b *book, root, dir string) error {
	plots := filepath.Join(dir, "plots")
	if err := os.RemoveAll(plots); err != nil {
		return err
	}
	if err := os.CopyFS(plots, os.DirFS(filepath.Join(root, "docs", "plots"))); err != nil {
		return err
	}
	for _, g := range b.guides {
		if err := os.WriteFile(filepath.Join(dir, g.file),
			[]byte(b.frame(g.title, g.htmlGuide(), g.source)), 0o644); err != nil {
			return err
		}
	}
	for _, p := range b.pages {
		if len(p.functions) == 0 {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, p.pageName()+".html"),
			[]byte(b.frame(p.pageName(), b.htmlPage(p), "include/"+p.header)),
			0o644); err != nil {
			return err
		}
	}
	if err := b.writeSearch(dir); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "index.html"),
		[]byte(b.frame("libarmci", b.index(), "the headers and docs")), 0o644)
}

// frame is a page around its body, with the search and what it was written from.
func (b *book) frame(title, body, source string) string {
	return fmt.Sprintf("<!DOCTYPE html>\n<html lang=\"en\"><head><meta "+
		"charset=\"utf-8\"><title>%s</title>\n"+
		"<meta name=\"viewport\" content=\"width=device-width\"><style>%s</style>\n"+
		"<script src=\"search-index.js\" defer></script>\n"+
		"<script src=\"search.js\" defer></script></head><body>\n"+
		"<nav><input id=\"search\" type=\"search\" aria-label=\"Search\" hidden "+
		"placeholder=\"Search functions, settings, guides ( / )\"><ul id=\"found\"></ul>"+
		"</nav>\n%s"+
		"<p class=\"foot\">libarmci %s, %s. Written from %s.</p></body></html>\n",
		html.EscapeString(title), style, body, b.version, b.date, source)
}

// guideList lists the guides: those of users, then the others.
func (b *book) guideList() string {
	var s strings.Builder
	for i, g := range b.guides {
		switch i {
		case 0:
			s.WriteString("<h2>Guides</h2>\n<ul>\n")
		case len(userGuides):
			s.WriteString("</ul>\n<h2>How it works, and how it is tested</h2>\n<ul>\n")
		}
		fmt.Fprintf(&s, "<li><a href=\"%s\">%s</a></li>\n", g.file,
			html.EscapeString(g.title))
	}
	s.WriteString("</ul>\n")
	return s.String()
}

// index lists the guides, and all functions by section.
func (b *book) index() string {
	var s strings.Builder
	s.WriteString("<h1>libarmci</h1>\n" + b.guideList())
	s.WriteString("<h1 id=\"functions\">Functions</h1>\n<p>Every function, by section. " +
		"The words used are defined at the top of armci.h.</p>\n")
	section := ""
	for _, p := range b.pages {
		if len(p.functions) == 0 {
			continue
		}
		if at := p.header + p.section; at != section {
			if section != "" {
				s.WriteString("</ul>\n")
			}
			section = at
			fmt.Fprintf(&s, "<h2>%s</h2>\n<ul>\n", html.EscapeString(p.heading()))
		}
		var names []string
		for _, f := range p.functions {
			names = append(names, fmt.Sprintf("<a href=\"%s.html\">%s</a>",
				p.pageName(), f.name))
		}
		fmt.Fprintf(&s, "<li>%s: %s</li>\n", strings.Join(names, ", "),
			coded.ReplaceAllString(html.EscapeString(p.comment.purpose),
				"<code>$1</code>"))
	}
	s.WriteString("</ul>\n")
	return s.String()
}

// heading is the section's name, with its header.
func (p *page) heading() string {
	if p.section == "" {
		return p.header
	}
	return p.section + " (" + p.header + ")"
}

// htmlPage returns the body of a page: synopsis, Fortran interface, parts and example.
func (b *book) htmlPage(p *page) string {
	var s strings.Builder
	fmt.Fprintf(&s, "<p><a href=\"index.html\">libarmci</a> · %s</p>\n<h1>%s</h1>\n",
		html.EscapeString(p.heading()),
		strings.Join(p.names(), ", "))
	fmt.Fprintf(&s, "<h2>Synopsis</h2>\n<pre>#include &lt;%s&gt;\n\n%s</pre>\n", p.header,
		html.EscapeString(p.prototypes()))
	if p.fortran != nil {
		fmt.Fprintf(&s, "<h2>Fortran</h2>\n<pre>use armci\n\n%s</pre>\n",
			html.EscapeString(strings.Join(p.fortran, "\n")))
	}
	for _, part := range b.parts(p) {
		fmt.Fprintf(&s, "<h2>%s</h2>\n", part.title)
		for _, text := range part.text {
			fmt.Fprintf(&s, "<p>%s</p>\n", b.linked(p, text))
		}
		if len(part.list) > 0 {
			s.WriteString("<dl>\n")
			for _, a := range part.list {
				fmt.Fprintf(&s, "<dt>%s</dt><dd>%s</dd>\n",
					html.EscapeString(a.name), b.linked(p, a.text))
			}
			s.WriteString("</dl>\n")
		}
	}
	if p.example != "" {
		fmt.Fprintf(&s, "<h2>Example</h2>\n<pre>%s</pre>\n", html.EscapeString(p.example))
	}
	s.WriteString("<h2>See also</h2>\n<p>")
	for i, name := range b.seeAlso(p) {
		if i > 0 {
			s.WriteString(", ")
		}
		fmt.Fprintf(&s, "<a href=\"%s.html\">%s</a>", name, name)
	}
	s.WriteString("</p>\n")
	if places := b.mentions(p); len(places) > 0 {
		s.WriteString("<h2>In the guides</h2>\n<ul>\n")
		for _, m := range places {
			fmt.Fprintf(&s, "<li><a href=\"%s\">%s</a></li>\n", m.url,
				html.EscapeString(m.title))
		}
		s.WriteString("</ul>\n")
	}
	return s.String()
}

// coded is what comments have between backquotes: names of parameters.
var coded = regexp.MustCompile("`([^`]+)`")

// linked is text in which other functions are links.
func (b *book) linked(p *page, text string) string {
	text = coded.ReplaceAllString(html.EscapeString(text), "<code>$1</code>")
	return named.ReplaceAllStringFunc(text, func(name string) string {
		if q := b.byName[name]; q != nil && q != p {
			return fmt.Sprintf("<a href=\"%s.html\">%s</a>", q.pageName(), name)
		}
		return name
	})
}
