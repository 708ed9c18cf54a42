// SPDX-License-Identifier: BSD-3-Clause

// Frames that a caller defers and sends itself with the next one: they wake no thread.
package internode

import (
	"testing"
	"time"

	"libarmci/internal/testutil/eventually"
	"libarmci/internal/testutil/pipe"
	"libarmci/internal/transport"
)

// wakeCounter is a fabric that counts wake-ups of the progress thread, at once and by the alarm.
type wakeCounter struct {
	transport.Fabric
	woken    int
	attended int
	alarms   []time.Duration
}

func (b *wakeCounter) Wake()                     { b.woken++ }
func (b *wakeCounter) Attend(_ transport.Source) { b.attended++ }
func (b *wakeCounter) SetAlarm(d time.Duration)  { b.alarms = append(b.alarms, d) }

// TestDeferredFramesLeaveByAlarm shows that a deferred frame leaves by the alarm. The more often
// callers take frames along, the later the alarm is, and it is set once for many of them.
func TestDeferredFramesLeaveByAlarm(t *testing.T) {
	b := &wakeCounter{}
	tr := &Transport{fabric: b, info: transport.FabricInfo{Tick: 50 * time.Microsecond}}
	tr.thread.t, tr.thread.alarm = tr, b
	g := &target{t: tr}
	g.queue.target = g
	tr.routes.targets = []*target{g}
	tr.thread.asleep.Store(true)
	for range usuallyPiggybacked {
		g.recordDeferral(true)
		g.recordDeferral(false)
	}
	if b.woken != 0 || len(b.alarms) == 0 || b.alarms[0] != tr.info.Tick {
		t.Errorf("woken %d times, alarms %v", b.woken, b.alarms)
	}
	tr.thread.flushAt.Store(0)
	b.alarms = nil
	for range 10 {
		g.recordDeferral(true)
		g.recordDeferral(false)
	}
	if len(b.alarms) != 1 || b.alarms[0] != longFlushDelay {
		t.Errorf("alarms %v, expected one of %v", b.alarms, longFlushDelay)
	}
	for range maxPiggybacked {
		g.recordDeferral(false)
	}
	tr.thread.flushAt.Store(0)
	b.alarms = nil
	if g.recordDeferral(true); len(b.alarms) != 1 || b.alarms[0] != longestFlushDelay {
		t.Errorf("alarms %v, expected one of %v", b.alarms, longestFlushDelay)
	}
	for range 3 { // the caller does not come
		g.tx.deferral.piggybacked /= 4
	}
	if tr.thread.flushAt.Store(0); g.tx.deferral.piggybacked >= usuallyPiggybacked {
		t.Errorf("it expects the caller after 3 times in vain")
	}
	b.alarms = nil
	if g.recordDeferral(true); len(b.alarms) != 1 || b.alarms[0] != tr.info.Tick {
		t.Errorf("alarms %v, expected one of %v", b.alarms, tr.info.Tick)
	}
}

// TestFenceTakesDeferredAlong shows that a fence that sends a deferred store counts as a caller
// that comes in time, so that stores with fences do not set an alarm each time.
func TestFenceTakesDeferredAlong(t *testing.T) {
	_, ends, u := newUser(t, pipe.Options{Blocks: true, Defer: true}, nil)
	g := ends.Open[0].(*Transport).routes.byPeer[1]
	for range 2 * usuallyPiggybacked {
		u.startStore(t, 8)
		if err := u.tr.Fence(1); err != nil {
			t.Fatal(err)
		}
	}
	g.mu.Lock()
	n := g.tx.deferral.piggybacked
	g.mu.Unlock()
	u.tr.Close()
	ends.Open[1].Close()
	if n < usuallyPiggybacked {
		t.Errorf("of %d stores %d count as taken along", 2*usuallyPiggybacked, n)
	}
}

// TestAlarmOfAnEarlierFrame shows that an alarm for a frame that has left does not send the next
// one, which was deferred just before. Nor does it teach that callers do not come.
func TestAlarmOfAnEarlierFrame(t *testing.T) {
	b := &wakeCounter{}
	tr := &Transport{fabric: b, info: transport.FabricInfo{Tick: 50 * time.Microsecond}}
	tr.thread.t, tr.thread.alarm = tr, b
	g := &target{t: tr}
	g.queue.target = g
	g.tx.deferral.piggybacked = usuallyPiggybacked
	tr.routes.targets = []*target{g}
	tr.thread.asleep.Store(true)
	q := &g.queue
	q.callerSent.Store(usuallyPiggybacked)
	g.recordDeferral(true)
	g.queue.enqueue(&transfer{})
	early := int64(time.Since(began)) + 1
	tr.thread.flushAt.Store(0)
	tr.thread.sendDue()
	if g.tx.deferral.piggybacked != usuallyPiggybacked || q.senderRunning ||
		q.callerSent.Load() != usuallyPiggybacked {
		t.Errorf("taken %d and %d, a thread sends: %v", g.tx.deferral.piggybacked,
			q.callerSent.Load(), q.senderRunning)
	}
	if at := tr.thread.flushAt.Load(); at < early || at > early+int64(longFlushDelay) {
		t.Errorf("it is to be sent after %v", time.Duration(at-early))
	}
}

// TestDeferredLeavesWithoutCaller shows that what was deferred or queued arrives though no caller
// takes it along, also after callers usually did.
func TestDeferredLeavesWithoutCaller(t *testing.T) {
	for _, bytes := range []int{8, 64 << 10} {
		_, ends, u := newUser(t, pipe.Options{Blocks: true, Defer: true}, nil)
		g := ends.Open[0].(*Transport).routes.byPeer[1]
		for range 3 {
			for range 2 * usuallyPiggybacked {
				u.startStore(t, bytes)
				if err := u.tr.Fence(1); err != nil {
					t.Fatal(err)
				}
			}
			u.startStore(t, bytes)
			eventually.True(t, func() bool {
				return !g.tx.deferral.pending.Load() && g.queue.length.Load() == 0
			}, "a store of %d bytes does not leave", bytes)
		}
		u.tr.Close()
		ends.Open[1].Close()
	}
}

// startStore posts a store that no caller waits for.
func (u *user) startStore(t *testing.T, bytes int) {
	t.Helper()
	x := plain(u.mine, u.there, bytes)
	x.Later = true
	if err := u.tr.Put(1, x); err != nil {
		t.Fatal(err)
	}
}
