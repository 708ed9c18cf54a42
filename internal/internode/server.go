// SPDX-License-Identifier: BSD-3-Clause

// The data server of a process: one thread that polls the fabric's listener while that pays, and sleeps else. What is done
// with a frame is in serve.go; the fabric calls it, from this thread or one of its own.
package internode

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"libarmci/internal/log"
	"libarmci/internal/transport"
)

type server struct {
	t        *Transport
	listener transport.Listener

	mu      sync.Mutex
	origins map[transport.Rank]*origin // the newest of each rank

	closing  atomic.Bool
	finished chan struct{}

	// Of the loop alone.
	poll pollPolicy
	core migration
	beat time.Time
}

func openServer(t *Transport) (*server, error) {
	s := &server{t: t, origins: map[transport.Rank]*origin{}, finished: make(chan struct{}), beat: time.Now()}
	s.poll.longest = t.opt.Poll
	var err error
	if s.listener, err = t.fabric.Listen(s.accept); err != nil {
		return nil, fmt.Errorf("start the data server: %w", err)
	}
	go s.loop()
	return s, nil
}

// accept takes in an origin that has proved itself.
func (s *server) accept(from transport.Rank, e transport.Endpoint) (transport.Receiver, error) {
	if s.t.opt.nodeOf(from) < 0 {
		return nil, fmt.Errorf("rank %d is not in this job", from)
	}
	o := &origin{s: s, from: from, ep: e, payload: payload(e)}
	o.direct, _ = e.(transport.DirectEndpoint)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Load() {
		return nil, transport.ErrClosed
	}
	s.origins[from] = o
	s.listener.Interrupt() // there is a pulse to be felt from now on
	return o, nil
}

// origin is the connection of a rank of another node, nil if it has none to this server.
func (s *server) origin(rank transport.Rank) *origin {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.origins[rank]
}

// forget removes an origin whose connection has ended.
func (s *server) forget(o *origin) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.origins[o.from] == o {
		delete(s.origins, o.from)
	}
}

// loop serves until close.
func (s *server) loop() {
	defer log.Guard()
	defer close(s.finished)
	runtime.LockOSThread() // never unlocked: the thread ends with the loop, for unbind and migration change it
	s.t.opt.unbind()
	run := time.Now()
	for !s.closing.Load() {
		if time.Since(run) > scheduleEvery {
			runtime.Gosched()
			run = time.Now()
		}
		s.round()
		if s.closing.Load() {
			break
		}
		begin := time.Now()
		s.listener.Sleep(s.untilPulse())
		s.poll.slept(time.Since(begin))
		s.core.slept()
		s.poll.event(s.listener.Poll(1))
		s.pulses()
	}
	s.farewell()
}

// maxRounds ends a round of polling that always pays, so that the loop comes to its other duties.
const maxRounds = 1000

// round polls while that pays.
func (s *server) round() {
	start := time.Now()
	for range maxRounds {
		if s.closing.Load() {
			return
		}
		begin := time.Now()
		if begin.Sub(start) >= s.poll.patience() {
			s.poll.inVain()
			return
		}
		n := s.listener.Poll(looksPerRound)
		if n == 0 { // else it is the time of serving
			s.poll.took(time.Since(begin))
		}
		now := s.core.yield()
		if n > 0 {
			s.poll.event(n)
			start = now
		}
	}
}

const looksPerRound = 4

// pulses finds out whether origins are there.
func (s *server) pulses() {
	if !s.t.info.Pulses || time.Since(s.beat) < s.t.pulseEvery() {
		return
	}
	s.beat = time.Now()
	for _, o := range s.all() {
		o.ep.Pulse()
	}
}

// all lists the origins.
func (s *server) all() []*origin {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.origins))
}

// untilPulse bounds a sleep while there are origins; negative: there are none.
func (s *server) untilPulse() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.t.info.Pulses || len(s.origins) == 0 {
		return -1
	}
	return s.t.pulseEvery()
}

// close says goodbye to all origins and ends the server.
func (s *server) close() {
	s.closing.Store(true)
	s.listener.Interrupt()
	<-s.finished
}

// farewell tells the origins that nothing has gone wrong, and ends their connections.
func (s *server) farewell() {
	for _, o := range s.all() {
		o.post(&header{kind: kindBye}, nil)
	}
	s.listener.Close()
}
