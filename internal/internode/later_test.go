// SPDX-License-Identifier: BSD-3-Clause

// Transfers that nobody waits for, while nobody calls the transport.
package internode

import (
	"testing"
	"time"

	"libarmci/internal/transport"
	"libarmci/internal/transport/pipe"
)

// They complete all the same, also after the progress thread has gone to sleep.
func TestLaterCompletes(t *testing.T) {
	for name, o := range map[string]pipe.Options{"frames": {}, "direct": {Direct: true, Shared: true, MaxFrame: 16 << 10, Credits: 16}} {
		t.Run(name, func(t *testing.T) {
			ends := newEnds(t, pipe.New(o), nil, 1, 1)
			ends.ConnectAll(t)
			near, far := ends.Alloc(t, 0, 1<<20), ends.Alloc(t, 1, 1<<20)
			done := make(chan error, 1)
			for range 3 {
				x := &transport.Xfer{Later: true, Count: []int32{100000}, Done: func(err error) { done <- err },
					Local: transport.Section{Base: near}, Remote: transport.Section{Base: far}}
				if err := ends.Open[0].Get(1, x); err != nil {
					t.Fatal(err)
				}
				select {
				case err := <-done:
					if err != nil {
						t.Fatal(err)
					}
				case <-time.After(patience):
					t.Fatal("it does not complete")
				}
				time.Sleep(100 * time.Millisecond)
			}
		})
	}
}
