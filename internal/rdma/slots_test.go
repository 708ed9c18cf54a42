// SPDX-License-Identifier: BSD-3-Clause

// The eager ring's slots, which all origins of a data server share.
package rdma

import (
	"testing"
	"time"

	"libarmci/internal/testutil/eventually"
	"libarmci/internal/transport"
)

// TestSlotsOfSlowReceiver: an origin that does not receive delays its own messages, but does not
// keep the slots that others need.
func TestSlotsOfSlowReceiver(t *testing.T) {
	const posted, large, others = 200, 70000, 20
	j := newJob(t, func(s *settings) { s.Strided, s.Buffer = transport.ByClaiming, 1<<20 }, 1,
		1)
	send := func(from, n int, m transport.Msg) {
		t.Helper()
		for range n {
			if err := j.Open[from].Send(0, m); err != nil {
				t.Fatal(err)
			}
		}
	}
	send(0, 1, transport.Msg{Kind: 1, Body: make([]byte, 8)})
	awaitMessages(t, j.Inbox[0].Has, 0, 1) // it is connected to its own server
	send(0, posted, transport.Msg{Kind: 1, Body: make([]byte, 1000), Unordered: true})
	send(0, 1, transport.Msg{Kind: 2, Body: make([]byte, large)})
	done := make(chan bool)
	go func() {
		send(1, others, transport.Msg{Kind: 3, Body: make([]byte, large)})
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Error("another origin waits for slots of one that does not receive")
	}
	received := func() bool { return j.Inbox[0].Has(0, 1+posted+1) }
	stop := j.Open[0].(transport.Watcher).Watch(0, received, false)
	awaitMessages(t, j.Inbox[0].Has, 0, 1+posted+1)
	stop()
	awaitMessages(t, j.Inbox[0].Has, 1, others)
	<-done
}

func awaitMessages(t *testing.T, has func(transport.Rank, int) bool, from transport.Rank, n int) {
	t.Helper()
	eventually.True(t, func() bool { return has(from, n) },
		"%d messages from rank %d did not come", n, from)
}
