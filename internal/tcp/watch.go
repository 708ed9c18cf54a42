// SPDX-License-Identifier: BSD-3-Clause

// Processes that are stopped for longer than the timeout, as by a debugger, while their kernel
// answers: connections to them stay (rawsock.Watch), and new ones wait for them. A host that does
// not answer is given up in time.
package tcp

import (
	"cmp"
	"time"

	"libarmci/internal/log"
	"libarmci/internal/tcp/rawsock"
)

// stopTime is how long a process may be stopped that has accepted nothing yet: longer than a
// debugger is likely to hold it, and not forever, since another program may have its port.
const stopTime = time.Hour

// dialTime bounds the time from the connection to the end of the hello.
func (f *fabric) dialTime() time.Duration {
	return max(cmp.Or(f.opt.stopTime, stopTime), f.Timeout)
}

// look has the kernel keep a connection whose other kernel answers.
func (s *socket) look(timeout time.Duration, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.watch.Look(s.fd, timeout, now)
	}
}

// looker is a connection of either end.
type looker interface {
	look(timeout time.Duration, now time.Time)
}

// watchConnections looks at all connections of a poller until done.
func watchConnections[T looker](p *poller[T], timeout time.Duration, done <-chan struct{}) {
	defer log.Guard()
	tick := time.NewTicker(rawsock.WatchPeriod(timeout))
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case now := <-tick.C:
			for _, c := range p.list() {
				c.look(timeout, now)
			}
		}
	}
}
