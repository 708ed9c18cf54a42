// SPDX-License-Identifier: BSD-3-Clause

// Measuring the parameters of the cost model: on the first wire whose transfer needs them, once in a process. Each
// protocol moves three patches of a scratch to the node's scratch, a few times; through the shortest times goes the
// protocol's line. It takes as long as some hundred requests.
package rdma

import (
	"time"

	"libarmci/internal/log"
	"libarmci/internal/transport"
)

// patch is rows of the scratch, and the requests or messages that move them.
type patch struct{ rows, row, each int }

var (
	patchesNIC  = [3]patch{{4, 64, 4}, {32, 64, 32}, {32, 1024, 32}}
	patchesHost = [3]patch{{4, 64, 1}, {15, 1024, 1}, {60, 1024, 4}}
)

const rounds = 4 // the first warms up

// costs are the parameters that protocols are chosen by. The caller has the lock.
func (w *wire) costs() *costs {
	t := w.t
	if c := t.known.Load(); c != nil {
		return c
	}
	if !t.measuring.TryLock() {
		return &usual // another wire's turn
	}
	defer t.measuring.Unlock()
	if t.known.Load() == nil {
		begin := time.Now()
		c, err := w.measure()
		if err != nil {
			log.Infof("parameters of the cost model cannot be measured: %v", err)
			c = usual
		}
		t.known.Store(&c)
		log.Infof("cost model of RDMA, measured in %v: %v", time.Since(begin).Round(time.Microsecond), c)
	}
	return t.known.Load()
}

// measure finds them; those that cannot be measured are as usual.
func (w *wire) measure() (costs, error) {
	c := usual
	mine := w.t.scratch.open(w.t.arena)
	if mine == 0 {
		return c, nil
	}
	list, err := w.pieces(&header{kind: kindScratch})
	if err != nil || len(list) != 1 {
		return c, err
	}
	w.keys.add(list[0])
	c.copy, c.pin = w.t.measureHere(mine)
	for _, l := range []struct {
		to      *linear
		get     bool
		by      string
		patches [3]patch
	}{{&c.putNIC, false, nic, patchesNIC}, {&c.putHost, false, host, patchesHost}, {&c.getNIC, true, nic, patchesNIC},
		{&c.getHost, true, host, patchesHost}, {&c.getPush, true, push, patchesNIC}} {
		var p [3]point
		for i, a := range l.patches {
			p[i] = point{float64(a.each), float64(a.rows * a.row), 0}
			x := &transport.Xfer{Known: true, Count: []int32{int32(a.row), int32(a.rows)},
				Local:  transport.Section{Base: mine, Stride: []int32{scratchStride}},
				Remote: transport.Section{Base: list[0].lo, Stride: []int32{scratchStride}}}
			if p[i].time, err = w.shortest(x, l.get, l.by); err != nil {
				return usual, err
			}
		}
		*l.to = fit(p)
	}
	return c, nil
}

// shortest is the least time in ns that a transfer has taken, until it had taken effect.
func (w *wire) shortest(x *transport.Xfer, get bool, by string) (ns float64, err error) {
	for i := range rounds {
		begin := time.Now()
		o := newOp(x)
		if get {
			err = w.readBy(x, header{kind: kindGet, rank: uint32(w.server)}, o, by)
		} else if err = w.writeBy(x, header{kind: kindPut, rank: uint32(w.server)}, o, false, by); err == nil {
			err = w.settle()
		}
		o.part(err)
		if w.c.await(o.ended.Load); o.err != nil {
			return 0, o.err
		}
		if took := float64(time.Since(begin)); i == 1 || i > 1 && took < ns {
			ns = took
		}
	}
	return ns, nil
}

// measureHere is what needs no wire: copying, and registering memory.
func (t *Transport) measureHere(mine uintptr) (copying, pin linear) {
	const half = scratchBytes / 2
	memory := memory(mine, scratchBytes)
	least := func(what func()) float64 {
		best := time.Hour
		for range rounds {
			begin := time.Now()
			what()
			best = min(best, time.Since(begin))
		}
		return float64(best)
	}
	copying.byte = max(least(func() { copy(memory[:half], memory[half:]) })/half, 0.001)
	register := func(n int64) float64 {
		return least(func() {
			if r, err := t.arena.domain.Register(mine, n, false); err == nil {
				r.Close()
			}
		})
	}
	const pages = scratchBytes / pageBytes
	one, all := register(pageBytes), register(scratchBytes)
	pin.each = max((all-one)/(pages-1), 0)
	pin.start = max(one-pin.each, 0)
	return copying, pin
}
