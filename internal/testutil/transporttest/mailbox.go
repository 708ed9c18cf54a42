// SPDX-License-Identifier: BSD-3-Clause

// Two-sided messages between the ranks of a node, and the queued messages of a Fake.
package transporttest

import (
	"slices"

	"libarmci/internal/transport"
)

// queuedMessage is a message that has not been received: in a mailbox, or on its way in a Net.
type queuedMessage struct {
	from, to   int // ranks of the world
	tag        int64
	body       []byte
	totalBytes int // of the message; body may be its first part

	// Of a Fake's messages:
	reply     func([]byte) // nil: not a call
	waitsFor  []*op        // operations that take effect before the message is handled
	onHandled func()       // called under the Net's lock when it has been handled
}

// nodeMailbox implements transport.Mailbox. The cluster's lock guards its fields.
type nodeMailbox struct {
	*member
	queue       []queuedMessage
	undelivered int // bytes from other nodes since this rank last called Recv
}

// Send puts a copy into the mailbox of a local rank. It never waits for room.
func (n *nodeMailbox) Send(to int, tag int64, body []byte) {
	n.c.changeState(func() {
		n.localNode(to).enqueue(queuedMessage{from: n.rank, tag: tag,
			body:       slices.Clone(body),
			totalBytes: len(body)})
	})
}

// enqueue adds a message to this rank's mailbox. The caller holds the cluster's lock.
func (n *nodeMailbox) enqueue(l queuedMessage) { n.queue = append(n.queue, l) }

// ringBytes is the most bytes that are delivered from other nodes to a rank that does not call
// Recv.
const ringBytes = 40 << 10

// Deliver waits, or fails, when the mailbox has ringBytes, as a real node does.
func (n *nodeMailbox) Deliver(to int, from transport.Rank, tag, total int64, body []byte,
	wait bool) (done bool) {
	l := queuedMessage{from: int(from), tag: tag, body: slices.Clone(body),
		totalBytes: int(total)}
	dest := n.localNode(to)
	try := func() bool {
		if done = dest.rank == n.rank || dest.undelivered == 0 ||
			dest.undelivered+len(body) <= ringBytes; done {
			dest.enqueue(l)
			dest.undelivered += len(body)
		}
		return done || !wait
	}
	n.c.waitUntil(try)
	n.c.changeState(func() {})
	return done
}

// Recv returns the oldest message with this sender and tag. While a rank waits here, its mailbox
// has room for Deliver.
func (n *nodeMailbox) Recv(from transport.Rank, tag int64, body []byte) (got transport.Received,
	err error) {
	n.c.waitUntil(func() bool {
		if n.undelivered > 0 {
			n.undelivered = 0
			n.c.changed.Broadcast()
		}
		i := slices.IndexFunc(n.queue, func(l queuedMessage) bool {
			return l.tag == tag && (from < 0 || l.from == int(from))
		})
		if i < 0 {
			return false
		}
		l := n.queue[i]
		got = transport.Received{From: transport.Rank(l.from), Bytes: len(l.body),
			Total: l.totalBytes}
		if l.totalBytes > len(body) {
			err = transport.ErrTooLong
			return true
		}
		copy(body, l.body)
		n.queue = slices.Delete(n.queue, i, i+1)
		return true
	})
	return got, err
}

// SetBacklogged does nothing: C does not deliver here.
func (n *nodeMailbox) SetBacklogged(int, bool) {}

// Arrived searches the mailbox.
func (n *nodeMailbox) Arrived(from transport.Rank, tag int64) (yes bool) {
	n.c.changeState(func() {
		yes = slices.ContainsFunc(n.queue, func(l queuedMessage) bool {
			return l.tag == tag && (from < 0 || l.from == int(from))
		})
	})
	return yes
}
