// SPDX-License-Identifier: BSD-3-Clause

// Device-locked accumulates: the origin takes the lock of a stripe of the target's memory by
// compare-and-swap, reads the elements, adds to them here, writes them back and releases the lock,
// all by its device. No process of the target takes part; its processors keep out of stripes that
// are locked by devices (kernel.h). A round locks many stripes at once. There is no deadlock, since
// a round releases the locks it has got without waiting for the others.
package lab

import (
	"encoding/binary"
	"errors"
	"time"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/rdma/qp"
	"libarmci/internal/transport"
)

const (
	// a cache line with the processors' word, and 8 bytes behind it the devices' word
	LockBytes = 64
	maxLocks  = 16 // of a round
	maxParts  = maxRequests - 2*maxLocks
	// for each lock at the start of the buffer: the old devices' word, the processors' word
	lockWordsBytes = 16

	maxRequests  = 64 // of a chain
	maxPartBytes = 1 << 30
)

// stripeLock is a lock of a round.
type stripeLock struct {
	lineAddr       uintptr // of the cache line that has the lock
	coveredTo      uintptr // end of the last part that is in its stripe
	held, released bool
}

// deviceWord is the remote address of the devices' word.
func (k *stripeLock) deviceWord() uint64 { return uint64(k.lineAddr) + kernel.DeviceWord }

// stripePart is contiguous elements in one stripe.
type stripePart struct {
	local, remote uintptr
	bytes         int
	key           uint64
	bufferOffset  int // of its elements in the buffer
	lockIndex     int
}

// Locks are the locks of a target, and the current round: the parts that are under way at once,
// with their data in one buffer.
type Locks struct {
	lockArea   Place
	lockValue  uint64 // what a lock contains while this process holds it
	locks      []stripeLock
	parts      []stripePart
	buffer     int32
	bufferUsed int
	requests   []qp.Request
	data       []qp.Data
	walk       kernel.Walk
}

// NewLocks returns nil if the target has no locks.
func NewLocks(p *Places, me transport.Rank) *Locks {
	if p.Locks.Hi == 0 {
		return nil
	}
	return &Locks{lockArea: p.Locks, lockValue: uint64(me) + 1}
}

// Accumulate adds local memory to remote memory. done is false if nothing was done, and the data
// server has to do it.
func (l *Locks) Accumulate(p Port, x *transport.Transfer, s transport.Scale) (done bool,
	err error) {
	if l == nil {
		return false, nil
	}
	grain := kernel.TypeSize(kernel.Type(s.Type))
	if ok, err := l.reachesAll(x, grain); !ok || err != nil {
		return false, err
	}
	for l.walk.Set(x.Local, x.Remote, maxParts); l.walk.Left() > 0; {
		if l.buffer, err = p.TakeBuffer(); err != nil {
			return false, err
		}
		if err = l.fillRound(x, grain, len(p.BufferBytes(l.buffer))); err != nil {
			return false, err
		}
		if err = l.runRound(p, s); err != nil {
			return false, err
		}
	}
	return true, nil
}

// lookUpRemote returns the key of the remote memory of a run, and for how many bytes of whole
// elements it is valid.
func lookUpRemote(x *transport.Transfer, at *kernel.Run, grain int) (key uint64, n int, err error) {
	far, err := x.Key(at.Remote, func() {})
	if err != nil {
		return 0, 0, err
	}
	n = min(at.Bytes, int(min(far.Hi-at.Remote, maxPartBytes))) / grain * grain
	if !far.Direct || n == 0 { // or the element is in two registered ranges
		err = transport.ErrNotNative
	}
	return far.Key, n, err
}

// reachesAll reports whether the device can access every element.
func (l *Locks) reachesAll(x *transport.Transfer, grain int) (bool, error) {
	l.walk.Set(x.Local, x.Remote, maxParts)
	for at := l.walk.Peek(maxParts); at != nil; at = l.walk.Peek(maxParts) {
		_, n, err := lookUpRemote(x, at, grain)
		if errors.Is(err, transport.ErrNotNative) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		l.walk.Advance(n)
	}
	return true, nil
}

// fillRound makes as many parts of the walk as one round can have, with a buffer of `size` bytes.
func (l *Locks) fillRound(x *transport.Transfer, grain, size int) error {
	l.locks, l.parts, l.bufferUsed = l.locks[:0], l.parts[:0], maxLocks*lockWordsBytes
	for at := l.walk.Peek(maxParts); at != nil &&
		len(l.parts) < maxParts; at = l.walk.Peek(maxParts) {
		key, n, err := lookUpRemote(x, at, grain)
		if err != nil {
			return err
		}
		n = min(n, bytesInStripe(at.Remote, grain), (size-l.bufferUsed)/grain*grain)
		i := l.lockForPart(at.Remote, n)
		if n == 0 || i < 0 {
			return nil
		}
		l.parts = append(l.parts, stripePart{at.Local, at.Remote, n, key, l.bufferUsed, i})
		l.bufferUsed += n
		l.walk.Advance(n)
	}
	return nil
}

// bytesInStripe is the length of the elements, from an address on, that begin in its stripe.
func bytesInStripe(addr uintptr, grain int) int {
	const stripe = 1 << kernel.StripeShift
	room := stripe - int(addr&(stripe-1))
	return (room + grain - 1) / grain * grain
}

// lockForPart returns the index of the lock for n bytes at addr; -1 if they have to wait for the
// next round. No element is twice in a round.
func (l *Locks) lockForPart(addr uintptr, n int) int {
	stripes := uintptr(l.lockArea.Hi-l.lockArea.Lo) / LockBytes
	at := uintptr(l.lockArea.Lo) + (addr>>kernel.StripeShift)%stripes*LockBytes
	for i := range l.locks {
		if k := &l.locks[i]; k.lineAddr == at {
			if addr < k.coveredTo {
				return -1
			}
			k.coveredTo = addr + uintptr(n)
			return i
		}
	}
	if len(l.locks) == maxLocks {
		return -1
	}
	l.locks = append(l.locks, stripeLock{lineAddr: at, coveredTo: addr + uintptr(n)})
	return len(l.locks) - 1
}

// runRound accumulates the parts of a round. It retries the locks that others hold. While it holds
// a lock it waits for processors that were in the stripe before; they wait for nothing.
func (l *Locks) runRound(p Port, s transport.Scale) error {
	for tries, left := 0, len(l.locks); ; tries++ {
		l.requestLocks(p)
		if err := p.PostAndWait(l.requests, l.data, func() {}); err != nil {
			return err
		}
		left -= l.accumulateHeld(p, s)
		if left == 0 { // the buffer is free again when all has been written
			return p.PostWithBuffer(l.buffer, l.requests, l.data)
		}
		if len(l.requests) > 0 {
			if err := p.PostAndWait(l.requests, l.data, func() {}); err != nil {
				return err
			}
		}
		time.Sleep(min(time.Millisecond, time.Microsecond<<min(tries, 10)))
	}
}

// appendRequest appends a request whose data is n bytes of the buffer.
func (l *Locks) appendRequest(p Port, q qp.Request, at, n int) {
	q.Pieces = 1
	l.requests = append(l.requests, q)
	l.data = append(l.data, p.BufferPiece(l.buffer, at, n))
}

// requestLocks makes requests that try the locks which this round does not hold yet, and read the
// elements.
func (l *Locks) requestLocks(p Port) {
	l.requests, l.data = l.requests[:0], l.data[:0]
	for i := range l.locks {
		k := &l.locks[i]
		if k.released {
			continue
		}
		if !k.held {
			l.appendRequest(p, qp.Request{Remote: k.deviceWord(), Key: l.lockArea.Key,
				Op: qp.CompareSwap, Swap: l.lockValue}, i*lockWordsBytes, 8)
		}
		l.appendRequest(p, qp.Request{Remote: uint64(k.lineAddr), Key: l.lockArea.Key,
			Op: qp.Read}, i*lockWordsBytes+8, 8)
		for j := range l.parts {
			if c := &l.parts[j]; c.lockIndex == i {
				l.appendRequest(p, qp.Request{Remote: uint64(c.remote), Key: c.key,
					Op: qp.Read}, c.bufferOffset, c.bytes)
			}
		}
	}
}

// accumulateHeld adds to the elements of stripes that are locked and without processors, and makes
// requests that write them back and release the locks. It returns the number of those locks.
func (l *Locks) accumulateHeld(p Port, s transport.Scale) (locks int) {
	l.requests, l.data = l.requests[:0], l.data[:0]
	b := p.BufferBytes(l.buffer)
	for i := range l.locks {
		k := &l.locks[i]
		if k.released {
			continue
		}
		old, processor := binary.NativeEndian.Uint64(b[i*lockWordsBytes:]),
			binary.NativeEndian.Uint32(b[i*lockWordsBytes+8:])
		k.held = k.held || old == 0
		if !k.held || processor != 0 {
			continue
		}
		k.released = true
		locks++
		for j := range l.parts {
			if c := &l.parts[j]; c.lockIndex == i {
				sum := unsafe.Pointer(&b[c.bufferOffset])
				kernel.AccRaw(kernel.Type(s.Type), s.Value, sum,
					kernel.Ptr(c.local), c.bytes)
				write := qp.Request{Remote: uint64(c.remote), Key: c.key,
					Op: qp.Write}
				l.appendRequest(p, write, c.bufferOffset, c.bytes)
			}
		}
		release := qp.Request{Remote: k.deviceWord(), Key: l.lockArea.Key,
			Op: qp.CompareSwap, Operand: l.lockValue}
		l.appendRequest(p, release, i*lockWordsBytes, 8)
	}
	return locks
}
