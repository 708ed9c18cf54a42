// SPDX-License-Identifier: BSD-3-Clause

// Reductions between nodes. Operands are combined in the order of the leaders, each element at one
// place or in the same tree everywhere, so that all get the same bits. Short ones use recursive
// doubling: every leader combines all elements. Long ones use recursive halving, after which each
// leader has combined its share of the elements, and an allgather by recursive doubling.
package core

import (
	"math/bits"
	"sync"
	"unsafe"

	"libarmci/internal/kernel"
)

const (
	reduceBytes    = 256 << 10 // most bytes of a fragment
	shortReduction = 64 << 10  // is sent whole, in half as many steps
)

// reduceMemory is memory for received fragments, for reuse.
var reduceMemory = sync.Pool{New: func() any { return new([ahead][reduceBytes]byte) }}

// reduction is the state of a reduction among the leaders at one of them.
type reduction struct {
	team            *leaderTeam
	elementType     kernel.Type
	operator        int                       // a kernel.Reduction
	elementBytes    int                       // bytes of an element
	maxFragment     int                       // bytes of a fragment: whole elements
	received        *[ahead][reduceBytes]byte // fragments of other leaders
	messagesPerStep int                       // most messages of a step to or from a leader
	// step is the number of the next step among leaders within the largest power of two. It is
	// the same at all of them.
	step int
}

// Steps between a leader beyond the largest power of two and the one that it is folded into. Any
// collective begins with its step 0, so that leaders which are in different ones notice.
const (
	stepFold   = 0
	stepResult = 1
)

// Allreduce combines the elements of all leaders.
func (l *leaderTeam) Allreduce(x unsafe.Pointer, nelem int64, typ, red int) {
	l.countCollective()
	t := kernel.Type(typ)
	size := kernel.TypeSize(t)
	other := reduceMemory.Get().(*[ahead][reduceBytes]byte)
	defer reduceMemory.Put(other)
	all := unsafe.Slice((*byte)(x), nelem*int64(size))
	r := reduction{team: l, elementType: t, operator: red, elementBytes: size,
		maxFragment: reduceBytes / size * size,
		received:    other}
	r.messagesPerStep = len(all)/r.maxFragment + 1
	l.beginCollective("reduction", len(all), 2*r.messagesPerStep*bits.Len(uint(len(l.ranks))))
	l.unheardMessages = 0
	r.reduceAll(all)
	kernel.ReduceFinish(kernel.Reduction(red), t, x, int(nelem))
}

// reduceAll combines x of all leaders, in place. Leaders beyond the largest power of two are folded
// into others before, and receive the result afterwards.
func (r *reduction) reduceAll(x []byte) {
	l := r.team
	n, half := len(l.ranks), 1
	for 2*half <= n {
		half *= 2
	}
	if l.me >= half {
		r.exchangeOperands(stepFold, l.me-half, x, nil, nil)
		r.exchangeOperands(stepResult, l.me-half, nil, x, nil)
		return
	}
	if l.me+half < n {
		r.exchangeOperands(stepFold, l.me+half, nil, x, r.combineAfter)
	}
	if len(x) <= shortReduction || half == 1 {
		for d := 1; d < half; d *= 2 {
			r.exchangeStep(l.me^d, x, x, r.combineFor(l.me^d))
		}
	} else {
		r.reduceByHalving(x, half)
	}
	if l.me+half < n {
		r.exchangeOperands(stepResult, l.me+half, x, nil, nil)
	}
}

// reduceByHalving combines by recursive halving: with each step the part that a leader combines
// becomes half as long, and on the way back twice as long. half is the largest power of two of
// leaders.
func (r *reduction) reduceByHalving(x []byte, half int) {
	me := r.team.me
	low, parts := 0, make([][2]int, 0, 16) // by step: this leader's part before it
	high := len(x)
	for d := half / 2; d > 0; d /= 2 {
		parts = append(parts, [2]int{low, high})
		middle := low + (high-low)/r.elementBytes/2*r.elementBytes
		if me&d == 0 {
			r.exchangeStep(me^d, x[middle:high], x[low:middle], r.combineFor(me^d))
			high = middle
		} else {
			r.exchangeStep(me^d, x[low:middle], x[middle:high], r.combineFor(me^d))
			low = middle
		}
	}
	for d := 1; d < half; d *= 2 {
		before := parts[len(parts)-1]
		parts = parts[:len(parts)-1]
		theirs := x[before[0]:low]
		if low == before[0] {
			theirs = x[high:before[1]]
		}
		r.exchangeStep(me^d, x[low:high], theirs, nil)
		low, high = before[0], before[1]
	}
}

// ahead is how many fragments are sent before the first fragment of the other leader is needed, and
// how many may arrive early.
const ahead = 2

// maxUnheardFragments bounds the fragments that one leader sends to another that sends nothing.
const maxUnheardFragments = 8

// exchangeStep is exchangeOperands with the number of the next step.
func (r *reduction) exchangeStep(with int, mine, theirs []byte, combine func(mine, theirs []byte)) {
	r.exchangeOperands(r.step, with, mine, theirs, combine)
	r.step++
}

// exchangeOperands sends mine to another leader and receives as many bytes as theirs has, fragment
// by fragment; either may be empty. combine combines a received fragment with that part of theirs.
// nil: it is received there.
func (r *reduction) exchangeOperands(step, with int, mine, theirs []byte,
	combine func(mine, theirs []byte)) {
	if e := r.team.ringTo(with); e != nil {
		r.exchangeByRings(e, mine, theirs, combine)
		return
	}
	count := func(b []byte) int { return (len(b) + r.maxFragment - 1) / r.maxFragment }
	part := func(b []byte, i int) []byte {
		return b[min(i*r.maxFragment, len(b)):min((i+1)*r.maxFragment,
			len(b))]
	}
	out, in, first := count(mine), count(theirs), step*r.messagesPerStep
	if n := max(out, in); n > maxUnheardFragments {
		// a leader that only sends must learn how far the other is: by empty messages
		out, in = n, n
	}
	want := func(k int) {
		if k < in {
			to := part(theirs, k)
			if combine != nil {
				to = r.received[k%ahead][:len(to)]
			}
			r.team.expectFrom(&r.team.ahead[k%ahead], with, first+k, to)
		}
	}
	for k := range ahead {
		want(k)
	}
	for i := range max(out, in) + ahead {
		if i < out {
			r.team.sendTo(with, first+i, part(mine, i))
		}
		if k := i - ahead; k >= 0 && k < in {
			w := &r.team.ahead[k%ahead]
			r.team.awaitExpected(w)
			if combine != nil {
				combine(part(theirs, k), w.body)
			}
			want(k + ahead)
		}
	}
}

// exchangeByRings is exchangeOperands by rings: a received piece is combined where it lies.
func (r *reduction) exchangeByRings(e *ringEnd, mine, theirs []byte,
	combine func(mine, theirs []byte)) {
	if combine == nil {
		combine = func(mine, theirs []byte) { copy(mine, theirs) }
	}
	l, most := r.team, ringPiece/r.elementBytes*r.elementBytes
	for len(mine)+len(theirs) > 0 {
		n, m := min(len(mine), most), min(len(theirs), most)
		if n > 0 {
			l.checkPeer(e.to, n, e.sendMessage(mine[:n], l.collective))
		}
		if m > 0 {
			l.checkPeer(e.to, m, e.receiveMessage(m, l.collective,
				func(_ int, piece []byte) {
					l.finishSends(e) // the operand may still be in flight
					combine(theirs[:m], piece)
				}))
		}
		mine, theirs = mine[n:], theirs[m:]
	}
	l.finishSends(e)
}

// combineFor returns how to combine with the operands of another leader: in the order of the
// leaders.
func (r *reduction) combineFor(with int) func(mine, theirs []byte) {
	if with < r.team.me {
		return r.combineBefore
	}
	return r.combineAfter
}

// combineAfter combines mine with operands of a later leader.
func (r *reduction) combineAfter(mine, theirs []byte) { r.applyOperator(mine, theirs) }

// combineBefore combines mine with operands of an earlier leader.
func (r *reduction) combineBefore(mine, theirs []byte) {
	r.applyOperator(theirs, mine)
	copy(mine, theirs)
}

// applyOperator combines the elements of in into those of inout.
func (r *reduction) applyOperator(inout, in []byte) {
	kernel.Reduce(kernel.Reduction(r.operator), r.elementType,
		unsafe.Pointer(unsafe.SliceData(inout)),
		unsafe.Pointer(unsafe.SliceData(in)),
		len(in)/r.elementBytes)
}
