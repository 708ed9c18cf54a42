// SPDX-License-Identifier: BSD-3-Clause

// DirectFabric and DirectEndpoint: keys, transfers and atomics by the device (device.go).
package pipe

import (
	"slices"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

type directFabric struct{ *fabric }

// Expose lists ranges, each with a key of its own. Memory is divided at multiples of Options.Range.
func (f *directFabric) Expose(lo uintptr, n int64) (all []transport.Range) {
	f.net.mu.Lock()
	defer f.net.mu.Unlock()
	for hi := lo + uintptr(n); lo < hi; {
		r := f.rangeAt(lo, hi)
		all = append(all, r)
		lo = r.Hi
	}
	return all
}

// rangeAt is the range around lo; a new one ends at hi at most. The caller has the net's lock.
func (f *directFabric) rangeAt(lo, hi uintptr) transport.Range {
	net := f.net
	number := lo / net.opts.Range
	r := transport.Range{Lo: lo, Hi: min(hi, (number+1)*net.opts.Range)}
	for _, have := range f.exposed {
		if lo >= have.Lo && lo < have.Hi {
			return have
		}
		if have.Lo > lo {
			r.Hi = min(r.Hi, have.Lo)
		}
	}
	if r.Direct = net.opts.Holes == 0 || int(number)%net.opts.Holes != 0; r.Direct {
		r.Key = net.newKey(region{f.fabric, r.Lo, r.Hi})
	}
	f.exposed = append(f.exposed, r)
	return r
}

// newKey opens memory. The caller has the net's lock.
func (n *Net) newKey(r region) uint64 {
	n.lastKey += 1 + uint64(n.rnd.IntN(1000))
	n.keys[n.lastKey] = r
	return n.lastKey
}

// Here is memory of an allocation of the node.
func (f *directFabric) Here(addr uintptr) *transport.Range {
	lo, n := f.cfg.Node.Extent(addr)
	if n == 0 {
		return nil
	}
	for _, r := range f.Expose(lo, n) {
		if r.Direct && addr >= r.Lo && addr < r.Hi {
			return &r
		}
	}
	return nil
}

func (f *directFabric) Lend(lo, hi uintptr) (key uint64, release func(), ok bool) {
	f.net.mu.Lock()
	defer f.net.mu.Unlock()
	if f.net.opts.NoLend {
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
	return f.Lend(lo, hi)
}

func (f *directFabric) Atomics() bool { return f.net.opts.Atomics }

type directEnd struct{ *end }

func (e *directEnd) Write(x *transport.Transfer) error { return e.move(x, true) }

func (e *directEnd) Read(x *transport.Transfer) error { return e.move(x, false) }

// plan lists the pieces of a transfer. Nothing has happened if some memory has no key.
func plan(x *transport.Transfer) (pieces []piece, err error) {
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

// move posts a transfer, a request for some of its pieces each.
func (e *directEnd) move(x *transport.Transfer, write bool) error {
	pieces, err := plan(x)
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
	if err := e.usable(); err != nil {
		return err
	}
	if write {
		e.mark++
	}
	for len(pieces) > 0 {
		n := 1 + net.rnd.IntN(len(pieces))
		e.transfer(x.Done, pieces[:n:n], write)
		pieces = pieces[n:]
	}
	return nil
}

// transfer posts one request of a transfer. The caller has the net's lock.
func (e *directEnd) transfer(done transport.Completion, pieces []piece, write bool) {
	if done != nil {
		done.Add(1)
	}
	mark := uint64(0)
	if write {
		mark = e.mark
		e.writes, e.going = append(e.writes, mark), append(e.going, mark)
		e.owed++ // of no meaning at the origin's end
	}
	e.fabric.submit(&request{e: e.end, pieces: pieces, mark: mark, act: func() {
		for i := range pieces {
			pieces[i].copy(write)
		}
	}, tell: func(err error) {
		if write {
			e.written(mark)
		}
		if done != nil {
			done.Done(err)
		}
	}})
}

// written: a request of a Write is complete.
func (e *end) written(mark uint64) {
	e.conn.net.mu.Lock()
	defer e.conn.net.mu.Unlock()
	i := slices.Index(e.writes, mark)
	e.writes = slices.Delete(e.writes, i, i+1)
	e.owed--
}

func (e *directEnd) Mark() uint64 {
	e.conn.net.mu.Lock()
	defer e.conn.net.mu.Unlock()
	return e.mark
}

func (e *directEnd) Reached(mark uint64) bool {
	e.conn.net.mu.Lock()
	defer e.conn.net.mu.Unlock()
	return !upTo(e.writes, mark)
}

// upTo tells whether one of some Writes is not later than a mark.
func upTo(writes []uint64, mark uint64) bool {
	return slices.ContainsFunc(writes, func(m uint64) bool { return m <= mark })
}

// Atomic waits for the device.
func (e *directEnd) Atomic(op transport.AtomicOp, addr uintptr, key uint64, operand,
	compare int64) (old int64, err error) {
	net := e.conn.net
	net.mu.Lock()
	if err := e.usable(); err != nil {
		net.mu.Unlock()
		return 0, err
	}
	told := false
	e.fabric.submit(&request{e: e.end, pieces: []piece{{remote: addr, n: 8, key: key}},
		act: func() { old = change(op, addr, operand, compare) },
		tell: func(failed error) {
			net.mu.Lock()
			defer net.mu.Unlock()
			told, err = true, failed
		}})
	net.mu.Unlock()
	e.fabric.cfg.Await(e, func() bool {
		net.mu.Lock()
		defer net.mu.Unlock()
		return told
	})
	return old, err
}

// Requests counts runs.
func (e *directEnd) Requests(local, remote *kernel.Cursor) (n int64) {
	var buf [16]kernel.Run
	for l, r := *local, *remote; l.Left() > 0; {
		n += int64(len(kernel.Runs(&l, &r, buf[:0], 1<<20)))
	}
	return n
}

var (
	_ transport.DirectFabric   = (*directFabric)(nil)
	_ transport.DirectEndpoint = (*directEnd)(nil)
)
