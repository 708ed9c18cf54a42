// SPDX-License-Identifier: BSD-3-Clause

// Goroutines that go on with connections in the middle of large transfers, so that the loop stays free for small
// requests. Each holds one work: the number of works bounds the goroutines and the memory.
package tcp

import (
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/log"
)

const (
	bulkBudget = 1 << 30
	bulkLinger = 50 * time.Microsecond // how long a goroutine waits for more before it gives a connection back
	bulkRest   = 5 * time.Second       // how long one without work stays
)

// pool has the works that are not in use.
type pool struct {
	s    *server
	mu   sync.Mutex
	free []*work
	made int
	most int
}

// init gives room for nbytes of works: at least for the loop's two and one more.
func (p *pool) init(s *server, nbytes int64) { p.s, p.most = s, int(max(nbytes/workBytes, 3)) }

// take gives nil if all are in use.
func (p *pool) take() *work {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		w := p.free[n-1]
		p.free = p.free[:n-1]
		return w
	}
	if p.made == p.most {
		return nil
	}
	p.made++
	return newWork(p.s)
}

func (p *pool) put(w *work) {
	p.mu.Lock()
	p.free = append(p.free, w)
	p.mu.Unlock()
	if p.s.crowded.Load() {
		p.s.wakeUp()
	}
}

// handOver gives the connection that the loop is in the middle of to a goroutine; false if all works are in use.
func (s *server) handOver() bool {
	next := s.pool.take()
	if next == nil {
		return false
	}
	w := s.w
	s.w = next
	s.takeOut(w.c)
	select {
	case s.jobs <- w:
	default:
		s.running.Add(1)
		go s.bulk(w)
	}
	return true
}

// takeOut makes a connection none of the loop's business for now.
func (s *server) takeOut(c *conn) {
	c.away.Store(true)
	if s.last == c {
		s.last = nil
	}
	unix.EpollCtl(s.ep, unix.EPOLL_CTL_DEL, c.fd, nil)
}

// bulk goes on with one connection after another, until there has been none for a while.
func (s *server) bulk(w *work) {
	defer log.Guard()
	defer s.running.Done()
	runtime.LockOSThread() // never unlocked: unbind changes the thread
	s.opt.unbind()
	rest := time.NewTimer(bulkRest)
	defer rest.Stop()
	for w != nil {
		s.goOn(w)
		s.pool.put(w)
		rest.Reset(bulkRest)
		select {
		case w = <-s.jobs: // nil when closed
		case <-rest.C:
			w = nil
		}
	}
}

// goOn serves a connection, waiting where it must, until it is quiet or has ended.
func (s *server) goOn(w *work) {
	for {
		switch w.run(bulkBudget) {
		case busy:
		case starved:
			waitFor(w.c.fd, unix.POLLIN, noDeadline)
		case choked:
			if w.holds {
				waitFor(w.c.fd, unix.POLLOUT, noDeadline)
			} else {
				w.c.send.Lock()
				w.holds = true
			}
		case idle:
			if waitFor(w.c.fd, unix.POLLIN, time.Now().Add(bulkLinger)) != nil && s.giveBack(w) {
				return
			}
		case ended:
			s.end(w)
			return
		}
	}
}

// giveBack returns a quiet connection to the loop; false if that is about to end.
func (s *server) giveBack(w *work) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Load() {
		return false
	}
	c := w.c
	w.fresh(nil)
	c.away.Store(false)
	s.watch(unix.EPOLL_CTL_ADD, c.fd, aboutConn, c.slot)
	return true
}
