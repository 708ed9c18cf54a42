// SPDX-License-Identifier: BSD-3-Clause

// Transfers by the origin's device alone: RDMA writes and reads. The device uses registered local
// memory in place (local.go); other memory goes through send buffers, one of which is copied while
// others are in flight. Rows are chained: one call of the device and one completion for many.
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

// firstChunkBytes is the length up to which a transfer is always one chunk.
const firstChunkBytes = 2 << 10

// directTransfer makes the transfers of an origin, one at a time.
type directTransfer struct {
	origin        *origin
	xfer          *transport.Transfer // the current one, else nil
	op            uint8               // qp.Write or qp.Read
	plan          transferPlan
	walk          kernel.Walk
	localRange    transport.Range  // registered memory around the last local address
	remoteRange   transport.Range  // registered memory around the last remote address
	registrations []*pin.Entry     // of local memory, to be released when all is complete
	chain         chain            // requests that are not posted yet
	pieces        []kernel.Segment // of remote memory, for one buffer
	singleRun     kernel.Run       // of a transfer by one request
	// nextRun is the next run, if its local memory may be registered; registerNextRun does that
	// while the transfer waits for remote keys.
	nextRun         *kernel.Run
	registerNextRun func()
	copied          copyHistory
}

// transferPlan is what prepare decides about a transfer.
type transferPlan struct {
	bytes        int64
	contiguous   bool
	rowBytes     int64 // of a row of remote memory
	firstChunk   int   // bytes of the first chunk that goes through a buffer
	registerFrom int   // runs of at least so many bytes are registered rather than copied
	// Of forced protocols. oneAtATime: local memory is copied or registered only while nothing
	// is in flight. registerStep: bytes that are registered next, while earlier ones are in
	// flight; 0: all of a run at once.
	oneAtATime   bool
	registerStep int
}

// init prepares for the first transfer of an origin.
func (m *directTransfer) init(o *origin) {
	m.origin, m.pieces = o, make([]kernel.Segment, 0, chainLength)
	m.registerNextRun = func() {
		if m.nextRun != nil {
			m.lookUpLocal(m.nextRun)
		}
	}
}

// prepare decides how a transfer is made, and registers local memory that has been copied often.
// The caller releases m.registrations when the transfer is over.
func (m *directTransfer) prepare(x *transport.Transfer, op uint8) {
	m.xfer, m.op, m.plan.bytes = x, op, x.Remote.Left()
	m.plan.contiguous = x.Local.Contiguous() && x.Remote.Contiguous()
	m.plan.rowBytes, m.plan.firstChunk = m.plan.bytes, cmp.Or(x.FirstChunk, firstChunkBytes)
	m.plan.registerFrom = cmp.Or(x.LendFrom, registerBytes)
	if !m.plan.contiguous {
		m.plan.rowBytes = x.Remote.Row()
	}
	m.localRange, m.remoteRange, m.registrations = transport.Range{}, transport.Range{}, nil
	often := x.LendAfter > 0 && m.plan.bytes >= registerAgainBytes &&
		m.copied.recordTransfer(x.Within.Lo, m.plan.bytes, x.LendAfter)
	switch {
	case m.plan.contiguous && (m.origin.fabric.cfg.Lends() || often):
		m.plan.registerFrom = 1
	case often:
		m.registerSpan(x.Within)
	}
	m.applyForcedProtocol()
}

// transfer makes a transfer, and returns when all its requests are posted. The transfer's Done is
// called when they are complete. It blocks while there is no room.
func (m *directTransfer) transfer(x *transport.Transfer, op uint8) error {
	o := m.origin
	o.queue.fast.AcquireQueues()
	defer o.queue.fast.ReleaseQueues()
	m.prepare(x, op)
	done, err := m.transferSingle()
	if !done && err == nil {
		err = m.transferChained()
	}
	if m.registrations != nil {
		o.inflight.holdRegistrations(m.registrations)
	}
	m.xfer, m.nextRun = nil, nil
	return err
}

// transferSingle makes a transfer of one request: inline, from or to registered memory, or through
// a buffer. done is false if it takes more than that.
func (m *directTransfer) transferSingle() (done bool, err error) {
	local, ok := m.xfer.Local.One()
	remote, flat := m.xfer.Remote.One()
	n, out, o := int(m.plan.bytes), m.origin.queue.sendBuffers, m.origin
	if !ok || !flat || n > maxRequestBytes {
		return false, nil
	}
	m.singleRun = kernel.Run{Local: local, Remote: remote, Bytes: n}
	m.nextRun = &m.singleRun
	if err = m.lookUpRemote(remote); err != nil || uintptr(n) > m.remoteRange.Hi-remote {
		return false, err
	}
	p := postedChain{buffer: noBuffer, done: m.xfer.Done}
	requests := [1]qp.Request{{Remote: uint64(remote), Key: m.remoteRange.Key, Pieces: 1,
		Op: m.op}}
	data := [1]qp.Data{{Addr: uint64(local), Bytes: uint32(n)}}
	if m.op == qp.Write && n <= o.pair.Inline() && !o.fabric.cfg.Lends() {
		requests[0].Flags = qp.Inline
		return true, o.postWhenRoom(p, requests[:], data[:])
	}
	ok, err = m.lookUpLocal(m.nextRun)
	switch {
	case err != nil || ok && uintptr(n) > m.localRange.Hi-local ||
		!ok && n > min(m.plan.firstChunk, out.Size):
		return false, err
	case ok:
		data[0].Key = m.origin.fabric.device.LocalKey(m.localRange.Key)
		return true, o.postWhenRoom(p, requests[:], data[:])
	}
	if p.buffer, err = o.TakeBuffer(); err != nil {
		return false, err
	}
	if data[0] = o.BufferPiece(p.buffer, 0, n); m.op == qp.Write {
		kernel.Copy(unsafe.Pointer(&o.BufferBytes(p.buffer)[0]), kernel.Ptr(local), n)
	} else {
		p.readBytes, o.queue.readInto[p.buffer] = int32(n), *m.xfer.Local
	}
	return true, o.postWhenRoom(p, requests[:], data[:])
}

// transferChained makes a transfer of any number of requests, in chains. The caller has prepared
// the transfer, holds the queues, and keeps the registrations until all that was posted has
// completed, also after an error.
func (m *directTransfer) transferChained() (err error) {
	m.walk.Set(m.xfer.Local, m.xfer.Remote, chainLength)
	m.nextRun = nil
	if m.plan.registerStep > 0 {
		err = m.copyFirstChunk()
	}
	for most := chainLength; err == nil && m.walk.Left() > 0; {
		if m.xfer.Copied {
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

// appendRun appends requests for a run to the chain, or, where local memory is not registered,
// posts a chunk that goes through a buffer. most is how many runs the walk should list next.
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
	n := int(min(uintptr(r.Bytes), m.remoteRange.Hi-r.Remote, m.localRange.Hi-r.Local,
		maxRequestBytes))
	d := qp.Data{Addr: uint64(r.Local), Bytes: uint32(n),
		Key: m.origin.fabric.device.LocalKey(m.localRange.Key)}
	m.chain.appendPiece(m.op, r.Remote, m.remoteRange.Key, d, m.origin.limits.pieces)
	m.walk.Advance(n)
	return chainLength, nil
}

// lookUpRemote makes remoteRange the registered memory around a remote address. It may wait for a
// key.
func (m *directTransfer) lookUpRemote(remote uintptr) error {
	if remote-m.remoteRange.Lo < m.remoteRange.Hi-m.remoteRange.Lo {
		return nil
	}
	far, err := m.xfer.Key(remote, m.registerNextRun)
	if err != nil {
		return err
	}
	if !far.Direct {
		return transport.ErrNotNative
	}
	m.remoteRange = *far
	return nil
}

// postCopied posts requests for the next chunk, which goes through a buffer. One chunk is copied
// while another one is in flight. So the first chunk of a write and the last one of a read are
// small, since nothing is in flight meanwhile. Keys are looked up before a buffer is taken: an
// owner of a buffer waits for nothing but completions.
func (m *directTransfer) postCopied() error {
	if err := m.flushChain(); err != nil {
		return err
	}
	w, out := &m.walk, m.origin.queue.sendBuffers
	room := m.plan.bytes - w.Left() // a write's chunks grow, a read's shrink
	if m.op == qp.Read {
		room = w.Left() / 2
	}
	if m.plan.oneAtATime {
		room = w.Left()
		if err := m.awaitPosted(); err != nil {
			return err
		}
	}
	room = min(max(room, int64(m.plan.firstChunk)), int64(out.Size))
	if row := min(m.plan.rowBytes, int64(out.Size)); !m.plan.contiguous {
		// a row that is divided takes two requests
		room = max(room-room%row, row)
	}
	remote := w.Remote
	n, err := m.chainPieces(room)
	b := noBuffer
	if err == nil {
		b, err = m.origin.TakeBuffer()
	}
	if err != nil {
		w.Remote = remote
		m.chain.reset()
		return err
	}
	for i := range m.chain.data {
		m.chain.data[i].Addr += uint64(out.Addr(b))
	}
	p := postedChain{buffer: b, done: m.xfer.Done}
	if m.op == qp.Write {
		w.Local.Pack(out.Bytes(b)[:n])
	} else {
		p.readBytes, m.origin.queue.readInto[b] = int32(n), w.Local
		w.Local.Skip(int64(n))
	}
	w.Moved(int64(n))
	return m.postAs(p)
}

// chainPieces appends requests for the next pieces of remote memory: n bytes, at most room. The
// addresses of their data are offsets in a buffer, to which the caller adds the buffer's.
func (m *directTransfer) chainPieces(room int64) (n int, err error) {
	key := m.origin.fabric.device.LocalKey(m.origin.queue.sendBuffers.Key)
	m.pieces = m.walk.Remote.Pieces(m.pieces[:0], room)
	for _, c := range m.pieces {
		for c.Bytes > 0 {
			if err := m.lookUpRemote(c.Addr); err != nil {
				return 0, err
			}
			k := min(c.Bytes, int64(m.remoteRange.Hi-c.Addr))
			d := qp.Data{Addr: uint64(n), Bytes: uint32(k), Key: key}
			m.chain.appendPiece(m.op, c.Addr, m.remoteRange.Key, d, 1)
			c.Addr, c.Bytes, n = c.Addr+uintptr(k), c.Bytes-k, n+int(k)
		}
	}
	return n, nil
}

// flushChain posts the chain, if it has requests.
func (m *directTransfer) flushChain() error {
	if len(m.chain.requests) == 0 {
		return nil
	}
	return m.postAs(postedChain{buffer: noBuffer, done: m.xfer.Done})
}

// postAs posts the chain as p, and begins another one.
func (m *directTransfer) postAs(p postedChain) error {
	err := m.origin.postWhenRoom(p, m.chain.requests, m.chain.data)
	m.chain.reset()
	return err
}
