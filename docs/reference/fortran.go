// SPDX-License-Identifier: BSD-3-Clause

// The interfaces of the Fortran module, by the C name that they are bound to.
package main

import (
	"os"
	"regexp"
	"strings"
)

var (
	bound     = regexp.MustCompile(`(?i)bind\(c, *name='(\w+)'\)`)
	procedure = regexp.MustCompile(`(?i)^(?:function|subroutine)\b`)
)

// readFortran gives each page the interfaces of its functions: the heading, and the declarations of arguments and result.
func (b *book) readFortran(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	joined := regexp.MustCompile(`&\s*\n\s*&?`).ReplaceAllString(string(text), "")
	var lines []string
	name := ""
	for _, line := range strings.Split(joined, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case procedure.MatchString(line) && bound.MatchString(line):
			name = bound.FindStringSubmatch(line)[1]
			lines = []string{strings.TrimSpace(bound.ReplaceAllString(line, ""))}
		case name == "":
		case strings.HasPrefix(strings.ToLower(line), "end "):
			if p := b.byName[name]; p != nil {
				p.fortran = append(p.fortran, strings.Join(lines, "\n"))
			}
			name = ""
		case line == "" || strings.HasPrefix(line, "!") || strings.HasPrefix(line, "import"):
		default:
			lines = append(lines, "  "+line)
		}
	}
	return nil
}
