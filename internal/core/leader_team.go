// SPDX-License-Identifier: BSD-3-Clause

// Collectives between nodes. They run among the leaders of a group, its first member on each node,
// in a number of steps that grows with the logarithm of the number of nodes. Messages have a tag
// each (straight.go), or a device writes them (leader_ring.go). Reductions are in leader_reduce.go.
package core

import (
	"errors"
	"fmt"
	"time"
	"unsafe"

	"libarmci/internal/transport"
)

// leaderTeam is the leaders of a group. It implements transport.Team, and one thread uses it at a
// time.
type leaderTeam struct {
	rt    *Runtime
	ranks []transport.Rank // by number of the leader
	me    int              // this rank's number among them
	tag   int64            // first tag of the team's messages

	firstNumber int64 // of the current collective's messages between any two leaders
	nextNumber  int64 // firstNumber of the next collective
	// unheardMessages counts the messages to any one leader since all have heard from each
	// other. So many may be in flight to it.
	unheardMessages int
	collective      string // name of the current collective, for error messages
	collectiveBytes int64  // its size, for error messages

	// Reused, since new memory each time would keep the garbage collector busy.
	expected expectedMessage        // of receiveFrom
	bcast    broadcast              // the current or last one
	ahead    [ahead]expectedMessage // of a reduction

	collectives int          // collectives so far, counted until the rings are made
	rings       *leaderRings // nil: data goes by messages
	retired     uintptr      // memory of rings that are not used any more, 0: none
}

// stepBits is the width of a message's number in the tags of a team. It is so large that no two
// messages in flight from one leader to another have the same tag.
const stepBits = 16

// maxUnheardMessages bounds leaderTeam.unheardMessages.
const maxUnheardMessages = 32

// beginCollective starts a collective of a name and size, for error messages, which sends up to
// messages messages between any two leaders.
func (l *leaderTeam) beginCollective(what string, nbytes, messages int) {
	l.collective, l.collectiveBytes = what, int64(nbytes)
	if l.tag >= tagTeam {
		l.firstNumber, l.nextNumber = l.nextNumber, l.nextNumber+int64(messages)
	}
}

// messageTag is the tag of a message of the current collective.
func (l *leaderTeam) messageTag(message int) int64 {
	return l.tag + (l.firstNumber+int64(message))%(1<<stepBits)
}

// sendTo sends a message of the current collective, which beginCollective has begun, to a leader.
// body may be reused when it returns. A leader that cannot be reached ends the job. While a group
// is being created, messages have one tag and need their order.
func (l *leaderTeam) sendTo(to, message int, body []byte) {
	if e := l.ringTo(to); e != nil {
		l.checkPeer(e.to, len(body), e.sendMessage(body, l.collective))
		l.finishSends(e)
		return
	}
	send := l.rt.Send
	if l.tag >= tagTeam {
		send = l.rt.twoSided.sendUnordered
	}
	if err := send(l.ranks[to], l.messageTag(message), body); err != nil {
		l.endUnreachable(l.ranks[to], err)
	}
}

// finishSends waits until the memory of messages that were sent by a ring may be changed.
func (l *leaderTeam) finishSends(e *ringEnd) { l.checkPeer(e.to, 0, e.awaitSent()) }

// expectFrom announces where a message of the current collective is to be stored. awaitExpected
// must follow.
func (l *leaderTeam) expectFrom(w *expectedMessage, from, message int, body []byte) {
	if w.ring = l.ringTo(from); w.ring != nil {
		w.body = body
		return
	}
	w.expect(l.rt, l.ranks[from], l.messageTag(message), body)
}

// awaitExpected receives the message that want has announced. A wrong length ends the job.
func (l *leaderTeam) awaitExpected(w *expectedMessage) {
	if w.ring != nil {
		l.receiveByRing(w.ring, w.body)
		return
	}
	got, err := w.awaitMessage()
	switch {
	case errors.Is(err, transport.ErrTooLong), err == nil && got.Total != len(w.body):
		l.endMismatch(w.from, got.Total, len(w.body))
	case err != nil:
		l.endUnreachable(w.from, err)
	}
}

// receiveByRing receives a message of len(body) bytes by a ring. A wrong length ends the job.
func (l *leaderTeam) receiveByRing(e *ringEnd, body []byte) {
	err := e.receiveMessage(len(body), l.collective,
		func(at int, piece []byte) { copy(body[at:], piece) })
	l.checkPeer(e.to, len(body), err)
}

// checkPeer ends the job if a message of so many bytes to or from another leader has failed.
func (l *leaderTeam) checkPeer(other transport.Rank, want int, err error) {
	var length errLength
	switch {
	case errors.As(err, &length):
		l.endMismatch(other, length.total, want)
	case err != nil:
		l.endUnreachable(other, err)
	}
}

// receiveFrom receives a message of the current collective from a leader.
func (l *leaderTeam) receiveFrom(from, message int, body []byte) {
	if e := l.ringTo(from); e != nil {
		l.receiveByRing(e, body)
		return
	}
	l.expected.expect(l.rt, l.ranks[from], l.messageTag(message), body)
	l.awaitExpected(&l.expected)
}

// describeCollective names the current collective in error messages.
func (l *leaderTeam) describeCollective() string {
	if l.collectiveBytes == 0 {
		return l.collective
	}
	return fmt.Sprintf("%s of %d bytes", l.collective, l.collectiveBytes)
}

// endMismatch ends the job and does not return: another leader's message does not fit this
// collective. All leaders may notice at the same time, so nodes take turns to report it.
func (l *leaderTeam) endMismatch(from transport.Rank, got, want int) {
	r := l.rt
	r.jobEnd.endJob(reportTurn*time.Duration(min(l.me, maxTurns)),
		fmt.Sprintf("rank %d (host %s) is in a %s, for which rank %d (host %s) "+
			"has sent %d bytes instead of %d: the ranks of the group call different "+
			"collectives, or with different sizes",
			r.Me, r.Topo.hostOf(r.Me), l.describeCollective(), from,
			r.Topo.hostOf(from), got, want))
	blockForever()
}

// endUnreachable ends the job and does not return: another rank cannot be reached.
func (l *leaderTeam) endUnreachable(rank transport.Rank, err error) {
	l.rt.jobEnd.onRankLost(rank, fmt.Sprintf("%s with rank %d (host %s): %v",
		l.describeCollective(), rank, l.rt.Topo.hostOf(rank),
		err))
	blockForever()
}

// blockForever blocks until the process ends. In tests it returns.
var blockForever = func() { select {} }

// Size is the number of nodes.
func (l *leaderTeam) Size() int { return len(l.ranks) }

// Rank is this rank's number among the leaders.
func (l *leaderTeam) Rank() int { return l.me }

// Pointer is nil: C has no fast path for it.
func (l *leaderTeam) Pointer() unsafe.Pointer { return nil }

// Release frees what the caller has as a leader.
func (l *leaderTeam) Release(bool) { l.freeRings() }

// Barrier is the dissemination barrier.
func (l *leaderTeam) Barrier() {
	l.countCollective()
	l.runBarrier("barrier")
}

// runBarrier is the dissemination barrier; what names it in error messages.
func (l *leaderTeam) runBarrier(what string) {
	l.beginCollective(what, 0, 1)
	n := len(l.ranks)
	for d := 1; d < n; d *= 2 {
		l.sendTo((l.me+d)%n, 0, nil)
		l.receiveFrom((l.me-d+n)%n, 0, nil)
	}
	l.unheardMessages = 0
}

// Bcast sends fragments from leader to leader.
func (l *leaderTeam) Bcast(buf unsafe.Pointer, nbytes int64, root int) {
	for b := l.startBroadcast(unsafe.Slice((*byte)(buf), nbytes), root); b.passNext(); {
	}
}

// Allgather gathers equally many bytes from each leader.
func (l *leaderTeam) Allgather(mine []byte) []byte {
	return l.gatherCounted(mine, equalSizes(len(l.ranks), len(mine)))
}

// equalSizes returns n sizes of size bytes.
func equalSizes(n, size int) []int {
	sizes := make([]int, n)
	for i := range sizes {
		sizes[i] = size
	}
	return sizes
}

// gatherCounted is gatherBlocks as a collective of its own.
func (l *leaderTeam) gatherCounted(mine []byte, sizes []int) []byte {
	l.countCollective()
	return l.gatherBlocks(mine, sizes)
}

// gatherBlocks is an allgather of blocks of different sizes, by Bruck's algorithm: what a leader
// has doubles with each step. The result has the blocks in order.
func (l *leaderTeam) gatherBlocks(mine []byte, sizes []int) []byte {
	l.beginCollective("gathering", len(mine), 1)
	l.unheardMessages = 0
	n := len(l.ranks)
	size := func(from, count int) (sum int) {
		// bytes of count consecutive blocks, beginning with the block of a leader
		for i := range count {
			sum += sizes[(from+i)%n]
		}
		return sum
	}
	all := make([]byte, size(0, n)) // begins with this leader's block, wraps around
	have := copy(all, mine)
	for d := 1; d < n; d *= 2 {
		count := min(d, n-d)
		from := (l.me + d) % n
		more := size(from, count)
		l.exchangeMessages((l.me-d+n)%n, all[:size(l.me, count)], from, all[have:have+more])
		have += more
	}
	tail := size(l.me, n-l.me) // this leader's block and those of later leaders
	return append(append(make([]byte, 0, len(all)), all[tail:]...), all[:tail]...)
}

// exchangeMessages sends a message to a leader and receives one from a leader. By rings it
// alternates piece by piece: a ring has no room for all that leaders may send before they receive.
func (l *leaderTeam) exchangeMessages(to int, out []byte, from int, in []byte) {
	t, f := l.ringTo(to), l.ringTo(from)
	if t == nil || f == nil {
		l.sendTo(to, 0, out)
		l.receiveFrom(from, 0, in)
		return
	}
	sent := 0
	next := func() {
		n := min(len(out)-sent, ringPiece)
		l.checkPeer(t.to, len(out), t.sendPiece(len(out), out[sent:sent+n], l.collective))
		sent += n
	}
	next()
	l.checkPeer(f.to, len(in), f.receiveMessage(len(in), l.collective,
		func(at int, piece []byte) {
			copy(in[at:], piece)
			if sent < len(out) {
				next()
			}
		}))
	for sent < len(out) {
		next()
	}
	l.finishSends(t)
}

var _ transport.Team = (*leaderTeam)(nil)
