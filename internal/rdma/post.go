// SPDX-License-Identifier: BSD-3-Clause

// Put, get and accumulate: which way a transfer takes, and when it is complete. One that somebody waits for is complete
// when its call returns.
package rdma

import (
	"errors"

	"libarmci/internal/rdma/verbs"
	"libarmci/internal/transport"
)

// Put writes local memory to remote memory.
func (t *Transport) Put(p transport.Peer, x *transport.Xfer) error {
	return t.post(p, x, kindPut, nil)
}

// Get reads remote memory.
func (t *Transport) Get(p transport.Peer, x *transport.Xfer) error {
	return t.post(p, x, kindGet, nil)
}

// Acc sends local memory to be added to remote memory by the node's server.
func (t *Transport) Acc(p transport.Peer, x *transport.Xfer, s transport.Scale) error {
	return t.post(p, x, kindAcc, &s)
}

func (t *Transport) post(peer transport.Peer, x *transport.Xfer, k kind, scale *transport.Scale) error {
	nbytes := x.Bytes()
	if nbytes == 0 {
		x.Finish(nil)
		return nil
	}
	w, err := t.wire(peer)
	if err != nil {
		return err
	}
	rank := t.peers[peer].Rank
	if !x.Known { // devices ask nobody: whether the memory is the rank's is found out first
		if err := w.check(x, rank); err != nil {
			x.Finish(err)
			return nil
		}
	}
	h := header{kind: k, rank: uint32(rank)}
	if k == kindGet {
		return w.get(x, h)
	}
	return w.put(x, h, scale, nbytes)
}

// put stores: by the device or by message.
func (w *wire) put(x *transport.Xfer, h header, scale *transport.Scale, nbytes int64) error {
	if err := w.lock(); err != nil {
		return err
	}
	var o *op
	eager := nbytes <= int64(w.t.opt.Eager) && w.t.opt.Contiguous != zerocopy
	if !eager && scale == nil {
		o = newOp(x)
	}
	err := w.carry(x, h, scale, o, eager)
	if errors.Is(err, transport.ErrBadAddr) { // told by the next fence
		told := err
		w.refused.Store(&told)
		err = nil
	}
	w.unlock()
	if o == nil {
		if err == nil {
			x.Finish(nil)
		}
		return err
	}
	w.end(o, x, err)
	return nil
}

func (w *wire) carry(x *transport.Xfer, h header, scale *transport.Scale, o *op, eager bool) error {
	if scale != nil {
		if w.t.opt.Guarded {
			if done, err := w.accumulate(x, scale); done || err != nil {
				return err
			}
		}
		return w.store(x, h, scale)
	}
	return w.writeBy(x, h, o, eager, w.protocol(x, false))
}

// writeBy moves a put's data by a protocol.
func (w *wire) writeBy(x *transport.Xfer, h header, o *op, copied bool, by string) error {
	err := errPacked
	switch by {
	case nic:
		if err = w.settle(); err == nil {
			err = w.move(x, verbs.Write, o, copied)
		}
	case hostAtomic:
		err = w.claimed(x, h)
	}
	if errors.Is(err, errPacked) { // what has been written is written again, which does no harm
		err = w.store(x, h, nil)
	}
	return err
}

// protocol chooses how a put or get travels.
func (w *wire) protocol(x *transport.Xfer, get bool) string {
	if x.Vector == nil && len(x.Count) == 1 {
		return nic
	}
	r := runsOf(x)
	switch forced := w.t.opt.Strided; {
	case r.single():
		return nic
	case forced != auto && forced != "" && (forced != push || get):
		return forced
	}
	local, _, _ := r.peek()
	return w.costs(get).choose(shape{get: get, requests: r.requests(w.width), bytes: r.left,
		foreign: w.t.arena.here(local) == nil, behind: !w.settled()})
}

// settle makes sure that stores by message have taken effect before the device is at the memory. The caller has the
// lock.
func (w *wire) settle() error {
	if w.settled() {
		return nil
	}
	if err := w.askFence(w.stores.Load()); err != nil {
		return err
	}
	w.c.await(func() bool { return w.settled() || w.broken.Load() != nil })
	if e := w.broken.Load(); e != nil {
		return *e
	}
	return nil
}

// settled tells whether all stores by message have taken effect.
func (w *wire) settled() bool { return w.reached(w.stores.Load()) }

// reached tells whether the message of that number, and so all before it, has taken effect.
func (w *wire) reached(number uint64) bool { return w.handled.Load() >= number }

// get reads: by the device or by message.
func (w *wire) get(x *transport.Xfer, h header) error {
	if err := w.lock(); err != nil {
		return err
	}
	o := newOp(x)
	err := w.readBy(x, h, o, w.protocol(x, true))
	w.unlock()
	w.end(o, x, err)
	return nil
}

// readBy moves a get's data by a protocol.
func (w *wire) readBy(x *transport.Xfer, h header, o *op, by string) error {
	err := errPacked
	switch by {
	case nic:
		if err = w.settle(); err == nil {
			err = w.move(x, verbs.Read, o, false)
		}
	case push:
		err = w.pull(x, h, o)
	}
	if errors.Is(err, errPacked) {
		err = w.fetch(x, h, o)
	}
	return err
}

// end ends the posting of an operation, and waits for it if somebody does.
func (w *wire) end(o *op, x *transport.Xfer, err error) {
	if x.Later {
		o.later = &w.c.later
		o.later.Add(1)
		o.part(err)
		w.t.engine.attend()
		return
	}
	o.part(err)
	w.c.await(o.ended.Load)
	x.Finish(o.err)
}
