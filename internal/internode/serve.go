// SPDX-License-Identifier: BSD-3-Clause

// Acting on frames. Each request names a rank of this node, and the memory is checked to be that
// rank's before it is touched.
package internode

import (
	"encoding/binary"
	"fmt"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// BeginFrame parses the header of a frame with a body of n bytes, and returns where the body is to
// be stored.
func (o *origin) BeginFrame(head []byte, n int64) (transport.Body, error) {
	c := contextPool.Get().(*frameContext)
	c.originDesc, c.notOwned, c.far, c.storeErr = c.originDesc[:0], false, false, nil
	o.frame = c
	h := &c.h
	rest, err := h.decode(head)
	if err == nil {
		err = h.checkRequest(rest, n)
	}
	if err != nil {
		return transport.Body{}, err
	}
	if o.state.released() && h.kind != kindGoodbye {
		return transport.Body{}, fmt.Errorf("%w: a frame of kind %d behind the last one",
			errProtocol, h.kind)
	}
	o.ackWanted = o.ackWanted || h.flags&flagAck != 0
	if c.localRank = o.server.t.opt.LocalIndex(transport.Rank(h.rank)); c.localRank < 0 &&
		h.kind != kindGoodbye {
		return transport.Body{},
			fmt.Errorf("%w: a request for rank %d, which is not on this node",
				errProtocol, h.rank)
	}
	switch h.kind {
	case kindPut, kindAcc, kindGet, kindPush:
		return o.locateMemory(rest, n)
	case kindRMW:
		c.compare = 0
		if len(rest) == compareBytes {
			c.compare = binary.LittleEndian.Uint64(rest)
		}
	case kindSend, kindCall:
		part, err := o.message.nextPart(h, n, h.kind == kindSend)
		if err != nil || n == 0 {
			return transport.Body{}, err
		}
		c.memory.SetContiguous(addressOf(part), n)
		return transport.Body{Into: &c.memory}, nil
	}
	return transport.Body{}, nil
}

// locateMemory decodes the memory that a request is for, finds out whether the rank owns it, and
// returns where the body is to be stored.
func (o *origin) locateMemory(rest []byte, n int64) (transport.Body, error) {
	c := o.frame
	h := &c.h
	if h.kind == kindAcc {
		rest = rest[copy(c.acc.operand[:], rest[:len(rest)-int(h.desc)]):]
	}
	if err := c.layout.decode(h, rest); err != nil {
		return transport.Body{}, err
	}
	if h.kind == kindAcc {
		if size := h.elementBytes(); h.bytes%uint64(size) != 0 ||
			c.layout.grain%uint64(size) != 0 {
			return transport.Body{},
				fmt.Errorf("%w: accumulate of broken elements of %d bytes",
					errProtocol, size)
		}
	}
	c.notOwned = !c.layout.isOwned(func(addr uintptr, n int64) bool {
		return o.server.t.opt.Node.InRegionOf(c.localRank, addr, n) ||
			o.server.t.model.scratch.contains(addr, n)
	})
	c.far = !c.notOwned && o.isFar()
	c.layout.setCursor(&c.memory, h)
	switch {
	case c.notOwned || c.far && h.kind == kindPut:
		return transport.Body{Grain: 1}, nil // Data drops the body if notOwned
	case h.kind == kindPut:
		return transport.Body{Into: &c.memory}, nil
	case h.kind == kindAcc:
		o.beginAccumulate()
		return transport.Body{Grain: h.elementBytes()}, nil
	}
	return transport.Body{Grain: int(max(n, 1))}, nil
}

// Data takes a body that has no memory of its own: elements to accumulate, data for memory of
// another process, a descriptor, or what is dropped.
func (o *origin) Data(b []byte) error {
	c := o.frame
	switch {
	case c.notOwned:
	case c.h.kind == kindPut:
		return o.storeData(b)
	case c.h.kind == kindAcc:
		return o.accumulate(b)
	case c.h.kind == kindPush:
		c.originDesc = append(c.originDesc, b...)
	default:
		return errProtocol
	}
	return nil
}

// EndFrame acts on a frame whose body has all come.
func (o *origin) EndFrame() error {
	c := o.frame
	h := &c.h
	if (h.kind == kindSend || h.kind == kindCall) && o.message.isComplete() {
		o.deliverMessage()
	}
	o.handledFrames.Add(1)
	if transport.Rank(h.rank) != o.server.t.opt.Me { // the rank does not receive itself
		o.server.incoming.guard.recordNeed()
	}
	kind, rank := h.kind, c.localRank // execute frees the context
	if err := o.execute(); err != nil {
		return err
	}
	if kind == kindPut || kind == kindAcc || kind == kindRMW {
		o.server.t.opt.Node.RecordStore(rank)
	}
	o.acknowledgeIfDue()
	return nil
}

// execute carries a request out and answers it.
func (o *origin) execute() error {
	c := o.frame
	h := &c.h
	if c.notOwned {
		o.postRefusal(h, int64(h.bytes), whyAddress, "")
		o.freeContext()
		return nil
	}
	if c.storeErr != nil {
		o.refuseWithError(int64(h.bytes), c.storeErr)
		return nil
	}
	switch h.kind {
	case kindGet:
		if c.far {
			o.startFarAnswer()
			return nil
		}
		o.sendAnswer(&header{kind: kindData, id: h.id}, int64(h.bytes))
		return nil
	case kindAcc:
		o.finishAccumulate()
		return nil
	case kindPush:
		if !o.isRegistered() {
			o.postRefusal(h, int64(h.bytes), whyInvalid,
				"no device reaches this memory")
			break
		}
		return o.writePush()
	case kindRMW:
		if err := o.readModifyWrite(); err != nil {
			return err
		}
	case kindRanges:
		o.postReply(h.id, o.encodeRanges(uintptr(h.addr)))
	case kindReleaseStart:
		o.acknowledgeRelease()
	case kindGoodbye:
		o.state.CompareAndSwap(originConnected, originLeft)
		return errGoodbye
	}
	o.freeContext()
	return nil
}

// deliverMessage hands a complete message to its handler.
func (o *origin) deliverMessage() {
	h := &o.frame.h
	var reply func([]byte)
	if h.flags&flagUnhurried == 0 {
		o.server.incoming.guard.recordNeed()
	}
	if id := h.id; h.kind == kindCall {
		reply = func(body []byte) { o.postReply(id, body) }
	}
	o.message.dispatch(o.server.t, o.rank, transport.Rank(h.rank), h.what, reply)
}

// readModifyWrite changes a word with the processor's atomics, unless the word is the devices'.
func (o *origin) readModifyWrite() error {
	c := o.frame
	h := &c.h
	x := transport.RMW{Op: transport.RMWOp(h.what), Bytes: 4, Addr: uintptr(h.addr),
		Operand: int64(h.arg), Compare: int64(c.compare)}
	if h.flags&flagWide != 0 {
		x.Bytes = 8
	}
	n := int64(x.Bytes)
	switch {
	case h.addr > maxAddr || !o.server.t.opt.Node.InRegionOf(c.localRank, x.Addr, n):
		o.postRefusal(h, n, whyAddress, "")
		return nil
	case h.addr%uint64(n) != 0:
		o.postRefusal(h, n, whyInvalid, "the address is not aligned")
		return nil
	case !o.server.t.opt.Node.MappedHere(c.localRank, x.Addr):
		o.postRefusal(h, n, whyInvalid,
			"the word is private memory of another process of the node: it has no "+
				"read-modify-write")
		return nil
	}
	if lo, m := o.server.t.opt.Node.Declared(x.Addr); m > 0 && n == 8 && h.id == 0 {
		o.postRefusal(h, n, whyInvalid, "the word belongs to devices")
		return nil
	} else if m > 0 && n == 8 {
		o.sendAnswer(&header{kind: kindOld, id: h.id, flags: flagDevice, addr: uint64(lo),
			arg: uint64(lo) + uint64(m)}, 0)
		return nil
	}
	if err := o.server.t.opt.Memory.RMW(transport.Peer(c.localRank), &x); err != nil {
		return err
	}
	if h.id != 0 {
		o.sendAnswer(&header{kind: kindOld, id: h.id, arg: uint64(x.Old)}, 0)
	}
	return nil
}

// ModifyWord carries out a read-modify-write of the origin's C fast path. It returns false if the
// word is not the rank's, is unaligned or far, or is the devices'; the origin then asks by a frame.
func (o *origin) ModifyWord(rank transport.Rank, x *transport.RMW) bool {
	opt, n := &o.server.t.opt, int64(x.Bytes)
	o.server.incoming.guard.recordNeed()
	local := opt.LocalIndex(rank)
	if local < 0 || x.Addr > maxAddr || x.Addr%uintptr(n) != 0 ||
		!opt.Node.InRegionOf(local, x.Addr, n) || !opt.Node.MappedHere(local, x.Addr) {
		return false
	}
	if _, declared := opt.Node.Declared(x.Addr); declared > 0 && n == 8 {
		return false
	}
	if opt.Memory.RMW(transport.Peer(local), x) != nil {
		return false
	}
	opt.Node.RecordStore(local)
	return true
}

// UnlockMutex has core release a mutex of a rank, which the origin holds. The origin's C has asked
// for that; core gets the message that an origin without C sends.
func (o *origin) UnlockMutex(rank transport.Rank, addr uintptr) {
	m := transport.Msg{Kind: transport.UnlockMessage,
		Body: binary.LittleEndian.AppendUint64(nil, uint64(addr))}
	if o.server.t.opt.LocalIndex(rank) >= 0 {
		o.server.t.opt.Handle(o.rank, rank, m, nil)
	}
}

// DeliverMessage hands core a two-sided message of the origin's C. delivered is false if the
// receiver has a backlog: the origin's C must wait before it sends more.
func (o *origin) DeliverMessage(rank transport.Rank, tag int64, body []byte) (
	delivered bool, err error) {
	opt := &o.server.t.opt
	local := opt.LocalIndex(rank)
	if local < 0 {
		return false, fmt.Errorf("%w: a message for rank %d, which is not on this node",
			errProtocol, rank)
	}
	if rank != opt.Me { // the rank does not receive itself
		o.server.incoming.guard.recordNeed()
	}
	m := transport.Msg{Kind: transport.FragmentMessage}
	m.Body = append(transport.AppendFragmentHead(nil, tag, len(body)), body...)
	opt.Handle(o.rank, rank, m, nil)
	return !opt.Backlogged(local), nil
}

// Accumulate carries out an accumulate of the origin's C, or refuses it.
func (o *origin) Accumulate(rank transport.Rank, x *transport.Xfer, s transport.Scale) bool {
	opt := &o.server.t.opt
	o.server.incoming.guard.recordNeed()
	n, lo, hi := kernel.Extent(x.Remote.Stride, x.Count)
	first, local := x.Remote.Base+uintptr(lo), opt.LocalIndex(rank)
	h := header{kind: kindAcc, rank: uint32(rank), addr: uint64(x.Remote.Base)}
	if local < 0 || first > maxAddr || !opt.Node.InRegionOf(local, first, hi-lo) {
		o.postRefusal(&h, n, whyAddress, "")
		return false
	}
	if err := opt.Memory.Acc(transport.Peer(local), x, s); err != nil {
		o.postRefusal(&h, n, whyInvalid, err.Error())
		return false
	}
	opt.Node.RecordStore(local)
	return true
}

// encodeRanges returns registered memory for an answer: of the allocation around an address, from
// that on; of the scratch; or of the notify counters. An address outside the arena means something
// else in each process: devices are not told to use it.
func (o *origin) encodeRanges(addr uintptr) (body []byte) {
	t := o.server.t
	if t.direct == nil {
		return nil
	}
	var list []transport.Range
	switch addr {
	case scratchRangesID:
		list = t.model.scratch.open(t.direct)
	case counterRangesID:
		list = o.counterRange()
	default:
		if r := o.rangeOutsideArena(addr); r.Hi > 0 {
			return appendRange(nil, &r)
		}
	}
	if lo, n := t.opt.Node.RegionAt(addr); n > 0 {
		list = t.direct.RegisterForPeers(lo, n)
	}
	for i := range list {
		if list[i].Hi > addr {
			body = appendRange(body, &list[i])
		}
	}
	return body
}

// memoryMover moves data between a buffer and memory of ranks. It is made once and used again.
type memoryMover struct {
	x        transport.Xfer
	local    [kernel.MaxLevels]int32
	addrs    []uintptr
	segments [1]transport.Segments
}

// moveBytes moves data between b, which does not move in memory, and the memory at the cursor,
// which moves behind it. do puts, gets or accumulates one part.
func (d *memoryMover) moveBytes(do func(transport.Peer, *transport.Xfer) error, to transport.Peer,
	at *kernel.Cursor, b []byte, grain int) error {
	for len(b) > 0 {
		p := at.Next(len(b), grain)
		if p.Bytes == 0 {
			return errProtocol // an element is in two rows
		}
		d.setPart(&p, addressOf(b))
		if err := do(to, &d.x); err != nil {
			return err
		}
		b = b[p.Bytes:]
	}
	return nil
}

// setPart makes x a transfer between a part of the target's memory and as many bytes at an address.
func (d *memoryMover) setPart(p *kernel.Part, at uintptr) {
	d.x = transport.Xfer{}
	if p.Addrs != nil {
		d.addrs = d.addrs[:0]
		for i := range p.Addrs {
			d.addrs = append(d.addrs, at+uintptr(i*p.Size))
		}
		d.segments[0] = transport.Segments{Local: d.addrs, Remote: p.Addrs, Bytes: p.Size}
		d.x.Vector = d.segments[:]
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
