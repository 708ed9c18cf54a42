// SPDX-License-Identifier: BSD-3-Clause

// Measuring the parameters of the cost model: on the first target whose transfer needs them, once in a process for puts and
// once for gets. Each protocol moves three patches of a scratch to the node's scratch, a few times; through the medians of
// the times goes the protocol's line. It takes as long as some hundred requests.
package internode

import (
	"errors"
	"slices"
	"time"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/log"
	"libarmci/internal/transport"
)

// patch is rows of the scratch.
type patch struct{ rows, row int }

var (
	patchesNIC  = [3]patch{{4, 64}, {64, 64}, {64, 4096}}
	patchesHost = [2]patch{{4, 64}, {64, 4096}} // the second in several messages, beside each other
)

// Before a protocol is measured it is used so often, or that long: a server that has just woken is slower than it will be.
const (
	warmRounds = 50
	warmTime   = 25 * time.Millisecond
)

// A patch is moved so often, the first time to warm up; shorter ones more often until some time is over.
const (
	leastRounds = 10
	mostRounds  = 20
	roundsTime  = 500 * time.Microsecond
)

// costs are the parameters that protocols of puts, or of gets, are chosen by. The caller has the lock.
func (g *target) costs(get bool) *costs {
	t := g.t
	have := func() bool { c := t.known.Load(); return c != nil && (c.measured[direction(get)]) }
	if !have() && t.measuring.TryLock() { // else it is another target's turn
		defer t.measuring.Unlock()
		if !have() {
			t.measure(g, get)
		}
	}
	if c := t.known.Load(); c != nil {
		return c
	}
	return &costs{Costs: t.direct.Costs()}
}

func direction(get bool) int {
	if get {
		return 1
	}
	return 0
}

// measure finds the parameters of one direction, and those that belong to both if nobody has; those that cannot be
// measured are as usual.
func (t *Transport) measure(g *target, get bool) {
	begin, c := time.Now(), costs{Costs: t.direct.Costs()}
	mine := t.scratch.open(t)
	if was := t.known.Load(); was != nil {
		c = *was
	} else if mine != 0 {
		c.Copy, c.Pin = t.measureHere(mine)
	}
	c.measured[direction(get)] = true
	if mine != 0 {
		if err := g.measure(&c, get, mine); err != nil {
			log.Infof("parameters of the cost model cannot be measured: %v", err)
		}
	}
	t.known.Store(&c)
	log.Infof("cost model, measured in %v: %v", time.Since(begin).Round(time.Microsecond), c)
}

// measure is the part that needs a target.
func (g *target) measure(c *costs, get bool, mine uintptr) error {
	list, err := g.askRanges(header{kind: kindScratch}, nil)
	if err != nil || len(list) == 0 {
		return err
	}
	g.keys.Add(list...)
	transfer := func(a patch) *transport.Xfer {
		return &transport.Xfer{Count: []int32{int32(a.row), int32(a.rows)},
			Local:  transport.Section{Base: mine, Stride: []int32{scratchStride}},
			Remote: transport.Section{Base: list[0].Lo, Stride: []int32{scratchStride}}}
	}
	sample := func(by string, patches []patch) (p []point) {
		for i, begin := 0, time.Now(); err == nil && i < warmRounds && time.Since(begin) < warmTime; i++ {
			err = g.once(transfer(patches[0]), get, by)
		}
		for _, a := range patches {
			at := point{each: float64(a.rows), bytes: float64(a.rows * a.row)}
			if err == nil {
				at.time, err = g.usually(transfer(a), get, by)
			}
			p = append(p, at)
		}
		return p
	}
	device, packed := &c.PutDirect, &c.PutPacked
	if get {
		device, packed = &c.GetDirect, &c.GetPacked
	}
	one := sample(byDevice, patchesNIC[:])
	if err != nil {
		return err
	}
	*device = fit(one)
	soFar := *c
	g.t.known.Store(&soFar) // packing has pieces by that
	all, pushed := sample(byPacking, patchesHost[:]), []point(nil)
	if get {
		pushed = sample(byTargetSide, patchesNIC[:])
	}
	if err != nil {
		return err
	}
	if *packed = fitBytes(all); get {
		c.GetPush = fit(pushed)
	}
	return nil
}

// usually is the median of the times in ns that a transfer has taken, until it had taken effect: where a processor is
// shared, the shortest says little of the next.
func (g *target) usually(x *transport.Xfer, get bool, by string) (ns float64, err error) {
	var times []time.Duration
	for i, all := 0, time.Now(); i < leastRounds || i < mostRounds && time.Since(all) < roundsTime; i++ {
		begin := time.Now()
		if err = g.once(x, get, by); err != nil {
			return 0, err
		}
		if i > 0 {
			times = append(times, time.Since(begin))
		}
	}
	slices.Sort(times)
	return float64(times[len(times)/2]), nil
}

// once moves a patch by a protocol, and returns when it has taken effect. The caller has the lock.
func (g *target) once(x *transport.Xfer, get bool, by string) error {
	f := transfer{x: x, h: header{kind: kindPut, rank: uint32(g.server)}}
	if get {
		f.h.kind = kindGet
	}
	f.begin()
	nbytes := x.Bytes()
	var r *request
	err := error(transport.ErrNotNative)
	if by != byPacking {
		r, err = g.directly(&f, nbytes, by)
	}
	if errors.Is(err, transport.ErrNotNative) {
		f.begin()
		r, err = g.byFramesFor(&f, nbytes, r)
	}
	if r != nil {
		r.Done(err)
		err = r.wait()
		g.release(r)
	}
	if err == nil && !get {
		err = g.settle()
	}
	return err
}

// measureHere is what needs no target: copying, and registering memory.
func (t *Transport) measureHere(mine uintptr) (copying, pin transport.Linear) {
	const half = scratchBytes / 2
	memory := unsafe.Slice((*byte)(kernel.Ptr(mine)), scratchBytes)
	least := func(what func()) float64 {
		best := time.Hour
		for range leastRounds {
			begin := time.Now()
			what()
			best = min(best, time.Since(begin))
		}
		return float64(best)
	}
	copying.Byte = max(least(func() { copy(memory[:half], memory[half:]) })/half, 0.001)
	register := func(n int64) float64 {
		return least(func() {
			if _, release, ok := t.direct.Lend(mine, mine+uintptr(n)); ok && release != nil {
				release()
			}
		})
	}
	const pages = scratchBytes / pageBytes
	one, all := register(pageBytes), register(scratchBytes)
	pin.Each = max((all-one)/(pages-1), 0)
	pin.Start = max(one-pin.Each, 0)
	return copying, pin
}
