// SPDX-License-Identifier: BSD-3-Clause

// Command reference writes the manual pages of section 3 and the HTML reference from the comments
// of the headers, which are the source of both. The HTML reference contains the guides, too, and a
// search. It must not know what any function does.
//
//	reference -root DIR -date DATE -version VERSION [-man DIR] [-html DIR]
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// headers that are read, in the order of the reference. parmci.h repeats armci.h and message.h
// under other names.
var headers = []string{"armci.h", "message.h", "armcix.h", "gpc.h"}

// book is all that is known before pages are written.
type book struct {
	pages         []*page
	byName        map[string]*page
	codes         []code
	guides        []*guide
	settings      map[string]bool // names
	version, date string
}

// main writes the manual pages, the HTML pages, or both, as the options say.
func main() {
	root := flag.String("root", ".", "the source tree: headers, armci.f90, examples, guides")
	man := flag.String("man", "", "directory for manual pages")
	html := flag.String("html", "", "directory for HTML pages")
	date := flag.String("date", "", "date of the pages")
	version := flag.String("version", "", "version of the library")
	flag.Parse()
	b, err := load(*root)
	if err == nil {
		b.date, b.version = *date, *version
		err = write(b, *root, *man, *html)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "reference: %v\n", err)
		os.Exit(1)
	}
}

// load reads the headers, the Fortran module, the examples and the guides.
func load(root string) (*book, error) {
	b := &book{byName: map[string]*page{}, settings: map[string]bool{}}
	include := filepath.Join(root, "include")
	for _, name := range headers {
		text, err := os.ReadFile(filepath.Join(include, name))
		if err != nil {
			return nil, err
		}
		b.pages = append(b.pages, parseHeader(name, string(text))...)
		if name == "armci.h" {
			b.codes = parseCodes(string(text))
		}
	}
	for _, p := range b.pages {
		for _, f := range p.functions {
			b.byName[f.name] = p
		}
	}
	if err := b.readProfiling(filepath.Join(include, "parmci.h")); err != nil {
		return nil, err
	}
	if err := b.readFortran(filepath.Join(include, "armci.f90")); err != nil {
		return nil, err
	}
	for _, p := range b.pages {
		if len(p.functions) > 0 {
			b.resolve(p)
		}
	}
	if err := b.readExamples(filepath.Join(root, "docs/reference/examples")); err != nil {
		return nil, err
	}
	return b, b.readGuides(root)
}

// write writes the pages in the formats that have a directory.
func write(b *book, root, man, html string) error {
	if man != "" {
		if err := writeMan(b, man); err != nil {
			return err
		}
	}
	if html != "" {
		return writeHTML(b, root, html)
	}
	return nil
}
