// SPDX-License-Identifier: BSD-3-Clause

// The cost model: where its parameters come from, and that it can be forced.
package tcp

import (
	"fmt"
	"strings"
	"testing"
)

// Both sides follow the setting, whatever the model says, and the notes say so.
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
	for notes, words := range map[string]string{
		Driver(Options{Gather: 777}).Notes(): "rows of 777 bytes and more are not " +
			"packed: so it is set",
		Driver(Options{}).Notes(): "not packed: a piece of a call",
	} {
		if !strings.Contains(notes, words) {
			t.Errorf("%q does not say %q", notes, words)
		}
	}
}
