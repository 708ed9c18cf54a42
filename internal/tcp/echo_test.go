// SPDX-License-Identifier: BSD-3-Clause

// Frames of all sizes there and back, by every way in which bodies travel.
package tcp

import (
	"fmt"
	"testing"

	"libarmci/internal/transport"
)

// Bodies of all sizes come back unchanged, packed or gathered.
func TestEcho(t *testing.T) {
	for name, gather := range map[string]int{"packed": 1 << 30, "gathered": 1,
		"by the model": 0} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, func(f *fabric) { f.options.Gather = gather })
			c := s.dial(t, 2)
			for _, n := range []int{1, 7, 8, 100, 4 << 10, 8 << 10, 16 << 10,
				16<<10 + 1, 64 << 10, 65 << 10, 1 << 20, 5<<20 + 3} {
				t.Run(fmt.Sprint(n), func(t *testing.T) { c.echo(t, 5, n) })
			}
			if end := s.awaitConns(t, 1)[0]; end.from != transport.Rank(2) {
				t.Errorf("the connection is of rank %d", end.from)
			}
		})
	}
}
