// SPDX-License-Identifier: BSD-3-Clause

// The head of a frame: a fixed header, then a scale (accumulate) or what to compare with
// (read-modify-write), and a descriptor of the target's memory (descriptor.go). docs/wire.md
// describes all of it. No I/O, no memory of ranks.
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
	compareBytes = 8                         // what a compare-and-swap compares with
	maxDesc      = transport.MaxHead - 1<<10 // bytes of a descriptor
	maxGroups    = 1 << 11                   // groups of segments in one frame
	maxAddrs     = 2 * maxGroups             // segments of those that are kept as lists
	maxPayload   = 1 << 46                   // bytes of data of one frame
	maxMessage   = transport.MaxMessage
	maxText      = 512       // bytes of text in a refusal
	maxAddr      = 1<<63 - 1 // greatest address
)

type kind uint8

// What an origin sends.
const (
	kindPut kind = 1 + iota // data -> memory
	kindAcc                 // memory += scale * data
	kindGet                 // memory -> kindData
	// addr, what = operation, arg = operand, perhaps what to compare with -> kindOld, if it has
	// an id
	kindRMW
	kindSend  // a message, or a part: addr = its place, arg = bytes in all
	kindCall  // the same -> kindReply
	kindFence // asks for kindAck
	// addr -> kindReply: registered memory from addr on; 0: memory to measure with
	kindRanges
	// descriptor of target memory, then of the origin's; arg = key of that -> kindPushed
	kindPush
	kindBye // nothing follows; both ways
	// nothing follows on this connection, which is given back -> kindParted
	kindPart
	lastRequest = kindPart
)

// What a target sends.
const (
	kindAck    kind = 64 + iota // only tells how many frames were handled
	kindPushed                  // of a push: the data is in its place
	kindData                    // of a get
	// arg = the old value; flagDevice: nothing was done, addr..arg belongs to the device
	kindOld
	// of a call, or ranges; or a part: addr = its place, arg = bytes in all
	kindReply
	// addr, arg = bytes that were not moved, what = why, data = text
	kindRefused
	kindTell    // a message to the origin's process; arg = its bytes
	kindLost    // the job ends: rank is to blame, data = text
	kindRelease // the connection should be given back when nothing is open
	kindParted  // nothing follows on this connection
)

// Flags.
const (
	flagAck     = 1 << 0 // tell soon that this has been handled
	flagStrided = 1 << 1 // the descriptor is a shape
	flagGroups  = 1 << 2 // the descriptor is a list of groups of segments
	flagShape   = flagStrided | flagGroups
	flagLate    = 1 << 3 // of a message: it may be dealt with some milliseconds later
	flagWide    = 1 << 4 // 8 bytes, else 4
	flagDevice  = 1 << 5
	flagMore    = 1 << 6 // the rest of the data follows in other frames
)

// Why something was refused.
const (
	whyAddress = 1 // not memory of that rank
	whySense   = 2 // the request makes no sense; text says why
)

// header begins every frame.
//
//	0 kind  1 flags  2 what  3 zero  4 rank  8 id  16 handled  20 descriptor bytes  24 addr  32 data bytes  40 arg
type header struct {
	kind  kind
	flags uint8
	// kind of a message, element type of an accumulate, operation of a read-modify-write, why
	what    uint8
	rank    uint32 // that the memory belongs to, or that a message is for
	id      uint64 // of the request; its answer has the same; 0: there is no answer
	handled uint32 // target: how many frames of this origin have been handled, lower bits
	desc    uint32
	addr    uint64
	bytes   uint64
	arg     uint64
}

// append writes the header behind b.
func (h *header) append(b []byte) []byte {
	n, le := len(b)+headerBytes, binary.LittleEndian
	b = slices.Grow(b, headerBytes)[:n]
	p := b[n-headerBytes:][:headerBytes]
	p[0], p[1], p[2], p[3] = byte(h.kind), h.flags, h.what, 0
	le.PutUint32(p[4:], h.rank)
	le.PutUint64(p[8:], h.id)
	le.PutUint32(p[16:], h.handled)
	le.PutUint32(p[20:], h.desc)
	le.PutUint64(p[24:], h.addr)
	le.PutUint64(p[32:], h.bytes)
	le.PutUint64(p[40:], h.arg)
	return b
}

// payload is how many bytes a frame has at most behind its header.
func payload(e transport.Endpoint) int {
	if most := e.MaxFrame(); most > 0 {
		return most - headerBytes
	}
	return maxPayload
}

// decode reads the header of a head, and returns what follows it.
func (h *header) decode(head []byte) (rest []byte, err error) {
	if len(head) < headerBytes {
		return nil, fmt.Errorf("%w: a head of %d bytes", errProtocol, len(head))
	}
	le := binary.LittleEndian
	*h = header{kind: kind(head[0]), flags: head[1], what: head[2], rank: le.Uint32(head[4:]),
		id:      le.Uint64(head[8:]),
		handled: le.Uint32(head[16:]), desc: le.Uint32(head[20:]),
		addr: le.Uint64(head[24:]), bytes: le.Uint64(head[32:]),
		arg: le.Uint64(head[40:])}
	return head[headerBytes:], nil
}

// check tells what is wrong with a request whose head has rest behind the header and whose body has
// n bytes. Descriptors are checked where they are decoded.
func (h *header) check(rest []byte, n int64) error {
	fixed, body := 0, int64(0)
	switch h.kind {
	case kindAcc:
		fixed, body = scaleBytes, int64(h.bytes)
		if kernel.Type(h.what) > kernel.DoubleComplex {
			return h.wrong("element type")
		}
	case kindRMW:
		if transport.RMWOp(h.what) == transport.CompareAndSwap {
			fixed = compareBytes
		} else if transport.RMWOp(h.what) > transport.LastRMW {
			return h.wrong("operation")
		}
	case kindPut, kindSend, kindCall:
		body = int64(h.bytes)
	case kindPush: // the origin's part
		body = min(n, transport.MaxHead)
	}
	switch {
	case h.kind == 0 || h.kind > lastRequest:
		return h.wrong("kind")
	case h.bytes > maxPayload || body != n:
		return h.wrong("length")
	case len(rest) != int(h.desc)+fixed || h.desc > maxDesc:
		return h.wrong("descriptor length")
	case h.flags&flagShape == flagShape || (h.flags&flagShape == 0) != (h.desc == 0):
		return h.wrong("shape")
	}
	switch h.kind {
	case kindPut, kindAcc, kindGet, kindPush:
		if h.bytes == 0 || h.addr > maxAddr || h.addr+h.bytes > maxAddr &&
			h.flags&flagShape == 0 {
			return h.wrong("length")
		}
	}
	return nil
}

func (h *header) wrong(what string) error {
	return fmt.Errorf("%w: wrong %s (kind %d, flags %#x, %d descriptor bytes, %d bytes)",
		errProtocol, what, h.kind, h.flags,
		h.desc, h.bytes)
}
