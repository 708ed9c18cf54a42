// SPDX-License-Identifier: BSD-3-Clause

// Processes that are stopped for longer than the timeout, as by a debugger, while their kernel
// answers. Connections to them stay (rawsock.Watch), and new ones wait for them. A host that does
// not answer is given up in time.
package tcp

import (
	"cmp"
	"time"

	"libarmci/internal/log"
	"libarmci/internal/tcp/rawsock"
)

// defaultStoppedLimit is how long a process may be stopped that has not accepted a connection yet:
// longer than a debugger is likely to hold it, and not forever, since another program may have its
// port.
const defaultStoppedLimit = time.Hour

// dialLimit bounds the time from the connection to the end of the hello.
func (f *fabric) dialLimit() time.Duration {
	return max(cmp.Or(f.options.stoppedLimit, defaultStoppedLimit), f.Timeout)
}

// check has the kernel keep a connection while the other side's kernel answers, and frees memory of
// an idle one. It locks mu.
func (s *socket) check(timeout time.Duration, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.watch.Check(s.fd, timeout, now)
		s.out.freeIfIdle()
	}
}

// watchedConn is a connection of either end.
type watchedConn interface {
	check(timeout time.Duration, now time.Time)
}

// watchConnections checks all connections of a poller several times per timeout, until done is
// closed.
func watchConnections[T watchedConn](p *poller[T], timeout time.Duration, done <-chan struct{}) {
	defer log.Guard()
	ticker := time.NewTicker(rawsock.WatchPeriod(timeout))
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case now := <-ticker.C:
			for _, c := range p.listConns() {
				c.check(timeout, now)
			}
		}
	}
}
