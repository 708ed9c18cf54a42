// SPDX-License-Identifier: BSD-3-Clause

// The interfaces of the Fortran module, by the C name that they are bound to.
package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	included  = regexp.MustCompile(`(?m)^ *include '(.*/([\w-]+)\.inc)'`)
	bound     = regexp.MustCompile(`(?i)bind\(c, *name='(\w+)'\)`)
	procedure = regexp.MustCompile(`(?i)^(?:function|subroutine)\b`)
	generic   = regexp.MustCompile(`(?i)^interface (\w+)$`)
	// files of procedures that differ in a rank or a type only
	variants = regexp.MustCompile(`^(ranks|integer)\b`)
)

// binding is one procedure of the module.
type binding struct {
	name    string // of C
	text    string // heading, and declarations of arguments and result
	generic string // name of the interface, or ""
}

// readFortran gives each page the interfaces of its functions.
func (b *book) readFortran(module string) error {
	text, err := os.ReadFile(module)
	if err != nil {
		return err
	}
	for _, m := range included.FindAllStringSubmatch(string(text), -1) {
		part, err := os.ReadFile(filepath.Join(filepath.Dir(module), m[1]))
		if err != nil {
			return err
		}
		if variants.MatchString(m[2]) {
			continue
		}
		for _, f := range bindings(string(part)) {
			if p := b.byName[f.name]; p != nil {
				p.fortran = append(p.fortran, f.text)
			}
		}
	}
	return nil
}

// bindings returns the procedures of one file.
func bindings(text string) (found []binding) {
	joined := regexp.MustCompile(`&\s*\n\s*&?`).ReplaceAllString(text, "")
	var lines []string
	var current binding
	for _, line := range strings.Split(joined, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case generic.MatchString(line):
			current.generic = generic.FindStringSubmatch(line)[1]
		case strings.HasPrefix(line, "end interface"):
			current.generic = ""
		case procedure.MatchString(line) && bound.MatchString(line):
			current.name = bound.FindStringSubmatch(line)[1]
			lines = []string{strings.TrimSpace(bound.ReplaceAllString(line, ""))}
		case current.name == "":
		case strings.HasPrefix(strings.ToLower(line), "end "):
			if current.generic != "" {
				lines = append(lines, "  ! generic name: "+current.generic)
			}
			current.text = strings.Join(lines, "\n")
			found = append(found, current)
			current.name = ""
		case line == "" || strings.HasPrefix(line, "!") ||
			strings.HasPrefix(line, "import"):
		default:
			lines = append(lines, "  "+line)
		}
	}
	return found
}
