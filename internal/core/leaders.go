// SPDX-License-Identifier: BSD-3-Clause

// Collectives among ranks of different nodes, one of each: the leaders of a group. They talk by mail, in a number of
// steps that grows with the logarithm of the number of nodes. Operands are combined in the order of the leaders in the
// same tree everywhere, so that all get the same bits. Used by one thread at a time, like any team.
package core

import (
	"fmt"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// leaders implements transport.Team.
type leaders struct {
	r     *Runtime
	ranks []transport.Rank
	me    int
	tag   int64
	step  int64 // of a team: the collectives so far
	brisk bool  // nobody sends twice in this collective before he has heard from all
}

// stepBits is for the number of a collective in the tags of a team: no two messages that are under way from one leader
// to another have the same tag.
const stepBits = 16

// begin numbers a collective. In a brisk one messages may take the fastest way.
func (l *leaders) begin(brisk bool) {
	if l.tag >= tagTeam {
		l.step = (l.step + 1) % (1 << stepBits)
		l.brisk = brisk
	}
}

// pieceBytes is how much of a long buffer travels at a time.
const pieceBytes = 64 << 10

func (l *leaders) send(to int, body []byte) {
	send := l.r.Send
	if l.brisk {
		send = l.r.sendLoose
	}
	if err := send(l.ranks[to], l.tag+l.step, body); err != nil {
		l.r.broken(l.ranks[to], err)
	}
}

func (l *leaders) recv(from int, body []byte) {
	if err := l.r.recvSoon(l.ranks[from], l.tag+l.step, body); err != nil {
		l.r.broken(l.ranks[from], err)
	}
}

// broken: a collective cannot go on, since another rank cannot be reached. The job ends; this call does not return.
func (r *Runtime) broken(rank transport.Rank, err error) {
	r.lost(rank, fmt.Sprintf("rank %d (host %s): %v", rank, r.host(rank), err))
	select {}
}

// Size is the number of nodes.
func (l *leaders) Size() int { return len(l.ranks) }

// Rank is my place.
func (l *leaders) Rank() int { return l.me }

// Pointer is nil: C has no way to it.
func (l *leaders) Pointer() unsafe.Pointer { return nil }

// Release has nothing to let go.
func (l *leaders) Release(bool) {}

// Barrier is the dissemination barrier.
func (l *leaders) Barrier() {
	l.begin(true)
	n := len(l.ranks)
	for d := 1; d < n; d *= 2 {
		l.send((l.me+d)%n, nil)
		l.recv((l.me-d+n)%n, nil)
	}
}

// Bcast is pipelined along a binomial tree.
func (l *leaders) Bcast(buf unsafe.Pointer, nbytes int64, root int) {
	for b := range pieces(unsafe.Slice((*byte)(buf), nbytes), pieceBytes) {
		l.bcast(b, root)
	}
}

// pieces are consecutive parts of a buffer, the last one what is left.
func pieces(b []byte, size int) func(func([]byte) bool) {
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

func (l *leaders) bcast(b []byte, root int) {
	l.begin(false)
	n := len(l.ranks)
	at := (l.me - root + n) % n // my place in a tree whose root is 0
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

// Allgather gathers as many bytes from each.
func (l *leaders) Allgather(mine []byte) []byte {
	sizes := make([]int, len(l.ranks))
	for i := range sizes {
		sizes[i] = len(mine)
	}
	return l.gather(mine, sizes)
}

// gather gives all the blocks of all, in order, by Bruck's algorithm: what everybody has doubles with each step. sizes
// are those of the blocks.
func (l *leaders) gather(mine []byte, sizes []int) []byte {
	l.begin(true)
	n := len(l.ranks)
	size := func(from, count int) (sum int) { // of consecutive blocks, from the block of a leader on
		for i := range count {
			sum += sizes[(from+i)%n]
		}
		return sum
	}
	all := make([]byte, size(0, n)) // from my block on, round the circle
	have := copy(all, mine)
	for d := 1; d < n; d *= 2 {
		count := min(d, n-d)
		l.send((l.me-d+n)%n, all[:size(l.me, count)])
		from := (l.me + d) % n
		more := size(from, count)
		l.recv(from, all[have:have+more])
		have += more
	}
	tail := size(l.me, n-l.me) // my block and those behind it
	return append(append(make([]byte, 0, len(all)), all[tail:]...), all[:tail]...)
}

// Allreduce is recursive doubling, piece by piece. Leaders beyond the largest power of two give their part to another
// one first and get the result at the end.
func (l *leaders) Allreduce(x unsafe.Pointer, nelem int64, typ, red int) {
	t := kernel.Type(typ)
	size := kernel.TypeSize(t)
	other := make([]byte, min(nelem*int64(size), pieceBytes))
	combine := func(mine, theirs []byte, theirsFirst bool) {
		if theirsFirst {
			reduce(red, t, theirs, mine)
			copy(mine, theirs)
			return
		}
		reduce(red, t, mine, theirs)
	}
	for b := range pieces(unsafe.Slice((*byte)(x), nelem*int64(size)), pieceBytes/size*size) {
		l.allreduce(b, other[:len(b)], combine)
	}
	kernel.ReduceFinish(kernel.Reduction(red), t, x, int(nelem))
}

func reduce(red int, t kernel.Type, inout, in []byte) {
	kernel.Reduce(kernel.Reduction(red), t, unsafe.Pointer(unsafe.SliceData(inout)), unsafe.Pointer(unsafe.SliceData(in)),
		len(in)/kernel.TypeSize(t))
}

func (l *leaders) allreduce(mine, theirs []byte, combine func(mine, theirs []byte, theirsFirst bool)) {
	l.begin(true)
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

var _ transport.Team = (*leaders)(nil)
