// SPDX-License-Identifier: BSD-3-Clause

// Accumulating what has come for another rank, through the node's own transport, which has the locks.
package internode

import (
	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// adder is made once and used again.
type adder struct {
	x      transport.Xfer
	local  [kernel.MaxLevels]int32
	from   []uintptr
	memory [1]transport.Segments
}

// add adds scale times the elements at b, which is memory that does not move, at the cursor, and moves it.
func (d *adder) add(mem transport.LocalAtomics, to transport.Peer, at *kernel.Cursor, b []byte, s transport.Scale) error {
	for grain := kernel.TypeSize(kernel.Type(s.Type)); len(b) > 0; {
		p := at.Next(len(b), grain)
		if p.Bytes == 0 {
			return errProtocol // an element in two rows
		}
		d.describe(&p, addressOf(b))
		if err := mem.Acc(to, &d.x, s); err != nil {
			return err
		}
		b = b[p.Bytes:]
	}
	return nil
}

// describe makes a transfer of a part of the target's memory and as many bytes at an address.
func (d *adder) describe(p *kernel.Part, at uintptr) {
	d.x = transport.Xfer{}
	if p.Addrs != nil {
		d.from = d.from[:0]
		for i := range p.Addrs {
			d.from = append(d.from, at+uintptr(i*p.Size))
		}
		d.memory[0] = transport.Segments{Local: d.from, Remote: p.Addrs, Bytes: p.Size}
		d.x.Vector = d.memory[:]
		return
	}
	step := int32(1)
	for l := range p.Stride {
		step *= p.Count[l]
		d.local[l] = step
	}
	d.x.Count = p.Count
	d.x.Local = transport.Section{Base: at, Stride: d.local[:len(p.Stride)]}
	d.x.Remote = transport.Section{Base: p.Addr, Stride: p.Stride}
}
