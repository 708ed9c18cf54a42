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
		tell    []string // by rank; "" is silence
	}{
		{[]string{"", "", ""}, nil},
		{[]string{"a", "a", "a"}, []string{"a", "", ""}},
		{[]string{"", "b", "b"}, []string{"", "b", ""}},
		{[]string{"a", "b", "a"}, []string{"a", "b", ""}},
		{[]string{consequence + "gone", "cause", consequence + "gone"}, []string{"", "cause", ""}},
		{[]string{"", consequence + "gone"}, []string{"", "gone"}},
	} {
		for me := range c.reports {
			err := verdict(c.reports, me)
			if c.tell == nil {
				if err != nil {
					t.Errorf("%q: %v", c.reports, err)
				}
				continue
			}
			var s *StartError
			if !errors.As(err, &s) {
				t.Fatalf("%q: rank %d goes on", c.reports, me)
			}
			if s.Tell != (c.tell[me] != "") || s.Tell && s.Text != c.tell[me] {
				t.Errorf("%q: rank %d has %+v, want %q", c.reports, me, s, c.tell[me])
			}
		}
	}
}

func TestConsequences(t *testing.T) {
	if !isConsequence(fmt.Errorf("take the arena: %w", io.EOF)) || isConsequence(errors.New("no memory")) {
		t.Error("a broken connection is a consequence, nothing else")
	}
}
