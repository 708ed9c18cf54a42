// SPDX-License-Identifier: BSD-3-Clause

// Broadcasts between nodes, fragment by fragment, so that all leaders send at the same time: along
// a tree, or long ones along a chain. Every leader says first where the fragments belong, since
// they come while it sends others.
package core

import "math/bits"

const pipelineBytes = 64 << 10

// pipeline is the size of the fragments in which a long buffer is sent. All members of a team use
// the same one, and only leaders know of rings: so it is that of rings wherever there may be some.
func (r *Runtime) pipeline() int {
	if r.beyond.words != nil {
		return ringPiece
	}
	return pipelineBytes
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

// broadcast is one that is going on.
type broadcast struct {
	l      *leaderTeam
	from   int   // the leader that sends to this one, -1: this is the root
	to     []int // those that this one sends to
	left   []byte
	number int       // of the next fragment in the current collective
	wanted []*wanted // and those behind it
}

// broadcast begins one, in the memory of the last one. next must follow until it is false.
func (l *leaderTeam) broadcast(buf []byte, root int) *broadcast {
	l.entered()
	b := &l.current
	*b = broadcast{l: l, left: buf, to: b.to[:0], wanted: b.wanted[:0]}
	n := len(l.ranks)
	at := (l.me - root + n) % n // my number where the root's is 0
	if l.chained(int64(len(buf))) {
		b.chain(at, root)
	} else {
		b.tree(at, root)
	}
	return b
}

// chained tells whether a broadcast of so many bytes goes from each leader to one other: in a tree
// the root sends each fragment as often as the tree is deep, in a chain once, but it takes as many
// steps as there are leaders until the last one has it.
func (l *leaderTeam) chained(total int64) bool {
	n := len(l.ranks)
	return total/int64(l.r.pipeline())*int64(bits.Len(uint(n-1))-1) > int64(n)
}

func (b *broadcast) chain(at, root int) {
	n := len(b.l.ranks)
	b.from = -1
	if at > 0 {
		b.from = (at - 1 + root) % n
	}
	if at+1 < n {
		b.to = append(b.to, (at+1+root)%n)
	}
}

// tree is a binomial one.
func (b *broadcast) tree(at, root int) {
	n, step := len(b.l.ranks), 1
	b.from = -1
	for ; step < n; step *= 2 {
		if at&step != 0 {
			b.from = (at - step + root) % n
			break
		}
	}
	for step /= 2; step > 0; step /= 2 {
		if at+step < n {
			b.to = append(b.to, (at+step+root)%n)
		}
	}
}

// next passes a fragment on; false if there is none.
func (b *broadcast) next() bool {
	if len(b.left) == 0 {
		return false
	}
	if b.number == len(b.wanted) {
		b.window()
	}
	w := b.wanted[b.number]
	b.l.bytes = int64(len(w.body))
	if b.from >= 0 {
		b.l.await(w)
	}
	b.left = b.left[len(w.body):]
	for _, to := range b.to {
		b.pass(to, w.body)
	}
	b.number++
	return true
}

// pass passes a fragment on to a leader. By rings only the last one waits until all have gone.
func (b *broadcast) pass(to int, body []byte) {
	e := b.l.ring(to)
	if e == nil {
		b.l.send(to, b.number, body)
		return
	}
	b.l.check(e.to, len(body), e.send(body, b.l.what))
	if len(b.left) == 0 {
		b.l.finish(e)
	}
}

// window begins a collective of as many fragments as may be on their way.
func (b *broadcast) window() {
	l := b.l
	size := l.r.pipeline()
	messages := min((len(b.left)+size-1)/size, maxOneWay)
	l.oneWay += messages
	if l.oneWay > maxOneWay && l.rings == nil { // the root receives nothing
		l.barrier("broadcast")
		l.oneWay = messages
	}
	l.begin("broadcast", len(b.left), messages)
	b.number, b.wanted = 0, b.wanted[:0]
	for f := range fragments(b.left[:min(messages*size, len(b.left))], size) {
		if w := b.more(); b.from < 0 {
			w.body = f
		} else {
			l.want(w, b.from, len(b.wanted)-1, f)
		}
	}
}

// more adds a fragment.
func (b *broadcast) more() *wanted {
	n := len(b.wanted)
	if n == cap(b.wanted) {
		b.wanted = append(b.wanted, nil)
	}
	b.wanted = b.wanted[:n+1]
	if b.wanted[n] == nil {
		b.wanted[n] = new(wanted)
	}
	return b.wanted[n]
}
