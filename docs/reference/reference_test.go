// SPDX-License-Identifier: BSD-3-Clause

// The reference is complete: every exported function has a page that says all that it must.
package main

import (
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// loadOnce reads the source tree once for all tests, which do not change the book.
var loadOnce = sync.OnceValues(func() (*book, error) { return load("../..") })

func loaded(t *testing.T) *book {
	t.Helper()
	b, err := loadOnce()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// exported are the functions of the version script.
func exported(t *testing.T) (names []string) {
	t.Helper()
	text, err := os.ReadFile("../../capi/libarmci.map")
	if err != nil {
		t.Fatal(err)
	}
	script := string(text[strings.Index(string(text), "global:"):])
	script = regexp.MustCompile(`(?s)/\* data \*/.*`).ReplaceAllString(script, "")
	for _, m := range regexp.MustCompile(`(\w+);`).FindAllStringSubmatch(script, -1) {
		names = append(names, m[1])
	}
	return names
}

// TestEveryFunction: each exported name has a page, and each page says all that it must.
func TestEveryFunction(t *testing.T) {
	b := loaded(t)
	has := map[string]bool{}
	for _, p := range b.pages {
		if len(p.functions) == 0 {
			t.Errorf("%s: a comment without a function: %q", p.header,
				p.comment.purpose)
			continue
		}
		for _, name := range p.names() {
			has[name] = true
		}
	}
	names := exported(t)
	if len(names) < 240 {
		t.Fatalf("only %d exported functions", len(names))
	}
	for _, name := range names {
		if !has[name] {
			t.Errorf("%s has no page", name)
		}
	}
	for _, p := range b.pages {
		complete(t, p)
	}
}

// TestNoBackquotes: what comments have between backquotes is marked up, not printed as it is.
func TestNoBackquotes(t *testing.T) {
	b := loaded(t)
	text := b.index()
	for _, p := range b.pages {
		text += b.htmlPage(p) + manPage(b, p)
	}
	if at := strings.IndexByte(text, '`'); at >= 0 {
		t.Errorf("a backquote: %q", text[max(0, at-60):min(len(text), at+60)])
	}
}

var (
	direction = regexp.MustCompile(`\[(in|out|remote)`)
	sizes     = regexp.MustCompile(
		`^(bytes|len|buflen|msglen|n|hlen|dlen|rhlen|rdlen|count|num|size|mutex|` +
			`shmemlimit|offset|millis)$`)
	unit = regexp.MustCompile(
		`byte|element|block|rank|member|segment|entr|number|how many|descriptor|` +
			`millisecond|how much|ignored|size`)
	unclear = regexp.MustCompile(
		`(?i)^(\[[^\]]*\] ?)?(rules )?as (above|there)|: as (above|there)`)
)

// selfEvident are parameters of which their type says all.
var selfEvident = map[string]bool{"group": true, "sinfo": true, "domain": true}

// complete reports what the comment of a page leaves open: direction, unit, scope, threads.
func complete(t *testing.T, p *page) {
	t.Helper()
	if p.comment.purpose == "" {
		t.Errorf("%s: no purpose", p.pageName())
	}
	for _, a := range p.params {
		if !direction.MatchString(a.text) {
			t.Errorf("%s: parameter %s has no direction: %q", p.pageName(), a.name,
				a.text)
		}
		if what := regexp.MustCompile(`^(\[[^\]]*\])?[ .]*$`); what.MatchString(a.text) &&
			!selfEvident[a.name] {
			t.Errorf("%s: nothing is said of parameter %s", p.pageName(), a.name)
		}
		if sizes.MatchString(a.name) && !unit.MatchString(a.text) {
			t.Errorf("%s: parameter %s has no unit: %q", p.pageName(), a.name, a.text)
		}
	}
	for i, text := range p.fields {
		if unclear.MatchString(text) {
			t.Errorf("%s: %s refers to nothing by name: %q", p.pageName(), labels[i],
				text)
		}
	}
	if p.fields[scope] == "" {
		t.Errorf("%s: no scope", p.pageName())
	}
	if p.fields[threads] == "" {
		t.Errorf("%s: no thread rule", p.pageName())
	}
	if p.fields[done] == "" && p.header != "gpc.h" && strings.Contains(p.fields[scope],
		"one-sided") && p.fields[returns] != "" {
		t.Errorf("%s: no completion rule", p.pageName())
	}
	for _, f := range p.functions {
		if !strings.HasPrefix(f.prototype, "void ") && p.fields[returns] == "" &&
			!strings.Contains(p.fields[errs], "Never returns") {
			t.Errorf("%s: no return value", f.name)
		}
	}
}
