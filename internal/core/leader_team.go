// SPDX-License-Identifier: BSD-3-Clause

// Collectives between nodes: they run among the leaders of a group, its first member on each node,
// by messages of which each has a tag of its own (straight.go), or which a device writes
// (leader_ring.go), in a number of steps that grows with the logarithm of the number of nodes. Used
// by one thread at a time, like any team.
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
	r     *Runtime
	ranks []transport.Rank
	me    int
	tag   int64
	// number of the current collective, and of its messages between any two leaders
	step int64
	next int64 // number of the next one
	// messages since all leaders heard from each other: so many may be on their way to a leader
	oneWay int
	what   string // name of the collective, for error messages
	bytes  int64  // its size, for error messages

	// Used again, since new memory each time would keep the garbage collector busy.
	expected wanted        // what recv waits for
	current  broadcast     // or the last one
	ahead    [ahead]wanted // what a reduction waits for

	entries int          // collectives so far, as long as they are counted
	rings   *leaderRings // nil: messages are sent
	retired uintptr      // memory of rings that are not used any more
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
	if e := l.ring(to); e != nil {
		l.check(e.to, len(body), e.send(body, l.what))
		l.finish(e)
		return
	}
	send := l.r.Send
	if l.tag >= tagTeam {
		send = l.r.sendStraight
	}
	if err := send(l.ranks[to], l.numbered(message), body); err != nil {
		l.broken(l.ranks[to], err)
	}
}

func (l *leaderTeam) finish(e *ringEnd) { l.check(e.to, 0, e.finish()) }

// want says where a message of the current collective belongs, for await.
func (l *leaderTeam) want(w *wanted, from, message int, body []byte) {
	if w.ring = l.ring(from); w.ring != nil {
		w.body = body
		return
	}
	w.begin(l.r, l.ranks[from], l.numbered(message), body)
}

// await receives the message that want has announced. A wrong length ends the job.
func (l *leaderTeam) await(w *wanted) {
	if w.ring != nil {
		l.receive(w.ring, w.body)
		return
	}
	got, err := w.await()
	switch {
	case errors.Is(err, transport.ErrTooLong), err == nil && got.Total != len(w.body):
		l.mismatch(w.from, got.Total, len(w.body))
	case err != nil:
		l.broken(w.from, err)
	}
}

func (l *leaderTeam) receive(e *ringEnd, body []byte) {
	err := e.receive(len(body), l.what, func(at int, piece []byte) { copy(body[at:], piece) })
	l.check(e.to, len(body), err)
}

// check ends the job if a message of so many bytes to or from another leader has failed.
func (l *leaderTeam) check(other transport.Rank, want int, err error) {
	var length errLength
	switch {
	case errors.As(err, &length):
		l.mismatch(other, length.total, want)
	case err != nil:
		l.broken(other, err)
	}
}

func (l *leaderTeam) recv(from, message int, body []byte) {
	if e := l.ring(from); e != nil {
		l.receive(e, body)
		return
	}
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
	r.end(reportTurn*time.Duration(min(l.me, maxTurns)),
		fmt.Sprintf("rank %d (host %s) is in a %s, for which rank %d (host %s) "+
			"has sent %d bytes instead of %d: the ranks of the group call different "+
			"collectives, or with different sizes",
			r.Me, r.host(r.Me), l.name(), from, r.host(from), got, want))
	forever()
}

// broken ends the job: another rank cannot be reached. It does not return.
func (l *leaderTeam) broken(rank transport.Rank, err error) {
	l.r.lost(rank, fmt.Sprintf("%s with rank %d (host %s): %v", l.name(), rank, l.r.host(rank),
		err))
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

// Release frees what the caller has as a leader.
func (l *leaderTeam) Release(bool) { l.freeRings() }

// Barrier is the dissemination barrier.
func (l *leaderTeam) Barrier() {
	l.entered()
	l.barrier("barrier")
}

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
	return l.gather(mine, equalSizes(len(l.ranks), len(mine)))
}

func equalSizes(n, size int) []int {
	sizes := make([]int, n)
	for i := range sizes {
		sizes[i] = size
	}
	return sizes
}

func (l *leaderTeam) gather(mine []byte, sizes []int) []byte {
	l.entered()
	return l.gatherBlocks(mine, sizes)
}

// gatherBlocks is an allgather of blocks of different sizes, by Bruck's algorithm: what a leader
// has doubles with each step. The result has the blocks in order.
func (l *leaderTeam) gatherBlocks(mine []byte, sizes []int) []byte {
	l.begin("gathering", len(mine), 1)
	l.oneWay = 0
	n := len(l.ranks)
	size := func(from, count int) (sum int) {
		// bytes of count consecutive blocks, beginning with the block of a leader
		for i := range count {
			sum += sizes[(from+i)%n]
		}
		return sum
	}
	all := make([]byte, size(0, n)) // begins with my block, wraps around
	have := copy(all, mine)
	for d := 1; d < n; d *= 2 {
		count := min(d, n-d)
		from := (l.me + d) % n
		more := size(from, count)
		l.exchange((l.me-d+n)%n, all[:size(l.me, count)], from, all[have:have+more])
		have += more
	}
	tail := size(l.me, n-l.me) // my block and those of leaders behind me
	return append(append(make([]byte, 0, len(all)), all[tail:]...), all[:tail]...)
}

// exchange sends a message to a leader and receives one from a leader. By rings it goes piece by
// piece: a ring has no room for all that leaders may send before they receive.
func (l *leaderTeam) exchange(to int, out []byte, from int, in []byte) {
	t, f := l.ring(to), l.ring(from)
	if t == nil || f == nil {
		l.send(to, 0, out)
		l.recv(from, 0, in)
		return
	}
	sent := 0
	next := func() {
		n := min(len(out)-sent, ringPiece)
		l.check(t.to, len(out), t.sendPiece(len(out), out[sent:sent+n], l.what))
		sent += n
	}
	next()
	l.check(f.to, len(in), f.receive(len(in), l.what, func(at int, piece []byte) {
		copy(in[at:], piece)
		if sent < len(out) {
			next()
		}
	}))
	for sent < len(out) {
		next()
	}
	l.finish(t)
}

var _ transport.Team = (*leaderTeam)(nil)
