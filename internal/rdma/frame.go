// SPDX-License-Identifier: BSD-3-Clause

// Messages between a client and a data server: a header, groups of rows of the server's memory, data. Each fits into one
// buffer and makes sense by itself.
package rdma

import (
	"encoding/binary"
	"errors"
	"unsafe"

	"libarmci/internal/kernel"
)

type kind uint8

// What a client asks for, and what a server answers.
const (
	kindPut     kind = iota + 1 // groups, data
	kindAcc                     // scale, groups, data
	kindGet                     // groups; answered by data
	kindRMW                     // addr, arg = operand; answered by old
	kindSend                    // first part of a message: arg = its bytes in all
	kindCall                    // the same, answered by reply
	kindMore                    // another part
	kindFence                   // answered by ack
	kindCheck                   // groups; answered by verdict: arg = 1 if all is the rank's
	kindKeys                    // addr; answered by key: entries of keyBytes
	kindLocks                   // answered by key: one entry, or none if devices may not accumulate here
	kindScratch                 // answered by key: one entry, or none
	kindPush                    // groups of the server's memory, then as many bytes of the client's; answered by pushed
	kindLanding                 // answered by key: the words of buffers to claim, and the buffers; or none
	kindLanded                  // groups, arg = ticket of the buffer that has the data
	kindBye                     // nothing follows; of both

	kindAck
	kindData
	kindOld     // arg = the old value; see flagDevice
	kindReply   // part of a reply: addr = where, arg = its bytes in all
	kindVerdict // arg
	kindKey
	kindPushed  // the data is where it belongs
	kindRefused // addr, arg = bytes that are not the rank's; id = of the request that will have no other answer, or 0
	lastKind
)

const (
	headerBytes = 48
	groupBytes  = 24
	scaleBytes  = 16
	keyBytes    = 24
	maxMsg      = 64 << 20 // of a message's or a reply's body
)

// header begins every message.
//
//	0 kind  1 flags  2 what (message kind, element type)  4 rank  8 id  12 handled  16 data bytes  20 groups
//	24 addr  32 arg  40 zero
type header struct {
	kind    kind
	flags   uint8
	what    uint8
	rank    uint32 // whom it is for
	id      uint32 // of the question, 0 if there is no answer
	handled uint32 // of a server: how many messages of this client have taken effect, lower bits
	bytes   uint32
	groups  uint16
	addr    uint64
	arg     uint64
}

const (
	flagAck    = 1 // answer as soon as this has taken effect
	flagSwap   = 2
	flagWide   = 4
	flagDevice = 8 // of an answer: nothing has been done; memory from addr to arg belongs to the devices
)

func (h *header) encode(b []byte) {
	le := binary.LittleEndian
	b[0], b[1], b[2], b[3] = byte(h.kind), h.flags, h.what, 0
	le.PutUint32(b[4:], h.rank)
	le.PutUint32(b[8:], h.id)
	le.PutUint32(b[12:], h.handled)
	le.PutUint32(b[16:], h.bytes)
	le.PutUint16(b[20:], h.groups)
	le.PutUint16(b[22:], 0)
	le.PutUint64(b[24:], h.addr)
	le.PutUint64(b[32:], h.arg)
	le.PutUint64(b[40:], 0)
}

var errFrame = errors.New("a message that this library does not send")

// frame is a message that has arrived.
type frame struct {
	header
	scale  []byte
	groups []byte
	data   []byte
}

// decode takes a message apart.
func decode(b []byte) (f frame, err error) {
	if len(b) < headerBytes {
		return f, errFrame
	}
	le := binary.LittleEndian
	f.header = header{kind: kind(b[0]), flags: b[1], what: b[2], rank: le.Uint32(b[4:]), id: le.Uint32(b[8:]),
		handled: le.Uint32(b[12:]), bytes: le.Uint32(b[16:]), groups: le.Uint16(b[20:]), addr: le.Uint64(b[24:]),
		arg: le.Uint64(b[32:])}
	rest := b[headerBytes:]
	if f.kind == 0 || f.kind >= lastKind {
		return f, errFrame
	}
	if f.kind == kindAcc {
		if len(rest) < scaleBytes {
			return f, errFrame
		}
		f.scale, rest = rest[:scaleBytes], rest[scaleBytes:]
	}
	n := int(f.header.groups) * groupBytes
	if len(rest) < n {
		return f, errFrame
	}
	f.groups, f.data = rest[:n], rest[n:]
	if f.kind == kindPut || f.kind == kindAcc || f.kind == kindData {
		if uint32(len(f.data)) != f.bytes {
			return f, errFrame
		}
	}
	return f, nil
}

// group is count rows of the target's memory, step bytes from one to the next.
type group struct {
	addr  uintptr
	step  int64
	count int
	bytes int // of a row
}

func (g *group) encode(b []byte) {
	le := binary.LittleEndian
	le.PutUint64(b, uint64(g.addr))
	le.PutUint64(b[8:], uint64(g.step))
	le.PutUint32(b[16:], uint32(g.count))
	le.PutUint32(b[20:], uint32(g.bytes))
}

func groupAt(b []byte, i int) group {
	b = b[i*groupBytes:]
	le := binary.LittleEndian
	return group{uintptr(le.Uint64(b)), int64(le.Uint64(b[8:])), int(le.Uint32(b[16:])), int(le.Uint32(b[20:]))}
}

// total is the bytes of all groups, an error if they are not what a client sends: limit bounds them.
func total(groups []byte, limit int) (n int64, err error) {
	for i := range len(groups) / groupBytes {
		g := groupAt(groups, i)
		if g.count <= 0 || g.bytes <= 0 || g.count > limit || g.bytes > limit {
			return 0, errFrame
		}
		n += int64(g.count) * int64(g.bytes)
	}
	if n > int64(limit) {
		return 0, errFrame
	}
	return n, nil
}

// extent is the memory between the first and the last byte; ok is false where that is no memory at all.
func (g *group) extent() (lo uintptr, n int64, ok bool) {
	const most = 1 << 47
	rows := int64(g.count - 1)
	if rows > 0 && (g.step > most/rows || g.step < -most/rows) || int64(g.addr) > most || int64(g.addr) < 0 {
		return 0, 0, false
	}
	span := g.step * rows
	first, last := int64(g.addr), int64(g.addr)+span
	lo, n = uintptr(min(first, last)), max(first, last)-min(first, last)+int64(g.bytes)
	return lo, n, min(first, last) >= 0
}

// plan is what one message carries: groups of the remote side, and how many bytes.
type plan struct {
	groups []group
	bytes  int
}

// limits bound a plan: groups, bytes of data, and both together in bytes.
type limits struct{ groups, data, both int }

// take plans the next message from the cursor on, which moves behind it. Runs are divided between whole grains only.
func (p *plan) take(r *runs, l limits, grain int) {
	p.groups, p.bytes = p.groups[:0], 0
	for {
		_, remote, n := r.peek()
		if n == 0 {
			return
		}
		room := min(l.data, l.both-groupBytes*len(p.groups)) - p.bytes
		if n <= room && p.extend(remote, n) {
			r.advance(n)
			continue
		}
		room = min(l.data-p.bytes, l.both-groupBytes*(len(p.groups)+1)-p.bytes)
		if n > room {
			n = room - room%grain
		}
		if n <= 0 || len(p.groups) == l.groups {
			return
		}
		p.groups = append(p.groups, group{remote, 0, 1, n})
		p.bytes += n
		r.advance(n)
	}
}

// extend adds a run to the last group if it goes on like that.
func (p *plan) extend(remote uintptr, n int) bool {
	if len(p.groups) == 0 {
		return false
	}
	g := &p.groups[len(p.groups)-1]
	switch {
	case g.count == 1 && remote == g.addr+uintptr(g.bytes):
		g.bytes += n
	case n != g.bytes:
		return false
	case g.count == 1:
		g.step = int64(remote) - int64(g.addr)
		g.count++
	case remote == g.addr+uintptr(g.step*int64(g.count)):
		g.count++
	default:
		return false
	}
	p.bytes += n
	return true
}

// write puts the groups and, of a store, the data behind each other: gather is where the plan began. It returns the
// bytes written.
func (p *plan) write(b []byte, gather *runs) int {
	at := 0
	for i := range p.groups {
		p.groups[i].encode(b[at:])
		at += groupBytes
	}
	if gather == nil {
		return at
	}
	for end := at + p.bytes; at < end; {
		local, _, n := gather.peek()
		n = min(n, end-at)
		copy(b[at:], memory(local, n))
		at += n
		gather.advance(n)
	}
	return at
}

func memory(addr uintptr, n int) []byte { return unsafe.Slice((*byte)(kernel.Ptr(addr)), n) }
