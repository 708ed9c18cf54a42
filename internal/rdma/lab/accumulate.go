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
	mostLocks = 16 // of a round
	mostParts = mostRequests - 2*mostLocks
	// for each lock at the start of the buffer: the old devices' word, the processors' word
	wordsBytes = 16

	mostRequests = 64 // of a chain
	mostBytes    = 1 << 30
)

// lock is a lock of a round.
type lock struct {
	at        uintptr // of the line
	end       uintptr // behind the last part of its stripe
	got, done bool
}

// part is contiguous elements of one stripe.
type part struct {
	local, remote uintptr
	n             int
	key           uint64
	at            int // in the buffer
	lock          int
}

// Locks are the locks of a target, and the current round: the parts that are under way at once,
// with their data in one buffer.
type Locks struct {
	all      Place
	name     uint64 // the value of a lock that this process has
	locks    []lock
	parts    []part
	buffer   int32
	used     int
	requests []qp.Request
	data     []qp.Data
	walk     kernel.Walk
}

// NewLocks is nil if the target has none.
func NewLocks(p *Places, me transport.Rank) *Locks {
	if p.Locks.Hi == 0 {
		return nil
	}
	return &Locks{all: p.Locks, name: uint64(me) + 1}
}

// Accumulate adds local memory to remote memory. done is false if nothing was done and the server
// has to do it.
func (l *Locks) Accumulate(p Port, x *transport.Transfer, s transport.Scale) (done bool,
	err error) {
	if l == nil {
		return false, nil
	}
	grain := kernel.TypeSize(kernel.Type(s.Type))
	if ok, err := l.reaches(x, grain); !ok || err != nil {
		return false, err
	}
	for l.walk.Set(x.Local, x.Remote, mostParts); l.walk.Left() > 0; {
		if l.buffer, err = p.Buffer(); err != nil {
			return false, err
		}
		if err = l.fill(x, grain, len(p.Bytes(l.buffer))); err != nil {
			return false, err
		}
		if err = l.round(p, s); err != nil {
			return false, err
		}
	}
	return true, nil
}

// reach returns the key of the memory at the walk, and for how many bytes of whole elements it is
// good.
func reach(x *transport.Transfer, at *kernel.Run, grain int) (key uint64, n int, err error) {
	far, err := x.Key(at.Remote, func() {})
	if err != nil {
		return 0, 0, err
	}
	n = min(at.Bytes, int(min(far.Hi-at.Remote, mostBytes))) / grain * grain
	if !far.Direct || n == 0 { // an element may be in two registered ranges
		err = transport.ErrNotNative
	}
	return far.Key, n, err
}

// reaches tells whether the device can be at every element.
func (l *Locks) reaches(x *transport.Transfer, grain int) (bool, error) {
	l.walk.Set(x.Local, x.Remote, mostParts)
	for at := l.walk.Peek(mostParts); at != nil; at = l.walk.Peek(mostParts) {
		_, n, err := reach(x, at, grain)
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

// fill takes as many parts as go into one round, with a buffer of a size.
func (l *Locks) fill(x *transport.Transfer, grain, size int) error {
	l.locks, l.parts, l.used = l.locks[:0], l.parts[:0], mostLocks*wordsBytes
	for at := l.walk.Peek(mostParts); at != nil &&
		len(l.parts) < mostParts; at = l.walk.Peek(mostParts) {
		key, n, err := reach(x, at, grain)
		if err != nil {
			return err
		}
		n = min(n, inStripe(at.Remote, grain), (size-l.used)/grain*grain)
		i := l.lock(at.Remote, n)
		if n == 0 || i < 0 {
			return nil
		}
		l.parts = append(l.parts, part{at.Local, at.Remote, n, key, l.used, i})
		l.used += n
		l.walk.Advance(n)
	}
	return nil
}

// inStripe is the length of the elements, from an address on, that begin in its stripe.
func inStripe(addr uintptr, grain int) int {
	const stripe = 1 << kernel.StripeShift
	room := stripe - int(addr&(stripe-1))
	return (room + grain - 1) / grain * grain
}

// lock returns the index of the lock for n bytes; -1 if they have to wait for the next round. No
// element is twice in a round.
func (l *Locks) lock(addr uintptr, n int) int {
	stripes := uintptr(l.all.Hi-l.all.Lo) / LockBytes
	at := uintptr(l.all.Lo) + (addr>>kernel.StripeShift)%stripes*LockBytes
	for i := range l.locks {
		if k := &l.locks[i]; k.at == at {
			if addr < k.end {
				return -1
			}
			k.end = addr + uintptr(n)
			return i
		}
	}
	if len(l.locks) == mostLocks {
		return -1
	}
	l.locks = append(l.locks, lock{at: at, end: addr + uintptr(n)})
	return len(l.locks) - 1
}

// round carries the parts out. It retries the locks that others have. With a lock that it has got
// it waits until processors have left the stripe, which were there before and wait for nothing.
func (l *Locks) round(p Port, s transport.Scale) error {
	for tries, left := 0, len(l.locks); ; tries++ {
		l.take(p)
		if err := p.Run(l.requests, l.data, func() {}); err != nil {
			return err
		}
		left -= l.add(p, s)
		if left == 0 { // the buffer is free again when all has been written
			return p.Last(l.buffer, l.requests, l.data)
		}
		if len(l.requests) > 0 {
			if err := p.Run(l.requests, l.data, func() {}); err != nil {
				return err
			}
		}
		time.Sleep(min(time.Millisecond, time.Microsecond<<min(tries, 10)))
	}
}

// request appends a request whose data is n bytes of the buffer.
func (l *Locks) request(p Port, q qp.Request, at, n int) {
	q.Pieces = 1
	l.requests = append(l.requests, q)
	l.data = append(l.data, p.Data(l.buffer, at, n))
}

// take makes requests that try the locks this round does not have yet, and read the elements.
func (l *Locks) take(p Port) {
	l.requests, l.data = l.requests[:0], l.data[:0]
	for i := range l.locks {
		k := &l.locks[i]
		if k.done {
			continue
		}
		if !k.got {
			l.request(p, qp.Request{Remote: uint64(k.at) + kernel.DeviceWord,
				Key: l.all.Key, Op: qp.CompareSwap, Swap: l.name},
				i*wordsBytes, 8)
		}
		l.request(p, qp.Request{Remote: uint64(k.at), Key: l.all.Key, Op: qp.Read},
			i*wordsBytes+8, 8)
		for j := range l.parts {
			if c := &l.parts[j]; c.lock == i {
				l.request(p, qp.Request{Remote: uint64(c.remote), Key: c.key,
					Op: qp.Read}, c.at, c.n)
			}
		}
	}
}

// add adds to the elements of stripes that are locked and without processors, and makes requests
// that write them back and release the locks. It returns how many.
func (l *Locks) add(p Port, s transport.Scale) (locks int) {
	l.requests, l.data = l.requests[:0], l.data[:0]
	b := p.Bytes(l.buffer)
	for i := range l.locks {
		k := &l.locks[i]
		if k.done {
			continue
		}
		old, processor := binary.NativeEndian.Uint64(b[i*wordsBytes:]),
			binary.NativeEndian.Uint32(b[i*wordsBytes+8:])
		k.got = k.got || old == 0
		if !k.got || processor != 0 {
			continue
		}
		k.done = true
		locks++
		for j := range l.parts {
			if c := &l.parts[j]; c.lock == i {
				kernel.AccRaw(kernel.Type(s.Type), s.Value,
					unsafe.Pointer(&b[c.at]), kernel.Ptr(c.local), c.n)
				l.request(p, qp.Request{Remote: uint64(c.remote), Key: c.key,
					Op: qp.Write}, c.at, c.n)
			}
		}
		l.request(p, qp.Request{Remote: uint64(k.at) + kernel.DeviceWord, Key: l.all.Key,
			Op:      qp.CompareSwap,
			Operand: l.name}, i*wordsBytes, 8)
	}
	return locks
}
