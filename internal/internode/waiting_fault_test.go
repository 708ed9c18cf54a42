// SPDX-License-Identifier: BSD-3-Clause

// Tests of losses that come while a thread waits under its target's lock, or for the device.
package internode

import (
	"errors"
	"testing"
	"time"

	"libarmci/internal/testutil/pipe"
	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// TestSilentNodeIsLostWhileCreditsAreOut shows that a node that falls silent is noticed while the
// only thread that uses it waits for a credit, and so holds what a pulse needs.
func TestSilentNodeIsLostWhileCreditsAreOut(t *testing.T) {
	net, ends, u := newUser(t, pipe.Options{MaxFrame: 4096, Credits: 4},
		func(o *Options) { o.Timeout = 400 * time.Millisecond })
	if err := u.operate(1); err != nil {
		t.Fatal(err)
	}
	net.Vanish(1)
	transporttest.Returns(t, "puts", func() {
		for range 8 {
			x := plain(u.mine, u.there, 8)
			if err := ends.Open[0].Put(1, x); err != nil {
				return
			}
		}
		t.Error("more puts return than there are credits")
	})
}

// TestFailedWriteIsNeverReached shows that a store of the device that has failed, since the
// connection was lost, never counts as done, so that no fence returns before it knows of the loss.
func TestFailedWriteIsNeverReached(t *testing.T) {
	net, ends, u := newUser(t, pipe.Options{Direct: true, Latency: 20 * time.Millisecond}, nil)
	if err := u.operate(1); err != nil {
		t.Fatal(err)
	}
	if err := ends.Open[0].Put(1, plain(u.mine, u.there, 8)); err != nil {
		t.Fatal(err)
	}
	l := ends.Open[0].(*Transport).routes.byPeer[1].link.Load()
	mark := l.direct.Mark()
	net.Break(0, 1, 0)
	losses(t, ends)
	if l.direct.Reached(mark) {
		t.Error("a store over a connection that was lost meanwhile counts as done")
	}
	if err := ends.Open[0].Fence(1); !errors.Is(err, transport.ErrPeerDead) {
		t.Errorf("a fence: %v", err)
	}
}
