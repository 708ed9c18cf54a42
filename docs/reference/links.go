// SPDX-License-Identifier: BSD-3-Clause

// Links of guides: to guides they become links between pages, to examples they stay, as these are
// installed beside the pages. A name of a function or setting becomes a link to it. Other files of
// the source tree are not installed, so that only the link's text is left.
package main

import (
	"path"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"libarmci/docs/reference/anchor"
)

// anchors gives headings the anchors that a forge gives them, by which guides link to them.
type anchors map[string]bool

// Generate returns the anchor of a heading, another one for each.
func (a anchors) Generate(heading []byte, _ ast.NodeKind) []byte {
	name := anchor.Of(string(heading))
	for a[name] {
		name += "-1"
	}
	a[name] = true
	return []byte(name)
}

// Put enters an anchor that a document gives itself.
func (a anchors) Put(name []byte) { a[string(name)] = true }

// target returns where a link of a guide leads from its page; "" if that is not installed.
func (b *book) target(g *guide, link string) string {
	if strings.Contains(link, ":") || strings.HasPrefix(link, "#") {
		return link
	}
	file, fragment, has := strings.Cut(link, "#")
	if has {
		fragment = "#" + fragment
	}
	file = path.Join(path.Dir(g.source), file)
	for _, other := range b.guides {
		if other.source == file {
			return other.file + fragment
		}
	}
	switch {
	case strings.HasPrefix(file, "docs/plots/"):
		return strings.TrimPrefix(file, "docs/")
	case file == "examples" || strings.HasPrefix(file, "examples/"):
		return "../" + file
	case file == "docs/reference":
		return "index.html"
	}
	return ""
}

// relink changes the links of a guide into those of its page, and makes links of functions' names.
func (b *book) relink(g *guide, document ast.Node, source []byte) {
	var links []*ast.Link
	var codes []*ast.CodeSpan
	ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Heading:
			return ast.WalkSkipChildren, nil
		case *ast.Link:
			if entering {
				links = append(links, n)
			}
			return ast.WalkSkipChildren, nil
		case *ast.Image:
			n.Destination = []byte(b.target(g, string(n.Destination)))
		case *ast.CodeSpan:
			if entering {
				codes = append(codes, n)
			}
		}
		return ast.WalkContinue, nil
	})
	for _, l := range links {
		if to := b.target(g, string(l.Destination)); to != "" {
			l.Destination = []byte(to)
		} else {
			unlink(l)
		}
	}
	for _, c := range codes {
		if to := b.place(plainText(c, source)); to != "" {
			l := ast.NewLink()
			l.Destination = []byte(to)
			c.Parent().ReplaceChild(c.Parent(), c, l)
			l.AppendChild(l, c)
		}
	}
}

// unlink puts the text of a link in its place.
func unlink(l *ast.Link) {
	parent := l.Parent()
	for l.FirstChild() != nil {
		parent.InsertBefore(parent, l, l.FirstChild())
	}
	parent.RemoveChild(parent, l)
}

// called is a name as guides write it, with or without its arguments.
var called = regexp.MustCompile(`^\w+(\(.*\))?$`)

// function returns the page of a function that is named; nil if there is none.
func (b *book) function(code string) *page {
	if !called.MatchString(code) {
		return nil
	}
	name, _, _ := strings.Cut(code, "(")
	return b.byName[name]
}

// place returns the address of a function or a setting that is named; "" if there is none.
func (b *book) place(code string) string {
	if p := b.function(code); p != nil {
		return p.pageName() + ".html"
	}
	if name, _, _ := strings.Cut(code, "="); b.settings[name] {
		return guideFile(settingsSource) + "#" + name
	}
	return ""
}

// codeOf returns the pages of the functions that a part of a guide names.
func (b *book) codeOf(n ast.Node, source []byte) (pages []*page) {
	ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if c, is := n.(*ast.CodeSpan); is && entering {
			if p := b.function(plainText(c, source)); p != nil {
				pages = append(pages, p)
			}
		}
		return ast.WalkContinue, nil
	})
	return pages
}

// rawSource is a picture in a guide's own HTML.
var rawSource = regexp.MustCompile(`(<img src=")([^"]+)(")`)

// relinkRaw changes addresses of pictures in HTML that a guide contains.
func (b *book) relinkRaw(g *guide, body string) string {
	return rawSource.ReplaceAllStringFunc(body, func(tag string) string {
		m := rawSource.FindStringSubmatch(tag)
		if strings.HasPrefix(m[2], "plots/") { // by relink
			return tag
		}
		return m[1] + b.target(g, m[2]) + m[3]
	})
}
