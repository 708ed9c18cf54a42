// SPDX-License-Identifier: BSD-3-Clause

// Frames of all sizes there and back, with every way that bodies travel.
package tcp

import (
	"fmt"
	"testing"

	"libarmci/internal/transport"
)

func TestEcho(t *testing.T) {
	for name, gather := range map[string]int{"packed": 1 << 30, "gathered": 1,
		"by the model": 0} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, func(f *fabric) { f.opt.Gather = gather })
			c := s.dial(t, 2)
			for _, n := range []int{1, 7, 8, 100, 4 << 10, 8 << 10, 16 << 10,
				16<<10 + 1, 64 << 10, 65 << 10, 1 << 20, 5<<20 + 3} {
				t.Run(fmt.Sprint(n), func(t *testing.T) { c.echo(t, 5, n) })
			}
			if end := s.ends(t, 1)[0]; end.from != transport.Rank(2) {
				t.Errorf("the connection is of rank %d", end.from)
			}
		})
	}
}
