// SPDX-License-Identifier: BSD-3-Clause

// The order of messages, and those that are lost. Messages have numbers: a provider receives them
// in order, but completes long ones later. A provider that has lost a connection of its own, and
// made it again, loses messages that it had sent: they are complete at the sender, and later ones
// arrive. A message that stays away is lost, which ends the connection. Pulses say how many were
// sent, so that the last one is missed, too.
package ofi

import (
	"errors"
	"sync/atomic"
	"time"

	"libarmci/internal/rdma/qp"
)

// messageOrder is the messages of a queue pair. Guarded by queue.mu.
type messageOrder struct {
	nextMessage   uint32                   // number of the next message to be returned
	earlyMessages map[uint32]qp.Completion // later messages that have arrived, by number

	lossLimit   time.Duration // for which a message may be missed
	missed      uint32        // number of the message that a pulse has missed
	missedSince time.Time     // zero: none
	messageLost atomic.Bool   // set once; Alive reads it without the lock
}

var errMessageLost = errors.New("a message was lost: the provider has made a connection again")

// messageArrived adds a message to the completions, and with it those behind it that came early.
func (o *messageOrder) messageArrived(number uint32, c qp.Completion,
	completions []qp.Completion) []qp.Completion {
	o.earlyMessages[number] = c
	for c, ok := o.earlyMessages[o.nextMessage]; ok; c, ok = o.earlyMessages[o.nextMessage] {
		delete(o.earlyMessages, o.nextMessage)
		o.nextMessage = nextNumber(o.nextMessage)
		completions = append(completions, c)
	}
	return completions
}

// pulseArrived handles a pulse that was sent before the message of a number. Messages before that
// have been sent, and arrive soon.
func (o *messageOrder) pulseArrived(number uint32, now time.Time) {
	switch missing := int32(number-o.nextMessage) > 0; {
	case !missing:
		o.missedSince = time.Time{}
	case o.missedSince.IsZero() || o.missed != o.nextMessage:
		o.missed, o.missedSince = o.nextMessage, now
	case now.Sub(o.missedSince) >= o.lossLimit && o.lossLimit > 0:
		o.messageLost.Store(true)
	}
}

// nextNumber is the number of the message after n.
func nextNumber(n uint32) uint32 {
	if n++; n == pulseNumber {
		n = 0
	}
	return n
}
