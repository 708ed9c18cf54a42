// SPDX-License-Identifier: BSD-3-Clause

// Far memory: memory of a rank of this node that only its own process can load and store. The data
// server moves it by the node's transport. Data to be stored is passed on as it comes. A get is
// answered in pieces, so that no request needs more memory than one piece. A device reaches the
// arena only, and what share.go is about.
package internode

import (
	"errors"
	"sync"

	"libarmci/internal/transport"
)

// piece is memory for a part of a get's data.
type piece [256 << 10]byte

var piecePool = sync.Pool{New: func() any { return new(piece) }}

// isFar reports whether some memory of the request can only be reached by another process of the
// node.
func (o *origin) isFar() bool {
	c, node := o.frame, o.server.t.opt.Node
	return !node.MappedHere(c.localRank, uintptr(c.layout.lo)) ||
		!node.MappedHere(c.localRank, uintptr(c.layout.hi-1))
}

// isRegistered reports whether devices may access all memory of the request.
func (o *origin) isRegistered() bool {
	l, t := &o.frame.layout, o.server.t
	lo, hi := uintptr(l.lo), uintptr(l.hi)
	return t.opt.Node.InArena(lo) && t.opt.Node.InArena(hi-1) ||
		t.model.scratch.contains(lo, int64(hi-lo))
}

// storeData puts a part of the body. If that fails the request is refused when all of the body has
// come.
func (o *origin) storeData(b []byte) error {
	c, mem, to := o.frame, o.server.t.opt.Memory, transport.Peer(o.frame.localRank)
	if c.storeErr != nil {
		return nil
	}
	c.storeErr = c.mover.moveBytes(mem.Put, to, &c.memory, b, 1)
	return nil
}

// refuseWithError tells the origin that n bytes of a request could not be moved, and ends the
// frame.
func (o *origin) refuseWithError(n int64, err error) {
	if errors.Is(err, transport.ErrBadAddr) {
		o.postRefusal(&o.frame.h, n, whyAddress, "")
	} else {
		o.postRefusal(&o.frame.h, n, whyInvalid, err.Error())
	}
	o.freeContext()
}

// startFarAnswer begins to answer a get.
func (o *origin) startFarAnswer() {
	o.frame.piece, o.frame.farLeft = piecePool.Get().(*piece), int64(o.frame.h.bytes)
	o.sendPieces()
}

// sendPieces sends the next piece of a get, and further ones while each has left before Send
// returns. Else Sent calls it again.
func (o *origin) sendPieces() {
	c := o.frame
	for next := true; next && o.frame == c && c.farLeft > 0; {
		b := c.piece[:min(c.farLeft, int64(len(c.piece)), int64(o.maxBody))]
		if err := c.mover.moveBytes(o.server.t.opt.Memory.Get, transport.Peer(c.localRank),
			&c.memory, b,
			1); err != nil {
			o.refuseWithError(c.farLeft, err)
			return
		}
		h := header{kind: kindData, id: c.h.id}
		if c.farLeft -= int64(len(b)); c.farLeft > 0 {
			h.flags = flagMore
		}
		c.dest.SetContiguous(addressOf(b), int64(len(b)))
		o.piece = pieceSending
		o.sendAnswerFrom(&h, &c.dest, int64(len(b)))
		next = o.piece == pieceSent
		o.piece = pieceIdle
	}
}
