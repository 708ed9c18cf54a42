// SPDX-License-Identifier: BSD-3-Clause

// The cost model: both sides follow it, and a test may force it.
package tcp

import (
	"fmt"
	"strings"
	"testing"
)

// Both sides follow the option, whatever the model says; the notes are about the model.
func TestModelIsForced(t *testing.T) {
	for want, gather := range map[int]int{777: 777, usualRow: 0} {
		s := newServer(t, func(f *fabric) { f.options.Gather = gather })
		c := s.dial(t, 2)
		c.echo(t, 1, 8)
		end := s.awaitConns(t, 1)[0].conn
		if got := []int{s.fabric.Info().MinDirectRow, end.tx.gatherMin, end.rx.gatherMin,
			c.endpoint.tx.gatherMin}; fmt.Sprint(got) !=
			fmt.Sprint([]int{want, want, want, want}) {
			t.Errorf("rows from %d bytes on; want %d", got, want)
		}
	}
	if notes := Driver(Options{}).Notes(); !strings.Contains(notes,
		"not packed: a piece of a call") ||
		!strings.HasSuffix(notes, "(built in, not measured here)") {
		t.Errorf("the notes are %q", notes)
	}
}
