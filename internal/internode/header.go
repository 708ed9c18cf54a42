// SPDX-License-Identifier: BSD-3-Clause

// The head of a frame: a fixed header, then a scale (accumulate) or a value to compare with
// (compare-and-swap), and a descriptor of the target's memory (descriptor.go). docs/wire.md
// describes all of it. This file does no I/O and touches no memory of ranks.
package internode

import (
	"encoding/binary"
	"fmt"
	"slices"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// Bounds of the wire format. docs/wire.md repeats them.
const (
	headerBytes  = 48
	scaleBytes   = 16                        // the factor of an accumulate
	compareBytes = 8                         // what a word is compared with
	operandBytes = transport.MaxCompare      // what an element is compared with, and zeros
	maxDesc      = transport.MaxHead - 1<<10 // bytes of a descriptor
	maxGroups    = 1 << 11                   // groups of segments in one frame
	maxAddrs     = 2 * maxGroups             // segments of lists in one frame
	maxPayload   = 1 << 46                   // bytes of data of one frame
	maxMessage   = transport.MaxMessage
	maxText      = 512       // bytes of text in a refusal
	maxAddr      = 1<<63 - 1 // the greatest address
)

// kind is what a frame is for.
type kind uint8

// What an origin sends.
const (
	kindPut kind = 1 + iota // data -> memory
	// memory = memory op data, of elements of type what; answered by kindData with the memory
	// before if it has an id
	kindAcc
	kindGet // answered by kindData with the memory
	// a word: addr, what = operation, arg = operand, perhaps what to compare with; answered by
	// kindOld if it has an id
	kindRMW
	kindSend  // a message, or a part of it: addr = its offset, arg = bytes in all
	kindCall  // as kindSend; answered by kindReply
	kindFence // answered by kindAck
	// addr; answered by kindReply: registered memory from addr on, or scratchRangesID or
	// counterRangesID
	kindRanges
	// descriptor of the target's memory, then of the origin's; arg = its key; answered by
	// kindPushed
	kindPush
	kindGoodbye // no frame follows; both ways
	// no frame follows on this connection, which is released; answered by kindReleaseAck
	kindReleaseStart
	lastRequest = kindReleaseStart
)

// What a target sends.
const (
	kindAck    kind = 64 + iota // carries only the number of handled frames, as all answers do
	kindPushed                  // of kindPush: the data is in the origin's memory
	kindData                    // of a get
	// arg = the old value; flagDevice: nothing was done, addr..arg is changed by devices only
	kindOld
	// of a call, or of kindRanges; or a part of one: addr = its offset, arg = bytes in all
	kindReply
	// addr, arg = bytes that were not moved, what = reason, data = text
	kindRefused
	kindMessage        // a message to the origin's process, or a part, as kindSend
	kindLost           // the job ends: rank is to blame, data = text
	kindReleaseRequest // asks the origin to release the connection when nothing is open
	kindReleaseAck     // no frame follows on this connection
)

// Operators of kindAcc, besides those of kernel.UpdateOp.
const (
	opScaledSum   = kernel.UpdateOps + iota // memory += scale * data
	opCompareSwap                           // data is stored if memory equals the operand
)

// Flags.
const (
	flagAck       = 1 << 0 // acknowledge this frame soon
	flagStrided   = 1 << 1 // the descriptor is a shape
	flagGroups    = 1 << 2 // the descriptor is a list of groups of segments
	flagShape     = flagStrided | flagGroups
	flagUnhurried = 1 << 3 // of a message: it may be handled some milliseconds later
	flagWide      = 1 << 4 // of a read-modify-write: 8 bytes, else 4
	flagDevice    = 1 << 5
	flagMore      = 1 << 6 // the rest of the data follows in other frames
)

// Reasons of a refusal.
const (
	whyAddress = 1 // the memory is not that rank's
	whyInvalid = 2 // the request cannot be carried out; the text says why
)

// header begins every frame.
//
//	0 kind   1 flags        2 what             3 op     4 rank         8 id
//	16 handled   20 descriptor bytes   24 addr   32 data bytes   40 arg
type header struct {
	kind  kind
	flags uint8
	// kind of a message, element type of an accumulate, operation of a read-modify-write, or
	// reason of a refusal
	what    uint8
	op      uint8  // operator of an accumulate
	rank    uint32 // the rank that owns the memory, or that a message is for
	id      uint64 // of the request, and of its answer; 0: there is none
	handled uint32 // answers: frames of the origin that took effect, lower bits
	desc    uint32
	addr    uint64
	bytes   uint64
	arg     uint64
}

// append appends the encoded header to b.
func (h *header) append(b []byte) []byte {
	n, le := len(b)+headerBytes, binary.LittleEndian
	b = slices.Grow(b, headerBytes)[:n]
	p := b[n-headerBytes:][:headerBytes]
	p[0], p[1], p[2], p[3] = byte(h.kind), h.flags, h.what, h.op
	le.PutUint32(p[4:], h.rank)
	le.PutUint64(p[8:], h.id)
	le.PutUint32(p[16:], h.handled)
	le.PutUint32(p[20:], h.desc)
	le.PutUint64(p[24:], h.addr)
	le.PutUint64(p[32:], h.bytes)
	le.PutUint64(p[40:], h.arg)
	return b
}

// maxBody returns how many bytes a frame has at most behind its header.
func maxBody(e transport.Endpoint) int {
	if most := e.MaxFrame(); most > 0 {
		return most - headerBytes
	}
	return maxPayload
}

// decode reads the header at the start of a head, and returns the rest. It checks only the length
// of the head: the caller calls check for a request, or checks kind, flags, desc and bytes itself.
func (h *header) decode(head []byte) (rest []byte, err error) {
	if len(head) < headerBytes {
		return nil, fmt.Errorf("%w: a head of %d bytes", errProtocol, len(head))
	}
	le := binary.LittleEndian
	*h = header{kind: kind(head[0]), flags: head[1], what: head[2], op: head[3],
		rank: le.Uint32(head[4:]), id: le.Uint64(head[8:]),
		handled: le.Uint32(head[16:]), desc: le.Uint32(head[20:]),
		addr: le.Uint64(head[24:]), bytes: le.Uint64(head[32:]),
		arg: le.Uint64(head[40:])}
	return head[headerBytes:], nil
}

// checkRequest returns an error for a malformed request. rest is the head behind the header, n the
// length of the body. It checks kind, flags, desc and bytes; the layout checks the descriptor when
// it decodes it.
func (h *header) checkRequest(rest []byte, n int64) error {
	fixed, body := 0, int64(0)
	switch h.kind {
	case kindAcc:
		var ok bool
		if fixed, body, ok = h.accumulateSizes(); !ok {
			return h.protocolError("operator or type")
		}
	case kindRMW:
		if transport.RMWOp(h.what) == transport.CompareAndSwap {
			fixed = compareBytes
		} else if transport.RMWOp(h.what) > transport.LastRMW {
			return h.protocolError("operation")
		}
	case kindPut, kindSend, kindCall:
		body = int64(h.bytes)
	case kindPush: // the body is the origin's header and descriptor
		body = min(n, transport.MaxHead)
	}
	switch {
	case h.kind == 0 || h.kind > lastRequest:
		return h.protocolError("kind")
	case h.bytes > maxPayload || body != n:
		return h.protocolError("length")
	case len(rest) != int(h.desc)+fixed || h.desc > maxDesc:
		return h.protocolError("descriptor length")
	case h.flags&flagShape == flagShape || (h.flags&flagShape == 0) != (h.desc == 0):
		return h.protocolError("shape")
	}
	switch h.kind {
	case kindPut, kindAcc, kindGet, kindPush:
		if h.bytes == 0 || h.addr > maxAddr || h.addr+h.bytes > maxAddr &&
			h.flags&flagShape == 0 {
			return h.protocolError("length")
		}
	}
	return nil
}

// protocolError returns an error of the wire format.
func (h *header) protocolError(what string) error {
	return fmt.Errorf("%w: wrong %s (kind %d, flags %#x, %d descriptor bytes, %d bytes)",
		errProtocol, what, h.kind, h.flags,
		h.desc, h.bytes)
}
