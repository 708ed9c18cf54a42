// SPDX-License-Identifier: BSD-3-Clause

// Large stores to memory of another node that this rank has not been told of: the target is asked before the first byte
// travels, so that a wrong address costs a question, and nothing is read from local memory that may be as wrong.
package core

import (
	"encoding/binary"
	"fmt"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// A question is pieces of memory: uint64 address, uint64 bytes. The answer is the uint32 number of good ones before the
// first that is not.
const (
	pieceHead = 16
	maxPieces = 2048 // in a question
)

// verify asks the target of a checked operation, if it has to be asked. What it has confirmed is known.
func (r *Runtime) verify(o *Op) error {
	to := &r.routes[o.Proc]
	if o.Xfer.Known || o.Kind == Get || to.immediate || o.Xfer.Bytes() <= to.eager {
		return nil
	}
	var body []byte
	add := func(addr uintptr, n int64) {
		body = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(body, uint64(addr)), uint64(n))
	}
	if x := &o.Xfer; x.Vector == nil {
		lo, hi := kernel.Extent(x.Remote.Stride, x.Count)
		add(x.Remote.Base+uintptr(lo), hi-lo)
	}
	for _, s := range o.Xfer.Vector {
		for _, addr := range s.Remote {
			add(addr, int64(s.Bytes))
		}
	}
	for part := range pieces(body, maxPieces*pieceHead) {
		if err := r.askOwner(o, part); err != nil {
			return err
		}
	}
	o.Xfer.Known = true
	return nil
}

func (r *Runtime) askOwner(o *Op, question []byte) error {
	answer, err := r.call(transport.Rank(o.Proc), msgOwns, question)
	if err != nil || len(answer) != 4 {
		return fmt.Errorf("%d bytes to or from rank %d: no answer: %w", o.Xfer.Bytes(), o.Proc, err)
	}
	good := int(binary.LittleEndian.Uint32(answer)) * pieceHead
	if good >= len(question) {
		return nil
	}
	addr, n := pieceAt(question[good:])
	return argErr(CodeAddress, o.remote(), "%d bytes at %#x are not within one allocation of rank %d", n, addr, o.Proc)
}

func pieceAt(b []byte) (uintptr, int64) {
	return uintptr(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint64(b[8:]))
}

// handleOwns answers for a rank of this node.
func (r *Runtime) handleOwns(to transport.Rank, m transport.Msg, reply func([]byte)) bool {
	if reply == nil || len(m.Body)%pieceHead != 0 {
		return false
	}
	good := 0
	for at := 0; at < len(m.Body); at += pieceHead {
		addr, n := pieceAt(m.Body[at:])
		if n < 0 || n > 0 && !r.Node.Owns(r.Topo.Local(to), addr, n) {
			break
		}
		good++
	}
	reply(binary.LittleEndian.AppendUint32(nil, uint32(good)))
	return true
}
