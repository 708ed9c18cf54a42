// SPDX-License-Identifier: BSD-3-Clause

// What a comment says by naming another function ("as ARMCI_Put") is looked up there, so that each
// page stands alone.
package main

import (
	"regexp"
	"slices"
	"strings"
)

var (
	reference = regexp.MustCompile(
		`\b(?:as|see|rules as|meaning of|of the|to)\s+((?:ARMCIX?|armci)_\w+)`)
	named   = regexp.MustCompile(`\b((?:ARMCIX?|armci)_\w+)`)
	asOther = regexp.MustCompile(
		`(?i)(?:^|[:.] |\s)(?:all rules |the rest |rules )?as (?:of )?` +
			`(?:(?:ARMCIX?|armci)_\w+('s [\w, ]+)?|above|there|those)\.?$`)
)

// synonyms are parameters of one meaning that are called differently in different functions.
var synonyms = map[string][]string{
	"hdl": {"nb_handle"}, "datatype": {"optype"}, "op": {"optype"}, "flag": {"f"}, "val": {"v"},
	"buf":     {"buffer"},
	"ptr_arr": {"ptr_ar"}, "len": {"darr"},
}

// others are the functions whose rules hold where a page says nothing: those that it names, and the
// blocking call of a nonblocking one.
func (b *book) others(p *page, f function) (names []string) {
	if base := strings.Replace(f.name, "_Nb", "_", 1); base != f.name && b.byName[base] != nil {
		names = append(names, base)
	}
	all := strings.Join(append(append(p.comment.fields[:], p.comment.params...),
		append(p.comment.text, p.comment.purpose)...), " ")
	for _, pattern := range []*regexp.Regexp{reference, named} {
		for _, m := range pattern.FindAllStringSubmatch(all, -1) {
			if b.byName[m[1]] != nil && b.byName[m[1]] != p &&
				!slices.Contains(names, m[1]) {
				names = append(names, m[1])
			}
		}
	}
	return names
}

// resolve completes the parameters and fields of a page, from other pages where it refers to them.
func (b *book) resolve(p *page) {
	for _, f := range p.functions {
		for _, name := range f.parameters {
			if !slices.ContainsFunc(p.params,
				func(a argument) bool { return a.name == name }) {
				p.params = append(p.params,
					argument{name, b.parameter(p, f, name, 0)})
			}
		}
	}
	for i := range p.fields {
		p.fields[i] = b.field(p, i, 0)
	}
}

// parameter is what is said of a parameter, on this page or on those it names.
func (b *book) parameter(p *page, f function, name string, depth int) string {
	for _, written := range p.comment.params {
		text, found := parameterIn(written, name)
		if !found {
			continue
		}
		if !asOther.MatchString(text) && !strings.HasSuffix(text, "as above.") {
			return text
		}
		if other := b.elsewhere(p, f, name, depth); other != "" {
			return other
		}
		return text
	}
	return b.elsewhere(p, f, name, depth)
}

// elsewhere looks for a parameter on the pages to which this one refers.
func (b *book) elsewhere(p *page, f function, name string, depth int) string {
	if depth > 4 {
		return ""
	}
	for _, other := range b.others(p, f) {
		q := b.byName[other]
		for _, g := range q.functions {
			if g.name != other {
				continue
			}
			for _, alias := range append([]string{name}, synonyms[name]...) {
				if slices.Contains(g.parameters, alias) {
					if text := b.parameter(q, g, alias, depth+1); text != "" {
						return text
					}
				}
			}
		}
	}
	return ""
}

// parameterIn looks for a parameter in one @param: "a what", "a, b what" about both, or "a [in], b
// [out]: what" about each.
func parameterIn(written, name string) (string, bool) {
	if names, text, found := strings.Cut(written, ":"); found && directed.MatchString(names) {
		for _, part := range eachDirected.FindAllStringSubmatch(names, -1) {
			if part[1] == name {
				return strings.TrimSpace(part[2] + text), true
			}
		}
		return "", false
	}
	head := listHead.FindString(written)
	if !slices.Contains(strings.Split(head, ", "), name) {
		return "", false
	}
	return strings.TrimLeft(written[len(head):], ": "), true
}

var (
	directed = regexp.MustCompile(
		`^\w+(?: \[[^\]]*\][\w ]*)?(?:, \w+(?: \[[^\]]*\][\w ]*)?)+$`)
	eachDirected = regexp.MustCompile(`(?:^|, )(\w+)((?: \[[^\]]*\][^,]*)?)`)
	listHead     = regexp.MustCompile(`^\w+(?:, \w+)*`)
)

// field is what is said under a label; what another page is named for is added from there.
func (b *book) field(p *page, i, depth int) string {
	text := p.comment.fields[i]
	if depth > 4 || text != "" && !reference.MatchString(text) {
		return text
	}
	candidates := b.others(p, p.functions[0])
	if m := reference.FindStringSubmatch(text); m != nil && b.byName[m[1]] != nil {
		candidates = []string{m[1]}
	} else if text == "" && (i == done || i == returns || i == errs) &&
		p.comment.fields[scope] != "" && !reference.MatchString(p.comment.fields[scope]) {
		return ""
	}
	for _, other := range candidates {
		q := b.byName[other]
		if q == p {
			continue
		}
		if found := b.field(q, i, depth+1); found != "" {
			if text == "" || strings.HasPrefix(text, "as ") &&
				asOther.MatchString(text) {
				return found
			}
			return text + " (" + other + ": " + found + ")"
		}
	}
	return text
}
