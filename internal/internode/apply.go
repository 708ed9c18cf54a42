// SPDX-License-Identifier: BSD-3-Clause

// Accumulates at the data server: sums with a scale, updates of any operator and type, and
// compare-and-swap, all in kindAcc. The node's transport changes the memory under the node's
// accumulate locks, as the body arrives. What the memory was before is collected in a piece, which
// is the answer.
package internode

import (
	"errors"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// accumulateSizes returns the lengths of the operand and of the body of an accumulate. It returns
// false if there is no such accumulate.
func (h *header) accumulateSizes() (operand int, body int64, ok bool) {
	typ := kernel.UpdateType(h.what)
	if h.id != 0 && h.bytes > uint64(maxFetch) {
		return 0, 0, false
	}
	switch h.op {
	case opScaledSum: // it does not fetch
		_, ok = kernel.AccOfElement(typ)
		return scaleBytes, int64(h.bytes), ok && h.id == 0
	case opCompareSwap:
		return operandBytes, int64(h.bytes), typ == kernel.Bytes && h.id != 0 &&
			h.bytes <= operandBytes && h.flags&flagShape == 0
	case uint8(kernel.OpNoOp):
		return 0, 0, kernel.UpdateValid(kernel.OpNoOp, typ)
	}
	return 0, int64(h.bytes), kernel.UpdateValid(kernel.UpdateOp(h.op), typ)
}

// elementBytes returns the bytes of an element of an accumulate, which are changed together.
func (h *header) elementBytes() int {
	if h.op == opCompareSwap {
		return int(h.bytes)
	}
	return kernel.UpdateBytes(kernel.UpdateType(h.what))
}

// accumulateState is what a frame's context has for an accumulate.
type accumulateState struct {
	operand *[operandBytes]byte // an object of its own, because C gets it
	update  transport.Update    // of applyUpdate
	runs    []kernel.Segment    // room for those of update
	fetched int64               // bytes of the context's piece that have been fetched
}

// beginAccumulate prepares the frame context for an accumulate. The context has its memory already.
func (o *origin) beginAccumulate() {
	if c := o.frame; c.h.id != 0 {
		c.piece, c.acc.fetched = piecePool.Get().(*piece), 0
	}
}

// accumulate changes memory by the next elements of the body. An error of the memory is kept until
// all of the body has come.
func (o *origin) accumulate(b []byte) error {
	c := o.frame
	if c.storeErr != nil {
		return nil
	}
	err := o.applyElements(b)
	if errors.Is(err, errProtocol) {
		return err
	}
	c.storeErr = err
	return nil
}

// applyElements changes the memory at the context's cursor by elements.
func (o *origin) applyElements(b []byte) error {
	c, mem, to := o.frame, o.server.t.opt.Memory, transport.Peer(o.frame.localRank)
	switch c.h.op {
	case opScaledSum:
		typ, _ := kernel.AccOfElement(kernel.UpdateType(c.h.what))
		scale := transport.Scale{Type: int(typ), Value: pointerTo(c.acc.operand[:])}
		return c.mover.moveBytes(func(p transport.Peer, x *transport.Xfer) error {
			return mem.Acc(p, x, scale)
		}, to, &c.memory, b, c.h.elementBytes())
	case opCompareSwap:
		c.acc.fetched = int64(len(b))
		return mem.CompareSwap(to, &transport.CompareSwap{Addr: uintptr(c.h.addr),
			Compare: c.acc.operand[:len(b)], Value: b, Old: c.piece[:len(b)]})
	}
	return o.applyUpdate(pointerTo(b), int64(len(b)))
}

// updateRuns is how many runs of memory one call of the node's transport updates.
const updateRuns = 512

// applyUpdate updates the next n bytes of memory at the context's cursor. data is nil for no-op.
func (o *origin) applyUpdate(data unsafe.Pointer, n int64) error {
	c := o.frame
	if c.acc.runs == nil {
		c.acc.runs = make([]kernel.Segment, 0, updateRuns)
	}
	u := &c.acc.update
	defer func() { *u = transport.Update{} }() // its pointers are no longer valid
	*u = transport.Update{Op: kernel.UpdateOp(c.h.op), Type: kernel.UpdateType(c.h.what),
		Data: data}
	for n > 0 {
		u.Runs = c.memory.Pieces(c.acc.runs, n)
		if c.h.id != 0 {
			u.Old = unsafe.Pointer(&c.piece[c.acc.fetched])
		}
		err := o.server.t.opt.Memory.Update(transport.Peer(c.localRank), u)
		if err != nil {
			return err
		}
		some := u.Bytes()
		c.acc.fetched, n = c.acc.fetched+some, n-some
		if data != nil && n > 0 {
			u.Data = unsafe.Add(u.Data, some)
		}
	}
	return nil
}

// finishAccumulate answers an accumulate when its whole body has come.
func (o *origin) finishAccumulate() {
	c := o.frame
	if c.h.op == uint8(kernel.OpNoOp) {
		if err := o.applyUpdate(nil, int64(c.h.bytes)); err != nil {
			o.refuseWithError(int64(c.h.bytes), err)
			return
		}
	}
	if c.h.id == 0 {
		o.freeContext()
		return
	}
	c.dest.SetContiguous(addressOf(c.piece[:]), c.acc.fetched)
	o.sendAnswerFrom(&header{kind: kindData, id: c.h.id}, &c.dest, c.acc.fetched)
}
