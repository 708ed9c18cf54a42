// SPDX-License-Identifier: BSD-3-Clause

// Transfers by the origin's device alone: RDMA writes and reads. The device uses registered local
// memory in place (local.go); other memory goes through buffers, one of which is copied while
// others travel. Rows are chained: one call of the device and one completion for many.
package rdma

import (
	"cmp"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/pin"
	"libarmci/internal/rdma/qp"
	"libarmci/internal/transport"
)

// Write writes local memory to remote memory.
func (o *origin) Write(x *transport.Transfer) error { return o.mover.move(x, qp.Write) }

// Read reads remote memory.
func (o *origin) Read(x *transport.Transfer) error { return o.mover.move(x, qp.Read) }

// undivided is the length up to which a transfer is always one chunk.
const undivided = 2 << 10

// mover makes the transfers of an origin, one at a time.
type mover struct {
	o      *origin
	x      *transport.Transfer
	op     uint8
	all    int64
	single bool  // it is contiguous
	row    int64 // bytes of a row at the target
	first  int   // bytes of the first chunk that is copied
	// contiguous local memory of at least so many bytes is registered rather than copied
	lendFrom   int
	walk       kernel.Walk
	near, far  transport.Range // registered memory around the last local and remote address
	held       []*pin.Entry
	chain      chain
	pieces     []kernel.Piece // of remote memory, for one buffer
	only       kernel.Run     // of a transfer by one request
	at         *kernel.Run    // the next run, if it may be registered
	registerIt func()         // does that
	copied     copied
	alone      bool // forced: nothing happens here while something travels
	// forced: so much is registered next, while what comes before travels; 0: as much as there
	// is
	step int
}

func (m *mover) init(o *origin) {
	m.o, m.pieces = o, make([]kernel.Piece, 0, chainLength)
	m.registerIt = func() { // while keys are asked for
		if m.at != nil {
			m.local(m.at)
		}
	}
}

// begin prepares a transfer.
func (m *mover) begin(x *transport.Transfer, op uint8) {
	m.x, m.op, m.all = x, op, x.Remote.Left()
	m.single = x.Local.Contiguous() && x.Remote.Contiguous()
	m.row, m.first, m.lendFrom = m.all, cmp.Or(x.FirstChunk, undivided),
		cmp.Or(x.LendFrom, lendBytes)
	if !m.single {
		m.row = x.Remote.Row()
	}
	m.near, m.far, m.held = transport.Range{}, transport.Range{}, nil
	often := x.LendAfter > 0 && m.all >= lendAgain &&
		m.copied.enough(x.Within.Lo, m.all, x.LendAfter)
	switch {
	case m.single && (m.o.f.cfg.Lends() || often):
		m.lendFrom = 1
	case often:
		m.lend(x.Within)
	}
	m.force()
}

// move makes a transfer.
func (m *mover) move(x *transport.Transfer, op uint8) error {
	o := m.o
	o.q.fast.Enter()
	defer o.q.fast.Leave()
	m.begin(x, op)
	done, err := m.one()
	if !done && err == nil {
		err = m.many()
	}
	if m.held != nil {
		o.ring.hold(m.held)
	}
	m.x, m.at = nil, nil
	return err
}

// one makes a transfer of one request: inline, from or to registered memory, or through a buffer.
// done is false if it takes more than that.
func (m *mover) one() (done bool, err error) {
	local, ok := m.x.Local.One()
	remote, flat := m.x.Remote.One()
	n, out, o := int(m.all), m.o.q.out, m.o
	if !ok || !flat || n > pieceBytes {
		return false, nil
	}
	m.only = kernel.Run{Local: local, Remote: remote, Bytes: n}
	m.at = &m.only
	if err = m.reach(remote); err != nil || uintptr(n) > m.far.Hi-remote {
		return false, err
	}
	p := posted{buffer: none, done: m.x.Done}
	q := [1]qp.Request{{Remote: uint64(remote), Key: m.far.Key, Pieces: 1, Op: m.op}}
	d := [1]qp.Data{{Addr: uint64(local), Bytes: uint32(n)}}
	if m.op == qp.Write && n <= o.pair.Inline() && !o.f.cfg.Lends() {
		q[0].Flags = qp.Inline
		return true, o.ship(p, q[:], d[:])
	}
	ok, err = m.local(m.at)
	switch {
	case err != nil || ok && uintptr(n) > m.near.Hi-local || !ok && n > min(m.first, out.Size):
		return false, err
	case ok:
		d[0].Key = m.o.f.base.LocalKey(m.near.Key)
		return true, o.ship(p, q[:], d[:])
	}
	if p.buffer, err = o.Buffer(); err != nil {
		return false, err
	}
	if d[0] = o.Data(p.buffer, 0, n); m.op == qp.Write {
		kernel.Copy(unsafe.Pointer(&o.Bytes(p.buffer)[0]), kernel.Ptr(local), n)
	} else {
		p.read, o.q.into[p.buffer] = int32(n), *m.x.Local
	}
	return true, o.ship(p, q[:], d[:])
}

// many makes a transfer of any number of requests.
func (m *mover) many() (err error) {
	m.walk.Set(m.x.Local, m.x.Remote, chainLength)
	m.at = nil
	if m.step > 0 {
		err = m.ahead()
	}
	for most := chainLength; err == nil && m.walk.Left() > 0; {
		if m.x.Copied {
			err = m.stage()
		} else {
			most, err = m.next(m.walk.Peek(most))
		}
	}
	if e := m.flush(); err == nil {
		err = e
	}
	return err
}

// next makes requests for a run, or, where local memory is not registered, for a chunk that goes
// through a buffer. most is how many runs the walk should list next.
func (m *mover) next(r *kernel.Run) (most int, err error) {
	m.at = r
	if err = m.reach(r.Remote); err != nil {
		return 0, err
	}
	ok, err := m.local(r)
	if err != nil {
		return 0, err
	}
	if !ok {
		m.at = nil
		m.walk.Settle()
		return 1, m.stage()
	}
	if len(m.chain.requests) == chainLength {
		if err = m.flush(); err != nil {
			return 0, err
		}
	}
	n := int(min(uintptr(r.Bytes), m.far.Hi-r.Remote, m.near.Hi-r.Local, pieceBytes))
	m.chain.add(m.op, r.Remote, m.far.Key, qp.Data{Addr: uint64(r.Local), Bytes: uint32(n),
		Key: m.o.f.base.LocalKey(m.near.Key)}, m.o.width)
	m.walk.Advance(n)
	return chainLength, nil
}

// reach makes m.far the registered memory around a remote address.
func (m *mover) reach(remote uintptr) error {
	if remote-m.far.Lo < m.far.Hi-m.far.Lo {
		return nil
	}
	far, err := m.x.Key(remote, m.registerIt)
	if err != nil {
		return err
	}
	if !far.Direct {
		return transport.ErrNotNative
	}
	m.far = *far
	return nil
}

// stage makes requests for the next chunk, which goes through a buffer, and posts them. One chunk
// is copied while another one travels. So the first chunk of a write and the last one of a read are
// small, since nothing travels meanwhile. Keys are looked up before a buffer is taken: an owner of
// a buffer waits for nothing but completions.
func (m *mover) stage() error {
	if err := m.flush(); err != nil {
		return err
	}
	w, out := &m.walk, m.o.q.out
	room := m.all - w.Left() // a write's chunks grow, a read's shrink
	if m.op == qp.Read {
		room = w.Left() / 2
	}
	if m.alone {
		room = w.Left()
		if err := m.settle(); err != nil {
			return err
		}
	}
	room = min(max(room, int64(m.first)), int64(out.Size))
	if row := min(m.row, int64(out.Size)); !m.single {
		// a row that is divided takes two requests
		room = max(room-room%row, row)
	}
	remote := w.Remote
	n, err := m.chainPieces(room)
	b := none
	if err == nil {
		b, err = m.o.Buffer()
	}
	if err != nil {
		w.Remote = remote
		m.chain.clear()
		return err
	}
	for i := range m.chain.data {
		m.chain.data[i].Addr += uint64(out.Addr(b))
	}
	p := posted{buffer: b, done: m.x.Done}
	if m.op == qp.Write {
		w.Local.Pack(out.Bytes(b)[:n])
	} else {
		p.read, m.o.q.into[b] = int32(n), w.Local
		w.Local.Skip(int64(n))
	}
	w.Moved(int64(n))
	return m.post(p)
}

// chainPieces makes requests for the next pieces of remote memory: n bytes, at most room. The
// addresses of their data are offsets in a buffer.
func (m *mover) chainPieces(room int64) (n int, err error) {
	m.pieces = m.walk.Remote.Pieces(m.pieces[:0], room)
	for _, c := range m.pieces {
		for c.Len > 0 {
			if err := m.reach(c.Addr); err != nil {
				return 0, err
			}
			k := min(c.Len, m.far.Hi-c.Addr)
			m.chain.add(m.op, c.Addr, m.far.Key, qp.Data{Addr: uint64(n),
				Bytes: uint32(k), Key: m.o.f.base.LocalKey(m.o.q.out.Key)}, 1)
			c.Addr, c.Len, n = c.Addr+k, c.Len-k, n+int(k)
		}
	}
	return n, nil
}

// flush posts the chain, if there is one.
func (m *mover) flush() error {
	if len(m.chain.requests) == 0 {
		return nil
	}
	return m.post(posted{buffer: none, done: m.x.Done})
}

// post posts the chain as p.
func (m *mover) post(p posted) error {
	err := m.o.ship(p, m.chain.requests, m.chain.data)
	m.chain.clear()
	return err
}
