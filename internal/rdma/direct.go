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
func (o *origin) Write(x *transport.Transfer) error { return o.direct.transfer(x, qp.Write) }

// Read reads remote memory.
func (o *origin) Read(x *transport.Transfer) error { return o.direct.transfer(x, qp.Read) }

// undivided is the length up to which a transfer is always one chunk.
const firstChunkBytes = 2 << 10

// mover makes the transfers of an origin, one at a time.
type directTransfer struct {
	origin     *origin
	x          *transport.Transfer
	op         uint8
	totalBytes int64
	contiguous bool  // it is contiguous
	rowBytes   int64 // bytes of a row at the target
	firstChunk int   // bytes of the first chunk that is copied
	// contiguous local memory of at least so many bytes is registered rather than copied
	lendFrom                int
	walk                    kernel.Walk
	localRange, remoteRange transport.Range // registered memory around the last local and remote address
	registrations           []*pin.Entry
	chain                   chain
	pieces                  []kernel.Piece // of remote memory, for one buffer
	singleRun               kernel.Run     // of a transfer by one request
	nextRun                 *kernel.Run    // the next run, if it may be registered
	registerNextRun         func()         // does that
	copied                  copyHistory
	oneAtATime              bool // forced: nothing happens here while something travels
	// forced: so much is registered next, while what comes before travels; 0: as much as there
	// is
	registerStep int
}

func (m *directTransfer) init(o *origin) {
	m.origin, m.pieces = o, make([]kernel.Piece, 0, chainLength)
	m.registerNextRun = func() { // while keys are asked for
		if m.nextRun != nil {
			m.lookUpLocal(m.nextRun)
		}
	}
}

// begin prepares a transfer.
func (m *directTransfer) prepare(x *transport.Transfer, op uint8) {
	m.x, m.op, m.totalBytes = x, op, x.Remote.Left()
	m.contiguous = x.Local.Contiguous() && x.Remote.Contiguous()
	m.rowBytes, m.firstChunk, m.lendFrom = m.totalBytes, cmp.Or(x.FirstChunk, firstChunkBytes),
		cmp.Or(x.LendFrom, registerBytes)
	if !m.contiguous {
		m.rowBytes = x.Remote.Row()
	}
	m.localRange, m.remoteRange, m.registrations = transport.Range{}, transport.Range{}, nil
	often := x.LendAfter > 0 && m.totalBytes >= registerAgainBytes &&
		m.copied.recordTransfer(x.Within.Lo, m.totalBytes, x.LendAfter)
	switch {
	case m.contiguous && (m.origin.fabric.cfg.Lends() || often):
		m.lendFrom = 1
	case often:
		m.registerSpan(x.Within)
	}
	m.applyForcedProtocol()
}

// move makes a transfer.
func (m *directTransfer) transfer(x *transport.Transfer, op uint8) error {
	o := m.origin
	o.queue.fast.Enter()
	defer o.queue.fast.Leave()
	m.prepare(x, op)
	done, err := m.transferSingle()
	if !done && err == nil {
		err = m.transferChained()
	}
	if m.registrations != nil {
		o.inflight.holdRegistrations(m.registrations)
	}
	m.x, m.nextRun = nil, nil
	return err
}

// one makes a transfer of one request: inline, from or to registered memory, or through a buffer.
// done is false if it takes more than that.
func (m *directTransfer) transferSingle() (done bool, err error) {
	local, ok := m.x.Local.One()
	remote, flat := m.x.Remote.One()
	n, out, o := int(m.totalBytes), m.origin.queue.sendBuffers, m.origin
	if !ok || !flat || n > maxRequestBytes {
		return false, nil
	}
	m.singleRun = kernel.Run{Local: local, Remote: remote, Bytes: n}
	m.nextRun = &m.singleRun
	if err = m.lookUpRemote(remote); err != nil || uintptr(n) > m.remoteRange.Hi-remote {
		return false, err
	}
	p := postedChain{buffer: noBuffer, done: m.x.Done}
	q := [1]qp.Request{{Remote: uint64(remote), Key: m.remoteRange.Key, Pieces: 1, Op: m.op}}
	d := [1]qp.Data{{Addr: uint64(local), Bytes: uint32(n)}}
	if m.op == qp.Write && n <= o.pair.Inline() && !o.fabric.cfg.Lends() {
		q[0].Flags = qp.Inline
		return true, o.postWhenRoom(p, q[:], d[:])
	}
	ok, err = m.lookUpLocal(m.nextRun)
	switch {
	case err != nil || ok && uintptr(n) > m.localRange.Hi-local || !ok && n > min(m.firstChunk, out.Size):
		return false, err
	case ok:
		d[0].Key = m.origin.fabric.device.LocalKey(m.localRange.Key)
		return true, o.postWhenRoom(p, q[:], d[:])
	}
	if p.buffer, err = o.Buffer(); err != nil {
		return false, err
	}
	if d[0] = o.Data(p.buffer, 0, n); m.op == qp.Write {
		kernel.Copy(unsafe.Pointer(&o.Bytes(p.buffer)[0]), kernel.Ptr(local), n)
	} else {
		p.readBytes, o.queue.readInto[p.buffer] = int32(n), *m.x.Local
	}
	return true, o.postWhenRoom(p, q[:], d[:])
}

// many makes a transfer of any number of requests.
func (m *directTransfer) transferChained() (err error) {
	m.walk.Set(m.x.Local, m.x.Remote, chainLength)
	m.nextRun = nil
	if m.registerStep > 0 {
		err = m.copyFirstChunk()
	}
	for most := chainLength; err == nil && m.walk.Left() > 0; {
		if m.x.Copied {
			err = m.postCopied()
		} else {
			most, err = m.appendRun(m.walk.Peek(most))
		}
	}
	if e := m.flushChain(); err == nil {
		err = e
	}
	return err
}

// next makes requests for a run, or, where local memory is not registered, for a chunk that goes
// through a buffer. most is how many runs the walk should list next.
func (m *directTransfer) appendRun(r *kernel.Run) (most int, err error) {
	m.nextRun = r
	if err = m.lookUpRemote(r.Remote); err != nil {
		return 0, err
	}
	ok, err := m.lookUpLocal(r)
	if err != nil {
		return 0, err
	}
	if !ok {
		m.nextRun = nil
		m.walk.Settle()
		return 1, m.postCopied()
	}
	if len(m.chain.requests) == chainLength {
		if err = m.flushChain(); err != nil {
			return 0, err
		}
	}
	n := int(min(uintptr(r.Bytes), m.remoteRange.Hi-r.Remote, m.localRange.Hi-r.Local, maxRequestBytes))
	m.chain.appendPiece(m.op, r.Remote, m.remoteRange.Key, qp.Data{Addr: uint64(r.Local), Bytes: uint32(n),
		Key: m.origin.fabric.device.LocalKey(m.localRange.Key)}, m.origin.maxPieces)
	m.walk.Advance(n)
	return chainLength, nil
}

// reach makes m.far the registered memory around a remote address.
func (m *directTransfer) lookUpRemote(remote uintptr) error {
	if remote-m.remoteRange.Lo < m.remoteRange.Hi-m.remoteRange.Lo {
		return nil
	}
	far, err := m.x.Key(remote, m.registerNextRun)
	if err != nil {
		return err
	}
	if !far.Direct {
		return transport.ErrNotNative
	}
	m.remoteRange = *far
	return nil
}

// stage makes requests for the next chunk, which goes through a buffer, and posts them. One chunk
// is copied while another one travels. So the first chunk of a write and the last one of a read are
// small, since nothing travels meanwhile. Keys are looked up before a buffer is taken: an owner of
// a buffer waits for nothing but completions.
func (m *directTransfer) postCopied() error {
	if err := m.flushChain(); err != nil {
		return err
	}
	w, out := &m.walk, m.origin.queue.sendBuffers
	room := m.totalBytes - w.Left() // a write's chunks grow, a read's shrink
	if m.op == qp.Read {
		room = w.Left() / 2
	}
	if m.oneAtATime {
		room = w.Left()
		if err := m.awaitPosted(); err != nil {
			return err
		}
	}
	room = min(max(room, int64(m.firstChunk)), int64(out.Size))
	if row := min(m.rowBytes, int64(out.Size)); !m.contiguous {
		// a row that is divided takes two requests
		room = max(room-room%row, row)
	}
	remote := w.Remote
	n, err := m.chainPieces(room)
	b := noBuffer
	if err == nil {
		b, err = m.origin.Buffer()
	}
	if err != nil {
		w.Remote = remote
		m.chain.reset()
		return err
	}
	for i := range m.chain.data {
		m.chain.data[i].Addr += uint64(out.Addr(b))
	}
	p := postedChain{buffer: b, done: m.x.Done}
	if m.op == qp.Write {
		w.Local.Pack(out.Bytes(b)[:n])
	} else {
		p.readBytes, m.origin.queue.readInto[b] = int32(n), w.Local
		w.Local.Skip(int64(n))
	}
	w.Moved(int64(n))
	return m.postAs(p)
}

// chainPieces makes requests for the next pieces of remote memory: n bytes, at most room. The
// addresses of their data are offsets in a buffer.
func (m *directTransfer) chainPieces(room int64) (n int, err error) {
	m.pieces = m.walk.Remote.Pieces(m.pieces[:0], room)
	for _, c := range m.pieces {
		for c.Len > 0 {
			if err := m.lookUpRemote(c.Addr); err != nil {
				return 0, err
			}
			k := min(c.Len, m.remoteRange.Hi-c.Addr)
			m.chain.appendPiece(m.op, c.Addr, m.remoteRange.Key, qp.Data{Addr: uint64(n),
				Bytes: uint32(k), Key: m.origin.fabric.device.LocalKey(m.origin.queue.sendBuffers.Key)}, 1)
			c.Addr, c.Len, n = c.Addr+k, c.Len-k, n+int(k)
		}
	}
	return n, nil
}

// flush posts the chain, if there is one.
func (m *directTransfer) flushChain() error {
	if len(m.chain.requests) == 0 {
		return nil
	}
	return m.postAs(postedChain{buffer: noBuffer, done: m.x.Done})
}

// post posts the chain as p.
func (m *directTransfer) postAs(p postedChain) error {
	err := m.origin.postWhenRoom(p, m.chain.requests, m.chain.data)
	m.chain.reset()
	return err
}
