// SPDX-License-Identifier: BSD-3-Clause

// Bodies of unordered messages for which the job has a place.
package internode

import (
	"bytes"
	"sync/atomic"
	"testing"
	"time"

	"libarmci/internal/testutil/pipe"
	"libarmci/internal/transport"
)

// testPlace is where bodies of one length belong.
type testPlace struct {
	memory  []byte
	arrived atomic.Int32
}

func (p *testPlace) Memory() []byte { return p.memory }
func (p *testPlace) Arrived()       { p.arrived.Add(1) }

// TestMessagesArePlaced shows that a body goes to its place if the message comes in one frame over
// the connection, and else to the handler.
func TestMessagesArePlaced(t *testing.T) {
	for _, n := range []int{1, 1000, 100_000} {
		p := &testPlace{memory: bytes.Repeat([]byte{0xff}, n)}
		var offered atomic.Int32
		w := newWatchTest(t, pipe.Options{MaxFrame: 64 << 10}, func(o *Options) {
			o.PlaceBody = func(from transport.Rank, m transport.Msg,
				nbytes int) transport.Placed {
				if offered.Add(1); from != 0 || m.Kind != 9 ||
					string(m.Head) != "head" || nbytes != n {
					return nil
				}
				return p
			}
		})
		body := bytes.Repeat([]byte("body"), n)[:n]
		say := func(head string) {
			t.Helper()
			if err := w.ends.Open[0].Send(1, transport.Msg{Kind: 9, Head: []byte(head),
				Body: body, Unordered: true}); err != nil {
				t.Fatal(err)
			}
		}
		// rank 1 has no connection: the message comes by its server, which handles it
		say("head")
		w.await(1)
		w.call()
		say("head")
		met := func() bool { return p.arrived.Load() > 0 || w.ends.Inbox[1].Has(0, 2) }
		end := w.ends.Open[1].(transport.Watcher).Watch(0, met, true)
		for stop := time.Now().Add(patience); !met() &&
			time.Now().Before(stop); time.Sleep(time.Millisecond) {
		}
		end()
		if n > 64<<10 { // several frames: the job is not asked
			if p.arrived.Load() != 0 || offered.Load() != 0 ||
				!w.ends.Inbox[1].Has(0, 2) {
				t.Errorf("%d bytes: asked for %d times, arrived %d times", n,
					offered.Load(), p.arrived.Load())
			}
			continue
		}
		if p.arrived.Load() != 1 || !bytes.Equal(p.memory, body) ||
			w.ends.Inbox[1].Has(0, 2) {
			t.Errorf("%d bytes: arrived %d times, or others, or handled as well", n,
				p.arrived.Load())
		}
		clear(p.memory)
		say("tail") // the job has no place for it
		w.call()
		w.await(2)
		if p.arrived.Load() != 1 || bytes.ContainsAny(p.memory, "body") {
			t.Errorf("%d bytes without a place have gone to the place of others", n)
		}
	}
}
