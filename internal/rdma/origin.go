// SPDX-License-Identifier: BSD-3-Clause

// An origin's end of a connection: sending frames. If there is no room it waits, and polls for
// completions meanwhile (FabricConfig.Await). Direct transfers are in direct.go.
package rdma

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"libarmci/internal/kernel"
	"libarmci/internal/rdma/lab"
	"libarmci/internal/rdma/qp"
	"libarmci/internal/transport"
)

const inlineBytes = 256

type origin struct {
	end
	mover  mover
	inline []byte     // where a small message is built, which is sent inline
	eager  *lab.Slots // of the target's eager ring; nil if that is not used
	locks  *lab.Locks // of the target, for device-locked accumulates; nil if they are not used
}

// Dial connects to the data server of a rank.
func (f *Fabric) Dial(to transport.Rank, addr []byte,
	r transport.Receiver) (transport.OriginEndpoint, error) {
	var at qp.Address // which was sent without the zeros at its end
	if len(addr) == 0 || len(addr) > len(at) {
		return nil, fmt.Errorf("an address of %d bytes", len(addr))
	}
	copy(at[:], addr)
	o := &origin{inline: make([]byte, inlineBytes)}
	if err := o.open(f, f.origins, originLength(len(f.cfg.Nodes)), mostPieces, inlineBytes,
		f.fastEntries()); err != nil {
		return nil, err
	}
	o.receiver, o.arrived, o.freed = r, o.receive, func() {}
	o.mover.init(o)
	f.origins.know(&o.end) // before the other end may send
	err := o.greet(to, &at)
	if err == nil && f.base.Limits().Lazy {
		err = o.meet()
	}
	if err != nil {
		f.origins.forget(&o.end)
		o.pair.Close()
		return nil, err
	}
	return o, nil
}

// greet finds the target's queue pair, and connects this one with it.
func (o *origin) greet(to transport.Rank, at *qp.Address) error {
	f := o.f
	mine, its := extra{Link: o.pair.Link()}, extra{}
	mine.UsesSlots, mine.UsesLocks, mine.Back = f.cfg.Strided == transport.ByClaiming,
		f.cfg.DeviceAcc, f.cm.self
	q := transport.Hello{From: f.cfg.Me, To: to, Frame: uint32(f.size),
		Nonce: transport.NewNonce(), Extra: encode(&mine)}
	a, err := f.cm.ask(&q, at, f.cfg.Timeout)
	if err == nil && (a.From != to || a.Frame < leastMessage) {
		err = fmt.Errorf("the server there is of rank %d, and takes messages of %d bytes",
			a.From, a.Frame)
	}
	if err == nil {
		err = decode(a.Extra, &its)
	}
	if err == nil {
		err = o.pair.Connect(&its.Link, f.cfg.Timeout)
	}
	if err == nil {
		o.peer.Store(o.pair.Peer())
	}
	o.most, o.back = min(f.size, int(a.Frame)), *at
	o.eager, o.locks = lab.NewSlots(&its.Places, int(a.Frame)),
		lab.NewLocks(&its.Places, f.cfg.Me)
	return err
}

// meet writes nothing to the target, and waits until that has been done: the target may send before
// this end is polled again.
func (o *origin) meet() error {
	if err := o.ship(posted{buffer: none}, []qp.Request{{Op: qp.Write}}, nil); err != nil {
		return err
	}
	mark, end := o.ring.next(), time.Now().Add(o.f.cfg.Timeout)
	o.f.cfg.Await(o, func() bool {
		return !o.ring.open(mark) || o.broken.Load() != nil ||
			time.Now().After(end)
	})
	if e := o.broken.Load(); e != nil {
		return *e
	}
	if o.ring.open(mark) {
		return fmt.Errorf("it does not answer for %v", o.f.cfg.Timeout)
	}
	return nil
}

// receive hands an answer to the receiver, or to C. The buffer is free again at once.
func (o *origin) receive(buffer int32, n int) {
	b := o.q.in.Bytes(buffer)[:n]
	if !o.q.fast.Receive(o.pair.Number(), b) {
		if err := o.deliver(b, nil); err != nil {
			o.lose(err)
		}
	}
	o.q.giveBack(buffer)
}

// ship posts a chain when there is room for it; one that is longer than the queue pair, in parts.
func (o *origin) ship(p posted, requests []qp.Request, data []qp.Data) error {
	for len(requests) > o.longest {
		pieces := 0
		for i := range requests[:o.longest] {
			pieces += int(requests[i].Pieces)
		}
		if err := o.ship(posted{buffer: none}, requests[:o.longest],
			data[:pieces]); err != nil {
			o.giveBack(&posted{buffer: p.buffer})
			return err
		}
		requests, data = requests[o.longest:], data[pieces:]
	}
	ok, err := o.attempt(p, requests, data)
	if !ok {
		err = o.shipLater(p, slices.Clone(requests), slices.Clone(data))
	}
	return err
}

func (o *origin) shipLater(p posted, requests []qp.Request, data []qp.Data) (err error) {
	lost := o.await(func() (ok bool) {
		ok, err = o.attempt(p, requests, data)
		return ok
	})
	if lost != nil {
		o.giveBack(&posted{buffer: p.buffer})
		return lost
	}
	return err
}

// await blocks until done, which is not called again then, or until the end is broken, which it
// returns.
func (o *origin) await(done func() bool) error {
	ok := false
	o.f.cfg.Await(o, func() bool {
		broken := o.broken.Load() != nil
		ok = ok || !broken && done()
		return ok || broken
	})
	if !ok {
		return *o.broken.Load()
	}
	return nil
}

// Buffer takes a buffer, and waits for one if need be.
func (o *origin) Buffer() (int32, error) {
	if b := o.q.out.Take(); b != none {
		return b, nil
	}
	b := none
	err := o.await(func() bool {
		b = o.q.out.Take()
		return b != none
	})
	return b, err
}

// Send sends a frame as soon as there is room.
func (o *origin) Send(head []byte, body *kernel.Cursor, n int64, _ transport.When) (bool, error) {
	o.q.fast.Enter()
	defer o.q.fast.Leave()
	if n > 0 && o.eager != nil {
		return false, o.sendBySlot(head, body, int(n))
	}
	return false, o.send(head, body, int(n))
}

func (o *origin) send(head []byte, body *kernel.Cursor, n int) error {
	q := [1]qp.Request{{Pieces: 1, Op: qp.Send}}
	if all := bodyAt(len(head)) + n; all <= min(o.pair.Inline(), inlineBytes) {
		encodeFrame(o.inline, head, body, n)
		q[0].Flags = qp.Inline
		return o.ship(posted{buffer: none}, q[:],
			[]qp.Data{{Addr: uint64(addrOf(o.inline)), Bytes: uint32(all)}})
	}
	b, err := o.Buffer()
	if err != nil {
		return err
	}
	return o.ship(posted{buffer: b}, q[:],
		[]qp.Data{o.Data(b, 0, encodeFrame(o.Bytes(b), head, body, n))})
}

// WriteWord writes a word.
func (o *origin) WriteWord(addr uintptr, key uint64, value uint32) error {
	o.q.fast.Enter()
	defer o.q.fast.Leave()
	p := posted{buffer: none}
	q := [1]qp.Request{{Remote: uint64(addr), Key: key, Pieces: 1, Op: qp.Write}}
	if o.pair.Inline() >= 4 {
		binary.NativeEndian.PutUint32(o.inline, value)
		q[0].Flags = qp.Inline
		return o.ship(p, q[:], []qp.Data{{Addr: uint64(addrOf(o.inline)), Bytes: 4}})
	}
	var err error
	if p.buffer, err = o.Buffer(); err != nil {
		return err
	}
	binary.NativeEndian.PutUint32(o.Bytes(p.buffer), value)
	return o.ship(p, q[:], []qp.Data{o.Data(p.buffer, 0, 4)})
}

// Flush: nothing is put off.
func (o *origin) Flush() bool { return false }

// Run posts a chain, calls meanwhile, and waits until the chain is complete.
func (o *origin) Run(requests []qp.Request, data []qp.Data, meanwhile func()) error {
	if err := o.ship(posted{buffer: none}, requests, data); err != nil {
		return err
	}
	mark := o.ring.next()
	meanwhile()
	o.f.cfg.Await(o, func() bool { return !o.ring.open(mark) || o.broken.Load() != nil })
	if e := o.broken.Load(); e != nil {
		return *e
	}
	return nil
}

// Last posts a chain. The buffer is free again when it is complete.
func (o *origin) Last(b int32, requests []qp.Request, data []qp.Data) error {
	return o.ship(posted{buffer: b}, requests, data)
}

// Bytes returns a buffer.
func (o *origin) Bytes(b int32) []byte { return o.q.out.Bytes(b) }

// Data describes a part of a buffer.
func (o *origin) Data(b int32, off, n int) qp.Data { return o.f.data(o.q.out, b, off, n) }

// Atomic changes a word by the target's device.
func (o *origin) Atomic(op transport.AtomicOp, addr uintptr, key uint64, operand,
	compare int64) (old int64, err error) {
	o.q.fast.Enter()
	defer o.q.fast.Leave()
	b, err := o.Buffer()
	if err != nil {
		return 0, err
	}
	q := [1]qp.Request{{Remote: uint64(addr), Key: key, Pieces: 1, Op: qp.FetchAdd,
		Operand: uint64(operand)}}
	if op == transport.AtomicCompareSwap {
		q[0].Op, q[0].Operand, q[0].Swap = qp.CompareSwap, uint64(compare), uint64(operand)
	}
	if err = o.Run(q[:], []qp.Data{o.Data(b, 0, 8)}, func() {}); err != nil {
		return 0, err // the device may still write to the buffer
	}
	old = int64(binary.NativeEndian.Uint64(o.Bytes(b)))
	o.q.out.Put(b)
	return old, nil
}

var _ transport.WordEndpoint = (*origin)(nil)
