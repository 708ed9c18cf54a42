// SPDX-License-Identifier: BSD-3-Clause

// The data server of a node: one goroutine that takes messages of all clients from one shared receive queue, acts on them
// (serve.go), and sleeps when none come. Memory for buffers does not depend on the number of clients. It never waits
// for a client: what cannot be answered now stays where it is until earlier answers have left.
package rdma

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/log"
	"libarmci/internal/rdma/verbs"
	"libarmci/internal/transport"
)

const (
	serverTokens = 1024
	connRequests = 32 // answers and writes to one client that are on their way
	connPieces   = 4  // of memory in one of them
)

type server struct {
	opt     *Options
	t       *Transport
	h       *hca
	arena   *arena
	srq     *verbs.Shared
	in      *pool
	out     *pool
	tokens  atomic.Int32 // answers that may be on their way: entries of the completion queue
	locals  []int32      // by rank: local number, -1 if it is not of this node
	wake    int
	landing landing

	mu      sync.Mutex
	conns   map[uint32]*conn // by number of the queue pair
	greeted map[greeting]*hello
	owing   []*conn // that could not send something
	order   []*conn // whose pulses are felt in turn

	closing  atomic.Bool
	finished chan struct{}
	// Of the loop alone.
	done  [burst]verbs.Completion
	ids   []uint64
	offer []verbs.Data
}

// greeting names a question, which may come twice.
type greeting struct {
	from  transport.Rank
	nonce uint64
}

// openServer starts the data server of this node.
func openServer(t *Transport, base *hca) (*server, error) {
	n := min(t.buffers(comingShare), base.limits.MaxSRQ)
	h, err := base.role(serverTokens + n)
	if err != nil {
		return nil, err
	}
	s := &server{opt: &t.opt, t: t, h: h, arena: t.arena, conns: map[uint32]*conn{}, greeted: map[greeting]*hello{},
		wake: -1, finished: make(chan struct{})}
	s.tokens.Store(serverTokens)
	s.setLocals()
	if s.in, err = newPool(h.domain, n, t.size); err == nil {
		s.out, err = newPool(h.domain, t.buffers(answerShare), t.size)
	}
	if err == nil {
		s.srq, err = h.domain.NewShared(s.in.count())
	}
	if err == nil {
		err = offerAll(s.srq, s.in)
	}
	if err == nil {
		s.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	}
	if err != nil {
		s.release()
		return nil, err
	}
	go s.loop()
	return s, nil
}

func (s *server) setLocals() {
	for n, ranks := range s.opt.Nodes {
		for l, r := range ranks {
			for len(s.locals) <= int(r) {
				s.locals = append(s.locals, -1)
			}
			if n == s.opt.MyNode {
				s.locals[r] = int32(l)
			}
		}
	}
}

// local is the number of a rank on this node, -1 if it is of another.
func (s *server) local(rank uint32) int {
	if rank < uint32(len(s.locals)) {
		return int(s.locals[rank])
	}
	return -1
}

// accept connects a client that has proved itself. For the porter.
func (s *server) accept(q *hello) (*hello, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := greeting{q.from, q.nonce}
	if a := s.greeted[key]; a != nil || s.closing.Load() {
		if a == nil {
			return nil, transport.ErrClosed
		}
		return a, nil
	}
	if q.to != s.opt.Me || s.opt.nodeOf(q.from) < 0 {
		return nil, fmt.Errorf("it asks for rank %d", q.to)
	}
	pair, err := s.h.domain.NewPair(verbs.Caps{Send: connRequests, Pieces: connPieces, Inline: headerBytes, From: s.h.cq, To: s.h.cq,
		Shared: s.srq})
	if err != nil {
		return nil, err
	}
	a := &hello{kind: answer, from: s.opt.Me, to: q.from, nonce: q.nonce, pair: pair.Number, psn: randomPSN(),
		reads: uint8(min(s.h.limits.ReadsIn, 16)), mtu: s.h.state.MTU, room: s.t.size, back: q.back}
	if err := pair.Connect(s.t.link(a, q, &q.back)); err != nil {
		pair.Close()
		return nil, err
	}
	c := &conn{s: s, pair: pair, from: q.from, most: min(s.t.size, q.room), slots: connRequests}
	s.conns[pair.Number] = c
	s.order = append(s.order, c)
	ring(s.wake) // there is a pulse to be felt from now on
	s.greeted[key] = a
	return a, nil
}

// mostPulses bounds how many clients are asked for at a time.
const mostPulses = 256

// pulses writes no bytes to clients that nothing is on its way to: to one that has gone, that fails.
func (s *server) pulses() {
	s.mu.Lock()
	list := s.order[:min(mostPulses, len(s.order))]
	s.order = append(s.order[len(list):], list...)
	s.mu.Unlock()
	for _, c := range list {
		c.pulse()
	}
}

// untilPulse bounds a sleep while there are clients; negative: there are none.
func (s *server) untilPulse() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.order) == 0 {
		return -1
	}
	return s.opt.pulseEvery()
}

func (s *server) conn(pair uint32) *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conns[pair]
}

// deal deals with what has been completed.
func (s *server) deal(n int, err error) bool {
	if err != nil {
		log.Errorf("the data server cannot go on: %v", err)
		s.closing.Store(true)
		return false
	}
	sent := false
	for i := range s.done[:n] {
		e := &s.done[i]
		if e.ID&received == 0 {
			s.landed(e)
			sent = true
			continue
		}
		s.arrived(int32(e.ID&^received), e)
	}
	if sent {
		s.payDebts()
	}
	if len(s.ids) > 0 {
		if err := s.srq.Post(s.ids, s.offer); err != nil {
			log.Errorf("the data server cannot receive any more: %v", err)
		}
		s.ids, s.offer = s.ids[:0], s.offer[:0]
	}
	return n > 0
}

// giveBack offers a buffer again, soon.
func (s *server) giveBack(b int32) {
	s.ids = append(s.ids, received|uint64(b))
	s.offer = append(s.offer, s.in.data(b, 0, s.in.size))
}

// arrived deals with a message, or puts it behind those of its client that wait.
func (s *server) arrived(b int32, e *verbs.Completion) {
	c := s.conn(e.Pair)
	if c == nil || e.Status != 0 {
		s.giveBack(b)
		return
	}
	c.backlog = append(c.backlog, parcel{b, e.Bytes})
	c.serve()
}

// landed: an answer has left, or could not.
func (s *server) landed(e *verbs.Completion) {
	if b := int32(uint32(e.ID)); b >= 0 && uint32(b) < uint32(s.out.count()) {
		s.out.put(b)
	}
	s.tokens.Add(1)
	c := s.conn(e.Pair)
	if c == nil {
		return
	}
	c.mu.Lock()
	c.slots += int(e.ID >> 32)
	c.mu.Unlock()
	if e.Status != 0 {
		c.lose(fmt.Errorf("%s", e.Text()))
		return
	}
	c.serve()
}

// payDebts lets the clients go on that could not get an answer.
func (s *server) payDebts() {
	s.mu.Lock()
	list := s.owing
	s.owing = nil
	s.mu.Unlock()
	for _, c := range list {
		c.mu.Lock()
		c.listed = false
		c.mu.Unlock()
		c.serve()
	}
}

// owe remembers a client that could not get an answer.
func (s *server) owe(c *conn) {
	s.mu.Lock()
	s.owing = append(s.owing, c)
	s.mu.Unlock()
}

// close says goodbye to all clients and ends the server.
func (s *server) close() {
	s.closing.Store(true)
	ring(s.wake)
	<-s.finished
	s.release()
}

// farewell tells the clients that nothing has gone wrong.
func (s *server) farewell() {
	s.mu.Lock()
	var all []*conn
	for _, c := range s.conns {
		all = append(all, c)
	}
	s.mu.Unlock()
	for _, c := range all {
		c.goodbye()
	}
	for end := time.Now().Add(partingTime); s.tokens.Load() < serverTokens && time.Now().Before(end); {
		if n, _ := s.h.cq.Poll(s.done[:]); n > 0 {
			for i := range s.done[:n] {
				if s.done[i].ID&received == 0 {
					s.tokens.Add(1)
				}
			}
		}
		yield()
	}
	for _, c := range all {
		c.pair.Close()
	}
}

func (s *server) release() {
	if s.srq != nil {
		s.srq.Close()
	}
	for _, p := range []*pool{s.in, s.out} {
		if p != nil {
			p.close()
		}
	}
	s.landing.close()
	if s.wake >= 0 {
		unix.Close(s.wake)
	}
	s.h.close()
}
