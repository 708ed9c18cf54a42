// SPDX-License-Identifier: BSD-3-Clause

// Collectives between nodes: they run among the leaders of a group, its first member on each node,
// by messages of which each has a tag of its own (straight.go), in a number of steps that grows
// with the logarithm of the number of nodes. Used by one thread at a time, like any team.
// Reductions are in leader_reduce.go.
package core

import (
	"errors"
	"fmt"
	"time"
	"unsafe"

	"libarmci/internal/transport"
)

// leaderTeam implements transport.Team.
type leaderTeam struct {
	r      *Runtime
	ranks  []transport.Rank
	me     int
	tag    int64
	step   int64  // number of the current collective, and of its messages between any two leaders
	next   int64  // number of the next one
	oneWay int    // messages since all leaders heard from each other: so many may be on their way to a leader
	what   string // name of the collective, for error messages
	bytes  int64  // its size, for error messages

	expected wanted // what recv waits for
}

// stepBits is the width of a message's number in the tags of a team, so that no two messages on
// their way from one leader to another have the same tag.
const stepBits = 16

// maxOneWay bounds oneWay.
const maxOneWay = 32

// begin starts a collective, which has a name and a size for error messages, and between any two
// leaders as many messages.
func (l *leaderTeam) begin(what string, nbytes, messages int) {
	l.what, l.bytes = what, int64(nbytes)
	if l.tag >= tagTeam {
		l.step, l.next = l.next, l.next+int64(messages)
	}
}

// numbered is the tag of a message of the current collective.
func (l *leaderTeam) numbered(message int) int64 {
	return l.tag + (l.step+int64(message))%(1<<stepBits)
}

// send sends a message of the current collective. Where a group is being created, messages have one
// tag and need their order.
func (l *leaderTeam) send(to, message int, body []byte) {
	send := l.r.Send
	if l.tag >= tagTeam {
		send = l.r.sendStraight
	}
	if err := send(l.ranks[to], l.numbered(message), body); err != nil {
		l.broken(l.ranks[to], err)
	}
}

// want says where a message of the current collective belongs, for await.
func (l *leaderTeam) want(from, message int, body []byte) *wanted {
	return l.r.want(l.ranks[from], l.numbered(message), body)
}

func (l *leaderTeam) await(w *wanted) {
	got, err := w.await()
	switch {
	case errors.Is(err, transport.ErrTooLong), err == nil && got.Total != len(w.body):
		l.mismatch(w.from, got.Total, len(w.body))
	case err != nil:
		l.broken(w.from, err)
	}
}

func (l *leaderTeam) recv(from, message int, body []byte) {
	l.expected.begin(l.r, l.ranks[from], l.numbered(message), body)
	l.await(&l.expected)
}

// name describes the collective in error messages.
func (l *leaderTeam) name() string {
	if l.bytes == 0 {
		return l.what
	}
	return fmt.Sprintf("%s of %d bytes", l.what, l.bytes)
}

// mismatch ends the job: another leader's message does not fit this collective. It does not return.
// All leaders may notice at the same time, so nodes take turns to report it.
func (l *leaderTeam) mismatch(from transport.Rank, got, want int) {
	r := l.r
	r.end(reportTurn*time.Duration(min(l.me, maxTurns)), fmt.Sprintf("rank %d (host %s) is in a %s, for which rank %d (host %s) "+
		"has sent %d bytes instead of %d: the ranks of the group call different collectives, or with different sizes",
		r.Me, r.host(r.Me), l.name(), from, r.host(from), got, want))
	forever()
}

// broken ends the job: another rank cannot be reached. It does not return.
func (l *leaderTeam) broken(rank transport.Rank, err error) {
	l.r.lost(rank, fmt.Sprintf("%s with rank %d (host %s): %v", l.name(), rank, l.r.host(rank), err))
	forever()
}

// forever blocks until the process ends. In tests it returns.
var forever = func() { select {} }

// Size is the number of nodes.
func (l *leaderTeam) Size() int { return len(l.ranks) }

// Rank is my number among the leaders.
func (l *leaderTeam) Rank() int { return l.me }

// Pointer is nil: C has no fast path for it.
func (l *leaderTeam) Pointer() unsafe.Pointer { return nil }

// Release does nothing.
func (l *leaderTeam) Release(bool) {}

// Barrier is the dissemination barrier.
func (l *leaderTeam) Barrier() { l.barrier("barrier") }

func (l *leaderTeam) barrier(what string) {
	l.begin(what, 0, 1)
	n := len(l.ranks)
	for d := 1; d < n; d *= 2 {
		l.send((l.me+d)%n, 0, nil)
		l.recv((l.me-d+n)%n, 0, nil)
	}
	l.oneWay = 0
}

// Bcast sends fragments from leader to leader.
func (l *leaderTeam) Bcast(buf unsafe.Pointer, nbytes int64, root int) {
	for b := l.broadcast(unsafe.Slice((*byte)(buf), nbytes), root); b.next(); {
	}
}

// Allgather gathers equally many bytes from each leader.
func (l *leaderTeam) Allgather(mine []byte) []byte {
	sizes := make([]int, len(l.ranks))
	for i := range sizes {
		sizes[i] = len(mine)
	}
	return l.gather(mine, sizes)
}

// gather is an allgather of blocks of different sizes, by Bruck's algorithm: what every leader has
// doubles with each step. The result has the blocks in order.
func (l *leaderTeam) gather(mine []byte, sizes []int) []byte {
	l.begin("gathering", len(mine), 1)
	l.oneWay = 0
	n := len(l.ranks)
	size := func(from, count int) (sum int) { // bytes of count consecutive blocks, beginning with the block of a leader
		for i := range count {
			sum += sizes[(from+i)%n]
		}
		return sum
	}
	all := make([]byte, size(0, n)) // begins with my block, wraps around
	have := copy(all, mine)
	for d := 1; d < n; d *= 2 {
		count := min(d, n-d)
		l.send((l.me-d+n)%n, 0, all[:size(l.me, count)])
		from := (l.me + d) % n
		more := size(from, count)
		l.recv(from, 0, all[have:have+more])
		have += more
	}
	tail := size(l.me, n-l.me) // my block and those of leaders behind me
	return append(append(make([]byte, 0, len(all)), all[tail:]...), all[:tail]...)
}

var _ transport.Team = (*leaderTeam)(nil)
