// SPDX-License-Identifier: BSD-3-Clause

// The HTML reference as a whole: links lead somewhere, the guides are in it, the search finds what
// a user looks for.
package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const tree = "../.."

// written returns a directory with the HTML reference.
func written(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := writeHTML(loaded(t), tree, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

var (
	address  = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	anchored = regexp.MustCompile(`\bid="([^"]*)"`)
)

// TestHTMLLinks follows all links of all pages, to files and to anchors in them.
func TestHTMLLinks(t *testing.T) {
	dir := written(t)
	files, err := filepath.Glob(filepath.Join(dir, "*.html"))
	if err != nil || len(files) < 150 {
		t.Fatalf("%d pages, %v", len(files), err)
	}
	text, ids := map[string]string{}, map[string][]string{}
	for _, file := range files {
		page, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		text[name] = string(page)
		for _, m := range anchored.FindAllStringSubmatch(string(page), -1) {
			ids[name] = append(ids[name], m[1])
		}
	}
	for name, page := range text {
		for _, m := range address.FindAllStringSubmatch(page, -1) {
			if !leads(dir, name, m[1], ids) {
				t.Errorf("%s: a link to %q leads nowhere", name, m[1])
			}
		}
	}
}

// leads reports whether a link of a page leads to a file, and to an anchor if it names one. Links
// to other hosts are not followed.
func leads(dir, page, link string, ids map[string][]string) bool {
	if strings.Contains(link, ":") {
		return true
	}
	file, anchor, _ := strings.Cut(link, "#")
	if file == "" {
		file = page
	}
	if rest, examples := strings.CutPrefix(file, "../"); examples { // installed beside it
		_, err := os.Stat(filepath.Join(tree, rest))
		return err == nil && strings.HasPrefix(rest, "examples")
	}
	_, err := os.Stat(filepath.Join(dir, file))
	return err == nil && file != "." && (anchor == "" || slices.Contains(ids[file], anchor))
}

// TestGuidesAreIn shows that each document has a page, which the index lists, and that functions
// and settings lead to guides and back.
func TestGuidesAreIn(t *testing.T) {
	b := loaded(t)
	index := b.index()
	documents, err := filepath.Glob(filepath.Join(tree, "docs", "*.md"))
	if err != nil || len(documents) < 20 {
		t.Fatalf("%d documents, %v", len(documents), err)
	}
	for _, d := range documents {
		if !strings.Contains(index, `<a href="`+guideFile(d)+`"`) {
			t.Errorf("the index does not list %s", d)
		}
	}
	bodies := map[string]string{}
	for _, g := range b.guides {
		bodies[g.file] = g.body
	}
	for file, wants := range map[string][]string{
		"readme.html": {`<img src="plots/`, `<a href="tutorial.html">`, `<table>`},
		"tutorial.html": {`<a href="ARMCI_Malloc.html"><code>ARMCI_Malloc</code></a>`,
			`<a href="../examples/c/hello.c">`},
		"configuration.html": {`<tr id="ARMCI_STATS">`},
		"performance.html":   {`<a href="configuration.html#ARMCI_EAGER">`},
	} {
		for _, want := range wants {
			if !strings.Contains(bodies[file], want) {
				t.Errorf("%s does not contain %s", file, want)
			}
		}
	}
	if page := b.htmlPage(b.byName["ARMCI_Malloc"]); !strings.Contains(page,
		"<h2>In the guides</h2>") || !strings.Contains(page, `<a href="tutorial.html`) {
		t.Error("the page of ARMCI_Malloc does not lead to the tutorial")
	}
}

// TestSearchIndex shows that functions, settings and sections of guides are in the index.
func TestSearchIndex(t *testing.T) {
	dir := written(t)
	text, err := os.ReadFile(filepath.Join(dir, "search-index.js"))
	if err != nil {
		t.Fatal(err)
	}
	var all []entry
	list := strings.TrimSuffix(strings.TrimPrefix(string(text), "var entries = "), ";\n")
	if err := json.Unmarshal([]byte(list), &all); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ARMCI_PutS ARMCI_PutS.html",
		"Settings: ARMCI_TIMEOUT configuration.html#ARMCI_TIMEOUT",
		"Questions: Ports and firewalls faq.html#ports-and-firewalls"} {
		if !slices.ContainsFunc(all, func(e entry) bool {
			return e[0]+" "+e[1] == want && e[2] != "" && e[3] != ""
		}) {
			t.Errorf("the index has no %s", want)
		}
	}
}

// TestSearch runs the script of the search over the index.
func TestSearch(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node: the script of the search is not run")
	}
	dir := written(t)
	for query, want := range map[string]string{"armci_puts": "ARMCI_PutS.html",
		"firewall": "faq.html#ports-and-firewalls", "wait notify": "armci_notify_wait.html",
		"armci_timeout": "configuration.html#ARMCI_TIMEOUT", "nosuchword": "", " ": ""} {
		out, err := exec.Command(node, "-e", `const fs = require("fs");
			const { find } = require(process.argv[1] + "/search.js");
			const index = process.argv[1] + "/search-index.js";
			const all = eval(fs.readFileSync(index, "utf8") + ";entries");
			console.log((find(all, process.argv[2])[0] || ["", ""])[1])`,
			dir, query).CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%q finds %q first, not %q (%v)", query, got, want, err)
		}
	}
}
