// SPDX-License-Identifier: BSD-3-Clause

// Fences. An RDMA write has taken effect when it completes here: a reliable connection acknowledges what the target's
// device has taken, and whoever looks at the memory afterwards finds it. That holds for devices that are coherent with
// their processor, as all are that exist for the machines this library runs on, and for those made of software. What is
// stored by message has taken effect when the server says that it has handled so many messages; so has a message for a
// handler, unless it is loose. All nodes are asked before the first is waited for.
package rdma

import (
	"slices"

	"libarmci/internal/transport"
)

// mark is how far a wire has to come.
type mark struct {
	w         *wire
	shipments uint32
	posted    uint64
}

// Fence waits until all earlier stores and messages to these peers have taken effect.
func (t *Transport) Fence(ps ...transport.Peer) (first error) {
	var marks []mark
	for _, p := range ps {
		w, err := t.wire(p)
		if err == nil && !slices.ContainsFunc(marks, func(m mark) bool { return m.w == w }) {
			var m mark
			if m, err = w.mark(); err == nil {
				marks = append(marks, m)
			}
		}
		if err != nil && first == nil {
			first = err
		}
	}
	for _, m := range marks {
		if err := m.w.fenced(m); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// mark notes what has been posted, and asks the server where it must.
func (w *wire) mark() (mark, error) {
	if e := w.broken.Load(); e != nil && !w.bye.Load() {
		return mark{}, *e
	}
	posted := w.posted.Load()
	if !w.live.Load() {
		return mark{w: w}, nil
	}
	if !w.reached(posted) {
		if err := w.lock(); err != nil {
			return mark{}, err
		}
		err := w.askFence(posted)
		w.unlock()
		if err != nil {
			return mark{}, err
		}
	} else if w.tryLock() {
		w.counted()
		w.unlock()
	}
	return mark{w, w.flight.next(), posted}, nil
}

// askFence sees to it that the server tells when a message has taken effect, and all before it. The caller has the lock.
func (w *wire) askFence(number uint64) error {
	w.counted()
	if w.told >= number || w.reached(number) {
		return nil
	}
	w.told = w.sent + 1
	buffer, err := w.open()
	if err != nil {
		return err
	}
	return w.say(buffer, &header{kind: kindFence, flags: flagAck, rank: uint32(w.server)}, headerBytes)
}

// counted looks at what a fence is for: where it is for one transfer, the next one is expected to be fenced too, and asks
// for that itself. The caller has the lock.
func (w *wire) counted() {
	if w.burst > 0 {
		w.habit, w.burst = w.burst == 1, 0
	}
}

// fenced waits, and tells what the node has refused meanwhile.
func (w *wire) fenced(m mark) error {
	w.c.await(func() bool {
		return w.broken.Load() != nil || !w.flight.open(m.shipments) && w.reached(m.posted) && w.c.lane.Clear()
	})
	if e := w.broken.Load(); e != nil && !w.bye.Load() {
		return *e
	}
	if e := w.refused.Swap(nil); e != nil {
		return *e
	}
	return nil
}
