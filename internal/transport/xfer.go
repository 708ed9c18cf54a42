// SPDX-License-Identifier: BSD-3-Clause

// One type describes contiguous, strided and vector transfers. It has addresses, not Go pointers:
// the memory belongs to the application or to the arena, and outlives the operation.
package transport

import (
	"slices"
	"unsafe"

	"libarmci/internal/kernel"
)

// Section is one side of a strided transfer: a base address and the distance in bytes between
// blocks at each level.
type Section struct {
	Base   uintptr
	Stride []int32
}

// Segments is one I/O vector descriptor: pairs of addresses, each of Bytes bytes.
type Segments struct {
	Local, Remote []uintptr
	Bytes         int
}

// Xfer is a transfer. With Vector nil it is strided: Count[0] bytes a block, Count[1..] blocks a
// level, len(Count)-1 stride levels; contiguous is no levels. With Vector it is that list and the
// other fields are unused. The caller must not change the descriptor before Done.
type Xfer struct {
	Local, Remote Section
	Count         []int32
	Vector        []Segments
	// Later says that no thread waits for this transfer now: the call returns at once, and the
	// transfer may be sent together with later ones, but soon. Otherwise the call may wait
	// until it is complete.
	Later bool
	// Done, if not nil, is called once, from any goroutine, when the local memory may be reused
	// (put, acc) or holds the data (get). If the transfer completes at once, it is called
	// before the call returns. It is not called if the call fails. It must not call the
	// transport. The target checks the remote addresses; if they are wrong, a store may report
	// ErrBadAddr late, by Fence.
	Done func(error)
}

// Levels is the number of stride levels, 0 for a contiguous transfer.
func (x *Xfer) Levels() int { return max(len(x.Count)-1, 0) }

// Bytes is the number of bytes a transfer moves.
func (x *Xfer) Bytes() int64 {
	if x.Vector != nil {
		var n int64
		for _, s := range x.Vector {
			n += int64(s.Bytes) * int64(len(s.Local))
		}
		return n
	}
	n := int64(1)
	for _, c := range x.Count {
		n *= int64(c)
	}
	return n
}

// Cursors sets cursors to the beginning of both sides, local and remote. Those of a vector walk the
// lists, which are made anew in the memory that they have.
func (x *Xfer) Cursors(left, right *kernel.Cursor, list *[2][]kernel.Group) {
	if x.Vector == nil {
		left.SetStrided(x.Local.Base, x.Count, x.Local.Stride)
		right.SetStrided(x.Remote.Base, x.Count, x.Remote.Stride)
		return
	}
	list[0], list[1] = list[0][:0], list[1][:0]
	for i := range x.Vector {
		if s := &x.Vector[i]; s.Bytes > 0 && len(s.Local) > 0 {
			list[0] = append(list[0], kernel.Group{Addrs: s.Local, Bytes: s.Bytes})
			list[1] = append(list[1], kernel.Group{Addrs: s.Remote[:len(s.Local)],
				Bytes: s.Bytes})
		}
	}
	n := x.Bytes()
	left.SetGroups(list[0], n)
	right.SetGroups(list[1], n)
}

// Clone copies the descriptors, so that the caller's arrays may be reused before the transfer is
// complete.
func (x *Xfer) Clone() *Xfer {
	c := &Xfer{}
	c.Copy(x)
	return c
}

// Copy makes x a Clone of from, reusing the memory of x.
func (x *Xfer) Copy(from *Xfer) {
	was := *x
	*x = *from
	x.Local.Stride = append(was.Local.Stride[:0], from.Local.Stride...)
	x.Remote.Stride = append(was.Remote.Stride[:0], from.Remote.Stride...)
	x.Count = append(was.Count[:0], from.Count...)
	if from.Vector == nil {
		return
	}
	if was.Vector == nil {
		was.Vector = []Segments{}
	}
	x.Vector = slices.Grow(was.Vector[:0], len(from.Vector))[:len(from.Vector)]
	for i, s := range from.Vector {
		mine := &x.Vector[i]
		mine.Bytes = s.Bytes
		mine.Local, mine.Remote = append(mine.Local[:0], s.Local...),
			append(mine.Remote[:0], s.Remote...)
	}
}

// Finish reports local completion.
func (x *Xfer) Finish(err error) {
	if x.Done != nil {
		x.Done(err)
	}
}

// Scale is the factor of an accumulate: the element type (a kernel type) and a pointer to one
// element of it, which is read before Acc returns.
type Scale struct {
	Type  int
	Value unsafe.Pointer
}

// RMWOp is a read-modify-write operation.
type RMWOp uint8

// The operations. Frames between nodes have these numbers.
const (
	FetchAdd RMWOp = iota
	Swap
	And
	Or
	Xor
	CompareAndSwap // stores Operand if the word equals Compare
	LastRMW        = CompareAndSwap
)

// WordOp is the operation that has a number in armcix.h, as C's kernels have it.
func WordOp(number int) (RMWOp, bool) {
	known := [...]RMWOp{1: FetchAdd, And, Or, Xor, Swap, CompareAndSwap}
	if number < 1 || number >= len(known) {
		return 0, false
	}
	return known[number], true
}

// RMW is a read-modify-write of one naturally aligned word of 4 or 8 bytes at Addr. Old is valid
// when the call returns. Values of 4 bytes are sign-extended.
type RMW struct {
	Op      RMWOp
	Bytes   int
	Addr    uintptr
	Operand int64 // what to combine the word with, or the new value
	Compare int64
	Old     int64
	// Posted says that Old is not wanted: it need not be valid, and the word may be changed
	// later, as by a store. A fence waits for it, and reports ErrBadAddr.
	Posted bool
}

// Valid tells whether the operation and the size are defined.
func (x *RMW) Valid() bool { return x.Op <= LastRMW && (x.Bytes == 4 || x.Bytes == 8) }

// Value is what the word becomes. Of 4 bytes the lower half counts.
func (x *RMW) Value(old int64) int64 {
	switch {
	case x.Op == FetchAdd:
		return old + x.Operand
	case x.Op == And:
		return old & x.Operand
	case x.Op == Or:
		return old | x.Operand
	case x.Op == Xor:
		return old ^ x.Operand
	case x.Op == CompareAndSwap && !x.equals(old):
		return old
	}
	return x.Operand
}

func (x *RMW) equals(old int64) bool {
	return old == x.Compare || x.Bytes == 4 && int32(old) == int32(x.Compare)
}
