// SPDX-License-Identifier: BSD-3-Clause

// What is done with the parts of an area: storing, fetching and accumulating, each one call of a kernel.
package tcp

import (
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// scatter stores len = nbytes bytes in the part.
func (p *part) scatter(b []byte) {
	switch {
	case p.addrs != nil:
		kernel.UnpackVector(p.addrs, p.size, b)
	case p.shape != nil:
		kernel.Unpack(kernel.Ptr(p.addr), p.shape.strides(), p.shape.counts(), unsafe.Pointer(&b[0]))
	default:
		copy(memory(p.addr, p.nbytes), b)
	}
}

// gather fetches the part's bytes.
func (p *part) gather(b []byte) {
	switch {
	case p.addrs != nil:
		kernel.PackVector(p.addrs, p.size, b)
	case p.shape != nil:
		kernel.Pack(kernel.Ptr(p.addr), p.shape.strides(), p.shape.counts(), unsafe.Pointer(&b[0]))
	default:
		copy(b, memory(p.addr, p.nbytes))
	}
}

// gather fills b, no longer than what is left, with what comes next. s is for shapes of parts.
func (a *area) gather(b []byte, s *shape) {
	for len(b) > 0 {
		p := a.next(len(b), 1, s)
		p.gather(b[:p.nbytes])
		b = b[p.nbytes:]
	}
}

// scatter stores b, no longer than what is left, at what comes next.
func (a *area) scatter(b []byte, s *shape) {
	for len(b) > 0 {
		p := a.next(len(b), 1, s)
		p.scatter(b[:p.nbytes])
		b = b[p.nbytes:]
	}
}

// adder accumulates parts through the node's own transport. It is made once and used again.
type adder struct {
	x      transport.Xfer
	count  [kernel.MaxLevels + 1]int32
	local  [kernel.MaxLevels]int32
	remote [kernel.MaxLevels]int32
	from   []uintptr
	seg    [1]transport.Segments
}

// add adds scale times the elements at b, which is memory that does not move, to the part.
func (d *adder) add(mem transport.Transport, to transport.Peer, p *part, b []byte, s transport.Scale) error {
	at := uintptr(unsafe.Pointer(&b[0]))
	d.x = transport.Xfer{Known: true}
	switch {
	case p.addrs != nil:
		d.from = d.from[:0]
		for i := range p.addrs {
			d.from = append(d.from, at+uintptr(i*p.size))
		}
		d.seg[0] = transport.Segments{Local: d.from, Remote: p.addrs, Bytes: p.size}
		d.x.Vector = d.seg[:]
	case p.shape != nil:
		n := p.shape.levels
		copy(d.count[:], p.shape.counts())
		copy(d.remote[:], p.shape.strides())
		step := int32(1)
		for l := range n {
			step *= d.count[l]
			d.local[l] = step
		}
		d.x.Count = d.count[:n+1]
		d.x.Local = transport.Section{Base: at, Stride: d.local[:n]}
		d.x.Remote = transport.Section{Base: p.addr, Stride: d.remote[:n]}
	default:
		d.count[0] = int32(p.nbytes)
		d.x.Count = d.count[:1]
		d.x.Local, d.x.Remote = transport.Section{Base: at}, transport.Section{Base: p.addr}
	}
	return mem.Acc(to, &d.x, s)
}
