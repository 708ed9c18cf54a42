// SPDX-License-Identifier: BSD-3-Clause

// Messages of collectives between nodes. Each has a tag of its own, its receiver knows its length,
// and a collective bounds the number in flight: so they need no order and no window. A message that
// its receiver has announced is received straight into the announced memory. Others go through the
// node's mailbox.
package core

import (
	"encoding/binary"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"libarmci/internal/transport"
)

// expectedMessage is a message that a thread of this process waits for.
type expectedMessage struct {
	rt *Runtime
	messageKey
	ring       *ringEnd     // by which it arrives; then nothing else is set but body. nil: none
	inTable    bool         // in expectedTable; else it arrives like any other message
	body       []byte       // where it is to be stored
	total      int          // bytes of the message that has arrived
	state      atomic.Int32 // one of the states below
	hasArrived func() bool  // tells whether it is stored or in the mailbox; made once
}

// States of an expected message.
const (
	messagePolled   = iota // its receiver polls the state
	messageSleeping        // its receiver sleeps in the mailbox: an empty message wakes it
	messageStored          // it has been copied to its memory
)

// isStored tells whether the message has been copied to its memory.
func (w *expectedMessage) isStored() bool { return w.state.Load() == messageStored }

// messageKey is by what an arriving message is found: its origin and tag.
type messageKey struct {
	from transport.Rank
	tag  int64
}

// expectedTable has the messages that threads of this process wait for.
type expectedTable struct {
	mu    sync.Mutex // guards byKey
	byKey map[messageKey]*expectedMessage
}

// addExpected enters a message. It locks mu.
func (t *expectedTable) addExpected(w *expectedMessage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byKey == nil {
		t.byKey = map[messageKey]*expectedMessage{}
	}
	t.byKey[w.messageKey] = w
}

// takeExpected removes the message with a key from the table and returns it; nil if there is none,
// or not with room for so many bytes. It locks mu.
func (t *expectedTable) takeExpected(k messageKey, room int) *expectedMessage {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.byKey[k]
	if w == nil || len(w.body) < room {
		return nil
	}
	delete(t.byKey, k)
	return w
}

// sendUnordered sends a message of a collective, without a window and without order. A long one
// goes straight to the memory that its receiver has announced, or in fragments: the node's mailbox
// has no room for it.
func (ts *twoSided) sendUnordered(to transport.Rank, tag int64, data []byte) error {
	dest := ts.rt.route(to)
	long := len(data) > fragmentBytes
	if long && dest.watcher == nil {
		return ts.rt.Send(to, tag, data)
	}
	b := fragmentHeads.Get().(*[transport.FragmentHead]byte)
	defer fragmentHeads.Put(b)
	err := dest.tr.Send(dest.peer, transport.Msg{Kind: msgFragment,
		Head: transport.AppendFragmentHead(b[:0], tag, len(data)), Body: data,
		Unordered: true, ToProcess: long})
	if long && errors.Is(err, transport.ErrNotNative) {
		return ts.rt.Send(to, tag, data)
	}
	return err
}

var fragmentHeads = sync.Pool{New: func() any { return new([transport.FragmentHead]byte) }}

// expect announces where a message of a collective is to be stored; awaitMessage must follow. The
// memory of w may have been used before, for a message that has been received: new memory each time
// would keep the garbage collector busy, which takes the core from waiters for milliseconds.
func (w *expectedMessage) expect(r *Runtime, from transport.Rank, tag int64, body []byte) {
	w.rt, w.messageKey, w.body = r, messageKey{from, tag}, body
	w.inTable = tag >= tagTeam && r.route(from).watcher != nil
	w.state.Store(messagePolled)
	if w.hasArrived == nil {
		w.hasArrived = func() bool {
			return w.isStored() ||
				w.rt.mailbox.Arrived(w.from, w.tag)
		}
	}
	if w.inTable {
		r.twoSided.expected.addExpected(w)
	}
}

// awaitMessage receives the announced message. The message is likely to arrive soon, so it polls
// first, then sleeps in the mailbox.
func (w *expectedMessage) awaitMessage() (transport.Received, error) {
	r, dest := w.rt, w.rt.route(w.from)
	if !w.inTable {
		return r.Recv(w.from, w.tag, w.body)
	}
	if !w.isStored() {
		end := dest.watcher.Watch(dest.peer, w.hasArrived, !r.leaving.Load())
		defer end()
	}
	if w.state.CompareAndSwap(messagePolled, messageSleeping) {
		got, err := r.Recv(w.from, w.tag, w.body) // the message, or the empty one
		if r.twoSided.expected.takeExpected(w.messageKey, 0) != nil {
			return got, err
		}
	}
	for !w.isStored() { // it is being copied
		runtime.Gosched()
	}
	return transport.Received{From: w.from, Bytes: min(w.total, len(w.body)), Total: w.total},
		nil
}

// storeExpected copies a message, which is one fragment, to the memory of the thread of this
// process that waits for it, and wakes the thread. It returns false if none waits: then the caller
// delivers the message to the mailbox.
func (ts *twoSided) storeExpected(p *fragment) bool {
	w := ts.expected.takeExpected(messageKey{p.from, p.tag}, 0)
	if w == nil {
		return false
	}
	w.total = int(p.total)
	copy(w.body, p.body)
	w.Arrived()
	return true
}

// placeMessage is the transport's Place: it returns the memory for a message that a thread of this
// process waits for. nil: none does, and the transport passes the message to handleMessage.
func (ts *twoSided) placeMessage(from transport.Rank, m transport.Msg,
	nbytes int) transport.Placed {
	if m.Kind != msgFragment || len(m.Head) != transport.FragmentHead ||
		binary.LittleEndian.Uint64(m.Head[8:]) != uint64(nbytes) {
		return nil
	}
	w := ts.expected.takeExpected(messageKey{from, int64(binary.LittleEndian.Uint64(m.Head))},
		nbytes)
	if w == nil {
		return nil
	}
	w.total = nbytes
	return w
}

// Memory is where the message is to be stored.
func (w *expectedMessage) Memory() []byte { return w.body[:w.total] }

// Arrived is called when the message has been stored. It wakes the waiter if that sleeps.
func (w *expectedMessage) Arrived() {
	if r := w.rt; w.state.Swap(messageStored) == messageSleeping {
		r.twoSided.deliverOrQueue(r.Topo.Local(r.Me), fragment{from: w.from, tag: w.tag,
			body: []byte{}}, nil)
	}
}
