// SPDX-License-Identifier: BSD-3-Clause

// The sources of frames and completions: of one connection of an origin, of all of them
// (Options.Shared), or of all connections of a data server. Poll calls Receivers and Completions.
package pipe

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"libarmci/internal/transport"
)

// source is a Source.
type source struct {
	fabric       *fabric
	wakeUp       chan struct{} // ends Sleep
	receiverCall sync.Mutex    // held during a call of a Receiver: Close waits for it

	// Under the net's lock:
	endpoints []*endpoint
	attended  bool // Wait lists it when there are new arrivals
	polled    bool // a thread is in Poll: no other may be
	room      bool // a peer has made room since the last Poll, which is an event
}

// earlier is the earlier of two times. Zero is no time.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// wakeWaiters ends Sleep of this source and Wait of its fabric. The caller holds the net's lock.
func (s *source) wakeWaiters() {
	signal(s.wakeUp)
	signal(s.fabric.wakeUp)
}

// pendingEvents tells whether a connection is lost, whether anything has arrived since Attend, and
// when the next arrival is. The caller holds the net's lock.
func (s *source) pendingEvents(now time.Time) (lost, arrived bool, next time.Time) {
	for _, e := range s.endpoints {
		lost = lost || e.lossReason() != nil || e.peerHasLeft(now)
		e.eachArrival(func(p *parcel) {
			if p.due.After(now) {
				next = earlier(next, p.due)
			} else {
				arrived = arrived || !p.noticed
			}
		})
	}
	return lost, arrived, next
}

// attend makes the source attended; earlier arrivals do not end Wait. The caller holds the net's
// lock.
func (s *source) attend(now time.Time) {
	s.attended = true
	for _, e := range s.endpoints {
		e.eachArrival(func(p *parcel) { p.noticed = !p.due.After(now) })
	}
}

// Poll handles up to 32 events, in random order of the connections.
func (s *source) Poll(looks int) (n int) {
	s.setPolled(true)
	defer s.setPolled(false)
	for look := 0; ; look++ {
		for n < 32 && s.handleEvent() {
			n++
		}
		if s.takeRoom() {
			n++
		}
		if n > 0 || look >= looks {
			return n
		}
		runtime.Gosched()
	}
}

// setPolled records that a thread begins to poll, or ends. Two at the same time are a fault of the
// caller.
func (s *source) setPolled(on bool) {
	s.fabric.net.mu.Lock()
	defer s.fabric.net.mu.Unlock()
	if on && s.polled {
		panic("two threads poll a source")
	}
	s.polled = on
}

// takeRoom tells whether a peer has made room since it was last called.
func (s *source) takeRoom() bool {
	s.fabric.net.mu.Lock()
	defer s.fabric.net.mu.Unlock()
	was := s.room
	s.room = false
	return was
}

// handleEvent handles one event of a random endpoint. It returns false if there is none.
func (s *source) handleEvent() bool {
	s.receiverCall.Lock()
	defer s.receiverCall.Unlock()
	net := s.fabric.net
	net.mu.Lock()
	now := time.Now()
	for _, i := range net.rnd.Perm(len(s.endpoints)) {
		if event := s.endpoints[i].nextEvent(now); event != nil {
			net.mu.Unlock()
			event()
			return true
		}
	}
	net.mu.Unlock()
	return false
}

// Sleep returns at once if there is an event.
func (s *source) Sleep(limit time.Duration) {
	net := s.fabric.net
	net.mu.Lock()
	now := time.Now()
	var next time.Time
	for _, e := range s.endpoints {
		if e.nextEvent(now) == nil {
			e.eachArrival(func(p *parcel) {
				if p.due.After(now) {
					next = earlier(next, p.due)
				}
			})
			continue
		}
		net.mu.Unlock()
		return
	}
	net.mu.Unlock()
	awaitSignal(s.wakeUp, limit, next)
}

func (s *source) Interrupt() { signal(s.wakeUp) }

// listener is the source of a data server, which any thread may poll.
type listener struct {
	*source
	diverted    atomic.Bool
	interrupted atomic.Bool
}

// StopPolling needs no further polling: Poll leaves no event half handled.
func (l *listener) StopPolling() time.Duration { return -1 }

// SetWaiterPolls(false) has Sleep check for arrivals again.
func (l *listener) SetWaiterPolls(on bool) {
	if l.diverted.Store(on); !on {
		signal(l.wakeUp)
	}
}

// SetAlarm sets a timer. Earlier timers stay, and may end Sleep too early.
func (l *listener) SetAlarm(d time.Duration) { time.AfterFunc(d, l.Interrupt) }

// Sleep waits for Interrupt alone while another thread polls.
func (l *listener) Sleep(limit time.Duration) {
	for deadline := time.Now().Add(limit); l.diverted.Load(); {
		var until time.Time
		if limit >= 0 {
			until = deadline
		}
		awaitSignal(l.wakeUp, -1, until)
		if l.interrupted.Swap(false) || limit >= 0 && !time.Now().Before(deadline) {
			return
		}
	}
	l.source.Sleep(limit)
}

// FramesComplete is true, as for StopPolling.
func (l *listener) FramesComplete() bool { return true }

// Ready and EpollFD say that there is no descriptor.
func (l *listener) Ready() int   { return -1 }
func (l *listener) EpollFD() int { return -1 }

// Interrupt ends Sleep.
func (l *listener) Interrupt() {
	l.interrupted.Store(true)
	signal(l.wakeUp)
}

// Close closes the endpoints that are left.
func (l *listener) Close() {
	f := l.fabric
	f.net.mu.Lock()
	f.accept = nil
	left := append([]*endpoint(nil), l.endpoints...)
	f.net.mu.Unlock()
	for _, e := range left {
		e.Close(lastLinger)
	}
}

// lastLinger is the longest time that posted frames may take to leave when a listener is closed.
const lastLinger = 200 * time.Millisecond

// AnsweredRequests is 0: only receivers answer requests.
func (l *listener) AnsweredRequests() uint32 { return 0 }

var _ transport.SharedListener = (*listener)(nil)
