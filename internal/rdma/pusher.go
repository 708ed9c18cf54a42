// SPDX-License-Identifier: BSD-3-Clause

// The server's side of push.go: rows of the node's memory are written to a client's, as far as there is room for
// requests; the rest when some have left. It is the client's turn that waits, not the server.
package rdma

import (
	"math"

	"libarmci/internal/rdma/verbs"
)

// rows is a cursor over the rows of groups.
type rows struct {
	groups []byte
	row    int // of the first group
	off    int // in the row
}

func (r *rows) peek() (addr uintptr, n int) {
	if len(r.groups) == 0 {
		return 0, 0
	}
	g := groupAt(r.groups, 0)
	return g.addr + uintptr(g.step*int64(r.row)) + uintptr(r.off), g.bytes - r.off
}

func (r *rows) advance(n int) {
	g := groupAt(r.groups, 0)
	if r.off += n; r.off < g.bytes {
		return
	}
	r.off = 0
	if r.row++; r.row == g.count {
		r.row, r.groups = 0, r.groups[groupBytes:]
	}
}

// pushing is what a client is being sent.
type pushing struct {
	from, to rows
	left     int64
	key      uint32 // of the client's memory
	id       uint32
}

// beginPush checks a request and remembers it.
func (c *conn) beginPush(f *frame, local int, out []byte) (int, error) {
	there := int(uint32(f.arg)) * groupBytes
	if there > len(f.groups) {
		return 0, errFrame
	}
	p := &pushing{key: uint32(f.arg >> 32), id: f.id}
	copied := append([]byte(nil), f.groups...)
	p.from.groups, p.to.groups = copied[:there], copied[there:]
	n, err := total(p.from.groups, math.MaxInt32)
	if m, bad := total(p.to.groups, math.MaxInt32); err != nil || bad != nil || m != n || n == 0 {
		return 0, errFrame
	}
	p.left = n
	own := *f
	own.header.groups, own.groups = uint16(there/groupBytes), p.from.groups
	if bad, ok := c.owned(&own, local); !ok {
		return refusal(f, bad, out), nil
	}
	c.pushing = p
	return 0, nil
}

// goOn writes more of what is being pushed; false if it has to wait. For the loop.
func (c *conn) goOn() (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.pushing
	if p == nil || c.dead {
		return true, nil
	}
	for p.left > 0 && c.slots >= pushLength {
		if c.s.tokens.Add(-1) < 0 {
			c.s.tokens.Add(1)
			return false, nil
		}
		if err := c.ship(p); err != nil {
			return false, err
		}
	}
	if p.left > 0 || c.slots == 0 {
		return false, nil
	}
	b := c.s.out.take()
	if b == none {
		return false, nil
	}
	h := header{kind: kindPushed, id: p.id}
	h.encode(c.s.out.bytes(b))
	if !c.send(b, headerBytes) {
		c.s.out.put(b)
		return false, nil
	}
	c.pushing = nil
	return true, nil
}

// pushLength is how many requests are posted together: two such chains are under way at once.
const pushLength = connRequests / 2

// ship posts some requests, and leaves room for the answer. The caller has the lock, and has taken a token.
func (c *conn) ship(p *pushing) error {
	b := &c.batch
	b.clear()
	for p.left > 0 && len(b.requests) < pushLength {
		from, n := p.from.peek()
		to, room := p.to.peek()
		mine := c.s.arena.here(from)
		if mine == nil {
			return errFrame // the client has asked for keys, and was told that there are none
		}
		n = min(n, room, int(mine.hi-from), pieceBytes)
		b.add(verbs.Write, to, p.key, verbs.Data{Addr: uint64(from), Bytes: uint32(n), Key: mine.key}, connPieces)
		p.from.advance(n)
		p.to.advance(n)
		p.left -= int64(n)
	}
	n := len(b.requests)
	last := &b.requests[n-1]
	last.ID, last.Flags = uint64(n)<<32|noBuffer, verbs.Signal
	c.slots -= n
	_, err := c.pair.Post(b.requests, b.data)
	return err
}
