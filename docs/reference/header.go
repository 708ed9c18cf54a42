// SPDX-License-Identifier: BSD-3-Clause

// The headers: which comment belongs to which functions. What is inside a comment is comment.go's.
package main

import (
	"os"
	"regexp"
	"strings"
)

// page is a documented function, or several that share a comment.
type page struct {
	header, section string
	functions       []function
	profiling       []string // PARMCI_ names
	fortran         []string // interfaces of the module armci
	comment         comment  // as written
	// Done, Scope, Threads, Returns, Errors: also what other pages say
	fields  [5]string
	params  []argument // of all functions, each once
	example string
}

// function is a declared function and the names of its parameters.
type function struct {
	name, prototype string
	parameters      []string
}

// argument is a parameter and what is said of it.
type argument struct{ name, text string }

// code is an error code of the headers.
type code struct{ name, number, text string }

func (p *page) pageName() string { return p.functions[0].name }

var (
	sectionLine  = regexp.MustCompile(`^/\* -+ (.+?)(?::.*)? -+ \*/`)
	functionName = regexp.MustCompile(`(?:\(\*)?\b(\w+)\)?\((.*)\)$`)
	lastWord     = regexp.MustCompile(`(\w+)(?:\[\])*$`)
)

// parseHeader returns the pages of a header.
func parseHeader(name, text string) (pages []*page) {
	section := ""
	common := comment{}
	var current *page
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		if m := sectionLine.FindStringSubmatch(line); m != nil {
			section, common, current, text = m[1], comment{}, nil, rest
			continue
		}
		if strings.HasPrefix(line, "/*") {
			end := strings.Index(text, "*/")
			c := parseComment(text[:end])
			if strings.HasPrefix(line, "/**") {
				current = &page{header: name, section: section, comment: c}
				current.comment.inherit(common)
				pages = append(pages, current)
			} else if current = nil; strings.Contains(text[:end], "All of these") ||
				strings.Contains(text[:end], "All\n * of these") {
				common = c
			}
			text = text[end+2:]
			continue
		}
		if strings.HasPrefix(line, "#") || line == "" || line == "}" ||
			strings.HasPrefix(line, `extern "C"`) {
			for strings.HasSuffix(line, "\\") {
				line, rest, _ = strings.Cut(rest, "\n")
			}
			text = rest
			continue
		}
		var statement string
		statement, text = statementOf(text)
		if current != nil {
			current.addDeclaration(statement)
		}
	}
	return pages
}

// statementOf cuts a declaration off, with what is in its braces.
func statementOf(text string) (statement, rest string) {
	depth := 0
	for i, c := range text {
		switch c {
		case '{':
			depth++
		case '}':
			depth--
		case ';':
			if depth == 0 {
				return strings.Join(strings.Fields(text[:i]), " "), text[i+1:]
			}
		}
	}
	return "", ""
}

// addDeclaration enters a declaration. Of two of one name, for versions of C, the first is shown.
func (p *page) addDeclaration(statement string) {
	statement = strings.ReplaceAll(statement, "ARMCI_MPI_COMM_", "MPI_Comm")
	m := functionName.FindStringSubmatch(statement)
	if m == nil {
		return
	}
	f := function{name: m[1], prototype: statement}
	if strings.HasPrefix(statement, "typedef") {
		f.name = regexp.MustCompile(`\(\*(\w+)\)`).FindStringSubmatch(statement)[1]
	}
	for _, other := range p.functions {
		if other.name == f.name {
			return
		}
	}
	list := statement[strings.LastIndex(statement, "(")+1:]
	if at := strings.Index(statement, f.name+"("); at >= 0 {
		list = statement[at+len(f.name)+1:]
	}
	list = strings.TrimSuffix(strings.Replace(list, "(*func)()", "func", 1), ")")
	for _, parameter := range strings.Split(list, ",") {
		if m := lastWord.FindStringSubmatch(strings.TrimSpace(parameter)); m != nil &&
			m[1] != "void" {
			f.parameters = append(f.parameters, m[1])
		}
	}
	p.functions = append(p.functions, f)
}

// parseCodes reads the list of return codes of the first comment.
func parseCodes(text string) (codes []code) {
	for _, m := range regexp.MustCompile(
		`(?m)^ \*     (FAIL\d?) +\((-\d)\)  (.+(?:\n \*  {12,}.+)?)`).FindAllStringSubmatch(
		text, -1) {
		codes = append(codes,
			code{m[1], m[2],
				strings.Join(strings.Fields(strings.ReplaceAll(m[3], "\n *", " ")),
					" ")})
	}
	return codes
}

// readProfiling adds the PARMCI_ names to the pages of the functions.
func (b *book) readProfiling(file string) error {
	text, err := os.ReadFile(file)
	for _, m := range regexp.MustCompile(`\b[pP](ARMCI_|armci_)(\w+)\(`).FindAllStringSubmatch(
		string(text), -1) {
		if p := b.byName[m[1]+m[2]]; p != nil {
			p.profiling = append(p.profiling, map[string]string{"ARMCI_": "P",
				"armci_": "p"}[m[1]]+m[1]+m[2])
		}
	}
	return err
}
