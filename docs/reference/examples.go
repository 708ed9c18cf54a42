// SPDX-License-Identifier: BSD-3-Clause

// The examples: whole programs, each in the file that is called like the first of the pages that
// show it. Its first comment names them all. Whether a program is right is for tests/reference to
// say.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var identifier = regexp.MustCompile(`\b\w+_\w+\b`)

// readExamples gives each page the program that names it.
func (b *book) readExamples(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.c"))
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := b.show(string(text), strings.TrimSuffix(filepath.Base(file),
			".c")); err != nil {
			return fmt.Errorf("%s: %v", file, err)
		}
	}
	return nil
}

// show enters a program, the file of the page first, on all pages that its comment names.
func (b *book) show(text, first string) error {
	program := body(text)
	comment := strings.TrimSuffix(text, program)
	if _, list, found := strings.Cut(comment, "The example on the page"); !found {
		return fmt.Errorf("does not say on which pages it is")
	} else if names := identifier.FindAllString(list, -1); len(names) == 0 ||
		names[0] != first {
		return fmt.Errorf("is not called like the first page that it names")
	} else {
		for _, name := range names {
			p := b.byName[name]
			if p == nil || p.pageName() != name {
				return fmt.Errorf("no page is called %s", name)
			}
			if p.example != "" {
				return fmt.Errorf("the page of %s has two examples", name)
			}
			p.example = program
		}
	}
	return nil
}
