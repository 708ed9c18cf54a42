// SPDX-License-Identifier: BSD-3-Clause

// Acting on messages: every one names a rank of this node, whose memory is checked for before anything is touched.
package rdma

import (
	"encoding/binary"
	"math"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

func setHandled(b []byte, n uint32) { binary.LittleEndian.PutUint32(b[12:], n) }

// act carries a message out and writes what there is to answer at once to out: n bytes. An error is a violation of the
// protocol.
func (c *conn) act(b, out []byte) (n int, err error) {
	f, err := decode(b)
	if err != nil {
		return 0, err
	}
	local := c.s.local(f.rank)
	if local < 0 && f.kind != kindBye && f.kind != kindMore {
		return 0, errFrame
	}
	if f.flags&flagAck != 0 {
		c.mu.Lock()
		c.urgent = true
		c.mu.Unlock()
	}
	switch f.kind {
	case kindPut, kindAcc:
		return c.store(&f, local, out)
	case kindGet:
		return c.get(&f, local, out)
	case kindRMW:
		return c.readModifyWrite(&f, local, out)
	case kindSend, kindCall, kindMore:
		return 0, c.message(&f)
	case kindFence:
		return 0, nil
	case kindCheck:
		return c.check(&f, local, out)
	case kindKeys:
		return c.tellKeys(&f, out), nil
	case kindLocks:
		return c.tellLocks(&f, out), nil
	case kindScratch:
		return c.tellScratch(&f, out), nil
	case kindPush:
		return c.beginPush(&f, local, out)
	case kindLanding:
		return c.tellLanding(&f, out), nil
	case kindLanded:
		return c.unload(&f, local, out)
	case kindBye:
		c.end()
		return 0, nil
	}
	return 0, errFrame
}

// respond writes the header of an answer with n bytes behind it, and returns the bytes of both.
func respond(out []byte, h *header, n int) int {
	h.bytes = uint32(n)
	h.encode(out)
	return headerBytes + n
}

// owned tells whether all groups are the rank's; if not, which one is not.
func (c *conn) owned(f *frame, local int) (bad group, ok bool) {
	for i := range int(f.header.groups) {
		g := groupAt(f.groups, i)
		lo, n, fine := g.extent()
		if !fine || !c.s.opt.Node.Owns(local, lo, n) && !c.s.t.scratch.holds(lo, n) && !c.eachOwned(&g, local) {
			return g, false
		}
	}
	return group{}, true
}

// eachOwned asks for every row: a list may have rows in several allocations.
func (c *conn) eachOwned(g *group, local int) bool {
	for i := range g.count {
		if !c.s.opt.Node.Owns(local, g.addr+uintptr(g.step*int64(i)), int64(g.bytes)) {
			return false
		}
	}
	return true
}

func refusal(f *frame, bad group, out []byte) int {
	return respond(out, &header{kind: kindRefused, rank: f.rank, id: f.id, addr: uint64(bad.addr), arg: uint64(bad.bytes)}, 0)
}

// store puts or accumulates.
func (c *conn) store(f *frame, local int, out []byte) (int, error) {
	n, err := total(f.groups, c.s.t.size)
	if err != nil || n != int64(len(f.data)) {
		return 0, errFrame
	}
	if bad, ok := c.owned(f, local); !ok {
		return refusal(f, bad, out), nil
	}
	data := f.data
	for i := range int(f.header.groups) {
		g := groupAt(f.groups, i)
		n := g.count * g.bytes
		if f.kind == kindAcc {
			if err := c.add(f, &g, local, data[:n]); err != nil {
				return 0, err
			}
		} else {
			for k := range g.count {
				copy(memory(g.addr+uintptr(g.step*int64(k)), g.bytes), data[k*g.bytes:])
			}
		}
		data = data[n:]
	}
	return 0, nil
}

// add accumulates one group through the node's own transport, which has the locks.
func (c *conn) add(f *frame, g *group, local int, data []byte) error {
	if kernel.Type(f.what) > kernel.DoubleComplex || g.bytes%kernel.TypeSize(kernel.Type(f.what)) != 0 {
		return errFrame
	}
	x := transport.Xfer{Local: transport.Section{Base: uintptr(unsafe.Pointer(unsafe.SliceData(data)))},
		Remote: transport.Section{Base: g.addr}, Count: []int32{int32(g.bytes)}, Known: true}
	s := transport.Scale{Type: int(f.what), Value: unsafe.Pointer(unsafe.SliceData(f.scale))}
	if g.count > 1 && g.step <= math.MaxInt32 && g.step >= math.MinInt32 {
		x.Count = append(x.Count, int32(g.count))
		x.Local.Stride, x.Remote.Stride = []int32{int32(g.bytes)}, []int32{int32(g.step)}
		return c.s.opt.Memory.Acc(transport.Peer(local), &x, s)
	}
	for range g.count {
		if err := c.s.opt.Memory.Acc(transport.Peer(local), &x, s); err != nil {
			return err
		}
		x.Local.Base += uintptr(g.bytes)
		x.Remote.Base += uintptr(g.step)
	}
	return nil
}

// get gathers.
func (c *conn) get(f *frame, local int, out []byte) (int, error) {
	if _, err := total(f.groups, c.most-headerBytes); err != nil {
		return 0, err
	}
	if bad, ok := c.owned(f, local); !ok {
		return refusal(f, bad, out), nil
	}
	at := headerBytes
	for i := range int(f.header.groups) {
		g := groupAt(f.groups, i)
		for k := range g.count {
			at += copy(out[at:at+g.bytes], memory(g.addr+uintptr(g.step*int64(k)), g.bytes))
		}
	}
	return respond(out, &header{kind: kindData, id: f.id}, at-headerBytes), nil
}

func (c *conn) check(f *frame, local int, out []byte) (int, error) {
	if _, err := total(f.groups, math.MaxInt32); err != nil {
		return 0, err
	}
	verdict := uint64(0)
	if _, ok := c.owned(f, local); ok {
		verdict = 1
	}
	return respond(out, &header{kind: kindVerdict, id: f.id, arg: verdict}, 0), nil
}

// tellKeys registers the allocation around an address, if there is one, and tells its keys from there on.
func (c *conn) tellKeys(f *frame, out []byte) int {
	a, at := c.s.arena, uintptr(f.addr)
	body := out[headerBytes:headerBytes]
	if lo, n := a.node.Extent(at); n > 0 {
		a.register(lo, n)
		for _, p := range a.remote.all() {
			if p.hi > at && p.lo < lo+uintptr(n) && len(body)+keyBytes <= c.most-headerBytes {
				body = p.append(body)
			}
		}
	}
	return respond(out, &header{kind: kindKey, id: f.id}, len(body))
}

// tellLocks tells where the accumulate locks are.
func (c *conn) tellLocks(f *frame, out []byte) int {
	body := out[headerBytes:headerBytes]
	if p := c.s.arena.locks(); p != nil && c.s.h.limits.Atomic != 0 {
		body = p.append(body)
	}
	return respond(out, &header{kind: kindKey, id: f.id}, len(body))
}

// tellScratch tells where others may write and read as they like.
func (c *conn) tellScratch(f *frame, out []byte) int {
	body := out[headerBytes:headerBytes]
	if lo := c.s.t.scratch.open(c.s.arena); lo != 0 {
		p := *c.s.arena.remote.find(lo)
		p.lo, p.hi = lo, lo+scratchBytes
		body = p.append(body)
	}
	return respond(out, &header{kind: kindKey, id: f.id}, len(body))
}

// readModifyWrite is the node's own.
func (c *conn) readModifyWrite(f *frame, local int, out []byte) (int, error) {
	r := transport.RMW{Op: transport.FetchAdd, Bytes: 4, Addr: uintptr(f.addr), Operand: int64(f.arg)}
	if f.flags&flagSwap != 0 {
		r.Op = transport.Swap
	}
	if f.flags&flagWide != 0 {
		r.Bytes = 8
	}
	if f.addr%uint64(r.Bytes) != 0 || f.addr > 1<<47 || !c.s.opt.Node.Owns(local, r.Addr, int64(r.Bytes)) {
		return refusal(f, group{addr: r.Addr, bytes: r.Bytes}, out), nil
	}
	if lo, n := c.s.opt.Node.Declared(r.Addr); n > 0 && r.Bytes == 8 {
		return respond(out, &header{kind: kindOld, id: f.id, flags: flagDevice, addr: uint64(lo), arg: uint64(lo) + uint64(n)}, 0), nil
	}
	if err := c.s.opt.Memory.RMW(transport.Peer(local), &r); err != nil {
		return 0, err
	}
	return respond(out, &header{kind: kindOld, id: f.id, arg: uint64(r.Old)}, 0), nil
}

// message puts the parts of a message together and hands it to its handler.
func (c *conn) message(f *frame) error {
	if f.kind != kindMore {
		if c.coming != nil || f.arg > maxMsg {
			return errFrame
		}
		c.coming = &coming{header: f.header, body: make([]byte, f.arg)}
	}
	m := c.coming
	if m == nil || len(f.data) > len(m.body)-m.got || len(f.data) == 0 && len(m.body) > 0 {
		return errFrame
	}
	if m.got += copy(m.body[m.got:], f.data); m.got < len(m.body) {
		return nil
	}
	c.coming = nil
	var reply func([]byte)
	if m.kind == kindCall {
		reply = func(body []byte) { c.reply(m.id, body) }
	}
	c.s.opt.Handle(c.from, transport.Rank(m.rank), transport.Msg{Kind: m.what, Body: m.body}, reply)
	return nil
}
