// SPDX-License-Identifier: BSD-3-Clause

// Package acceptqueue keeps strangers from harming a job through its listening sockets. A stranger
// is a process that connects and does not know the job's secret: it may connect at any rate, from
// any number of addresses, and say anything.
//
// A listener keeps connections that have not proved themselves in a Queue, which has a fixed number
// of places. When it is full, the oldest connection of the address that holds most places is
// dropped. The bytes that a connection has sent do not count before they are a proof. So a stranger
// evicts its own connections first. It also evicts those of the job at its own address that need
// longer than the stranger needs to fill the queue. These connect again: see Redial.
//
// Connections of other users to a unix socket are closed at once and take no place: see
// Waiting.Accept.
package acceptqueue

import (
	"net/netip"
	"slices"
	"time"
)

// Queue holds connections that have not proved themselves. The caller serialises its methods.
type Queue[C comparable] struct {
	places  int
	waiting []place[C]         // oldest first
	held    map[netip.Addr]int // places by address
}

// place is one connection, the address that it comes from, and the time when it was added.
type place[C comparable] struct {
	conn  C
	from  netip.Addr
	since time.Time
}

// Grace is how long a connection may take to prove itself before it may be dropped.
const Grace = 10 * time.Millisecond

// New makes a queue of so many places.
func New[C comparable](places int) *Queue[C] {
	return &Queue[C]{places: places, held: map[netip.Addr]int{}}
}

// Len is how many connections wait.
func (q *Queue[C]) Len() int { return len(q.waiting) }

// Full tells whether a connection must leave before another one is added.
func (q *Queue[C]) Full() bool { return len(q.waiting) >= q.places }

// Add puts a connection behind all others. The zero address stands for processes of this user on
// this host.
func (q *Queue[C]) Add(conn C, from netip.Addr) {
	q.waiting = append(q.waiting, place[C]{conn, from, time.Now()})
	q.held[from]++
}

// Remove takes a connection out, and tells whether it was waiting: each connection is removed once.
func (q *Queue[C]) Remove(conn C) bool {
	i := slices.IndexFunc(q.waiting, func(p place[C]) bool { return p.conn == conn })
	if i < 0 {
		return false
	}
	from := q.waiting[i].from
	q.waiting = slices.Delete(q.waiting, i, i+1)
	if q.held[from]--; q.held[from] == 0 {
		delete(q.held, from)
	}
	return true
}

// Victim is the connection to drop next: the oldest one of the address that holds most places. Of
// several such addresses it is the one of the oldest connection.
func (q *Queue[C]) Victim() (conn C, ok bool) {
	most := 0
	for _, n := range q.held {
		most = max(most, n)
	}
	for _, p := range q.waiting {
		if q.held[p.from] == most {
			return p.conn, true
		}
	}
	return conn, false
}

// Oldest is the connection that has waited longest, and the time when it was added.
func (q *Queue[C]) Oldest() (conn C, since time.Time, ok bool) {
	if len(q.waiting) == 0 {
		return conn, since, false
	}
	return q.waiting[0].conn, q.waiting[0].since, true
}

// Hold is for how long the listener should not accept: the queue is full, and even the oldest
// connection is younger than Grace. 0: it should go on.
func (q *Queue[C]) Hold() time.Duration {
	_, since, _ := q.Oldest()
	if !q.Full() {
		return 0
	}
	return max(Grace-time.Since(since), 0)
}

// Find is the oldest connection for which match returns true.
func (q *Queue[C]) Find(match func(C) bool) (conn C, ok bool) {
	for _, p := range q.waiting {
		if match(p.conn) {
			return p.conn, true
		}
	}
	return conn, false
}
