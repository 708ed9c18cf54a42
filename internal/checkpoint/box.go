// SPDX-License-Identifier: BSD-3-Clause

// Which part of an array a range of memory holds, so that another number of members can read it.
package checkpoint

import (
	"fmt"
	"math/bits"
	"slices"
)

// MaxDims is the most dimensions of a Box.
const MaxDims = 8

// Box says that a range holds the elements Lo[d] <= i[d] < Hi[d] of an array of Dims, without
// gaps, the last dimension contiguous. Without dimensions every member's range has the same bytes.
type Box struct {
	ElemBytes    int64
	Dims, Lo, Hi []int64
}

// CheckBounds returns an error unless the box lies in its array and has nbytes.
func (b *Box) CheckBounds(nbytes int64) error {
	if b.ElemBytes <= 0 {
		return fmt.Errorf("elements of %d bytes", b.ElemBytes)
	}
	for d := range b.Dims {
		if b.Lo[d] < 0 || b.Lo[d] > b.Hi[d] || b.Hi[d] > b.Dims[d] {
			return fmt.Errorf("dimension %d: %d..%d is not within an array of %d", d,
				b.Lo[d], b.Hi[d], b.Dims[d])
		}
	}
	if n, ok := b.bytes(); !ok || n != nbytes {
		return fmt.Errorf("the part has %d bytes, the range %d", n, nbytes)
	}
	return nil
}

// bytes is the size of the box; ok is false if it is beyond an int64.
func (b *Box) bytes() (n int64, ok bool) {
	n = b.ElemBytes
	for d := range b.Dims {
		if b.Lo[d] >= b.Hi[d] {
			return 0, true
		}
	}
	for d := range b.Dims {
		hi, lo := bits.Mul64(uint64(n), uint64(b.Hi[d]-b.Lo[d]))
		if hi != 0 || lo>>63 != 0 {
			return 0, false
		}
		n = int64(lo)
	}
	return n, true
}

// sameArray tells whether two boxes are parts of the same array.
func (b *Box) sameArray(o *Box) bool {
	return b.ElemBytes == o.ElemBytes && slices.Equal(b.Dims, o.Dims)
}

// equal tells whether two boxes are the same part of the same array.
func (b *Box) equal(o *Box) bool {
	return b.sameArray(o) && slices.Equal(b.Lo, o.Lo) && slices.Equal(b.Hi, o.Hi)
}

// intersect is the common part of two boxes, nil if there is none.
func (b *Box) intersect(o *Box) *Box {
	c := &Box{ElemBytes: b.ElemBytes, Dims: b.Dims}
	for d := range b.Dims {
		c.Lo = append(c.Lo, max(b.Lo[d], o.Lo[d]))
		c.Hi = append(c.Hi, min(b.Hi[d], o.Hi[d]))
		if c.Lo[d] >= c.Hi[d] {
			return nil
		}
	}
	return c
}

// offset is where an element of the array is in the box, in bytes.
func (b *Box) offset(index []int64) int64 {
	at := int64(0)
	for d := range b.Dims {
		at = at*(b.Hi[d]-b.Lo[d]) + index[d] - b.Lo[d]
	}
	return at * b.ElemBytes
}

// eachRow calls f for each row of the last dimension of a box that lies in both from and to, with
// its offsets there.
func (b *Box) eachRow(from, to *Box, f func(fromAt, toAt, n int64) error) error {
	last := len(b.Dims) - 1
	n := (b.Hi[last] - b.Lo[last]) * b.ElemBytes
	index := slices.Clone(b.Lo)
	for {
		if err := f(from.offset(index), to.offset(index), n); err != nil {
			return err
		}
		d := last - 1
		for ; d >= 0; d-- {
			if index[d]++; index[d] < b.Hi[d] {
				break
			}
			index[d] = b.Lo[d]
		}
		if d < 0 {
			return nil
		}
	}
}
