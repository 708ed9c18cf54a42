// SPDX-License-Identifier: BSD-3-Clause

// Measuring the parameters of the cost model: on the first target whose transfer needs them, once
// in a process for puts and once for gets. Each protocol moves patches between the scratch memory
// of both sides, a few times, by turns; the protocol's line goes through their usual times. It
// takes as long as some hundred requests.
package internode

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/log"
	"libarmci/internal/transport"
)

const (
	warmRounds   = 50                    // a protocol is used so often before it is measured,
	warmTime     = 25 * time.Millisecond // or so long: a server that has just woken is slow at first
	rounds       = 15                    // then each patch is moved so often
	scratchRows  = 64
	stride       = pageBytes + 64 // rows of arrays are in pages of their own
	scratchBytes = scratchRows * stride
	never        = 1e9 // ns: registering memory that cannot be registered
)

// patch is rows of the scratch, and what it took to move them.
type patch struct {
	rows, row int32
	ns        float64
}

func (p *patch) bytes() float64 { return float64(p.rows) * float64(p.row) }

// fit is the line through three patches: few rows, many, and long ones. With as many in the first
// two, the costs of messages are part of the bytes'. No parameter is negative, whatever else the
// processor had to do meanwhile.
func fit(few, many, long patch) (l line) {
	l.byte = max((long.ns-many.ns)/(long.bytes()-many.bytes()), 0)
	if rows := float64(many.rows - few.rows); rows > 0 {
		l.each = max((many.ns-few.ns-l.byte*(many.bytes()-few.bytes()))/rows, 0)
	}
	l.start = max(few.ns-l.each*float64(few.rows)-l.byte*few.bytes(), 0)
	return l
}

// scratch is memory of a process that others may write to and read from as they like. No other's
// memory is touched to measure.
type scratch struct {
	once   sync.Once
	memory []byte
	lo     atomic.Uintptr // where it is; 0: there is none
	ranges []transport.Range
}

// openScratch lists the scratch and its keys; it makes it, once. There may be none. It is
// registered like the arena.
func (t *Transport) openScratch() []transport.Range {
	s := &t.scratch
	s.once.Do(func() {
		var err error
		if s.memory, err = unix.Mmap(-1, 0, scratchBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANON); err != nil {
			log.Infof("memory to measure with: %v", err)
			return
		}
		lo := addressOf(s.memory)
		list := slices.Clone(t.direct.Expose(lo, scratchBytes))
		if !slices.ContainsFunc(list, func(r transport.Range) bool { return !r.Direct }) {
			list[0].Lo, list[len(list)-1].Hi = lo, lo+scratchBytes
			s.ranges = list
			s.lo.Store(lo)
		}
	})
	return s.ranges
}

// holds tells whether memory is part of it.
func (s *scratch) holds(addr uintptr, n int64) bool {
	lo := s.lo.Load()
	return lo != 0 && addr >= lo && n >= 0 && n <= int64(lo)+scratchBytes-int64(addr)
}

// costs are the parameters that protocols of puts, or of gets, are chosen by. The caller has the
// lock.
func (g *target) costs(get bool) *costs {
	t := g.t
	if !t.costs.Load().direction(get).known && t.measuring.TryLock() { // else another target is measured
		defer t.measuring.Unlock()
		if c := *t.costs.Load(); !c.direction(get).known {
			begin := time.Now()
			if err := g.measure(&c, get); err != nil {
				log.Infof("the cost model cannot be measured: %v", err)
			}
			t.costs.Store(&c)
			log.Infof("cost model, measured in %v: %v", time.Since(begin).Round(time.Microsecond), &c)
		}
	}
	return t.costs.Load()
}

// measure finds the parameters of one direction, and those that belong to both if that has not been
// done.
func (g *target) measure(c *costs, get bool) error {
	t, d := g.t, c.direction(get)
	d.known = true // whatever happens
	here := t.openScratch()
	there, err := g.askRanges(0, nil)
	if err != nil || len(here) == 0 || len(there) == 0 {
		return errors.Join(err, errors.New("there is no memory to measure with"))
	}
	g.keys.Add(there...)
	if !c.direction(!get).known {
		t.measureHere(c)
	}
	few, many, long := patch{rows: 4, row: 64}, patch{rows: scratchRows, row: 64}, patch{rows: scratchRows, row: pageBytes}
	sample := func(by string, all ...patch) line {
		if e := g.sample(all, here[0].Lo, there[0].Lo, get, by); err == nil {
			err = e
		}
		return fit(all[0], all[1], all[2])
	}
	was := *d
	d.nic = sample(transport.ByDevice, few, many, long)
	soFar := *c
	t.costs.Store(&soFar) // packing has pieces by that
	d.host = sample(transport.ByPacking, few, few, long)
	if get {
		d.push = sample(transport.ByTargetSide, few, many, long)
	}
	if err != nil {
		*d = was
		err = fmt.Errorf("rank %d: %w", g.server, err)
	}
	return err
}

// sample finds the usual times of patches by a protocol. They take turns, so that what else the
// machine does hits all of them. The first is moved until the thread that has slept is awake. The
// caller has the lock.
func (g *target) sample(all []patch, here, there uintptr, get bool, by string) (err error) {
	once := make([]func(), len(all))
	for i, p := range all {
		x := transport.Xfer{Count: []int32{p.row, p.rows}, Local: transport.Section{Base: here, Stride: []int32{stride}},
			Remote: transport.Section{Base: there, Stride: []int32{stride}}}
		once[i] = func() {
			if err == nil {
				err = g.once(&x, get, by)
			}
		}
	}
	for n, begin := 0, time.Now(); n < warmRounds && time.Since(begin) < warmTime; n++ {
		once[0]()
	}
	for i, ns := range usual(once...) {
		all[i].ns = ns
	}
	return err
}

// usual is what some things take, in ns, done by turns: of each the lower quartile. Where a
// processor is shared, the shortest says little of the next, and the median much of what else
// happened to run.
func usual(what ...func()) []float64 {
	times := make([][rounds]time.Duration, len(what))
	for k := range rounds {
		for i, do := range what {
			begin := time.Now()
			do()
			times[i][k] = time.Since(begin)
		}
	}
	ns := make([]float64, len(what))
	for i := range times {
		slices.Sort(times[i][:])
		ns[i] = float64(times[i][rounds/4])
	}
	return ns
}

// once moves a patch by a protocol, and returns when it has taken effect. The caller has the lock.
func (g *target) once(x *transport.Xfer, get bool, by string) error {
	kind := kindPut
	if get {
		kind = kindGet
	}
	f := new(transfer)
	f.set(x, kind, g.server, transport.Scale{})
	f.begin()
	r, err := g.carryBy(f, x.Bytes(), by)
	if r != nil {
		r.finish(err)
		_, err = r.wait()
	}
	if err != nil || get {
		return err
	}
	if err = g.settle(); err == nil {
		writes := g.direct.Mark()
		err = g.await(func() bool { return g.direct.Reached(writes) })
	}
	return err
}

// measureHere is what needs no target: copying, and registering memory, which the scratch is
// already.
func (t *Transport) measureHere(c *costs) {
	const half, pages = scratchBytes / 2, scratchBytes / pageBytes
	memory := t.scratch.memory
	c.copy.byte = max(usual(func() { copy(memory[:half], memory[half:]) })[0]/half, 0.001)
	c.pin = line{start: never}
	foreign, err := unix.Mmap(-1, 0, scratchBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_POPULATE)
	if err != nil {
		return
	}
	defer unix.Munmap(foreign)
	refused := false
	register := func(n uintptr) func() {
		lo := addressOf(foreign)
		return func() {
			_, release, ok := t.direct.Lend(lo, lo+n)
			if refused = refused || !ok; ok {
				release()
			}
		}
	}
	if ns := usual(register(pageBytes), register(scratchBytes)); !refused {
		c.pin.each = max((ns[1]-ns[0])/(pages-1), 0)
		c.pin.start = max(ns[0]-c.pin.each, 0)
	}
}
