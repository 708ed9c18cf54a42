// SPDX-License-Identifier: BSD-3-Clause

// Requests for memory that a rank of this node has exposed but only its own process can load and
// store (far memory): the data server moves it by the node's transport. What is to be stored is
// taken as it comes; a get is answered in pieces, so that no request needs more memory than one. A
// device reaches the arena, and what share.go is about.
package internode

import (
	"errors"
	"sync"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// piece is memory for a part of a get's data.
type piece [256 << 10]byte

var pieces = sync.Pool{New: func() any { return new(piece) }}

// isFar tells whether some memory of the request can only be reached by another process of the
// node.
func (o *origin) isFar() bool {
	c, node := o.c, o.s.t.opt.Node
	return !node.Mapped(c.local, uintptr(c.layout.lo)) ||
		!node.Mapped(c.local, uintptr(c.layout.hi-1))
}

// isDirect tells whether all memory of the request is such as devices may be told to use.
func (o *origin) isDirect() bool {
	l, t := &o.c.layout, o.s.t
	lo, hi := uintptr(l.lo), uintptr(l.hi)
	return t.opt.Node.Inside(lo) && t.opt.Node.Inside(hi-1) || t.scratch.holds(lo, int64(hi-lo))
}

// store puts or accumulates data. Where that fails the request is refused when all of it has come.
func (o *origin) store(b []byte) error {
	c, mem, to := o.c, o.s.t.opt.Memory, transport.Peer(o.c.local)
	if c.failed != nil {
		return nil
	}
	grain, move := 1, mem.Put
	if c.h.kind == kindAcc {
		scale := transport.Scale{Type: int(c.h.what), Value: pointerTo(c.scale[:])}
		grain, move = kernel.TypeSize(kernel.Type(c.h.what)),
			func(p transport.Peer, x *transport.Xfer) error {
				return mem.Acc(p, x, scale)
			}
	}
	err := c.adder.move(move, to, &c.at, b, grain)
	if errors.Is(err, errProtocol) {
		return err
	}
	c.failed = err
	return nil
}

// refuseFailed tells the origin that n bytes of a request could not be moved.
func (o *origin) refuseFailed(n int64, err error) {
	if errors.Is(err, transport.ErrBadAddr) {
		o.refuse(&o.c.h, n, whyAddress, "")
	} else {
		o.refuse(&o.c.h, n, whySense, err.Error())
	}
	o.drop()
}

// answerFar begins to answer a get.
func (o *origin) answerFar() {
	o.c.piece, o.c.left = pieces.Get().(*piece), int64(o.c.h.bytes)
	o.sendPieces()
}

// sendPieces sends the next piece of a get, and more while what was sent has left already. Sent
// calls it for the rest.
func (o *origin) sendPieces() {
	c := o.c
	for o.free = true; o.free && o.c == c && c.left > 0; {
		b := c.piece[:min(c.left, int64(len(c.piece)), int64(o.payload))]
		if err := c.adder.move(o.s.t.opt.Memory.Get, transport.Peer(c.local), &c.at, b,
			1); err != nil {
			o.refuseFailed(c.left, err)
			return
		}
		h := header{kind: kindData, id: c.h.id}
		if c.left -= int64(len(b)); c.left > 0 {
			h.flags = flagMore
		}
		c.to.SetContiguous(addressOf(b), int64(len(b)))
		o.free, o.sending = false, true
		o.answerFrom(&h, &c.to, int64(len(b)))
		o.sending = false
	}
}
