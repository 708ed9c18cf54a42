// SPDX-License-Identifier: BSD-3-Clause

// The data server of a process: one thread that polls the fabric's listener while that pays, and
// sleeps else, unless a waiter polls it (incoming.go). What is done with a frame is in serve.go;
// the fabric calls it, from the thread that polls or one of its own.
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

type server struct {
	t        *Transport
	listener transport.Listener
	incoming incoming
	origins  sync.Map // *origin by transport.Rank: the newest
	bound    *bound[*origin]
	closing  atomic.Bool
	finished chan struct{}

	// Of the loop alone.
	poll  wait.Window
	core  wait.Migration
	pulse pulse
	again time.Duration // how soon to poll, whatever comes; negative: any time
}

func openServer(t *Transport) (*server, error) {
	s := &server{t: t, finished: make(chan struct{}), pulse: t.newPulse(),
		bound: newBound(t.opt.Connections,
			func(o *origin) uint32 { return o.handled.Load() })}
	s.poll.Longest = t.opt.Poll
	var err error
	if s.listener, err = t.fabric.Listen(s.accept); err != nil {
		return nil, fmt.Errorf("start the data server: %w", err)
	}
	s.incoming.listener, _ = s.listener.(transport.SharedListener)
	go s.loop()
	return s, nil
}

// accept takes in an origin that has proved itself.
func (s *server) accept(from transport.Rank, e transport.TargetEndpoint) (transport.Receiver,
	error) {
	o := &origin{s: s, from: from, ep: e, payload: payload(e)}
	o.direct, _ = e.(transport.DirectWriter)
	s.origins.Store(from, o)
	if s.closing.Load() { // it was not said goodbye to, perhaps
		s.origins.Delete(from)
		return nil, transport.ErrClosed
	}
	askForRelease(s.bound.join(o))
	return o, nil
}

// askForRelease asks origins to give their connections back.
func askForRelease(list []*origin) {
	for _, o := range list {
		o.post(&header{kind: kindRelease}, nil)
	}
}

// nap is how long to sleep at most.
func (s *server) nap() time.Duration {
	limit := sooner(s.pulse.left(), s.again)
	if s.bound.over.Load() {
		return sooner(limit, askAgain)
	}
	return limit
}

// origin is the connection of a rank of another node, nil if it has none to this server.
func (s *server) origin(rank transport.Rank) *origin {
	o, _ := s.origins.Load(rank)
	found, _ := o.(*origin)
	return found
}

// loop serves until close.
func (s *server) loop() {
	defer log.Guard()
	defer close(s.finished)
	// never unlocked: the thread ends with the loop, for unbind and migration change it
	runtime.LockOSThread()
	s.t.opt.Unbind()
	wait.ShortSlice()
	run := time.Now()
	for !s.closing.Load() {
		if time.Since(run) > scheduleEvery {
			runtime.Gosched()
			run = time.Now()
		}
		s.turn()
		if s.closing.Load() {
			break
		}
		begin := time.Now()
		s.listener.Sleep(s.nap())
		s.poll.Slept(time.Since(begin))
		s.core.Slept()
		s.duties()
	}
	s.farewell()
}

// turn polls, unless a waiter does.
func (s *server) turn() {
	in := &s.incoming
	if s.again = -1; !in.serve() {
		return
	}
	if state := in.endGuard(); state != guarded {
		n := in.poll(s.listener, 1)
		if state == guardOver && n > 0 {
			in.guard.note()
		}
		s.poll.Event(n)
		s.round()
	}
	s.again = in.release()
}

// duties are those of which no frame tells.
func (s *server) duties() {
	if s.bound.over.Load() {
		askForRelease(s.bound.again())
	}
	if s.pulse.due() {
		for _, o := range s.origins.Range {
			o.(*origin).ep.Pulse()
		}
	}
}

// maxRounds ends a round of polling that always pays, so that the loop comes to its other duties.
const maxRounds = 1000

// round polls while that pays, and until a waiter wants to; once, at least, unless another thread
// computes on this core: what follows an event at once, such as the next request of an origin on
// the same core, needs no other wake-up.
func (s *server) round() {
	start := time.Now()
	vain := false
	for range maxRounds {
		if s.closing.Load() || s.incoming.wanted() {
			return
		}
		begin, patience := time.Now(), s.poll.Patience()
		if s.core.Crowded(begin) || vain && begin.Sub(start) >= patience {
			s.poll.InVain()
			return
		}
		n := s.incoming.poll(s.listener, looksPerRound)
		vain = n == 0
		now := begin
		if patience > 0 {
			// else it sleeps soon, and to wake it on an idle core may take long
			var crowded bool
			if now, crowded = s.core.Yield(); crowded {
				s.poll.Crowded()
			}
		}
		if n > 0 {
			s.poll.Event(n)
			start = now
		}
	}
}

const looksPerRound = 4

// close says goodbye to all origins and ends the server.
func (s *server) close() {
	s.closing.Store(true)
	s.listener.Interrupt()
	<-s.finished
}

// farewell tells the origins that nothing has gone wrong, and ends their connections.
func (s *server) farewell() {
	s.incoming.acquire()
	for _, o := range s.origins.Range {
		o.(*origin).post(&header{kind: kindBye}, nil)
	}
	s.listener.Close()
}
