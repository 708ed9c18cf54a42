// SPDX-License-Identifier: BSD-3-Clause

// When the progress thread polls for answers that no caller waits for.
package internode

import (
	"testing"
	"time"

	"libarmci/internal/transport"
)

// newPausingThread returns the thread of a transport that was not started, and a poller with an
// answer that no caller waits for.
func newPausingThread(b *wakeCounter, tick time.Duration) (*progressThread, *poller) {
	tr := &Transport{fabric: b, info: transport.FabricInfo{Tick: tick}}
	tr.pollers.t = tr
	tr.thread.t, tr.thread.alarm = tr, b
	tr.thread.polls.paused.init(tick, true)
	p := tr.pollers.pollerOf(&emptySource{})
	p.unattended.Add(1)
	return &tr.thread, p
}

// TestPollingCallerWakesNoThread shows that requests of a caller that polls itself neither wake the
// progress thread nor have it tick: it looks again after pauses that become longer. A caller that
// stops polling wakes it.
func TestPollingCallerWakesNoThread(t *testing.T) {
	b := &wakeCounter{}
	tick := 50 * time.Microsecond
	h, p := newPausingThread(b, tick)
	for want := tick; want < longestPause; want *= 2 {
		if h.polls.paused.next != want {
			t.Fatalf("the next pause lasts %v, expected %v", h.polls.paused.next, want)
		}
		p.requestUnattended()
		begin := time.Now()
		h.endPause()
		h.serveRequests()
		pause := h.polls.paused.end.Sub(begin)
		if p.attention != attentionPaused || pause < want {
			t.Fatalf("attention %d, for %v", p.attention, pause)
		}
		h.asleep.Store(true)
		p.requestUnattended()
		p.leaveToThread()
		if b.woken != 0 {
			t.Fatalf("a caller that polls has woken the thread %d times", b.woken)
		}
		h.asleep.Store(false)
		h.polls.paused.end = time.Now()
	}
	h.asleep.Store(true)
	h.requestAttentionNow(p)
	if h.endPause(); b.woken != 1 || p.attention != attentionDue || len(h.polls.due) != 1 {
		t.Errorf("woken %d times, attention %d, in the list %d times", b.woken, p.attention,
			len(h.polls.due))
	}
}

// TestPauseEnds shows that the thread polls itself, and pauses no longer, where no caller has
// polled during a pause.
func TestPauseEnds(t *testing.T) {
	b := &wakeCounter{}
	h, p := newPausingThread(b, 50*time.Microsecond)
	p.requestUnattended()
	h.serveRequests()
	h.polls.paused.end = time.Now()
	p.src.(*emptySource).Source = silentSource{}
	if h.endPause(); p.attention != attentionDue {
		t.Fatalf("after the pause attention is %d", p.attention)
	}
	b.attended = 0
	h.serveRequests()
	if b.attended != 1 || p.attention != attentionNone || h.polls.paused.next != h.t.info.Tick {
		t.Errorf("attended %d times, attention %d, the next pause lasts %v", b.attended,
			p.attention, h.polls.paused.next)
	}
}

// silentSource is a source that can be polled, and from which no frame comes.
type silentSource struct{ transport.Source }

func (silentSource) Poll(int) int { return 0 }
