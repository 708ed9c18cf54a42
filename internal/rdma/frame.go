// SPDX-License-Identifier: BSD-3-Clause

// Buffers, and frames in them. How many buffers a process has, and how large they are, depends on the memory it may pin for
// them, not on the size of the job. A frame is one message: a prefix, the head, and the body, 8-byte aligned in the buffer.
//
//	0 bytes of the head  2 zero  4 bytes of the body that are in a slot of the eager ring  8 ticket of that slot
package rdma

import (
	"encoding/binary"
	"errors"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/pin"
	"libarmci/internal/rdma/lab"
	"libarmci/internal/rdma/verbs"
	"libarmci/internal/transport"
)

const (
	prefixBytes = 16
	frameExtra  = 64 // bytes of a message beside the frame: prefix, alignment, words of the eager ring
)

// bodyAt is the offset of the body behind a head of n bytes.
func bodyAt(n int) int { return prefixBytes + (n+7)&^7 }

// encodeHead writes everything before the body, and returns the offset of the body.
func encodeHead(b, head []byte) int {
	clear(b[:prefixBytes])
	binary.LittleEndian.PutUint16(b, uint16(len(head)))
	copy(b[prefixBytes:], head)
	return bodyAt(len(head))
}

// encodeFrame writes a frame whose body is the next n bytes of a cursor, which it moves. It returns the frame's length.
func encodeFrame(b, head []byte, body *kernel.Cursor, n int) int {
	at := encodeHead(b, head)
	if n > 0 {
		body.Pack(b[at : at+n])
	}
	return at + n
}

// encodeSlot notes that n bytes of body are in a slot.
func encodeSlot(b []byte, n int, ticket uint64) {
	binary.LittleEndian.PutUint32(b[4:], uint32(n))
	binary.LittleEndian.PutUint64(b[8:], ticket)
}

// frame is a frame that is kept until there is room for it.
type frame struct{ head, body []byte }

var errFrame = errors.New("a message that this library does not send")

// deliver hands a message to the receiver. Its body may be in a slot of ring, if that is not nil.
func (e *end) deliver(b []byte, ring *lab.Ring) error {
	if len(b) == 0 {
		return errGone
	}
	if len(b) < prefixBytes {
		return errFrame
	}
	n := int(binary.LittleEndian.Uint16(b))
	if prefixBytes+n > len(b) {
		return errFrame
	}
	head, body := b[prefixBytes:prefixBytes+n], b[min(bodyAt(n), len(b)):]
	if n := binary.LittleEndian.Uint32(b[4:]); n > 0 {
		ticket := binary.LittleEndian.Uint64(b[8:])
		slot, err := ring.Body(ticket, int(n))
		if err != nil {
			return err
		}
		defer ring.Release(ticket)
		body = slot
	}
	return transport.Deliver(e.receiver, head, body)
}

const (
	none      = pin.None
	pageBytes = 4096
)

// Shares of the memory for buffers.
const (
	originShare = 1 // for answers, and once more for what is sent
	comingShare = 4 // for what all origins send to a data server
	answerShare = 1 // for what a data server sends
	slotShare   = 1 // for the eager ring; taken only if a setting selects that protocol
	allShares   = 2*originShare + comingShare + answerShare + slotShare
)

// Sizes of a buffer, and so of a message. Larger buffers mean fewer messages for a transfer, but there are fewer of them.
const (
	leastBytes = 16 << 10
	mostBytes  = 64 << 10
	enough     = 16 // buffers of a share: buffers are larger only if there are still so many
)

// bufferBytes is the size of buffers if they may take so much memory in all.
func bufferBytes(memory int64) int {
	size := mostBytes
	for size > leastBytes && memory/allShares/int64(size) < enough {
		size /= 2
	}
	return size
}

// buffers is how many buffers so many shares are.
func (f *Fabric) buffers(shares int) int { return shares * int(f.cfg.Buffer/allShares) / f.size }

// data is n bytes of a buffer from an offset on.
func data(p *pin.Pool, b int32, off, n int) verbs.Data {
	return verbs.Data{Addr: uint64(p.Addr(b)) + uint64(off), Bytes: uint32(n), Key: localKey(p.Key)}
}

func addrOf(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
