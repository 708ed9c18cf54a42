// SPDX-License-Identifier: BSD-3-Clause

// The header that every frame begins with: encoding, decoding and the check of a request. No I/O, no memory of ranks.
package tcp

import (
	"encoding/binary"
	"fmt"

	"libarmci/internal/kernel"
)

// Bounds of the wire format. docs/wire.md repeats them.
const (
	wireVersion = 1
	headerBytes = 32
	scaleBytes  = 16        // the factor of an accumulate, first in its descriptor
	maxDesc     = 32760     // bytes of descriptors in one frame; a multiple of 8
	maxSegments = 1 << 12   // segments in one frame
	maxPayload  = 1 << 46   // bytes of data of one frame
	maxMsg      = 1 << 20   // bytes of a message's body and of its reply
	maxText     = 512       // bytes of text in an error
	maxAddr     = 1<<63 - 1 // greatest address
)

type kind uint8

// Requests.
const (
	kindPut   kind = 1 + iota // payload -> memory
	kindGet                   // memory -> DATA
	kindAcc                   // memory += scale * payload
	kindRMW                   // -> OLD
	kindFence                 // -> FENCED
	kindSend                  // message without an answer
	kindCall                  // message -> REPLY
	kindBye                   // the client leaves; nothing follows
)

// Replies.
const (
	kindData   kind = 16 + iota // of a get
	kindDone                    // a store that asked for it has taken effect
	kindOld                     // of a read-modify-write: Addr is the old value
	kindFenced                  // all before the fence has taken effect
	kindReply                   // of a call
	kindError                   // a request was refused: Addr, descriptor = its bytes, payload = text
	kindLost                    // the job ends: Rank is to blame, payload = text
)

// Flags of put, get and acc.
const (
	flagAck     = 1 << 0 // answer DONE (put, acc)
	flagStrided = 1 << 1 // the descriptor is a strided shape
	flagVector  = 1 << 2 // the descriptor is a list of segments
	flagShape   = flagStrided | flagVector
	typeShift   = 4 // element type of an accumulate: 3 bits
	typeMask    = 7 << typeShift
)

// Flags of a read-modify-write. Those of a message are its kind.
const (
	flagSwap = 1 << 0 // else fetch-and-add
	flagWide = 1 << 1 // 8 bytes, else 4
)

// Flags of an error: what was wrong.
const (
	codeBadAddr = 1 // not memory of that rank
	codeRefused = 2 // the request makes no sense
)

// header is the first 32 bytes of a frame. What follows it are Desc bytes of descriptors and payload() bytes.
type header struct {
	Kind  kind
	Flags uint8
	Desc  uint16
	Rank  uint32 // whose memory, or for whom (requests)
	ID    uint64 // chosen by the client; the reply has the same; 0 where none is expected
	Addr  uint64 // first byte; base of a shape; start value of a list's addresses; old value
	Bytes uint64 // of data; the operand of a read-modify-write
}

// encode writes the header to the first 32 bytes of b.
func (h *header) encode(b []byte) {
	_ = b[headerBytes-1]
	b[0] = byte(h.Kind)
	b[1] = h.Flags
	binary.LittleEndian.PutUint16(b[2:], h.Desc)
	binary.LittleEndian.PutUint32(b[4:], h.Rank)
	binary.LittleEndian.PutUint64(b[8:], h.ID)
	binary.LittleEndian.PutUint64(b[16:], h.Addr)
	binary.LittleEndian.PutUint64(b[24:], h.Bytes)
}

// decode reads the header from the first 32 bytes of b. Any bytes are a header; check tells whether it makes sense.
func (h *header) decode(b []byte) {
	_ = b[headerBytes-1]
	h.Kind = kind(b[0])
	h.Flags = b[1]
	h.Desc = binary.LittleEndian.Uint16(b[2:])
	h.Rank = binary.LittleEndian.Uint32(b[4:])
	h.ID = binary.LittleEndian.Uint64(b[8:])
	h.Addr = binary.LittleEndian.Uint64(b[16:])
	h.Bytes = binary.LittleEndian.Uint64(b[24:])
}

// append writes the header behind b.
func (h *header) append(b []byte) []byte {
	n := len(b)
	b = append(b, make([]byte, headerBytes)...)
	h.encode(b[n:])
	return b
}

// payload is the number of bytes that follow the descriptors.
func (h *header) payload() int64 {
	switch h.Kind {
	case kindPut, kindAcc, kindSend, kindCall, kindData, kindReply, kindError, kindLost:
		return int64(h.Bytes)
	}
	return 0
}

// elem is the element type of an accumulate.
func (h *header) elem() kernel.Type { return kernel.Type(h.Flags & typeMask >> typeShift) }

// check says what is wrong with the header of a request, or nil. Descriptors are checked where they are decoded.
func (h *header) check() error {
	switch h.Kind {
	case kindPut, kindGet:
		return h.checkShape(0)
	case kindAcc:
		if h.elem() > kernel.DoubleComplex {
			return h.wrong("element type")
		}
		return h.checkShape(scaleBytes)
	case kindRMW:
		return h.checkPlain(flagSwap|flagWide, true)
	case kindFence:
		return h.checkPlain(0, h.Bytes == 0)
	case kindBye:
		return h.checkPlain(0, h.Bytes == 0)
	case kindSend, kindCall:
		return h.checkPlain(0xff, h.Bytes <= maxMsg)
	}
	return h.wrong("kind")
}

func (h *header) checkShape(fixed uint16) error {
	switch {
	case h.Desc < fixed || h.Desc > maxDesc || h.Desc%8 != 0:
		return h.wrong("descriptor length")
	case h.Flags&flagShape == flagShape || h.Flags&flagShape == 0 && h.Desc != fixed:
		return h.wrong("shape")
	case h.Bytes == 0 || h.Bytes > maxPayload || h.Addr > maxAddr:
		return h.wrong("length")
	}
	return nil
}

func (h *header) checkPlain(flags uint8, good bool) error {
	if h.Flags&^flags != 0 || h.Desc != 0 || !good {
		return h.wrong("header")
	}
	return nil
}

func (h *header) wrong(what string) error {
	return fmt.Errorf("frame with a wrong %s (kind %d, flags %#x, %d descriptor bytes, %d bytes)", what, h.Kind, h.Flags,
		h.Desc, h.Bytes)
}
