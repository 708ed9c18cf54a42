// SPDX-License-Identifier: BSD-3-Clause

// The engine of a Fake: one goroutine per end that carries out one step at a time, chosen at
// random:
//
//   - departOp: any posted operation becomes locally complete. Its local memory is read (put, acc),
//     Done is called, and it joins the queue to its target. So operations that are open together
//     are reordered here.
//   - arriveNext: the head of any target's queue takes effect. So an operation that is posted after
//     the Done of an earlier one to the same target takes effect after it.
//
// A get or a read-modify-write is done when it has arrived. Updates depart when they are posted. A
// fence waits until all operations posted before it have arrived.
package transporttest

import (
	"errors"
	"slices"
	"sync"
	"time"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// op is an operation that has not taken effect.
type op struct {
	name  string
	to    int
	xfer  *transport.Xfer
	typ   kernel.Type
	scale [16]byte
	rmw   *transport.RMW
	// update carries out an update or compare-and-swap; nil: the operation is none
	update func()
	data   []byte // the local side of a put or acc, contiguous, from its departure on
}

// postOp queues an operation. A store of up to Options.Eager bytes departs, and completes locally,
// before postOp returns.
func (f *Fake) postOp(p transport.Peer, o *op) (err error) {
	eager := false
	f.net.changeState(func() {
		if o.to, err = f.reachableEnd(p); err != nil {
			return
		}
		f.net.operationCounts[o.name]++
		if o.xfer.Vector != nil {
			f.net.operationCounts[o.name+" vector"]++
		}
		if isStore(o) && o.xfer.Bytes() <= int64(f.net.opts.Eager) {
			if eager = f.departStore(o); eager {
				return
			}
		}
		f.posted = append(f.posted, o)
	})
	if eager {
		o.xfer.Finish(nil)
	}
	return err
}

func isStore(o *op) bool { return o.name == "put" || o.name == "acc" }

// departStore copies the data of a store, which is then locally complete. The next fence reports a
// bad address. False: the store fails now. The caller holds the net's lock.
func (f *Fake) departStore(o *op) bool {
	switch err := f.refusalOf(o); {
	case err == nil:
		o.data = gatherLocal(o.xfer)
		o.xfer = o.xfer.Clone() // the caller may reuse its own after Done
		f.departed[o.to] = append(f.departed[o.to], o)
		return true
	case errors.Is(err, transport.ErrBadAddr):
		f.lateErrors[o.to] = err
		return true
	}
	return false
}

// Fence waits for the operations posted before it. It is counted once, whatever the number of
// peers.
func (f *Fake) Fence(ps ...transport.Peer) (err error) {
	n := f.net
	n.mu.Lock()
	defer n.mu.Unlock()
	n.operationCounts["fence"]++
	var before []*op
	mail := map[int]int{}
	for _, p := range ps {
		if _, err = f.reachableEnd(p); err != nil {
			return err
		}
		mail[f.peers[p]] = f.messagesSent[f.peers[p]]
		for _, o := range slices.Concat(f.posted, f.departed[f.peers[p]]) {
			if o.to == f.peers[p] {
				before = append(before, o)
			}
		}
	}
	unread := func() bool {
		for end, sent := range mail {
			if f.messagesHandled[end] < sent {
				return true
			}
		}
		return false
	}
	for slices.ContainsFunc(before, f.isOpen) || unread() {
		n.changed.Wait()
		for _, p := range ps {
			if _, err = f.reachableEnd(p); err != nil {
				return err
			}
		}
	}
	for _, p := range ps {
		if late := f.lateErrors[f.peers[p]]; late != nil {
			err = late
		}
		delete(f.lateErrors, f.peers[p])
	}
	return err
}

// isOpen tells whether an operation has not taken effect. The caller holds the net's lock.
func (f *Fake) isOpen(o *op) bool {
	return slices.Contains(f.posted, o) || slices.Contains(f.departed[o.to], o)
}

// runEngine carries out steps until the end is closed and no operation is open.
func (f *Fake) runEngine() {
	defer f.net.running.Done()
	for {
		step, pause := f.nextStep()
		if step == nil {
			return
		}
		step()
		time.Sleep(pause)
	}
}

// nextStep waits for a step, and does its first part, under the net's lock. The caller calls the
// result without the lock, and then sleeps for the pause. nil: the end is closed and no operation
// is open.
func (f *Fake) nextStep() (func(), time.Duration) {
	n := f.net
	n.mu.Lock()
	defer n.mu.Unlock()
	for {
		var targets []int
		for i, q := range f.departed {
			if len(q) > 0 {
				targets = append(targets, i)
			}
		}
		choices := len(f.posted) + len(targets)
		if choices == 0 && f.closed {
			return nil, 0
		}
		if choices > 0 && (!n.held || f.closed) {
			var pause time.Duration
			if n.opts.Pause > 0 {
				pause = time.Duration(n.rnd.Int64N(int64(n.opts.Pause)))
			}
			i := n.rnd.IntN(choices)
			if i < len(f.posted) {
				return f.departOp(i), pause
			}
			return f.arriveNext(targets[i-len(f.posted)]), pause
		}
		n.changed.Wait()
	}
}

// departOp makes posted[i] locally complete. The caller holds the net's lock.
func (f *Fake) departOp(i int) func() {
	o := f.posted[i]
	if isStore(o) && f.departStore(o) {
		x := o.xfer
		f.posted = slices.Delete(f.posted, i, i+1)
		return func() { x.Finish(nil) }
	}
	if err := f.refusalOf(o); err != nil {
		return func() { f.failOp(o, err) }
	}
	f.posted = slices.Delete(f.posted, i, i+1)
	f.departed[o.to] = append(f.departed[o.to], o)
	return func() {}
}

// refusalOf is the error of an operation that cannot be carried out, else nil.
func (f *Fake) refusalOf(o *op) error {
	if f.closed {
		return transport.ErrClosed
	}
	if f.net.ends[o.to].dead {
		return transport.ErrPeerDead
	}
	if f.net.opts.Owns == nil {
		return nil
	}
	for _, b := range blocks(&o.xfer.Remote, o.xfer.Count, remoteSide(o.xfer.Vector)) {
		if !f.net.opts.Owns(transport.Peer(o.to), b.addr, b.nbytes) {
			return transport.ErrBadAddr
		}
	}
	return nil
}

// failOp completes a posted operation with an error. It stays posted until Done has returned.
func (f *Fake) failOp(o *op, err error) {
	o.xfer.Finish(err)
	f.net.changeState(func() {
		f.posted = slices.DeleteFunc(f.posted,
			func(p *op) bool { return p == o })
	})
}

// arriveNext carries out the oldest departed operation to a target.
func (f *Fake) arriveNext(to int) func() {
	o := f.departed[to][0]
	return func() {
		f.applyOp(o)
		if o.data == nil {
			o.xfer.Finish(nil)
		}
		f.net.changeState(func() { f.departed[to] = f.departed[to][1:] })
	}
}

// applyOp carries out an operation in the memory of its target.
func (f *Fake) applyOp(o *op) {
	switch {
	case o.update != nil:
		o.update()
	case o.name == "rmw":
		f.net.changeState(func() { readModifyWrite(o.rmw) })
	case o.name == "get":
		eachBlock(o.xfer, func(local, remote []byte) { copy(local, remote) })
	case o.name == "put":
		at := 0
		eachBlock(o.xfer, func(_, remote []byte) { at += copy(remote, o.data[at:]) })
	default:
		st := f.accumulateLocks()
		at, scale := 0, o.scale // C may not see an object with Go pointers in it
		eachBlock(o.xfer, func(_, remote []byte) {
			kernel.Acc(st, o.typ, unsafe.Pointer(&scale), unsafe.Pointer(&remote[0]),
				unsafe.Pointer(&o.data[at]), len(remote))
			at += len(remote)
		})
	}
}

// wordsMu makes read-modify-writes atomic: a process changes its own words by a Memory, others by a
// Net.
var wordsMu sync.Mutex

// readModifyWrite carries out r in memory of this process.
func readModifyWrite(r *transport.RMW) {
	wordsMu.Lock()
	defer wordsMu.Unlock()
	if p := kernel.Ptr(r.Addr); r.Bytes == 4 {
		word := (*int32)(p)
		r.Old = int64(*word)
		*word = int32(r.Value(r.Old))
	} else {
		word := (*int64)(p)
		r.Old = *word
		*word = r.Value(r.Old)
	}
}

// deliverMessages calls the handler for one message after the other, until the end is closed.
func (f *Fake) deliverMessages() {
	defer f.net.running.Done()
	for l, ok := f.nextMessage(); ok; l, ok = f.nextMessage() {
		m := transport.Msg{Kind: uint8(l.tag), Body: l.body, Lent: l.reply == nil}
		if f.handler(transport.Rank(l.from), transport.Rank(l.to), m, l.reply); m.Lent {
			fill(l.body, 1) // a handler must not use a lent body any more
		}
		if l.onHandled != nil {
			f.net.changeState(l.onHandled)
		}
	}
}

// nextMessage waits for a message that may be handled, and removes it: the oldest of a random
// sender.
func (f *Fake) nextMessage() (queuedMessage, bool) {
	n := f.net
	n.mu.Lock()
	defer n.mu.Unlock()
	for !f.closed {
		var full []int
		for from, q := range f.inbox {
			if len(q) > 0 && !slices.ContainsFunc(q[0].waitsFor, n.ends[from].isOpen) {
				full = append(full, from)
			}
		}
		if len(full) > 0 && !n.held {
			from := full[n.rnd.IntN(len(full))]
			l := f.inbox[from][0]
			f.inbox[from] = f.inbox[from][1:]
			return l, true
		}
		n.changed.Wait()
	}
	return queuedMessage{}, false
}
