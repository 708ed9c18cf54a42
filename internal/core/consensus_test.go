// SPDX-License-Identifier: BSD-3-Clause

// Tests of who prints why a job cannot start.

package core

import (
	"errors"
	"fmt"
	"io"
	"testing"
)

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
		{[]string{"", "a", "a", "b", "c"}, 1, "a (and 2 more ranks have other reasons; rank 3: b)"},
		{[]string{consequence + "gone", "cause", consequence + "gone"}, 1, "cause"},
		{[]string{"", consequence + "gone", consequence + "lost"}, 1, "gone"},
	} {
		for me := range c.reports {
			err := consensusError(c.reports, me)
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

func TestConsequences(t *testing.T) {
	if !isConsequence(fmt.Errorf("take the arena: %w", io.EOF)) || isConsequence(errors.New("no memory")) {
		t.Error("a broken connection is a consequence, nothing else")
	}
}
