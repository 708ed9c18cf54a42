// SPDX-License-Identifier: BSD-3-Clause

// Acting on frames: every request names a rank of this node, whose memory is checked for before
// anything is touched.
package internode

import (
	"encoding/binary"
	"fmt"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// Head begins a frame: what has data says where it goes.
func (o *origin) Head(head []byte, n int64) (transport.Body, error) {
	c := contexts.Get().(*context)
	c.there, c.bad, c.far, c.failed = c.there[:0], false, false, nil
	o.c = c
	h := &c.h
	rest, err := h.decode(head)
	if err == nil {
		err = h.check(rest, n)
	}
	if err != nil {
		return transport.Body{}, err
	}
	if o.parted && h.kind != kindBye {
		return transport.Body{}, fmt.Errorf("%w: a frame of kind %d behind the last one",
			errProtocol, h.kind)
	}
	o.urgent = o.urgent || h.flags&flagAck != 0
	if c.local = o.s.t.opt.Local(transport.Rank(h.rank)); c.local < 0 && h.kind != kindBye {
		return transport.Body{},
			fmt.Errorf("%w: a request for rank %d, which is not on this node",
				errProtocol, h.rank)
	}
	switch h.kind {
	case kindPut, kindAcc, kindGet, kindPush:
		return o.describe(rest, n)
	case kindRMW:
		c.compare = 0
		if len(rest) == compareBytes {
			c.compare = binary.LittleEndian.Uint64(rest)
		}
	case kindSend, kindCall:
		part, err := o.message.part(h, n, h.kind == kindSend)
		if err != nil || n == 0 {
			return transport.Body{}, err
		}
		c.at.SetContiguous(addressOf(part), n)
		return transport.Body{Into: &c.at}, nil
	}
	return transport.Body{}, nil
}

// describe finds the memory that a request is about and whether it is the rank's.
func (o *origin) describe(rest []byte, n int64) (transport.Body, error) {
	c := o.c
	h := &c.h
	if h.kind == kindAcc {
		rest = rest[copy(c.scale[:], rest):]
	}
	if err := c.layout.decode(h, rest); err != nil {
		return transport.Body{}, err
	}
	if h.kind == kindAcc {
		if size := kernel.TypeSize(kernel.Type(h.what)); h.bytes%uint64(size) != 0 ||
			c.layout.grain%uint64(size) != 0 {
			return transport.Body{},
				fmt.Errorf("%w: accumulate of broken elements of %d bytes",
					errProtocol, size)
		}
	}
	c.bad = !c.layout.owned(func(addr uintptr, n int64) bool {
		return o.s.t.opt.Node.Owns(c.local, addr, n) || o.s.t.scratch.holds(addr, n)
	})
	c.far = !c.bad && o.isFar()
	c.layout.set(&c.at, h)
	switch {
	case c.bad || c.far && h.kind == kindPut:
		return transport.Body{Grain: 1}, nil // what is bad Data throws away
	case h.kind == kindPut:
		return transport.Body{Into: &c.at}, nil
	case h.kind == kindAcc:
		return transport.Body{Grain: kernel.TypeSize(kernel.Type(h.what))}, nil
	}
	return transport.Body{Grain: int(max(n, 1))}, nil
}

// Data takes what has no place of its own: elements to accumulate, data for memory of another
// process, a description, or what is dropped.
func (o *origin) Data(b []byte) error {
	c := o.c
	switch {
	case c.bad:
	case c.h.kind == kindAcc || c.h.kind == kindPut:
		return o.store(b)
	case c.h.kind == kindPush:
		c.there = append(c.there, b...)
	default:
		return errProtocol
	}
	return nil
}

// End acts on a frame whose data has all come.
func (o *origin) End() error {
	c := o.c
	h := &c.h
	if (h.kind == kindSend || h.kind == kindCall) && o.message.whole() {
		o.deliver()
	}
	o.handled.Add(1)
	if transport.Rank(h.rank) != o.s.t.opt.Me { // it does not receive by itself
		o.s.incoming.guard.note()
	}
	if err := o.act(); err != nil {
		return err
	}
	o.acknowledge()
	return nil
}

// act carries a request out and answers it.
func (o *origin) act() error {
	c := o.c
	h := &c.h
	if c.bad {
		o.refuse(h, int64(h.bytes), whyAddress, "")
		o.drop()
		return nil
	}
	if c.failed != nil {
		o.refuseFailed(int64(h.bytes), c.failed)
		return nil
	}
	switch h.kind {
	case kindGet:
		if c.far {
			o.answerFar()
			return nil
		}
		o.answer(&header{kind: kindData, id: h.id}, int64(h.bytes))
		return nil
	case kindPush:
		if !o.isDirect() {
			o.refuse(h, int64(h.bytes), whySense, "no device reaches this memory")
			break
		}
		return o.push()
	case kindRMW:
		if err := o.readModifyWrite(); err != nil {
			return err
		}
	case kindRanges:
		o.reply(h.id, o.ranges(uintptr(h.addr)))
	case kindPart:
		o.part()
	case kindBye:
		o.bye.Store(true)
		return errGoodbye
	}
	o.drop()
	return nil
}

// deliver hands a message that has come whole to its handler.
func (o *origin) deliver() {
	h := &o.c.h
	var reply func([]byte)
	if h.flags&flagLate == 0 {
		o.s.incoming.guard.note()
	}
	if id := h.id; h.kind == kindCall {
		reply = func(body []byte) { o.reply(id, body) }
	}
	o.message.handle(o.s.t, o.from, transport.Rank(h.rank), h.what, reply)
}

// readModifyWrite is the node's own, unless the word belongs to devices.
func (o *origin) readModifyWrite() error {
	c := o.c
	h := &c.h
	x := transport.RMW{Op: transport.RMWOp(h.what), Bytes: 4, Addr: uintptr(h.addr),
		Operand: int64(h.arg), Compare: int64(c.compare)}
	if h.flags&flagWide != 0 {
		x.Bytes = 8
	}
	n := int64(x.Bytes)
	switch {
	case h.addr > maxAddr || !o.s.t.opt.Node.Owns(c.local, x.Addr, n):
		o.refuse(h, n, whyAddress, "")
		return nil
	case h.addr%uint64(n) != 0:
		o.refuse(h, n, whySense, "the address is not aligned")
		return nil
	case !o.s.t.opt.Node.Mapped(c.local, x.Addr):
		o.refuse(h, n, whySense,
			"the word is private memory of another process of the node: it has no "+
				"read-modify-write")
		return nil
	}
	if lo, m := o.s.t.opt.Node.Declared(x.Addr); m > 0 && n == 8 && h.id == 0 {
		o.refuse(h, n, whySense, "the word belongs to devices")
		return nil
	} else if m > 0 && n == 8 {
		o.answer(&header{kind: kindOld, id: h.id, flags: flagDevice, addr: uint64(lo),
			arg: uint64(lo) + uint64(m)}, 0)
		return nil
	}
	if err := o.s.t.opt.Memory.RMW(transport.Peer(c.local), &x); err != nil {
		return err
	}
	if h.id != 0 {
		o.answer(&header{kind: kindOld, id: h.id, arg: uint64(x.Old)}, 0)
	}
	return nil
}

// Change carries out a read-modify-write that the origin's C has asked for, if that is plain.
func (o *origin) Change(rank transport.Rank, x *transport.RMW) bool {
	opt, n := &o.s.t.opt, int64(x.Bytes)
	o.s.incoming.guard.note()
	local := opt.Local(rank)
	if local < 0 || x.Addr > maxAddr || x.Addr%uintptr(n) != 0 ||
		!opt.Node.Owns(local, x.Addr, n) || !opt.Node.Mapped(local, x.Addr) {
		return false
	}
	if _, declared := opt.Node.Declared(x.Addr); declared > 0 && n == 8 {
		return false
	}
	return opt.Memory.RMW(transport.Peer(local), x) == nil
}

// Unlock hands core the message that the origin sends where C does not.
func (o *origin) Unlock(rank transport.Rank, addr uintptr) {
	m := transport.Msg{Kind: transport.UnlockMessage,
		Body: binary.LittleEndian.AppendUint64(nil, uint64(addr))}
	if o.s.t.opt.Local(rank) >= 0 {
		o.s.t.opt.Handle(o.from, rank, m, nil)
	}
}

// Deliver hands core a two-sided message that the origin's C has sent, which C did not deliver.
func (o *origin) Deliver(rank transport.Rank, tag int64, body []byte) (delivered bool, err error) {
	opt := &o.s.t.opt
	local := opt.Local(rank)
	if local < 0 {
		return false, fmt.Errorf("%w: a message for rank %d, which is not on this node",
			errProtocol, rank)
	}
	if rank != opt.Me { // it does not receive by itself
		o.s.incoming.guard.note()
	}
	m := transport.Msg{Kind: transport.FragmentMessage}
	m.Body = append(transport.AppendFragmentHead(nil, tag, len(body)), body...)
	opt.Handle(o.from, rank, m, nil)
	return !opt.Backlogged(local), nil
}

// Accumulate carries out an accumulate that the origin's C has asked for, or refuses it.
func (o *origin) Accumulate(rank transport.Rank, x *transport.Xfer, s transport.Scale) bool {
	opt := &o.s.t.opt
	o.s.incoming.guard.note()
	n, lo, hi := kernel.Extent(x.Remote.Stride, x.Count)
	first, local := x.Remote.Base+uintptr(lo), opt.Local(rank)
	h := header{kind: kindAcc, rank: uint32(rank), addr: uint64(x.Remote.Base)}
	if local < 0 || first > maxAddr || !opt.Node.Owns(local, first, hi-lo) {
		o.refuse(&h, n, whyAddress, "")
		return false
	}
	if err := opt.Memory.Acc(transport.Peer(local), x, s); err != nil {
		o.refuse(&h, n, whySense, err.Error())
		return false
	}
	return true
}

// ranges is registered memory for an answer: of the allocation around an address, from that on, of
// the scratch, or of the notify counters. An address outside the arena means something else in each
// process: devices are not told to use it.
func (o *origin) ranges(addr uintptr) (body []byte) {
	t := o.s.t
	if t.direct == nil {
		return nil
	}
	var list []transport.Range
	switch addr {
	case scratchRanges:
		list = t.openScratch()
	case counterRanges:
		list = t.counterRange()
	default:
		if r := t.privateRange(addr); r.Hi > 0 {
			return appendRange(nil, &r)
		}
	}
	if lo, n := t.opt.Node.Extent(addr); n > 0 {
		list = t.direct.Expose(lo, n)
	}
	for i := range list {
		if list[i].Hi > addr {
			body = appendRange(body, &list[i])
		}
	}
	return body
}

// adder moves data between a buffer and memory of ranks. It is made once and used again.
type adder struct {
	x      transport.Xfer
	local  [kernel.MaxLevels]int32
	from   []uintptr
	memory [1]transport.Segments
}

// move moves data between b, which is memory that does not move, and what comes at the cursor,
// which moves behind it.
func (d *adder) move(do func(transport.Peer, *transport.Xfer) error, to transport.Peer,
	at *kernel.Cursor, b []byte, grain int) error {
	for len(b) > 0 {
		p := at.Next(len(b), grain)
		if p.Bytes == 0 {
			return errProtocol // an element in two rows
		}
		d.describe(&p, addressOf(b))
		if err := do(to, &d.x); err != nil {
			return err
		}
		b = b[p.Bytes:]
	}
	return nil
}

// describe makes a transfer of a part of the target's memory and as many bytes at an address.
func (d *adder) describe(p *kernel.Part, at uintptr) {
	d.x = transport.Xfer{}
	if p.Addrs != nil {
		d.from = d.from[:0]
		for i := range p.Addrs {
			d.from = append(d.from, at+uintptr(i*p.Size))
		}
		d.memory[0] = transport.Segments{Local: d.from, Remote: p.Addrs, Bytes: p.Size}
		d.x.Vector = d.memory[:]
		return
	}
	step := int32(1)
	for l := range p.Stride {
		step *= p.Count[l]
		d.local[l] = step
	}
	d.x.Count = p.Count
	d.x.Local = transport.Section{Base: at, Stride: d.local[:len(p.Stride)]}
	d.x.Remote = transport.Section{Base: p.Addr, Stride: p.Stride}
}
