// SPDX-License-Identifier: BSD-3-Clause

// Acting on frames: every request names a rank of this node, whose memory is checked for before anything is touched.
package internode

import (
	"fmt"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// Head begins a frame: what has data says where it goes.
func (o *origin) Head(head []byte, n int64) (transport.Body, error) {
	c := o.s.contexts.take()
	o.c = c
	h := &c.h
	rest, err := h.decode(head)
	if err == nil {
		err = h.check(rest, n)
	}
	if err != nil {
		return transport.Body{}, err
	}
	o.urgent = o.urgent || h.flags&flagAck != 0
	if c.local = o.s.local(h.rank); c.local < 0 && h.kind != kindBye && h.kind != kindMore {
		return transport.Body{}, fmt.Errorf("%w: a request for rank %d, which is not on this node", errProtocol, h.rank)
	}
	switch h.kind {
	case kindPut, kindAcc, kindGet, kindPush:
		return o.describe(rest, n)
	case kindSend, kindCall, kindMore:
		return o.part(n)
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
		if size := kernel.TypeSize(kernel.Type(h.what)); h.bytes%uint64(size) != 0 || c.layout.grain%uint64(size) != 0 {
			return transport.Body{}, fmt.Errorf("%w: accumulate of broken elements of %d bytes", errProtocol, size)
		}
	}
	c.bad = !c.layout.owned(func(addr uintptr, n int64) bool {
		return o.s.t.opt.Node.Owns(c.local, addr, n) || o.s.t.scratch.holds(addr, n)
	})
	c.layout.set(&c.at, h)
	switch {
	case c.bad:
		return transport.Body{Grain: 1}, nil // Data throws it away
	case h.kind == kindPut:
		return transport.Body{Into: &c.at}, nil
	case h.kind == kindAcc:
		return transport.Body{Grain: kernel.TypeSize(kernel.Type(h.what))}, nil
	}
	return transport.Body{Grain: int(max(n, 1))}, nil
}

// part makes room for a message, or finds that of which this is a part.
func (o *origin) part(n int64) (transport.Body, error) {
	h, m := &o.c.h, o.message
	if h.kind != kindMore {
		if m != nil {
			return transport.Body{}, fmt.Errorf("%w: a message in the middle of another", errProtocol)
		}
		m = &message{header: *h, body: make([]byte, h.arg)}
		o.message = m
	}
	if m == nil || n > int64(len(m.body)-m.got) || n == 0 && len(m.body) > 0 {
		return transport.Body{}, fmt.Errorf("%w: a part of %d bytes of no message", errProtocol, n)
	}
	if n == 0 {
		return transport.Body{}, nil
	}
	o.c.at.SetContiguous(addressOf(m.body[m.got:]), n)
	m.got += int(n)
	return transport.Body{Into: &o.c.at}, nil
}

// Data takes what has no place of its own: elements to accumulate, a description, or what nobody wants.
func (o *origin) Data(b []byte) error {
	c := o.c
	switch {
	case c.bad:
	case c.h.kind == kindAcc:
		return c.adder.add(o.s.t.opt.Memory, transport.Peer(c.local), &c.at, b, transport.Scale{Type: int(c.h.what), Value: pointerTo(c.scale[:])})
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
	if h.kind == kindSend || h.kind == kindCall || h.kind == kindMore {
		o.deliver()
	}
	o.handled.Add(1)
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
		o.refuse(int64(h.bytes), whyAddress, "")
		return nil
	}
	switch h.kind {
	case kindGet:
		o.answer(&header{kind: kindData, id: h.id}, int64(h.bytes))
		return nil
	case kindRMW:
		return o.readModifyWrite()
	case kindRanges, kindScratch:
		o.tellRanges()
		return nil
	case kindPush:
		return o.push()
	case kindBye:
		o.bye.Store(true)
		return errGoodbye
	}
	o.drop()
	return nil
}

// refuse tells the origin that a request was not carried out.
func (o *origin) refuse(nbytes int64, why uint8, text string) {
	h := &o.c.h
	o.respond(&header{kind: kindRefused, what: why, rank: h.rank, id: h.id, addr: h.addr, arg: uint64(nbytes)},
		[]byte(text[:min(len(text), maxText)]))
}

// deliver hands a message that has come whole to its handler.
func (o *origin) deliver() {
	m := o.message
	if m.got < len(m.body) {
		return
	}
	o.message = nil
	var reply func([]byte)
	if m.kind == kindCall {
		reply = func(body []byte) { o.reply(m.id, body) }
	}
	o.s.t.opt.Handle(o.from, transport.Rank(m.rank), transport.Msg{Kind: m.what, Body: m.body}, reply)
}

// readModifyWrite is the node's own, unless the word belongs to devices.
func (o *origin) readModifyWrite() error {
	c := o.c
	h := &c.h
	x := transport.RMW{Op: transport.FetchAdd, Bytes: 4, Addr: uintptr(h.addr), Operand: int64(h.arg)}
	if h.flags&flagSwap != 0 {
		x.Op = transport.Swap
	}
	if h.flags&flagWide != 0 {
		x.Bytes = 8
	}
	n := int64(x.Bytes)
	switch {
	case h.addr > maxAddr || !o.s.t.opt.Node.Owns(c.local, x.Addr, n):
		o.refuse(n, whyAddress, "")
		return nil
	case h.addr%uint64(n) != 0:
		o.refuse(n, whySense, "the address is not aligned")
		return nil
	}
	if lo, m := o.s.t.opt.Node.Declared(x.Addr); m > 0 && n == 8 {
		o.answer(&header{kind: kindOld, id: h.id, flags: flagDevice, addr: uint64(lo), arg: uint64(lo) + uint64(m)}, 0)
		return nil
	}
	if err := o.s.t.opt.Memory.RMW(transport.Peer(c.local), &x); err != nil {
		return err
	}
	o.answer(&header{kind: kindOld, id: h.id, arg: uint64(x.Old)}, 0)
	return nil
}

// tellRanges answers with registered memory: of the allocation around an address, or the scratch.
func (o *origin) tellRanges() {
	h, t := &o.c.h, o.s.t
	var list []transport.Range
	switch {
	case t.direct == nil:
	case h.kind == kindScratch:
		list = t.scratch.ranges(t)
	default:
		if lo, n := t.opt.Node.Extent(uintptr(h.addr)); n > 0 {
			list = t.direct.Expose(lo, n)
		}
	}
	most := transport.MaxHead
	if o.frame > 0 {
		most = min(most, o.frame-headerBytes)
	}
	var body []byte
	for i := range list {
		if r := &list[i]; (h.kind != kindRanges || r.Hi > uintptr(h.addr)) && len(body)+rangeBytes <= most {
			body = appendRange(body, r)
		}
	}
	o.respond(&header{kind: kindRangeList, id: h.id}, body)
}
