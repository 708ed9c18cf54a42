// SPDX-License-Identifier: BSD-3-Clause

// A comment of a header, taken apart: a purpose, text, @param, and the labels Done, Scope, Threads,
// Returns and sentences on errors.
//
// A line that begins without an indent behind a full stop is text again. Several labels or
// parameters may share what is said ("Done, Scope: as ARMCI_Put.").
package main

import (
	"regexp"
	"slices"
	"strings"
)

const (
	done = iota
	scope
	threads
	returns
	errs
)

var labels = [5]string{"Done", "Scope", "Threads", "Returns", "Errors"}

// comment is a comment of a header: purpose, paragraphs, parameters, and the labelled fields.
type comment struct {
	purpose string
	text    []string // paragraphs
	params  []string // each as written, without @param
	fields  [5]string
}

var (
	mark = regexp.MustCompile(
		`(@param\s|(?:\b(?:Done|Scope|Threads|Returns)(?:, |\b))+:)\s*`)
	sentence = regexp.MustCompile(
		`(?:^|\s)((?:Errors(?: \([^)]*\))?|No errors|Never returns)[^.:]*\.)`)
	first = regexp.MustCompile(`^(.*?[^.]\.)(?:\s+|$)`)
)

// parseComment divides a comment of a header into its parts.
func parseComment(raw string) (c comment) {
	raw = strings.TrimPrefix(strings.TrimPrefix(raw, "/**"), "/*")
	last := ""
	put := func(kind, text string) {
		text = strings.TrimSpace(text)
		switch {
		case kind == "@param":
			c.params = append(c.params, text)
		case kind == "":
			c.text = append(c.text, text)
		default:
			for i, label := range labels {
				if strings.Contains(kind, label) {
					c.fields[i] = strings.TrimSpace(c.fields[i] + " " + text)
				}
			}
		}
	}
	kind, held := "", ""
	for _, line := range strings.Split(raw, "\n") {
		line = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(line), "*/"), "*")
		indented := strings.HasPrefix(line, "  ")
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		begins := mark.FindStringIndex(line)
		if kind != "" && !indented && strings.HasSuffix(last, ".") &&
			(begins == nil || begins[0] > 0) {
			put(kind, held)
			kind, held = "", ""
		}
		last = line
		for {
			at := mark.FindStringIndex(line)
			if at == nil {
				held += " " + line
				break
			}
			put(kind, held+" "+line[:at[0]])
			kind, held = strings.TrimRight(strings.TrimSpace(line[at[0]:at[1]]), ":"),
				""
			line = line[at[1]:]
		}
	}
	put(kind, held)
	c.separateErrors()
	return c
}

// separateErrors takes the purpose off the text, and the sentences on errors off everything.
func (c *comment) separateErrors() {
	take := func(text string) string {
		for _, m := range sentence.FindAllStringSubmatch(text, -1) {
			c.fields[errs] = strings.TrimSpace(c.fields[errs] + " " + m[1])
			text = strings.Replace(text, m[1], "", 1)
		}
		return strings.Join(strings.Fields(text), " ")
	}
	for i := range c.fields[:errs] {
		c.fields[i] = take(c.fields[i])
	}
	for i := range c.params {
		c.params[i] = take(c.params[i])
	}
	for i := range c.text {
		c.text[i] = take(c.text[i])
	}
	c.text = slices.DeleteFunc(c.text, func(s string) bool { return s == "" })
	if len(c.text) == 0 {
		return
	}
	if m := first.FindStringSubmatchIndex(c.text[0]); m != nil {
		c.purpose = strings.TrimSuffix(c.text[0][:m[3]], ".")
		c.text[0] = strings.TrimSpace(c.text[0][m[3]:])
	}
	if c.text[0] == "" {
		c.text = c.text[1:]
	}
}

// inherit takes what a section says of all its functions.
func (c *comment) inherit(common comment) {
	for i, text := range common.fields {
		if c.fields[i] == "" {
			c.fields[i] = text
		}
	}
	for i, text := range common.text {
		if i == 0 {
			text = common.purpose + ". " + text
		}
		c.text = append(c.text, strings.TrimSuffix(text, " All of these:"))
	}
}
