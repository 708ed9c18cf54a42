// SPDX-License-Identifier: BSD-3-Clause

// Broadcasts between nodes, fragment by fragment, so that all leaders send at the same time: along
// a tree, or long ones along a chain. Every leader announces the memory of the fragments first,
// since they arrive while it sends others.
package core

import "math/bits"

const pipelineBytes = 64 << 10

// pipeline is the number of bytes of the fragments in which a long buffer is sent. All members of a
// team must use the same one, and only leaders know whether there are rings. So it is that of rings
// wherever there may be some.
func (l *leaderTeam) pipeline() int {
	if l.rt.internode.wordWriter != nil {
		return ringPiece
	}
	return pipelineBytes
}

// fragments divides a buffer into consecutive fragments of size bytes; the last one may be shorter.
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

// broadcast is the state of a broadcast among the leaders at one of them.
type broadcast struct {
	team         *leaderTeam
	parent       int                // the leader that sends to this one, -1: this is the root
	children     []int              // the leaders to which this one sends
	rest         []byte             // of the buffer: what has not been passed
	nextFragment int                // its number in the current collective
	expected     []*expectedMessage // the fragments of the current collective
}

// startBroadcast starts a broadcast and returns its state, which the team keeps for reuse. The
// caller calls passNext until that returns false.
func (l *leaderTeam) startBroadcast(buf []byte, root int) *broadcast {
	l.countCollective()
	b := &l.bcast
	*b = broadcast{team: l, rest: buf, children: b.children[:0], expected: b.expected[:0]}
	n := len(l.ranks)
	at := (l.me - root + n) % n // this leader's number if the root's is 0
	if l.usesChain(int64(len(buf))) {
		b.useChain(at, root)
	} else {
		b.useTree(at, root)
	}
	return b
}

// usesChain tells whether a broadcast of total bytes goes along a chain. In a tree the root sends
// each fragment as often as the tree is deep. In a chain it sends it once, but the last leader has
// it after as many steps as there are leaders.
func (l *leaderTeam) usesChain(total int64) bool {
	n := len(l.ranks)
	return total/int64(l.pipeline())*int64(bits.Len(uint(n-1))-1) > int64(n)
}

// useChain makes each leader the child of the one before it. at is this leader's number if the
// root's is 0.
func (b *broadcast) useChain(at, root int) {
	n := len(b.team.ranks)
	b.parent = -1
	if at > 0 {
		b.parent = (at - 1 + root) % n
	}
	if at+1 < n {
		b.children = append(b.children, (at+1+root)%n)
	}
}

// useTree makes the leaders a binomial tree. at is this leader's number if the root's is 0.
func (b *broadcast) useTree(at, root int) {
	n, step := len(b.team.ranks), 1
	b.parent = -1
	for ; step < n; step *= 2 {
		if at&step != 0 {
			b.parent = (at - step + root) % n
			break
		}
	}
	for step /= 2; step > 0; step /= 2 {
		if at+step < n {
			b.children = append(b.children, (at+step+root)%n)
		}
	}
}

// passNext receives the next fragment, unless this is the root, and sends it to the children. It
// returns false if all have been passed.
func (b *broadcast) passNext() bool {
	if len(b.rest) == 0 {
		return false
	}
	if b.nextFragment == len(b.expected) {
		b.beginWindow()
	}
	w := b.expected[b.nextFragment]
	b.team.collectiveBytes = int64(len(w.body))
	if b.parent >= 0 {
		b.team.awaitExpected(w)
	}
	b.rest = b.rest[len(w.body):]
	for _, to := range b.children {
		b.passTo(to, w.body)
	}
	b.nextFragment++
	return true
}

// passTo sends a fragment to a child. By rings, only the last fragment waits until all have been
// sent.
func (b *broadcast) passTo(to int, body []byte) {
	e := b.team.ringTo(to)
	if e == nil {
		b.team.sendTo(to, b.nextFragment, body)
		return
	}
	b.team.checkPeer(e.to, len(body), e.sendMessage(body, b.team.collective))
	if len(b.rest) == 0 {
		b.team.finishSends(e)
	}
}

// beginWindow begins a collective of as many fragments as may be in flight, and announces those
// that this leader receives.
func (b *broadcast) beginWindow() {
	l := b.team
	size := l.pipeline()
	messages := min((len(b.rest)+size-1)/size, maxUnheardMessages)
	l.unheardMessages += messages
	if l.unheardMessages > maxUnheardMessages && l.rings == nil { // the root receives nothing
		l.runBarrier("broadcast")
		l.unheardMessages = messages
	}
	l.beginCollective("broadcast", len(b.rest), messages)
	b.nextFragment, b.expected = 0, b.expected[:0]
	for f := range fragments(b.rest[:min(messages*size, len(b.rest))], size) {
		if w := b.appendExpected(); b.parent < 0 {
			w.body = f
		} else {
			l.expectFrom(w, b.parent, len(b.expected)-1, f)
		}
	}
}

// appendExpected appends a message to b.expected, in memory of an earlier broadcast if there is
// some.
func (b *broadcast) appendExpected() *expectedMessage {
	n := len(b.expected)
	if n == cap(b.expected) {
		b.expected = append(b.expected, nil)
	}
	b.expected = b.expected[:n+1]
	if b.expected[n] == nil {
		b.expected[n] = new(expectedMessage)
	}
	return b.expected[n]
}
