// SPDX-License-Identifier: BSD-3-Clause

// Manual pages: one for each page, and one that refers to it for each further name.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// roff makes text safe: backslashes, a dot or an apostrophe at the beginning of a line, minus
// signs.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}

// literal is text whose lines stay as they are.
func literal(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i := range lines {
		lines[i] = roff(strings.ReplaceAll(lines[i], "\t", "    "))
	}
	return ".nf\n" + strings.Join(lines, "\n") + "\n.fi\n"
}

// sentences begins each on a line of its own, as roff wants.
func sentences(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, ". ", ".\n"), "\n")
	for i := range lines {
		lines[i] = coded.ReplaceAllString(roff(lines[i]), `\fI$1\fR`)
	}
	return strings.Join(lines, "\n") + "\n"
}

// writeMan writes a manual page for each page, and an alias for each further name.
func writeMan(b *book, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, p := range b.pages {
		if len(p.functions) == 0 {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, p.pageName()+".3"), []byte(manPage(b, p)),
			0o644); err != nil {
			return err
		}
		for _, name := range p.names()[1:] {
			alias := fmt.Sprintf(".so man3/%s.3\n", p.pageName())
			if err := os.WriteFile(filepath.Join(dir, name+".3"), []byte(alias),
				0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// names are all that lead to the page, its own first.
func (p *page) names() (names []string) {
	for _, f := range p.functions {
		names = append(names, f.name)
	}
	return append(names, p.profiling...)
}

// manPage returns a page as the source of a manual page.
func manPage(b *book, p *page) string {
	var s strings.Builder
	fmt.Fprintf(&s, ".\\\" Written from the comments of %s. Do not change it here.\n", p.header)
	fmt.Fprintf(&s, ".TH %s 3 \"%s\" \"libarmci %s\" \"ARMCI\"\n.SH NAME\n", p.pageName(),
		b.date, b.version)
	fmt.Fprintf(&s, "%s \\- %s\n", strings.Join(p.names(), ", "),
		roff(coded.ReplaceAllString(p.comment.purpose, "$1")))
	fmt.Fprintf(&s, ".SH LIBRARY\nARMCI (libarmci, \\-larmci)\n.SH SYNOPSIS\n")
	s.WriteString(literal("#include <" + p.header + ">\n\n" + p.prototypes()))
	if p.fortran != nil {
		s.WriteString(".SS Fortran\n" + literal("use armci\n\n"+strings.Join(p.fortran,
			"\n")))
	}
	for _, part := range b.parts(p) {
		fmt.Fprintf(&s, ".SH %s\n", strings.ToUpper(part.title))
		for i, text := range part.text {
			if i > 0 {
				s.WriteString(".PP\n")
			}
			s.WriteString(sentences(text))
		}
		for _, a := range part.list {
			fmt.Fprintf(&s, ".TP\n.I %s\n%s", roff(a.name), sentences(a.text))
		}
	}
	if p.example != "" {
		s.WriteString(".SH EXAMPLES\n" + literal(p.example))
	}
	s.WriteString(".SH SEE ALSO\n")
	for _, name := range b.seeAlso(p) {
		fmt.Fprintf(&s, ".BR %s (3),\n", name)
	}
	s.WriteString(".BR armci (3)\n")
	return s.String()
}

// body is an example without its first comment.
func body(example string) string {
	for strings.HasPrefix(example, "//") {
		_, example, _ = strings.Cut(example, "\n")
	}
	return example
}
