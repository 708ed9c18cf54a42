// SPDX-License-Identifier: BSD-3-Clause

// The cost model that chooses how the rows of a strided or vector transfer travel: each as a piece of its own of a call
// that gathers or scatters them, or copied through a buffer by a kernel. It must not depend on the peer: each side
// chooses for itself.
package tcp

import "fmt"

// costs are the parameters of the model: a row of b bytes costs piece if it is not packed, else b times byte.
type costs struct {
	piece float64 // ns for one more piece in the call that sends it and in the one that receives it
	byte  float64 // ns for one more byte that is packed and unpacked
}

// usual are the costs that fit the times of patches between two processes on the machine of docs/validation.md;
// BenchmarkRows shows where packing stops to pay. They are no better measured at the start of a job: there, in the time
// that it may take, the rows are in the nearest cache, and packing seems four times as fast as it is with rows that are
// not.
var usual = costs{piece: 130, byte: 0.155}

// row is the length from which on rows are not packed.
func (c costs) row() int { return int(c.piece / c.byte) }

// gatherFrom is that length, and why: by the model, unless the user has chosen.
func (o *Options) gatherFrom() (row int, why string) {
	if o.Gather > 0 {
		return o.Gather, fmt.Sprintf("rows of %d bytes and more are not packed: so it is set", o.Gather)
	}
	return usual.row(), fmt.Sprintf("rows of %d bytes and more are not packed: a piece of a call costs %.0f ns, "+
		"a packed KiB %.0f ns", usual.row(), usual.piece, usual.byte*1024)
}
