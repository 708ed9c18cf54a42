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
	back *sync.Cond
	free []*work
	made int
	most int
}

func (p *pool) init(s *server, nbytes int64) {
	p.s, p.most = s, int(max(nbytes/workBytes, 2))
	p.back = sync.NewCond(&p.mu)
}

// take waits for a work if all are in use.
func (p *pool) take() *work {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.free) == 0 {
		if p.made < p.most {
			p.made++
			return newWork(p.s)
		}
		p.back.Wait()
	}
	w := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	return w
}

func (p *pool) put(w *work) {
	p.mu.Lock()
	p.free = append(p.free, w)
	p.mu.Unlock()
	p.back.Signal()
}

// handOver gives the connection that the loop is in the middle of to a goroutine.
func (s *server) handOver() {
	w := s.w
	w.c.away.Store(true)
	if s.last == w.c {
		s.last = nil
	}
	unix.EpollCtl(s.ep, unix.EPOLL_CTL_DEL, w.c.fd, nil)
	select {
	case s.jobs <- w:
	default:
		s.running.Add(1)
		go s.bulk(w)
	}
	s.w = s.pool.take()
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
