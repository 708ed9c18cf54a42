// SPDX-License-Identifier: BSD-3-Clause

// DirectFabric and DirectEndpoint: keys, transfers and atomics by the device (device.go).
package pipe

import (
	"slices"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// directFabric is a fabric with a device.
type directFabric struct{ *fabric }

// RegisterForPeers lists ranges, each with a key of its own. Memory is divided at multiples of
// KeyOptions.Range.
func (f *directFabric) RegisterForPeers(lo uintptr, n int64) (ranges []transport.Range) {
	f.net.mu.Lock()
	defer f.net.mu.Unlock()
	for hi := lo + uintptr(n); lo < hi; {
		r := f.rangeAt(lo, hi)
		ranges = append(ranges, r)
		lo = r.Hi
	}
	return ranges
}

// rangeAt returns the range around lo, and makes one if there is none; that ends at hi at most. The
// caller holds the net's lock.
func (f *directFabric) rangeAt(lo, hi uintptr) transport.Range {
	net, opts := f.net, &f.net.opts.Keys
	number := lo / opts.Range
	r := transport.Range{Lo: lo, Hi: min(hi, (number+1)*opts.Range)}
	for _, known := range f.exposed {
		if lo >= known.Lo && lo < known.Hi {
			return known
		}
		if known.Lo > lo {
			r.Hi = min(r.Hi, known.Lo)
		}
	}
	if r.Direct = opts.Holes == 0 || int(number)%opts.Holes != 0; r.Direct {
		r.Key = net.newKey(region{f.fabric, r.Lo, r.Hi})
	}
	f.exposed = append(f.exposed, r)
	return r
}

// newKey makes a key for memory. The caller holds the net's lock.
func (n *Net) newKey(r region) uint64 {
	n.lastKey += 1 + uint64(n.rnd.IntN(1000))
	n.keys[n.lastKey] = r
	return n.lastKey
}

// LocalRange exposes the whole allocation around addr.
func (f *directFabric) LocalRange(addr uintptr) *transport.Range {
	lo, n := f.cfg.Node.RegionAt(addr)
	if n == 0 {
		return nil
	}
	for _, r := range f.RegisterForPeers(lo, n) {
		if r.Direct && addr >= r.Lo && addr < r.Hi {
			return &r
		}
	}
	return nil
}

// RegisterTemporarily makes a key for [lo, hi), which release removes.
func (f *directFabric) RegisterTemporarily(lo, hi uintptr) (key uint64, release func(), ok bool) {
	f.net.mu.Lock()
	defer f.net.mu.Unlock()
	if f.net.opts.Keys.NoLend {
		return 0, nil, false
	}
	key = f.net.newKey(region{f.fabric, lo, hi})
	return key, func() {
		f.net.mu.Lock()
		defer f.net.mu.Unlock()
		delete(f.net.keys, key)
	}, true
}

func (f *directFabric) Share(lo, hi uintptr) (key uint64, release func(), ok bool) {
	return f.RegisterTemporarily(lo, hi)
}

func (f *directFabric) Atomics() bool { return f.net.opts.Atomics }

// directEndpoint is an end of a connection of a directFabric.
type directEndpoint struct{ *endpoint }

func (e *directEndpoint) Write(x *transport.Transfer) error { return e.postTransfer(x, true) }

func (e *directEndpoint) Read(x *transport.Transfer) error { return e.postTransfer(x, false) }

// piecesOf lists the pieces of a transfer, with their keys. It fails if some memory has no key.
func piecesOf(x *transport.Transfer) (pieces []piece, err error) {
	local, remote := *x.Local, *x.Remote
	var buf [16]kernel.Run
	for local.Left() > 0 {
		for _, run := range kernel.Runs(&local, &remote, buf[:0], 1<<20) {
			for run.Bytes > 0 {
				r, err := x.Key(run.Remote, func() {})
				if err != nil {
					return nil, err
				}
				n := int(min(uintptr(run.Bytes), r.Hi-run.Remote))
				pieces = append(pieces, piece{local: run.Local, remote: run.Remote,
					n: n, key: r.Key})
				run.Local, run.Remote, run.Bytes = run.Local+uintptr(n),
					run.Remote+uintptr(n), run.Bytes-n
			}
		}
	}
	return pieces, nil
}

// postTransfer posts a transfer: requests for a random number of its pieces each.
func (e *directEndpoint) postTransfer(x *transport.Transfer, write bool) error {
	pieces, err := piecesOf(x)
	if err != nil || len(pieces) == 0 {
		return err
	}
	for i := range pieces {
		if p := &pieces[i]; write && x.Copied {
			p.data = make([]byte, p.n)
			kernel.Copy(unsafe.Pointer(&p.data[0]), kernel.Ptr(p.local), p.n)
		}
	}
	net := e.conn.net
	net.mu.Lock()
	defer net.mu.Unlock()
	if err := e.sendError(); err != nil {
		return err
	}
	if write {
		e.writes.lastMark++
	}
	for len(pieces) > 0 {
		n := 1 + net.rnd.IntN(len(pieces))
		e.postRequest(x.Done, pieces[:n:n], write)
		pieces = pieces[n:]
	}
	return nil
}

// postRequest posts one request of a transfer. The caller holds the net's lock.
func (e *directEndpoint) postRequest(done transport.Completion, pieces []piece, write bool) {
	if done != nil {
		done.AddParts(1)
	}
	mark, writes := uint64(0), &e.writes
	if write {
		mark = writes.lastMark
		writes.incomplete = append(writes.incomplete, mark)
		writes.pending = append(writes.pending, mark)
		e.outgoing.blocking++ // the origin's end does not use it
	}
	e.fabric.submit(&request{e: e.endpoint, pieces: pieces, mark: mark, execute: func() {
		for i := range pieces {
			pieces[i].copy(write)
		}
	}, report: func(err error) {
		if write && err == nil { // else it never takes effect
			e.completeWrite(mark)
		}
		if done != nil {
			done.CompletePart(err)
		}
	}})
}

// completeWrite records that one request of a Write is complete.
func (e *endpoint) completeWrite(mark uint64) {
	e.conn.net.mu.Lock()
	defer e.conn.net.mu.Unlock()
	i := slices.Index(e.writes.incomplete, mark)
	e.writes.incomplete = slices.Delete(e.writes.incomplete, i, i+1)
	e.outgoing.blocking--
}

func (e *directEndpoint) Mark() uint64 {
	e.conn.net.mu.Lock()
	defer e.conn.net.mu.Unlock()
	return e.writes.lastMark
}

func (e *directEndpoint) Reached(mark uint64) bool {
	e.conn.net.mu.Lock()
	defer e.conn.net.mu.Unlock()
	return e.state == endClosed || !reachesMark(e.writes.incomplete, mark)
}

// reachesMark tells whether one of the marks is not later than the given one.
func reachesMark(marks []uint64, mark uint64) bool {
	return slices.ContainsFunc(marks, func(m uint64) bool { return m <= mark })
}

// Atomic posts a request and waits for its completion.
func (e *directEndpoint) Atomic(op transport.AtomicOp, addr uintptr, key uint64, operand,
	compare int64) (old int64, err error) {
	net := e.conn.net
	net.mu.Lock()
	if err := e.sendError(); err != nil {
		net.mu.Unlock()
		return 0, err
	}
	reported := false
	e.fabric.submit(&request{e: e.endpoint, pieces: []piece{{remote: addr, n: 8, key: key}},
		execute: func() { old = changeWord(op, addr, operand, compare) },
		report: func(failed error) {
			net.mu.Lock()
			defer net.mu.Unlock()
			reported, err = true, failed
		}})
	net.mu.Unlock()
	e.fabric.cfg.Await(e, func() bool {
		net.mu.Lock()
		defer net.mu.Unlock()
		return reported
	})
	return old, err
}

// Requests counts the runs, as many as postTransfer would have pieces in one range.
func (e *directEndpoint) Requests(local, remote *kernel.Cursor) (n int64) {
	var buf [16]kernel.Run
	for l, r := *local, *remote; l.Left() > 0; {
		n += int64(len(kernel.Runs(&l, &r, buf[:0], 1<<20)))
	}
	return n
}

var (
	_ transport.DirectFabric   = (*directFabric)(nil)
	_ transport.DirectEndpoint = (*directEndpoint)(nil)
)
