// SPDX-License-Identifier: BSD-3-Clause

// The index of the search, which pages load as a script: a browser that shows files reads no other.
// search.js, which is in each set of pages as it is here, looks words up in it.
package main

import (
	_ "embed"
	"encoding/json"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

//go:embed search.js
var searchScript []byte

// entry is what a search may find: title, address, summary, and its words, each once.
type entry [4]string

var (
	word    = regexp.MustCompile(`[a-z0-9_]{2,}`)
	markup  = regexp.MustCompile(`<[^>]*>`)
	summary = 160 // characters at most
)

// words are the words of a text, each once, in order.
func words(text string) string {
	all := word.FindAllString(strings.ToLower(text), -1)
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " ")
}

// beginning is the first characters of a text, up to a space.
func beginning(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= summary {
		return text
	}
	cut := strings.LastIndexByte(text[:summary], ' ')
	return strings.ToValidUTF8(text[:max(cut, 0)], "") + " …"
}

// entries are all that a search may find: functions first.
func (b *book) entries() (all []entry) {
	for _, p := range b.pages {
		if len(p.functions) == 0 {
			continue
		}
		known := words(html.UnescapeString(markup.ReplaceAllString(b.htmlPage(p), " ")))
		for _, f := range p.functions {
			all = append(all, entry{f.name, p.pageName() + ".html",
				beginning(strings.ReplaceAll(p.comment.purpose, "`", "")), known})
		}
	}
	for _, g := range b.guides {
		for _, s := range g.sections {
			all = append(all, entry{g.heading(&s), g.url(&s), beginning(s.text),
				words(g.heading(&s) + " " + s.text)})
		}
	}
	return all
}

// writeSearch writes the index and the script.
func (b *book) writeSearch(dir string) error {
	index, err := json.Marshal(b.entries())
	if err != nil {
		return err
	}
	index = append(append([]byte("var entries = "), index...), ";\n"...)
	if err := os.WriteFile(filepath.Join(dir, "search-index.js"), index, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "search.js"), searchScript, 0o644)
}
