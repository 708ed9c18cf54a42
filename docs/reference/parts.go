// SPDX-License-Identifier: BSD-3-Clause

// The parts of a page that manual pages and HTML have in common.
package main

import (
	"slices"
	"strings"
)

// part is a section of a page: paragraphs, and a list of names.
type part struct {
	title string
	text  []string
	list  []argument
}

// width is how long lines of prototypes are.
const width = 96

// prototypes returns the declarations of a page, broken at commas into lines of width.
func (p *page) prototypes() string {
	var lines []string
	for _, f := range p.functions {
		line := f.prototype + ";"
		for len(line) > width {
			at := strings.LastIndex(line[:width], ", ")
			if at < 0 {
				break
			}
			lines = append(lines, line[:at+1])
			line = "    " + line[at+2:]
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n") + "\n"
}

// parts are what a page says, in order.
func (b *book) parts(p *page) (parts []part) {
	text := append([]string{p.comment.purpose + "."}, p.comment.text...)
	if len(p.profiling) > 0 {
		text = append(text, strings.Join(p.profiling, ", ")+
			": the same under the names of the profiling interface.")
	}
	parts = append(parts, part{title: "Description", text: text})
	if len(p.params) > 0 {
		parts = append(parts, part{title: "Parameters", list: p.params})
	}
	completion := p.fields[done]
	if completion == "" {
		completion = "on return."
	}
	parts = append(parts, part{title: "Completion", text: []string{upper(completion)}},
		part{title: "Scope", text: []string{explain(p.fields[scope], scopes)}},
		part{title: "Threads", text: []string{explain(p.fields[threads], rules)}})
	if p.fields[returns] != "" {
		parts = append(parts, part{title: "Return value",
			text: []string{explain(p.fields[returns], results)}})
	}
	return append(parts, b.errorPart(p))
}

// errorPart says what a wrong call does.
func (b *book) errorPart(p *page) part {
	e := part{title: "Errors"}
	if p.fields[errs] != "" {
		e.text = []string{upper(p.fields[errs])}
	}
	switch {
	case strings.Contains(p.fields[returns], "code"):
		e.text = append(e.text,
			"A failed call changes nothing, prints one line that names function, "+
				"argument and rank, and returns one of:")
		for _, c := range b.codes {
			e.list = append(e.list, argument{c.name + " (" + c.number + ")", c.text})
		}
	case e.text != nil:
	case strings.Contains(p.fields[returns], "FAIL"):
		e.text = []string{"One line names function, argument and rank."}
	case p.header == "message.h" && !strings.HasPrefix(p.fields[scope], "local"):
		e.text = []string{"A wrong argument prints one line and ends the job."}
	case p.fields[returns] != "":
		e.text = []string{"None but what the return value says."}
	default:
		e.text = []string{"None."}
	}
	return e
}

// What the headers' short words mean, in the order in which they are looked for.
var (
	scopes = [][2]string{
		{"local", "Local: no communication"},
		{"one-sided", "One-sided: the target need not take part, poll or call anything"},
		{"collective(", "Collective: every member calls it, in the same order relative " +
			"to other collectives: ("},
	}
	rules = [][2]string{
		{"any", "Any thread, at any time between init and finalize, concurrently with " +
			"any call"},
		{"one", "One thread of the process at a time"},
	}
	results = [][2]string{{"code", "0 for success, or a code of those below"}}
)

// explain puts the meaning in the place of the word that a text begins with.
func explain(text string, words [][2]string) string {
	for _, w := range words {
		if rest, found := strings.CutPrefix(text, w[0]); found {
			if strings.HasSuffix(w[1], ": (") {
				inside, after, _ := strings.Cut(rest, ")")
				return strings.TrimSuffix(w[1], ": (") + " (" + inside + ")" + after
			}
			return w[1] + rest
		}
	}
	return upper(text)
}

func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// seeAlso are the pages that a page names, and its neighbours in the section if these are few.
func (b *book) seeAlso(p *page) (names []string) {
	add := func(q *page) {
		if q != nil && q != p && len(q.functions) > 0 &&
			!slices.Contains(names, q.pageName()) {
			names = append(names, q.pageName())
		}
	}
	all := strings.Join(append(append(p.comment.fields[:], p.comment.params...),
		append(p.comment.text, p.comment.purpose)...), " ")
	for _, m := range named.FindAllStringSubmatch(all, -1) {
		add(b.byName[m[1]])
	}
	for _, q := range b.pages {
		if q.section == p.section && q.header == p.header && len(names) < 8 {
			add(q)
		}
	}
	slices.Sort(names)
	return names
}
