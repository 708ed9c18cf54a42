// SPDX-License-Identifier: BSD-3-Clause

// Messages make hardly any garbage: collecting it took more than half of the time of collectives
// between nodes.
package tcp

import (
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"libarmci/internal/internode"
	"libarmci/internal/transport"
)

// A message allocates less than a quarter of its size.
func TestMessagesWithoutGarbage(t *testing.T) {
	info, _ := debug.ReadBuildInfo()
	if slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("the race detector has sync.Pool forget things: ctest runs this test once " +
			"more without it (unit/garbage)")
	}
	for name, unordered := range map[string]bool{"ordered": false, "unordered": true} {
		t.Run(name, func(t *testing.T) {
			var came atomic.Int64
			ends := newEnds(t, Options{}, func(o *internode.Options) {
				o.Handle = func(transport.Rank, transport.Rank, transport.Msg,
					func([]byte)) {
					came.Add(1)
				}
			}, 1, 1)
			for _, tr := range ends.Open {
				if err := tr.Connect(ends.Peers()); err != nil {
					t.Fatal(err)
				}
			}
			body := make([]byte, 16<<10)
			sent := int64(0)
			send := func(n int64) {
				t.Helper()
				for range n {
					for i, tr := range ends.Open {
						m := transport.Msg{Kind: 100, Body: body,
							Unordered: unordered}
						if err := tr.Send(transport.Peer(1-i),
							m); err != nil {
							t.Fatal(err)
						}
						sent++
					}
					for end := testDeadline(); came.Load() < sent; {
						for i, tr := range ends.Open {
							w := tr.(transport.Watcher)
							w.Watch(transport.Peer(1-i), func() bool {
								return came.Load() == sent
							}, true)()
						}
						if time.Now().After(end) {
							t.Fatalf("%d of %d messages have come",
								came.Load(), sent)
						}
					}
				}
			}
			send(20) // connects, and fills the pools
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			const rounds = 200
			send(rounds)
			runtime.ReadMemStats(&after)
			each := (after.TotalAlloc - before.TotalAlloc) / (2 * rounds)
			if each > uint64(len(body))/4 {
				t.Errorf("%d bytes of garbage for a message of %d bytes", each,
					len(body))
			}
		})
	}
}
