// SPDX-License-Identifier: BSD-3-Clause

// The Go half of strided transfers (rows.c): what their ways cost.
package fastpath

// #include "fastpath.h"
import "C"

import "libarmci/internal/transport"

// SetCosts tells C what the ways of rows cost.
func (p *Path) SetCosts(get bool, w *transport.WayCosts) {
	if p == nil {
		return
	}
	p.changeTables(func() {
		c := &C.rdma_fast.put_costs
		if get {
			c = &C.rdma_fast.get_costs
		}
		*c = C.struct_rdma_fast_costs{known: true, device: costLine(w.Device),
			messages: costLine(w.Messages), target_side: costLine(w.TargetSide),
			wake: C.double(w.Wake)}
	})
}

// learnApart and forgetApart are for tests.
func learnApart(apart, usual, took float64) float64 {
	return float64(C.rdma_fast_learn_apart(C.double(apart), C.double(usual), C.double(took)))
}

func forgetApart(apart float64) float64 {
	return float64(C.rdma_fast_forget_apart(C.double(apart)))
}

func costLine(l transport.Line) C.struct_rdma_fast_line {
	return C.struct_rdma_fast_line{start: C.double(l.Start), each: C.double(l.Each),
		byte: C.double(l.Byte)}
}

// TimeRows is how long C takes for a transfer of one level of strides by requests of the device,
// until it has taken effect, in nanoseconds. false: C cannot make it, or has not seen its end.
func (p *Path) TimeRows(get bool, rank transport.Rank, x *transport.Xfer) (ns float64, ok bool) {
	if p == nil || x.Levels() != 1 {
		return 0, false
	}
	row, rows := x.Count[0], x.Count[1]
	side := func(s *transport.Section) (c C.struct_k_cursor, lo, hi C.uintptr_t) {
		c.addr, c.left, c.row = C.uintptr_t(s.Base), C.int64_t(x.Bytes()), C.int64_t(row)
		c.levels, c.count[0], c.step[0] = 1, C.int64_t(rows), C.int64_t(s.Stride[0])
		last := C.uintptr_t(rows-1) * C.uintptr_t(s.Stride[0])
		return c, c.addr, c.addr + last + C.uintptr_t(row)
	}
	t := C.struct_fast_transfer{rank: C.int(rank), bytes: C.uint64_t(x.Bytes()), blocking: true}
	r := C.struct_fast_rows{pieces: C.int64_t(rows), longest: C.int64_t(row)}
	r.local, r.local_lo, r.local_hi = side(&x.Local)
	r.remote, r.remote_lo, r.remote_hi = side(&x.Remote)
	took := C.rdma_fast_time_rows(&t, &r, C.bool(get))
	return float64(took), took > 0
}
