// SPDX-License-Identifier: BSD-3-Clause

// Buffers, and frames in them. How many buffers a process has, and how large they are, depends on
// the memory it may pin for them, not on the size of the job. A frame is one message: a prefix, the
// head, and the body, 8-byte aligned in the buffer.
//
//	offset 0  2 bytes  length of the head
//	       2  2 bytes  zero
//	       4  4 bytes  bytes of the body that are in a slot of the eager ring
//	       8  8 bytes  ticket of that slot
//
// Package lab is plugged in here: its eager ring takes bodies of frames, its locks serve
// accumulates by the device.
package rdma

import (
	"encoding/binary"
	"errors"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/log"
	"libarmci/internal/pin"
	"libarmci/internal/rdma/lab"
	"libarmci/internal/rdma/qp"
	"libarmci/internal/transport"
)

const (
	prefixBytes = 16
	// bytes of a message beside the frame: prefix, alignment, words of the eager ring
	frameOverhead = 64
)

// bodyOffset is the offset of the body behind a head of n bytes.
func bodyOffset(n int) int { return prefixBytes + (n+7)&^7 }

// encodeHead writes everything before the body, and returns the offset of the body.
func encodeHead(b, head []byte) int {
	clear(b[:prefixBytes])
	binary.LittleEndian.PutUint16(b, uint16(len(head)))
	copy(b[prefixBytes:], head)
	return bodyOffset(len(head))
}

// encodeFrame writes a frame whose body is the next n bytes of a cursor, which it advances. It
// returns the length of the message.
func encodeFrame(b, head []byte, body *kernel.Cursor, n int) int {
	at := encodeHead(b, head)
	if n > 0 {
		body.Pack(b[at : at+n])
	}
	return at + n
}

// encodeSlotTicket writes into the prefix that n bytes of the body are in a slot of the eager ring.
func encodeSlotTicket(b []byte, n int, ticket uint64) {
	binary.LittleEndian.PutUint32(b[4:], uint32(n))
	binary.LittleEndian.PutUint64(b[8:], ticket)
}

// queuedFrame is a frame that is queued until there is room for it. Where head is nil, body is a
// whole message.
type queuedFrame struct{ head, body []byte }

// encodeQueuedFrame writes a frame that was queued, and returns the length of the message.
func encodeQueuedFrame(b []byte, k queuedFrame) int {
	if k.head == nil {
		return copy(b, k.body)
	}
	at := encodeHead(b, k.head)
	return at + copy(b[at:], k.body)
}

var errUnknownMessage = errors.New("a message that this library does not send")

// deliverFrame hands a frame to the receiver. slot is the body if that is in a slot of the eager
// ring, else nil. After an error the caller marks the endpoint lost. Poller only.
func (e *endpoint) deliverFrame(b, slot []byte) error {
	if len(b) == 0 {
		return errPeerClosed
	}
	if len(b) < prefixBytes {
		return errUnknownMessage
	}
	n := int(binary.LittleEndian.Uint16(b))
	if prefixBytes+n > len(b) || b[2] != 0 {
		return errUnknownMessage
	}
	head, body := b[prefixBytes:prefixBytes+n], b[min(bodyOffset(n), len(b)):]
	if slot != nil {
		body = slot
	}
	return transport.DeliverFrame(e.receiver, head, body)
}

// slotOfBody returns how many bytes of a message's body are in a slot, and the slot's ticket.
func slotOfBody(b []byte) (n int, ticket uint64) {
	if len(b) < prefixBytes {
		return 0, 0
	}
	return int(binary.LittleEndian.Uint32(b[4:])), binary.LittleEndian.Uint64(b[8:])
}

const (
	noBuffer  = pin.None
	pageBytes = 4096
)

// Shares of the memory for buffers.
const (
	originShare        = 1 // receive buffers of an origin, and once more its send buffers
	serverReceiveShare = 4 // receive buffers of a data server, for all origins
	serverSendShare    = 1 // send buffers of a data server
	eagerRingShare     = 1 // for the eager ring; taken only if a setting selects that protocol
	allShares          = 2*originShare + serverReceiveShare + serverSendShare + eagerRingShare
)

// Sizes of a buffer, and so of a message. Larger buffers mean fewer messages for a transfer, but
// there are fewer of them.
const (
	minBufferBytes = 16 << 10
	maxBufferBytes = 64 << 10
	// shortest message that a peer may allow, where its device wants short messages
	minMessageBytes = 1 << 10
	// buffers of a share at least, before buffers are made larger than minBufferBytes
	leastBuffersPerShare = 16
)

// bufferBytes is the size of a buffer if all buffers may take so many bytes.
func bufferBytes(memory int64) int {
	size := maxBufferBytes
	for size > minBufferBytes && memory/allShares/int64(size) < leastBuffersPerShare {
		size /= 2
	}
	return size
}

// bufferCount is how many buffers so many shares are.
func (f *Fabric) bufferCount(shares int) int {
	return shares * int(f.cfg.Buffer/allShares) / f.bufferSize
}

// describeBuffer describes n bytes of a buffer, from an offset on, to the device.
func (f *Fabric) describeBuffer(p *pin.Pool, b int32, off, n int) qp.Data {
	return qp.Data{Addr: uint64(p.Addr(b)) + uint64(off), Bytes: uint32(n),
		Key: f.device.LocalKey(p.Key)}
}

func sliceAddr(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// openForcedProtocols makes the eager ring and registers the locks that an origin uses, if that is
// possible, and returns where they are. The caller holds listen.mu.
func (f *Fabric) openForcedProtocols(peerData *privateData) (p lab.Places) {
	var err error
	if peerData.UsesSlots && f.Atomics() && f.listen.eagerRing == nil {
		slots := max(f.bufferCount(eagerRingShare), pin.LeastBuffers)
		f.listen.eagerRing, err = lab.OpenRing(f.device, slots, f.bufferSize)
		if err != nil {
			log.Infof("there is no eager ring: %v", err)
		}
	}
	if peerData.UsesSlots && f.listen.eagerRing != nil {
		p.Ring = f.listen.eagerRing.Place()
	}
	at, n := f.cfg.Node.DeviceLocks()
	if peerData.UsesLocks && f.Atomics() && n > 0 && f.listen.accLocks == nil {
		if f.listen.accLocks, err = f.device.Register(at, int64(n)*lab.LockBytes,
			qp.Locks); err != nil {
			log.Infof("accumulates are left to the server: %v", err)
		}
	}
	if peerData.UsesLocks && f.listen.accLocks != nil {
		p.Locks = lab.Place{Lo: uint64(at), Hi: uint64(at) + uint64(n)*lab.LockBytes,
			Key: f.listen.accLocks.Key()}
	}
	return p
}

// sendBySlot sends a frame whose body is written into a slot of the target's eager ring. It blocks
// until there is a free slot. The caller has acquired the queues and serialises sends. The buffer
// stays taken where the slot cannot be claimed: the device may still write to it.
func (o *origin) sendBySlot(head []byte, body *kernel.Cursor, n int) error {
	b, err := o.TakeBuffer()
	if err != nil {
		return err
	}
	message, at := o.BufferBytes(b)[lab.WordsBytes:], bodyOffset(len(head))
	ticket, err := o.eagerSlots.Claim(o, b, func() { encodeFrame(message, head, body, n) })
	if err != nil {
		return err
	}
	encodeSlotTicket(message, n, ticket)
	requests := [2]qp.Request{o.eagerSlots.Fill(ticket), {Pieces: 1, Op: qp.Send}}
	data := []qp.Data{o.BufferPiece(b, lab.WordsBytes+at, n),
		o.BufferPiece(b, lab.WordsBytes, at)}
	return o.postWhenRoom(postedChain{buffer: b}, requests[:], data)
}

// Accumulate accumulates by the device if the target has locks for that; otherwise it returns
// false, and the caller sends a frame.
func (o *origin) Accumulate(x *transport.Transfer, s transport.Scale) (bool, error) {
	o.queue.fast.AcquireQueues()
	defer o.queue.fast.ReleaseQueues()
	return o.accLocks.Accumulate(o, x, s)
}

var _ transport.DeviceAccumulator = (*origin)(nil)
