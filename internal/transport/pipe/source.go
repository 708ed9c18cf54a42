// SPDX-License-Identifier: BSD-3-Clause

// Where frames and completions come from: one connection of an origin, or all of a data server.
// Everything that a Receiver or a Completion is told is told by Poll.
package pipe

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"libarmci/internal/transport"
)

type source struct {
	fabric  *fabric
	bell    chan struct{} // rung when Sleep is to end
	calling sync.Mutex    // held while a Receiver is called: Close waits for it

	// Under the net's lock:
	ends     []*end
	attended bool
}

// strike rings a bell that may have been rung already.
func strike(bell chan struct{}) {
	select {
	case bell <- struct{}{}:
	default:
	}
}

// listen waits for a bell, for a limit (negative: any time), or until a moment.
func listen(bell chan struct{}, limit time.Duration, until time.Time) {
	if !until.IsZero() {
		if left := max(time.Until(until), 0); limit < 0 || left < limit {
			limit = left
		}
	}
	if limit < 0 {
		<-bell
		return
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-bell:
	case <-timer.C:
	}
}

// earlier is the earlier of two moments, of which zero is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// ring tells whoever waits. The caller has the net's lock.
func (s *source) ring() {
	strike(s.bell)
	strike(s.fabric.bell)
}

// state tells whether a connection is lost, whether something came since Attend, and when the next
// thing will come.
func (s *source) state(now time.Time) (lost, news bool, next time.Time) {
	for _, e := range s.ends {
		lost = lost || e.ending() != nil || e.left(now)
		e.each(func(p *parcel) {
			if p.at.After(now) {
				next = earlier(next, p.at)
			} else {
				news = news || !p.old
			}
		})
	}
	return lost, news, next
}

// attend makes what has come old.
func (s *source) attend(now time.Time) {
	s.attended = true
	for _, e := range s.ends {
		e.each(func(p *parcel) { p.old = !p.at.After(now) })
	}
}

// Poll lets up to 32 things happen, in random order of the connections.
func (s *source) Poll(looks int) (n int) {
	for look := 0; ; look++ {
		for n < 32 && s.step() {
			n++
		}
		if n > 0 || look >= looks {
			return n
		}
		runtime.Gosched()
	}
}

// step lets one thing happen.
func (s *source) step() bool {
	s.calling.Lock()
	defer s.calling.Unlock()
	net := s.fabric.net
	net.mu.Lock()
	now := time.Now()
	for _, i := range net.rnd.Perm(len(s.ends)) {
		if do := s.ends[i].next(now); do != nil {
			net.mu.Unlock()
			do()
			return true
		}
	}
	net.mu.Unlock()
	return false
}

// Sleep waits for the bell, unless something is there.
func (s *source) Sleep(limit time.Duration) {
	net := s.fabric.net
	net.mu.Lock()
	now := time.Now()
	var at time.Time
	for _, e := range s.ends {
		if e.next(now) == nil {
			e.each(func(p *parcel) {
				if p.at.After(now) {
					at = earlier(at, p.at)
				}
			})
			continue
		}
		net.mu.Unlock()
		return
	}
	net.mu.Unlock()
	listen(s.bell, limit, at)
}

func (s *source) Interrupt() { strike(s.bell) }

// listener is the source of a data server, which any thread may poll.
type listener struct {
	*source
	diverted    atomic.Bool
	interrupted atomic.Bool
}

// Rest: nothing is left in the middle.
func (l *listener) Rest() time.Duration { return -1 }

// Divert keeps what comes from ending Sleep, or has Sleep look again.
func (l *listener) Divert(on bool) {
	if l.diverted.Store(on); !on {
		strike(l.bell)
	}
}

// WakeIn ends Sleep later. A call is as good as the one before.
func (l *listener) WakeIn(d time.Duration) { time.AfterFunc(d, l.Interrupt) }

// Sleep waits for Interrupt alone while another thread polls.
func (l *listener) Sleep(limit time.Duration) {
	for end := time.Now().Add(limit); l.diverted.Load(); {
		var until time.Time
		if limit >= 0 {
			until = end
		}
		listen(l.bell, -1, until)
		if l.interrupted.Swap(false) || limit >= 0 && !time.Now().Before(end) {
			return
		}
	}
	l.source.Sleep(limit)
}

// Whole: nothing is left in the middle, as for Rest.
func (l *listener) Whole() bool { return true }

// Ready and SleepIn: there is no descriptor.
func (l *listener) Ready() int   { return -1 }
func (l *listener) SleepIn() int { return -1 }

// Interrupt ends Sleep.
func (l *listener) Interrupt() {
	l.interrupted.Store(true)
	strike(l.bell)
}

// Close closes the ends that are left.
func (l *listener) Close() {
	f := l.fabric
	f.net.mu.Lock()
	f.accept = nil
	left := append([]*end(nil), l.ends...)
	f.net.mu.Unlock()
	for _, e := range left {
		e.Close(lastTime)
	}
}

// lastTime is how long what was posted may take to leave.
const lastTime = 200 * time.Millisecond

// Answered: nothing but the receiver answers.
func (l *listener) Answered() uint32 { return 0 }

var _ transport.SharedListener = (*listener)(nil)
