// SPDX-License-Identifier: BSD-3-Clause

// The target's side of a get whose rows the data server writes into the origin's memory (direct.go is the origin's).
package internode

import (
	"fmt"
	"sync/atomic"

	"libarmci/internal/transport"
)

// push writes the rows of a get into the origin's memory.
func (o *origin) push() error {
	c := o.c
	var to header
	rest, err := to.decode(c.there)
	if err == nil && (int(to.desc) != len(rest) || to.bytes != c.h.bytes) {
		err = errDesc
	}
	if err == nil {
		err = c.other.decode(&to, rest)
	}
	if err != nil || o.direct == nil {
		return fmt.Errorf("%w: a push: %v", errProtocol, err)
	}
	c.other.set(&c.to, &to)
	done := &pushed{o: o, c: c}
	done.left.Store(1)
	there := transport.Range{Lo: 0, Hi: 1 << 62, Key: c.h.arg, Direct: true} // the origin's device checks it
	err = o.direct.Write(&transport.Transfer{Local: c.at, Remote: c.to, Done: done,
		Key: func(uintptr, func()) (*transport.Range, error) { return &there, nil }})
	o.c = nil // until done
	done.Done(err)
	return nil
}

// pushed is told of the writes of a push.
type pushed struct {
	o    *origin
	c    *context
	left atomic.Int32
	err  atomic.Pointer[error]
}

// Add is told of more writes.
func (p *pushed) Add(n int32) { p.left.Add(n) }

// Done ends a write. With the last one the origin learns that its data is there.
func (p *pushed) Done(err error) {
	if err != nil {
		p.err.CompareAndSwap(nil, &err)
	}
	if p.left.Add(-1) > 0 {
		return
	}
	h := header{kind: kindPushed, id: p.c.h.id}
	var text []byte
	if e := p.err.Load(); e != nil {
		h.kind, h.what, h.rank, h.addr, h.arg = kindRefused, whySense, p.c.h.rank, p.c.h.addr, p.c.h.bytes
		text = []byte((*e).Error())
	}
	p.o.post(&h, text[:min(len(text), maxText)])
	p.o.s.contexts.put(p.c)
}
