// SPDX-License-Identifier: BSD-3-Clause

// The one place that plugs package lab in: the eager ring behind Send, device-locked accumulates.
package rdma

import (
	"libarmci/internal/kernel"
	"libarmci/internal/log"
	"libarmci/internal/pin"
	"libarmci/internal/rdma/lab"
	"libarmci/internal/rdma/verbs"
	"libarmci/internal/transport"
)

// places makes what an origin will use, as far as that is possible, and tells where it is. The caller has the lock of listening.
func (f *Fabric) places(its *extra) (p lab.Places) {
	var err error
	if its.UsesSlots && f.Atomics() && f.eager == nil {
		if f.eager, err = lab.OpenRing(f.base.Domain, max(f.buffers(slotShare), pin.LeastBuffers), f.size); err != nil {
			log.Infof("there is no eager ring: %v", err)
		}
	}
	if its.UsesSlots && f.eager != nil {
		p.Ring = f.eager.Place()
	}
	at, n := f.cfg.Node.DeviceLocks()
	if its.UsesLocks && f.Atomics() && n > 0 && f.locks == nil {
		if f.locks, err = f.base.Domain.Register(at, int64(n)*lab.LockBytes, verbs.Locks); err != nil {
			log.Infof("accumulates are left to the server: %v", err)
		}
	}
	if its.UsesLocks && f.locks != nil {
		p.Locks = lab.Place{Lo: uint64(at), Hi: uint64(at) + uint64(n)*lab.LockBytes, Key: f.locks.RKey}
	}
	return p
}

// sendBySlot sends a frame whose body goes into a slot of the target's eager ring.
func (o *origin) sendBySlot(head []byte, body *kernel.Cursor, n int) error {
	b, err := o.Buffer()
	if err != nil {
		return err
	}
	message, at := o.Bytes(b)[lab.WordsBytes:], bodyAt(len(head))
	ticket, err := o.eager.Claim(o, b, func() { encodeFrame(message, head, body, n) })
	if err != nil {
		return err
	}
	encodeSlot(message, n, ticket)
	q := [2]verbs.Request{o.eager.Fill(ticket), {Pieces: 1, Op: verbs.Send}}
	return o.ship(posted{buffer: b}, q[:],
		[]verbs.Data{o.Data(b, lab.WordsBytes+at, n), o.Data(b, lab.WordsBytes, at)})
}

// Accumulate accumulates by the device if the target has locks for it.
func (o *origin) Accumulate(x *transport.Transfer, s transport.Scale) (bool, error) {
	o.q.fast.Enter()
	defer o.q.fast.Leave()
	return o.locks.Accumulate(o, x, s)
}

var _ transport.DeviceAccumulator = (*origin)(nil)
