// SPDX-License-Identifier: BSD-3-Clause

// Transfers to and from memory of another node that this rank does not know: the owner is asked
// before the first byte travels. So a wrong address costs one round trip, and no local memory is
// read, whose address may be as wrong. A transport between nodes only gets transfers whose remote
// memory is known (Op.known); the data server checks every address again. The answer says how far
// the first allocation reaches, so that the next transfer to it need not ask.
package core

import (
	"encoding/binary"
	"fmt"

	"libarmci/internal/transport"
)

// A question is a list of ranges of memory: uint64 address, uint64 bytes. The answer is the uint32
// number of ranges before the first bad one, and a range: the allocation that holds the first one.
// It has 0 bytes if that is no allocation of the arena.
const (
	rangeBytes  = 16
	maxRanges   = 2048 // in a question
	answerBytes = 4 + rangeBytes
)

// verifyRemote asks the owner about the remote memory of an operation, unless it is known. The
// caller has checked the operation, and may post it if there is no error.
func (r *Runtime) verifyRemote(o *Op) error {
	to := r.route(transport.Rank(o.Proc))
	if o.remoteKnown || to.immediate {
		return nil
	}
	var body []byte
	if o.Xfer.Vector == nil {
		body = appendRange(body, o.remoteExtent.lo,
			int64(o.remoteExtent.hi-o.remoteExtent.lo))
	}
	for _, s := range o.Xfer.Vector {
		for _, addr := range s.Remote {
			body = appendRange(body, addr, int64(s.Bytes))
		}
	}
	for question := range fragments(body, maxRanges*rangeBytes) {
		if err := r.regionManager.askOwner(o.Proc, o.remoteArg(), question); err != nil {
			return err
		}
	}
	o.remoteKnown = true
	return nil
}

// askOwner asks a rank whether ranges of memory are its own. arg is the name of the argument, for
// the error.
func (rm *regionManager) askOwner(proc int, arg string, question []byte) error {
	answer, err := rm.rt.callActive(transport.Rank(proc), msgOwns, question)
	if err != nil {
		return fmt.Errorf("ask rank %d for its memory: %w", proc, err)
	}
	if len(answer) != answerBytes {
		return fmt.Errorf("rank %d does not say which memory is its own", proc)
	}
	good := int(binary.LittleEndian.Uint32(answer)) * rangeBytes
	if good >= len(question) {
		if lo, n := rangeAt(answer[4:]); n > 0 {
			rm.confirmed.confirmExtent(transport.Rank(proc),
				extent{lo, lo + uintptr(n)})
		}
		return nil
	}
	addr, n := rangeAt(question[good:])
	return argErr(CodeAddress, arg, "%d bytes at %#x are not within one allocation of rank %d",
		n, addr, proc)
}

// appendRange appends a range of memory, as rangeAt reads it.
func appendRange(b []byte, addr uintptr, n int64) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, uint64(addr)),
		uint64(n))
}

func rangeAt(b []byte) (uintptr, int64) {
	return uintptr(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint64(b[8:]))
}

// handleOwns answers askOwner for a rank of this node; false: the message is malformed.
func (rm *regionManager) handleOwns(to transport.Rank, m transport.Msg, reply func([]byte)) bool {
	if reply == nil || len(m.Body)%rangeBytes != 0 {
		return false
	}
	good := 0
	for at := 0; at < len(m.Body); at += rangeBytes {
		addr, n := rangeAt(m.Body[at:])
		if n < 0 || n > 0 && !rm.rt.Memory.InRegionOf(rm.rt.Topo.Local(to), addr, n) {
			break
		}
		good++
	}
	var lo uintptr
	var n int64
	if good > 0 {
		if addr, _ := rangeAt(m.Body); rm.rt.Memory.InArena(addr) {
			lo, n = rm.rt.Memory.RegionAt(addr)
		}
	}
	reply(appendRange(binary.LittleEndian.AppendUint32(nil, uint32(good)), lo, n))
	return true
}
