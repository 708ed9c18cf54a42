// SPDX-License-Identifier: BSD-3-Clause

// The data server of a process: one thread that polls the fabric's listener while that pays, and
// sleeps otherwise, unless a waiter polls it (incoming.go). serve.go acts on frames; the fabric
// calls it from the polling thread or from one of its own.
package internode

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"libarmci/internal/log"
	"libarmci/internal/transport"
	"libarmci/internal/wait"
)

// server is the data server of a process.
type server struct {
	t        *Transport
	listener transport.Listener
	incoming incoming
	origins  sync.Map // *origin by transport.Rank: the newest connection
	limit    *connLimit[*origin]
	closing  atomic.Bool
	finished chan struct{} // closed when the thread has ended

	// Of the server's thread.
	window   wait.Window
	core     wait.Migration
	pulse    interval
	nextPoll time.Duration // sleep no longer than this; negative: any time
}

// openServer listens and starts the server's thread.
func openServer(t *Transport) (*server, error) {
	s := &server{t: t, finished: make(chan struct{}), pulse: newPulseInterval(t),
		limit: newConnLimit(t.opt.Connections,
			func(o *origin) uint32 { return o.handledFrames.Load() })}
	s.window.Longest = t.opt.Poll
	var err error
	if s.listener, err = t.fabric.Listen(s.acceptOrigin); err != nil {
		return nil, fmt.Errorf("start the data server: %w", err)
	}
	s.incoming.listener, _ = s.listener.(transport.SharedListener)
	go s.serveUntilClosed()
	return s, nil
}

// acceptOrigin takes in an origin that has authenticated itself. It may ask others to release their
// connections.
func (s *server) acceptOrigin(from transport.Rank, e transport.TargetEndpoint) (transport.Receiver,
	error) {
	o := &origin{server: s, rank: from, ep: e, maxBody: maxBody(e)}
	o.direct, _ = e.(transport.DirectWriter)
	s.origins.Store(from, o)
	if s.closing.Load() { // disconnectOrigins may have missed it
		s.origins.Delete(from)
		return nil, transport.ErrClosed
	}
	askForRelease(s.limit.addConn(o))
	return o, nil
}

// askForRelease asks origins to release their connections.
func askForRelease(list []*origin) {
	for _, o := range list {
		o.postAnswer(&header{kind: kindReleaseRequest}, nil)
	}
}

// sleepLimit returns how long the thread may sleep; negative: any time.
func (s *server) sleepLimit() time.Duration {
	limit := minWait(s.pulse.untilDue(), s.nextPoll)
	if s.limit.exceededNow.Load() {
		return minWait(limit, askAgain)
	}
	return limit
}

// originOf returns the connection of a rank of another node, or nil if it has none to this server.
func (s *server) originOf(rank transport.Rank) *origin {
	o, _ := s.origins.Load(rank)
	found, _ := o.(*origin)
	return found
}

// serveUntilClosed is the server's thread.
func (s *server) serveUntilClosed() {
	defer log.Guard()
	defer close(s.finished)
	// never unlocked: the thread ends with the loop, since Unbind and core change it
	runtime.LockOSThread()
	s.t.opt.Unbind()
	wait.ShortSlice()
	run := time.Now()
	for !s.closing.Load() {
		if time.Since(run) > scheduleEvery {
			runtime.Gosched()
			run = time.Now()
		}
		s.pollIfOwner()
		if s.closing.Load() {
			break
		}
		begin := time.Now()
		s.listener.Sleep(s.sleepLimit())
		s.window.Slept(time.Since(begin))
		s.core.AfterSleep()
		s.periodicWork()
	}
	s.disconnectOrigins()
}

// pollIfOwner polls, unless a waiter has the right to poll or is expected back soon (guard), and
// keeps the right while that pays. It sets nextPoll. Only the server's thread calls it.
func (s *server) pollIfOwner() {
	in := &s.incoming
	if s.nextPoll = -1; !in.tryAcquireForServer() {
		return
	}
	if state := in.endGuardIfOver(); state != guarded {
		n := in.poll(s.listener, 1)
		if state == guardOver && n > 0 {
			in.guard.recordNeed()
		}
		s.window.Event(n)
		s.pollWhilePaying()
	}
	s.nextPoll = in.release()
}

// periodicWork is what no frame triggers: asking for further releases, and pulses.
func (s *server) periodicWork() {
	if s.limit.exceededNow.Load() {
		askForRelease(s.limit.chooseAgain())
	}
	if s.pulse.isDueOnce() {
		for _, o := range s.origins.Range {
			o.(*origin).ep.Pulse()
		}
	}
}

// maxRounds bounds how long a thread polls while each poll finds frames, so that it gets to its
// other work.
const maxRounds = 1000

// pollWhilePaying polls while that pays, and until a waiter wants to. It polls at least once,
// unless another thread computes on this core: what follows an event at once, such as the next
// request of an origin on the same core, then needs no wake-up.
func (s *server) pollWhilePaying() {
	start := time.Now()
	vain := false
	for range maxRounds {
		if s.closing.Load() || s.incoming.isWanted() {
			return
		}
		begin, patience := time.Now(), s.window.Patience()
		if s.core.Crowded(begin) || vain && begin.Sub(start) >= patience {
			s.window.InVain()
			return
		}
		n := s.incoming.poll(s.listener, looksPerPoll)
		vain = n == 0
		now := begin
		if patience > 0 {
			// without patience it sleeps soon; a wake-up on an idle core may take long
			var crowded bool
			if now, crowded = s.core.Yield(); crowded {
				s.window.Crowded()
			}
		}
		if n > 0 {
			s.window.Event(n)
			start = now
		}
	}
}

// looksPerPoll is how often the fabric looks at its connections in one poll.
const looksPerPoll = 4

// close disconnects from all origins and ends the thread.
func (s *server) close() {
	s.closing.Store(true)
	s.listener.Interrupt()
	<-s.finished
}

// disconnectOrigins tells the origins that the connection ends without an error, and ends it.
func (s *server) disconnectOrigins() {
	s.incoming.acquireForever()
	for _, o := range s.origins.Range {
		o.(*origin).postAnswer(&header{kind: kindGoodbye}, nil)
	}
	s.listener.Close()
}
