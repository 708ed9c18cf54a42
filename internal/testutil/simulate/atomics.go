// SPDX-License-Identifier: BSD-3-Clause

// The types of package sync/atomic. Other threads may run before each operation.
package simulate

// number is an atomic integer.
type number[T int32 | int64 | uint32 | uint64 | uintptr] struct{ v T }

// Load is that of sync/atomic.
func (n *number[T]) Load() T {
	point(stepAtomic)
	return n.v
}

// Store is that of sync/atomic.
func (n *number[T]) Store(v T) {
	point(stepAtomic)
	n.v = v
}

// Add is that of sync/atomic.
func (n *number[T]) Add(d T) T {
	point(stepAtomic)
	n.v += d
	return n.v
}

// Swap is that of sync/atomic.
func (n *number[T]) Swap(v T) (old T) {
	point(stepAtomic)
	old, n.v = n.v, v
	return old
}

// CompareAndSwap is that of sync/atomic.
func (n *number[T]) CompareAndSwap(old, v T) bool {
	point(stepAtomic)
	if n.v != old {
		return false
	}
	n.v = v
	return true
}

// The types of sync/atomic.
type (
	Int32   struct{ number[int32] }
	Int64   struct{ number[int64] }
	Uint32  struct{ number[uint32] }
	Uint64  struct{ number[uint64] }
	Uintptr struct{ number[uintptr] }
)

// Bool is atomic.Bool.
type Bool struct{ v bool }

// Load is that of sync/atomic.
func (b *Bool) Load() bool {
	point(stepAtomic)
	return b.v
}

// Store is that of sync/atomic.
func (b *Bool) Store(v bool) {
	point(stepAtomic)
	b.v = v
}

// Swap is that of sync/atomic.
func (b *Bool) Swap(v bool) (old bool) {
	point(stepAtomic)
	old, b.v = b.v, v
	return old
}

// CompareAndSwap is that of sync/atomic.
func (b *Bool) CompareAndSwap(old, v bool) bool {
	point(stepAtomic)
	if b.v != old {
		return false
	}
	b.v = v
	return true
}

// Pointer is atomic.Pointer.
type Pointer[T any] struct{ p *T }

// Load is that of sync/atomic.
func (a *Pointer[T]) Load() *T {
	point(stepAtomic)
	return a.p
}

// Store is that of sync/atomic.
func (a *Pointer[T]) Store(p *T) {
	point(stepAtomic)
	a.p = p
}

// Swap is that of sync/atomic.
func (a *Pointer[T]) Swap(p *T) (old *T) {
	point(stepAtomic)
	old, a.p = a.p, p
	return old
}

// CompareAndSwap is that of sync/atomic.
func (a *Pointer[T]) CompareAndSwap(old, p *T) bool {
	point(stepAtomic)
	if a.p != old {
		return false
	}
	a.p = p
	return true
}
