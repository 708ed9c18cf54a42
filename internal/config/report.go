// SPDX-License-Identifier: BSD-3-Clause

// Information about settings: the rows with value and origin, and variables that
// look like settings but are unknown. It must not print.

package config

import (
	"slices"
	"strings"
)

// Entry is a row with its value in this run.
type Entry struct {
	Row
	Value  string // as it would be written in the environment
	Origin string // FromDefault or FromEnv
}

// Rows returns the rows of the given classes (all without any), in the order of
// the table. The job's secret is shown as "(hidden)".
func (s *Set) Rows(classes ...Class) []Entry {
	var entries []Entry
	for _, row := range slices.Concat(table, former, foreign) {
		if len(classes) > 0 && !slices.Contains(classes, row.Class) {
			continue
		}
		entry := Entry{Row: row, Value: row.Default, Origin: FromDefault}
		if text, set := s.env[row.Name]; set {
			entry.Value, entry.Origin = text, FromEnv
			if row.Name == "ARMCI_JOB_SECRET" {
				entry.Value = "(hidden)"
			}
		}
		entries = append(entries, entry)
	}
	return entries
}

// UnknownName is a variable that is called ARMCI_ something but is no setting.
type UnknownName struct {
	Name    string
	Nearest string // the setting that was probably meant; "" if none is near
}

// Unknown returns the variables of the environment that begin with ARMCI_ but
// are no row, sorted. ARMCI_TEST_ belongs to test programs and is left out.
func (s *Set) Unknown() []UnknownName {
	var unknown []UnknownName
	for name := range s.env {
		if strings.HasPrefix(name, "ARMCI_") && !strings.HasPrefix(name, "ARMCI_TEST_") &&
			lookup(name) == nil {
			unknown = append(unknown, UnknownName{name, nearest(name)})
		}
	}
	slices.SortFunc(unknown,
		func(a, b UnknownName) int { return strings.Compare(a.Name, b.Name) })
	return unknown
}

// nearest returns the user's setting with the smallest edit distance, unless
// more than a third of what follows ARMCI_ would have to be edited.
func nearest(name string) string {
	best, found := max(2, (len(name)-len("ARMCI_"))/3)+1, ""
	for i := range table {
		if table[i].Class != ClassUser && table[i].Class != ClassExpert {
			continue
		}
		if d := distance(strings.ToUpper(name), table[i].Name); d < best {
			best, found = d, table[i].Name
		}
	}
	return found
}

// distance is Levenshtein's: single-byte insertions, deletions, replacements.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
