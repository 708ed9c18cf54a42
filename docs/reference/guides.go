// SPDX-License-Identifier: BSD-3-Clause

// The guides as pages of the HTML reference: README.md, CHANGELOG.md and docs/*.md. Where links
// lead is links.go's. It must not know what a guide is about.
package main

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	htmlrenderer "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// guide is a document of the source tree.
type guide struct {
	source   string // its file, from the root of the tree
	file     string // its page
	title    string
	body     string // HTML
	sections []guideSection
}

// guideSection is what stands below one heading of a guide.
type guideSection struct {
	title, anchor string // anchor: "" above the first heading but the title
	text          string // without markup
	functions     []*page
}

// settingsSource is the guide that has a row for each setting.
const settingsSource = "docs/configuration.md"

var settingRow = regexp.MustCompile("(?m)^\\| `(ARMCI_\\w+)` \\|")

// userGuides are the guides of users, in the order in which the index lists them. The others follow
// by name.
var userGuides = []string{"README.md", "docs/tutorial.md", "docs/installing.md", "docs/running.md",
	"docs/configuration.md", "docs/faq.md", "docs/migrating.md", "docs/fortran.md",
	"docs/cxx.md", "docs/python.md", "docs/windows.md", "docs/coarrays.md", "docs/batch.md",
	"docs/performance.md", "docs/statistics.md", "docs/debugging.md", "docs/memory-model.md",
	"CHANGELOG.md"}

// readGuides reads all guides of a source tree and converts them.
func (b *book) readGuides(root string) error {
	others, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		return err
	}
	names := slices.Clone(userGuides)
	for _, file := range others {
		if name := "docs/" + filepath.Base(file); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		b.guides = append(b.guides, &guide{source: name, file: guideFile(name)})
	}
	settings, err := os.ReadFile(filepath.Join(root, settingsSource))
	for _, m := range settingRow.FindAllSubmatch(settings, -1) {
		b.settings[string(m[1])] = true
	}
	for _, g := range b.guides {
		source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(g.source)))
		if err != nil {
			return err
		}
		if err := b.convert(g, source); err != nil {
			return fmt.Errorf("%s: %w", g.source, err)
		}
	}
	return nil
}

// guideFile is the name of the page of a document.
func guideFile(source string) string {
	return strings.ToLower(strings.TrimSuffix(filepath.Base(source), ".md")) + ".html"
}

// convert makes a guide's page from its source.
func (b *book) convert(g *guide, source []byte) error {
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()),
		goldmark.WithRendererOptions(htmlrenderer.WithUnsafe())) // the source is ours
	context := parser.NewContext(parser.WithIDs(anchors{}))
	document := markdown.Parser().Parse(text.NewReader(source), parser.WithContext(context))
	g.divide(b, document, source)
	b.relink(g, document, source)
	var body bytes.Buffer
	if err := markdown.Renderer().Render(&body, source, document); err != nil {
		return err
	}
	g.body = b.relinkRaw(g, body.String())
	return nil
}

// divide finds the title and the sections of a guide. Each setting is a section, too.
func (g *guide) divide(b *book, document ast.Node, source []byte) {
	current := &guideSection{}
	for n := document.FirstChild(); n != nil; n = n.NextSibling() {
		heading, is := n.(*ast.Heading)
		switch {
		case is && g.title == "":
			g.title = plainText(n, source)
		case is:
			g.sections = append(g.sections, *current)
			id, _ := heading.AttributeString("id")
			anchor, _ := id.([]byte)
			current = &guideSection{title: plainText(n, source), anchor: string(anchor)}
		default:
			current.text += plainText(n, source) + "\n"
			current.functions = append(current.functions, b.codeOf(n, source)...)
			if g.source == settingsSource {
				g.sections = append(g.sections, settingsOf(n, source)...)
			}
		}
	}
	g.sections = append(g.sections, *current)
	g.title = cmp.Or(g.title, g.source)
}

// settingsOf returns the settings that a table lists, and gives its rows anchors.
func settingsOf(n ast.Node, source []byte) (settings []guideSection) {
	if _, is := n.(*tables.Table); !is {
		return nil
	}
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		name := plainText(row.FirstChild(), source)
		if strings.HasPrefix(name, "ARMCI_") {
			row.SetAttributeString("id", []byte(name))
			settings = append(settings, guideSection{title: name, anchor: name,
				text: strings.TrimPrefix(plainText(row, source), name)})
		}
	}
	return settings
}

// plainText is the text of a node without markup.
func plainText(n ast.Node, source []byte) string {
	var s strings.Builder
	ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				s.Write(n.Segment.Value(source))
				if n.SoftLineBreak() {
					s.WriteByte(' ')
				}
			}
		case *ast.FencedCodeBlock:
			if entering {
				s.Write(n.Lines().Value(source))
			}
		default:
			if !entering && n.Type() == ast.TypeBlock {
				s.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.TrimSpace(s.String())
}

// htmlGuide returns the body of a guide's page.
func (g *guide) htmlGuide() string {
	return fmt.Sprintf("<p><a href=\"index.html\">libarmci</a> · %s</p>\n%s",
		html.EscapeString(g.source), g.body)
}

// mention is a link to a place in a guide that names a function.
type mention struct{ title, url string }

// mentions are the places in users' guides, but the changelog, that name a function of a page.
func (b *book) mentions(p *page) (all []mention) {
	for _, g := range b.guides {
		if !slices.Contains(userGuides, g.source) || g.source == "CHANGELOG.md" {
			continue
		}
		for _, s := range g.sections {
			if slices.Contains(s.functions, p) {
				all = append(all, mention{g.heading(&s), g.url(&s)})
			}
		}
	}
	return all
}

// heading names a section with its guide.
func (g *guide) heading(s *guideSection) string {
	if s.title == "" {
		return g.title
	}
	return g.title + ": " + s.title
}

// url is the address of a section.
func (g *guide) url(s *guideSection) string {
	if s.anchor == "" {
		return g.file
	}
	return g.file + "#" + s.anchor
}
