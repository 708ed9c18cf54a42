// SPDX-License-Identifier: BSD-3-Clause

// The end of a target: its connection is lost, its node says goodbye, or this process does.
package internode

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"libarmci/internal/transport"
)

// lossState is what has gone wrong with a target. Errors and goodbye are set once and stay, except
// that a fence takes the refusal.
type lossState struct {
	refusal atomic.Pointer[error] // the next fence returns it
	failure atomic.Pointer[error] // the target is of no more use; all later calls return it
	goodbye atomic.Bool           // the node has said that nothing follows
}

// err returns why the target is of no more use, or nil.
func (s *lossState) err() error {
	if e := s.failure.Load(); e != nil {
		return *e
	}
	return nil
}

// markLost makes the target unusable, once: its open requests fail, and the job learns of the loss
// unless the node has said goodbye. It returns the error for later callers. Any thread may call it,
// with or without mu.
func (g *target) markLost(why error) error {
	// loaded before the error: if that does not say that the node has left, it is a loss
	goodbye := g.loss.goodbye.Load()
	err := g.lossError(why)
	if !g.loss.failure.CompareAndSwap(nil, &err) {
		return g.loss.err()
	}
	l := g.link.Load()
	if l != nil && why != errDisconnected {
		l.ep.Break()
	}
	g.requests.failAll(err)
	if !goodbye && !g.t.life.closing.Load() {
		g.t.reportLoss(g.serverRank, g.t.opt.connectionLost(g.serverRank, why.Error()))
	}
	if l != nil {
		l.poller.wakeWaiters()
		l.poller.src.Interrupt()
	}
	return err
}

// failAfterReading is markLost for a caller that got an error from the endpoint, perhaps before the
// poller has seen the end of the connection. Frames that came before it are read first, since one
// may be a goodbye. That lasts as long as frames come or another thread polls. The caller holds mu.
func (g *target) failAfterReading(why error) error {
	news := time.Now()
	for end := news.Add(10 * goodbyeTimeout); g.loss.failure.Load() == nil &&
		time.Since(news) < goodbyeTimeout && news.Before(end); {
		if !g.tx.poller.tryAcquire() {
			news = time.Now()
		} else {
			if g.tx.poller.poll(1) > 0 {
				news = time.Now()
			}
			g.tx.poller.release()
		}
		time.Sleep(50 * time.Microsecond)
	}
	return g.markLost(why)
}

// lossError returns the error that callers get for a target that is lost because of why.
func (g *target) lossError(why error) error {
	host := g.t.opt.HostName(g.serverRank)
	switch {
	case g.t.life.closing.Load():
		return transport.ErrClosed
	case g.loss.goodbye.Load():
		return fmt.Errorf("rank %d (host %s) has left: %w", g.serverRank, host,
			transport.ErrPeerDead)
	}
	return fmt.Errorf("rank %d (host %s): %w: %v", g.serverRank, host, transport.ErrPeerDead,
		why)
}

// goodbyeTimeout bounds how long disconnect waits for a thread that holds mu, and how long its
// frame may take to arrive.
const goodbyeTimeout = 200 * time.Millisecond

// errDisconnected marks a target as lost behind its last frame: the connection is not broken, so
// that no frame before that is lost.
var errDisconnected = errors.New("closed")

// disconnect tells the server that no frame follows, and marks the target as lost. If another
// thread holds mu for longer than goodbyeTimeout, the connection is broken instead.
func (g *target) disconnect() {
	useful := func() bool { return g.link.Load() != nil && g.loss.failure.Load() == nil }
	why, free := error(transport.ErrClosed), useful() && g.mu.TryLock()
	for end := time.Now().Add(goodbyeTimeout); !free && useful() && time.Now().Before(end); {
		time.Sleep(50 * time.Microsecond)
		free = g.mu.TryLock()
	}
	if free {
		if l := g.link.Load(); l == nil || l.state.Load() != linkOpen {
			why = errDisconnected // the release has told the server
		} else if g.sendFrame(nil, &header{kind: kindGoodbye, rank: uint32(g.serverRank)},
			nil, nil, 0,
			transport.Now) == nil {
			why = errDisconnected
		}
		g.mu.Unlock()
	}
	g.markLost(why)
}

// close closes the connection. No other thread uses the target any more.
func (g *target) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if l := g.link.Swap(nil); l != nil {
		l.ep.Close(goodbyeTimeout)
	}
}
