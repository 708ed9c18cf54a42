// SPDX-License-Identifier: BSD-3-Clause

// The target's side of a get whose rows the data server writes into the origin's memory (direct.go is the origin's).
package internode

import (
	"fmt"

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
	done.Add(1)
	there := transport.Range{Lo: 0, Hi: 1 << 62, Key: c.h.arg, Direct: true} // the origin's device checks it
	err = o.direct.Write(&transport.Transfer{Local: c.at, Remote: c.to, Done: done,
		Key: func(uintptr, func()) (*transport.Range, error) { return &there, nil }})
	o.c = nil // until done
	done.Done(err)
	return nil
}

// pushed is told of the writes of a push.
type pushed struct {
	parts
	o *origin
	c *context
}

// Done ends a write. With the last one the origin learns that its data is there.
func (p *pushed) Done(err error) {
	if !p.end(err) {
		return
	}
	h := &p.c.h
	if err = p.failure(); err != nil {
		p.o.refuse(h, int64(h.bytes), whySense, err.Error())
	} else {
		p.o.post(&header{kind: kindPushed, id: h.id}, nil)
	}
	contexts.Put(p.c)
}
