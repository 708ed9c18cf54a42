// SPDX-License-Identifier: BSD-3-Clause

// The descriptor of contiguous, strided and vector transfers, and that of read-modify-writes. They
// have addresses, not Go pointers: the memory belongs to the application or to the arena, and
// outlives the operation.
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

// Xfer describes a transfer. If Vector is nil it is strided: a block has Count[0] bytes, and there
// are len(Count)-1 stride levels of Count[1], Count[2] ... blocks; contiguous is no levels. If
// Vector is set, the sections and Count are unused. The caller must not change the descriptor
// before Done.
type Xfer struct {
	Local, Remote Section
	Count         []int32
	Vector        []Segments
	// Later says that no thread waits for this transfer now. The call then returns at once, and
	// the transfer may be delayed for a short time and sent together with later ones. If Later
	// is false the call may block until the transfer is complete.
	Later bool
	// Done, if not nil, is called once, from any goroutine, when the local memory may be reused
	// (put, acc) or holds the data (get). That may be before the call returns. Done is not
	// called if the call fails, and must not call the transport. The target checks the remote
	// addresses: a bad address of a store may be reported late, by Fence (ErrBadAddr).
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

// Cursors sets the cursors to the beginning of the local and the remote side. Those of a vector
// walk the two lists of groups, which Cursors fills, reusing their memory. The arrays of x and the
// lists must outlive both cursors.
func (x *Xfer) Cursors(local, remote *kernel.Cursor, list *[2][]kernel.Group) {
	if x.Vector == nil {
		local.SetStrided(x.Local.Base, x.Count, x.Local.Stride)
		remote.SetStrided(x.Remote.Base, x.Count, x.Remote.Stride)
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
	local.SetGroups(list[0], n)
	remote.SetGroups(list[1], n)
}

// Clone returns a deep copy, so that the arrays of x may be reused before the transfer is complete.
func (x *Xfer) Clone() *Xfer {
	c := &Xfer{}
	c.Copy(x)
	return c
}

// Copy makes x a deep copy of from, reusing the arrays of x.
func (x *Xfer) Copy(from *Xfer) {
	reused := *x
	*x = *from
	x.Local.Stride = append(reused.Local.Stride[:0], from.Local.Stride...)
	x.Remote.Stride = append(reused.Remote.Stride[:0], from.Remote.Stride...)
	x.Count = append(reused.Count[:0], from.Count...)
	if from.Vector == nil {
		return
	}
	if reused.Vector == nil {
		reused.Vector = []Segments{}
	}
	x.Vector = slices.Grow(reused.Vector[:0], len(from.Vector))[:len(from.Vector)]
	for i, s := range from.Vector {
		copied := &x.Vector[i]
		copied.Bytes = s.Bytes
		copied.Local, copied.Remote = append(copied.Local[:0], s.Local...),
			append(copied.Remote[:0], s.Remote...)
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

// RMWOpOfC is the operation with this number in armcix.h and in C's kernels (K_WORD_ADD to
// K_WORD_CAS). ok is false if there is none.
func RMWOpOfC(number int) (op RMWOp, ok bool) {
	byNumber := [...]RMWOp{1: FetchAdd, And, Or, Xor, Swap, CompareAndSwap}
	if number < 1 || number >= len(byNumber) {
		return 0, false
	}
	return byNumber[number], true
}

// RMW is a read-modify-write of one naturally aligned word of 4 or 8 bytes at Addr. Old is valid
// when the call returns. Values of 4 bytes are sign-extended.
type RMW struct {
	Op      RMWOp
	Bytes   int
	Addr    uintptr
	Operand int64 // the second operand of the operation, or the new value
	Compare int64 // of CompareAndSwap
	Old     int64 // out: the value before the operation
	// Posted says that the caller does not use Old, which need not be valid. The operation is
	// then completed like a store: a fence waits for it, and reports ErrBadAddr.
	Posted bool
}

// Valid tells whether the operation and the size are defined.
func (x *RMW) Valid() bool { return x.Op <= LastRMW && (x.Bytes == 4 || x.Bytes == 8) }

// Value returns the new value of the word, given the old one. For words of 4 bytes the caller uses
// the lower half.
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

// equals compares old with Compare; of words of 4 bytes the lower halves.
func (x *RMW) equals(old int64) bool {
	return old == x.Compare || x.Bytes == 4 && int32(old) == int32(x.Compare)
}
