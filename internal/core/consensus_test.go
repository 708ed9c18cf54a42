// SPDX-License-Identifier: BSD-3-Clause

// Tests of which rank prints why a job cannot start.

package core

import (
	"errors"
	"fmt"
	"io"
	"testing"
)

// The lowest rank with a cause of its own prints it; further causes are counted.
func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		reports []string
		teller  int
		text    string
	}{
		{[]string{"", "", ""}, -1, ""},
		{[]string{"a", "a", "a"}, 0, "a"},
		{[]string{"", "b", "b"}, 1, "b"},
		{[]string{"a", "b", "a"}, 0, "a (and rank 1: b)"},
		{[]string{"", "a", "a", "b", "c"}, 1,
			"a (and 2 more ranks have other reasons; rank 3: b)"},
		{[]string{consequence + "gone", "cause", consequence + "gone"}, 1, "cause"},
		{[]string{"", consequence + "gone", consequence + "lost"}, 1, "gone"},
	} {
		for me := range c.reports {
			err := consensusError(reportsOf(c.reports), me)
			if c.teller < 0 {
				if err != nil {
					t.Errorf("%q: %v", c.reports, err)
				}
				continue
			}
			var s *StartError
			if !errors.As(err, &s) {
				t.Fatalf("%q: rank %d goes on", c.reports, me)
			}
			if s.Print != (c.teller == me) || s.Text != c.text {
				t.Errorf("%q: rank %d has %+v, want %q", c.reports, me, s, c.text)
			}
		}
	}
}

// reportsOf are those of two nodes of ranks that take turns, as their records say.
func reportsOf(texts []string) (all []report) {
	for node := range 2 {
		var b recordWriter
		var ours []report
		for rank := node; rank < len(texts); rank += 2 {
			ours = addReport(ours, texts[rank], rank)
		}
		b.appendReports(ours)
		d := recordReader{rest: b}
		all = append(all, d.readReports(len(texts))...)
	}
	return all
}

// A node with many different reports tells the first ones, and how many there are.
func TestManyReports(t *testing.T) {
	var all []report
	for rank := range 100 {
		all = addReport(all, fmt.Sprint("cause ", rank), rank)
	}
	err := consensusError(all, 0)
	if want := "cause 0 (and 99 more ranks have other reasons; rank 1: cause 1)"; err == nil ||
		err.Error() != want || len(all) != maxReports {
		t.Errorf("%v, %d reports", err, len(all))
	}
}

func TestConsequences(t *testing.T) {
	if !isConsequence(fmt.Errorf("take the arena: %w", io.EOF)) ||
		isConsequence(errors.New("no memory")) {
		t.Error("a broken connection is a consequence, nothing else")
	}
}
