// SPDX-License-Identifier: BSD-3-Clause

// Collectives between nodes: they run among the leaders of a group, its first member on each node, by two-sided messages, in
// a number of steps that grows with the logarithm of the number of nodes. Operands are combined in the order of the leaders
// in the same tree everywhere, so that all get the same bits. Used by one thread at a time, like any team.
package core

import (
	"errors"
	"fmt"
	"sync"
	"time"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// leaderTeam implements transport.Team.
type leaderTeam struct {
	r         *Runtime
	ranks     []transport.Rank
	me        int
	tag       int64
	step      int64  // number of collectives of the team so far
	unordered bool   // every leader hears from all before it sends again, so unordered messages are safe
	what      string // name of the collective, for error messages
	bytes     int64  // its size, for error messages
}

// stepBits is the width of a collective's number in the tags of a team, so that no two messages on their way from one
// leader to another have the same tag.
const stepBits = 16

// begin starts a collective, which has a name and a size for error messages. unordered: its messages need no order.
func (l *leaderTeam) begin(what string, nbytes int, unordered bool) {
	l.what, l.bytes = what, int64(nbytes)
	if l.tag >= tagTeam {
		l.step = (l.step + 1) % (1 << stepBits)
		l.unordered = unordered
	}
}

// pipelineBytes is the size of the fragments in which a long buffer is sent.
const pipelineBytes = 64 << 10

func (l *leaderTeam) send(to int, body []byte) {
	send := l.r.Send
	if l.unordered {
		send = l.r.sendUnordered
	}
	if err := send(l.ranks[to], l.tag+l.step, body); err != nil {
		l.broken(l.ranks[to], err)
	}
}

func (l *leaderTeam) recv(from int, body []byte) {
	got, err := l.r.recvPolling(l.ranks[from], l.tag+l.step, body)
	switch {
	case errors.Is(err, transport.ErrTooLong), err == nil && got.Total != len(body):
		l.mismatch(l.ranks[from], got.Total, len(body))
	case err != nil:
		l.broken(l.ranks[from], err)
	}
}

// name describes the collective in error messages.
func (l *leaderTeam) name() string {
	if l.bytes == 0 {
		return l.what
	}
	return fmt.Sprintf("%s of %d bytes", l.what, l.bytes)
}

// mismatch ends the job: another leader's message does not fit this collective. It does not return. All leaders may notice at
// the same time, so nodes take turns to report it.
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
func (l *leaderTeam) Barrier() {
	l.begin("barrier", 0, true)
	n := len(l.ranks)
	for d := 1; d < n; d *= 2 {
		l.send((l.me+d)%n, nil)
		l.recv((l.me-d+n)%n, nil)
	}
}

// Bcast sends fragments along a binomial tree.
func (l *leaderTeam) Bcast(buf unsafe.Pointer, nbytes int64, root int) {
	for b := range fragments(unsafe.Slice((*byte)(buf), nbytes), pipelineBytes) {
		l.bcast(b, root)
	}
}

// fragments divides a buffer into consecutive ones of a size; the last one may be shorter.
func fragments(b []byte, size int) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(b) > 0 {
			n := min(size, len(b))
			if !yield(b[:n]) {
				return
			}
			b = b[n:]
		}
	}
}

func (l *leaderTeam) bcast(b []byte, root int) {
	l.begin("broadcast", len(b), false)
	n := len(l.ranks)
	at := (l.me - root + n) % n // my number in a tree whose root is 0
	step := 1
	for ; step < n; step *= 2 {
		if at&step != 0 {
			l.recv((at-step+root)%n, b)
			break
		}
	}
	for step /= 2; step > 0; step /= 2 {
		if at+step < n {
			l.send((at+step+root)%n, b)
		}
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

// gather is an allgather of blocks of different sizes, by Bruck's algorithm: what every leader has doubles with each step.
// The result has the blocks in order.
func (l *leaderTeam) gather(mine []byte, sizes []int) []byte {
	l.begin("gathering", len(mine), true)
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
		l.send((l.me-d+n)%n, all[:size(l.me, count)])
		from := (l.me + d) % n
		more := size(from, count)
		l.recv(from, all[have:have+more])
		have += more
	}
	tail := size(l.me, n-l.me) // my block and those of leaders behind me
	return append(append(make([]byte, 0, len(all)), all[tail:]...), all[:tail]...)
}

// reduceMemory is used again, as is that of fragments.
var reduceMemory = sync.Pool{New: func() any { return new([pipelineBytes]byte) }}

// Allreduce is recursive doubling, fragment by fragment. Leaders beyond the largest power of two send their part to another
// one first, and receive the result at the end.
func (l *leaderTeam) Allreduce(x unsafe.Pointer, nelem int64, typ, red int) {
	t := kernel.Type(typ)
	size := kernel.TypeSize(t)
	other := reduceMemory.Get().(*[pipelineBytes]byte)
	defer reduceMemory.Put(other)
	combine := func(mine, theirs []byte, theirsFirst bool) {
		if theirsFirst {
			reduce(red, t, theirs, mine)
			copy(mine, theirs)
			return
		}
		reduce(red, t, mine, theirs)
	}
	for b := range fragments(unsafe.Slice((*byte)(x), nelem*int64(size)), pipelineBytes/size*size) {
		l.allreduce(b, other[:len(b)], combine)
	}
	kernel.ReduceFinish(kernel.Reduction(red), t, x, int(nelem))
}

func reduce(red int, t kernel.Type, inout, in []byte) {
	kernel.Reduce(kernel.Reduction(red), t, unsafe.Pointer(unsafe.SliceData(inout)), unsafe.Pointer(unsafe.SliceData(in)),
		len(in)/kernel.TypeSize(t))
}

func (l *leaderTeam) allreduce(mine, theirs []byte, combine func(mine, theirs []byte, theirsFirst bool)) {
	l.begin("reduction", len(mine), true)
	n, half := len(l.ranks), 1
	for 2*half <= n {
		half *= 2
	}
	if l.me >= half {
		l.send(l.me-half, mine)
		l.recv(l.me-half, mine)
		return
	}
	if l.me+half < n {
		l.recv(l.me+half, theirs)
		combine(mine, theirs, false)
	}
	for d := 1; d < half; d *= 2 {
		partner := l.me ^ d
		l.send(partner, mine)
		l.recv(partner, theirs)
		combine(mine, theirs, partner < l.me)
	}
	if l.me+half < n {
		l.send(l.me+half, mine)
	}
}

var _ transport.Team = (*leaderTeam)(nil)
