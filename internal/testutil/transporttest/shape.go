// SPDX-License-Identifier: BSD-3-Clause

// The shapes of transfers as lists of blocks, made by plain loops. They are the oracle of the
// conformance suite, so they use no cursor of package kernel.
package transporttest

import (
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// block is one contiguous piece of one side of a transfer.
type block struct {
	addr   uintptr
	nbytes int64
}

func (b block) asSlice() []byte {
	return unsafe.Slice((*byte)(kernel.Ptr(b.addr)), b.nbytes)
}

// side is one side of a vector transfer; nil for a strided one.
type side []struct {
	addr   []uintptr
	nbytes int
}

func localSide(v []transport.Segments) side {
	return sideOf(v, func(s transport.Segments) []uintptr { return s.Local })
}

func remoteSide(v []transport.Segments) side {
	return sideOf(v, func(s transport.Segments) []uintptr { return s.Remote })
}

func sideOf(v []transport.Segments, pick func(transport.Segments) []uintptr) side {
	if v == nil {
		return nil
	}
	all := make(side, len(v))
	for i, s := range v {
		all[i].addr, all[i].nbytes = pick(s), s.Bytes
	}
	return all
}

// blocks lists the blocks of one side, in the order in which they are transferred.
func blocks(s *transport.Section, count []int32, v side) []block {
	var all []block
	if v != nil {
		for _, d := range v {
			for _, a := range d.addr {
				all = append(all, block{a, int64(d.nbytes)})
			}
		}
		return all
	}
	var level func(l int, base uintptr)
	level = func(l int, base uintptr) {
		if l == 0 {
			all = append(all, block{base, int64(count[0])})
			return
		}
		for i := range count[l] {
			level(l-1, base+uintptr(int64(s.Stride[l-1])*int64(i)))
		}
	}
	level(len(count)-1, s.Base)
	return all
}

// eachBlock calls do with the local and the remote bytes of every block; local is nil if there are
// none.
func eachBlock(x *transport.Xfer, do func(local, remote []byte)) {
	local := blocks(&x.Local, x.Count, localSide(x.Vector))
	remote := blocks(&x.Remote, x.Count, remoteSide(x.Vector))
	for i := range remote {
		var l []byte
		if i < len(local) && local[i].addr != 0 {
			l = local[i].asSlice()
		}
		do(l, remote[i].asSlice())
	}
}

// gatherLocal returns a contiguous copy of the local side.
func gatherLocal(x *transport.Xfer) []byte {
	data := []byte{}
	for _, b := range blocks(&x.Local, x.Count, localSide(x.Vector)) {
		data = append(data, b.asSlice()...)
	}
	return data
}
