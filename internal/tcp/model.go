// SPDX-License-Identifier: BSD-3-Clause

// The cost model that chooses how the rows of a strided or vector transfer travel: each as a piece of its own of a call
// that gathers or scatters them, or copied through a buffer by a kernel. A row of b bytes costs one piece, or b bytes of
// copying; both are measured when the transport is opened. It must not depend on the peer: each side chooses for itself.
package tcp

import (
	"fmt"
	"math"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"libarmci/internal/kernel"
)

// costs are the parameters of the model.
type costs struct {
	piece    float64 // ns for one more piece in the call that sends it and the one that receives it
	byte     float64 // ns for one more byte that is packed and unpacked
	measured bool
}

// usual are costs where they cannot be measured: of an EPYC under Linux 6.
var usual = costs{piece: 60, byte: 0.15}

// Bounds of the switch point, against mad measurements.
const (
	leastRow = 64
	mostRow  = 4096
)

// row is the length from which on rows are not packed.
func (c costs) row() int { return min(max(int(c.piece/c.byte), leastRow), mostRow) }

// gatherFrom is the length from which on rows are not packed, and why: by the model, unless the user has chosen.
func (o *Options) gatherFrom() (row int, why string) {
	if o.Gather > 0 {
		return o.Gather, fmt.Sprintf("rows of %d bytes and more are not packed: so it is set", o.Gather)
	}
	c := measure()
	return c.row(), fmt.Sprintf("rows of %d bytes and more are not packed: %s", c.row(), c)
}

func (c costs) String() string {
	origin := "measured"
	if !c.measured {
		origin = "assumed"
	}
	return fmt.Sprintf("a piece of a call %.0f ns, a packed KiB %.0f ns (%s)", c.piece, c.byte*1024, origin)
}

// What is measured: as much as a buffer holds.
const (
	trialRows   = 64
	trialRow    = 1024
	trialStride = 2048
	trialBytes  = trialRows * trialRow
	trials      = 6
)

// measure takes about a quarter of a millisecond. The best of some trials counts: others may want the processor too.
func measure() costs {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return usual
	}
	defer unix.Close(fds[0])
	defer unix.Close(fds[1])
	patch := make([]byte, trialRows*trialStride)
	buf := make([]byte, trialBytes)
	base := unsafe.Pointer(&patch[0])
	var rows [trialRows]unix.Iovec
	for i := range rows {
		rows[i] = unix.Iovec{Base: &patch[i*trialStride], Len: trialRow}
	}
	stride, count := []int32{trialStride}, []int32{trialRow, trialRows}
	whole, gathered, packed := math.Inf(1), math.Inf(1), math.Inf(1)
	for range trials {
		whole = min(whole, pass(fds, []unix.Iovec{{Base: &buf[0], Len: trialBytes}}))
		gathered = min(gathered, pass(fds, rows[:]))
		begin := time.Now()
		kernel.Pack(base, stride, count, unsafe.Pointer(&buf[0]))
		kernel.Unpack(base, stride, count, unsafe.Pointer(&buf[0]))
		packed = min(packed, float64(time.Since(begin)))
	}
	c := costs{piece: (gathered - whole) / trialRows, byte: packed / trialBytes, measured: true}
	if !(c.piece > 0) || math.IsInf(c.piece, 1) || !(c.byte > 0) { // something was wrong with all of them
		return usual
	}
	return c
}

// pass is how many ns it takes to send the pieces and to receive them again; infinitely many if that fails.
func pass(fds [2]int, iov []unix.Iovec) float64 {
	begin := time.Now()
	n, err := sendPieces(fds[0], iov)
	if err != nil {
		return math.Inf(1)
	}
	m, err := recvPieces(fds[1], iov)
	took := float64(time.Since(begin))
	if err != nil || m != n || n != trialBytes {
		return math.Inf(1)
	}
	return took
}

// firstBytes is what is sent first of large data, so that the other side begins early: half of 64 KiB. (Smaller parts,
// or more of them, cost more than they save: a call to send takes as long as copying 20 KiB.)
const firstBytes = 32 << 10

// firstPart is how much of left bytes to send in one call, when so many have been sent.
func firstPart(left, done int64) int64 {
	if done == 0 && left >= firstBytes*3/2 {
		return firstBytes
	}
	return left
}
