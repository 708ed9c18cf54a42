// SPDX-License-Identifier: BSD-3-Clause

// Measuring the parameters of the cost model: on the first target whose transfer needs them, once
// in a process for puts and once for gets. Each protocol moves patches between the scratch memory
// of both sides, a few times, by turns, until their usual times agree with those before; the
// protocol's line goes through them. What C does is measured in C. It takes as long as some hundred
// requests, and a few naps of the target's server.
package internode

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/log"
	"libarmci/internal/transport"
)

const (
	warmRounds = 50 // a protocol is used so often before it is measured,
	// or so long: a server that has just woken is slow at first
	warmTime     = 25 * time.Millisecond
	rounds       = 15 // then each patch is moved so often,
	mostSeries   = 8  // and again, until two series agree
	agreement    = 0.05
	naps         = 5                // of the server; one takes
	nap          = time.Millisecond // so long; no server looks for messages longer
	shareAwake   = 6                // of a message's time, or less, if the server is awake
	longRow      = 1 << 10
	mostMeasured = 3                     // times: again if the target's server was slow,
	doubt        = 50 * time.Millisecond // later: it may have found its own core
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
		if s.memory, err = unix.Mmap(-1, 0, scratchBytes, unix.PROT_READ|unix.PROT_WRITE,
			unix.MAP_SHARED|unix.MAP_ANON); err != nil {
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
	c := t.costs.Load()
	if c.direction(get).basis == settled || !t.measuring.TryLock() {
		return c // another target is measured
	}
	defer t.measuring.Unlock()
	i := 0
	if get {
		i = 1
	}
	begin := time.Now()
	now := *t.costs.Load()
	if now.direction(get).basis == settled || begin.Before(t.again[i]) {
		return t.costs.Load()
	}
	t.measured[i]++
	err := g.measure(&now, get, t.measured[i] == mostMeasured)
	if err != nil {
		now.direction(get).basis = settled
	}
	t.again[i] = time.Now().Add(doubt)
	t.costs.Store(&now)
	t.tellCosts(&now, get)
	if err != nil {
		log.Infof("the cost model cannot be measured: %v", err)
	}
	log.Infof("cost model, measured in %v: %v", time.Since(begin).Round(time.Microsecond), &now)
	return &now
}

// measure finds the parameters of one direction, and those that belong to both if that has not been
// done. last: what is found is not doubted.
func (g *target) measure(c *costs, get, last bool) error {
	t, d := g.t, c.direction(get)
	here := t.openScratch()
	there, err := g.askRanges(0, nil)
	if err != nil || len(here) == 0 || len(there) == 0 {
		return errors.Join(err, errors.New("there is no memory to measure with"))
	}
	g.keys.Add(there...)
	if c.put.basis == assumed && c.get.basis == assumed {
		t.measureHere(c)
	}
	m := &measurement{g: g, get: get, here: here[0].Lo, there: &there[0]}
	found := direction{nic: m.lines(transport.ByDevice)[0], basis: settled}
	found.fast = m.fast(found.nic)
	soFar := *c
	*soFar.direction(get) = found
	t.costs.Store(&soFar) // packing has pieces by that
	by := []string{transport.ByPacking}
	if get {
		by = append(by, transport.ByTargetSide)
	}
	lines := m.lines(by...)
	if found.host = lines[0]; get {
		found.push = lines[1]
	}
	awake, asleep := m.asleep()
	if m.err != nil {
		return fmt.Errorf("rank %d: %w", g.server, m.err)
	}
	wake := max(asleep-awake, 0)
	switch {
	case awake > asleep/shareAwake && !last:
		found.basis = doubtful
	case c.direction(!get).basis == settled:
		c.wake.start = max(c.wake.start, wake)
	default:
		c.wake.start = wake
	}
	*d = found
	return nil
}

// measurement moves patches in one direction between the scratch here and the one there. The
// caller of its methods has the target's lock.
type measurement struct {
	g     *target
	get   bool
	here  uintptr
	there *transport.Range
	err   error // the first
}

// patches are those through which the line of a protocol goes.
func patches(by string) []patch {
	few, many := patch{rows: 4, row: 64}, patch{rows: scratchRows, row: 64}
	if by == transport.ByPacking {
		many = few
	}
	return []patch{few, many, {rows: scratchRows, row: longRow}}
}

// xfer moves a patch.
func (m *measurement) xfer(p *patch) *transport.Xfer {
	return &transport.Xfer{Count: []int32{p.row, p.rows},
		Local:  transport.Section{Base: m.here, Stride: []int32{stride}},
		Remote: transport.Section{Base: m.there.Lo, Stride: []int32{stride}}}
}

// once is how long a patch takes by a protocol.
func (m *measurement) once(x *transport.Xfer, by string) float64 {
	begin := time.Now()
	if m.err == nil {
		m.err = m.g.once(x, m.get, by)
	}
	return float64(time.Since(begin))
}

// lines are those of protocols. They and their patches take turns, so that what else the machine
// does hits all of them. The first patch is moved until the thread that has slept is awake.
func (m *measurement) lines(by ...string) (lines []line) {
	var all []patch
	var timed []func() float64
	for _, by := range by {
		for _, p := range patches(by) {
			x := m.xfer(&p)
			all = append(all, p)
			timed = append(timed, func() float64 { return m.once(x, by) })
		}
	}
	for n, begin := 0, time.Now(); n < warmRounds && time.Since(begin) < warmTime; n++ {
		timed[0]()
	}
	for i, ns := range steady(timed...) {
		all[i].ns = ns
	}
	for each := range slices.Chunk(all, 3) {
		lines = append(lines, fit(each[0], each[1], each[2]))
	}
	return lines
}

// fast is the line of C's requests; nic, where C cannot make such transfers.
func (m *measurement) fast(nic line) line {
	g, r := m.g, m.there
	if g.t.fast == nil || g.t.info.Bytewise {
		return nic
	}
	g.t.fast.CacheRange(g.ep, g.server, r.Lo, *r, transport.Span{Lo: r.Lo, Hi: r.Hi}, g.serves)
	g.learnt = true
	all := patches(transport.ByDevice)
	timed := make([]func() float64, len(all))
	for i := range all {
		x := m.xfer(&all[i])
		timed[i] = func() float64 {
			if ns, ok := g.t.fast.TimeRows(m.get, g.server, x); ok {
				return ns
			}
			return never
		}
	}
	for i, ns := range steady(timed...) {
		if all[i].ns = ns; ns == never {
			return nic
		}
	}
	return fit(all[0], all[1], all[2])
}

// asleep is how long a message takes that finds the target's server awake, usually, and one that
// finds it asleep, as a rule at most: some naps are disturbed.
func (m *measurement) asleep() (awake, asleep float64) {
	x := m.xfer(&patches(transport.ByPacking)[0])
	after := func(sleep time.Duration) []float64 {
		times := make([]float64, naps)
		for i := range times {
			time.Sleep(sleep)
			times[i] = m.once(x, transport.ByPacking)
		}
		slices.Sort(times)
		return times
	}
	asleep = after(nap)[naps-2]
	return after(0)[naps/2], asleep
}

// steady is what some things take, in ns: the usual times of a series that agrees with the fastest
// one before, or of the fastest of mostSeries. A server that has to find another core first, say,
// takes long for a while.
func steady(timed ...func() float64) []float64 {
	best := usual(timed...)
	for range mostSeries - 1 {
		agree := true
		for i, ns := range usual(timed...) {
			agree = agree && math.Abs(ns-best[i]) <= agreement*best[i]
			best[i] = min(best[i], ns)
		}
		if agree {
			break
		}
	}
	return best
}

// usual is what some things take, done by turns: of each the lower quartile. Where a processor is
// shared, the shortest says little of the next, and the median much of what else happened to run.
func usual(timed ...func() float64) []float64 {
	times := make([][rounds]float64, len(timed))
	for k := range rounds {
		for i, do := range timed {
			times[i][k] = do()
		}
	}
	ns := make([]float64, len(timed))
	for i := range times {
		slices.Sort(times[i][:])
		ns[i] = times[i][rounds/4]
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

// timed times what a function does.
func timed(do func()) func() float64 {
	return func() float64 {
		begin := time.Now()
		do()
		return float64(time.Since(begin))
	}
}

// measureHere is what needs no target: copying, and registering memory, which the scratch is
// already.
func (t *Transport) measureHere(c *costs) {
	const half, pages = scratchBytes / 2, scratchBytes / pageBytes
	memory := t.scratch.memory
	ns := steady(timed(func() { copy(memory[:half], memory[half:]) }))
	c.copy.byte = max(ns[0]/half, 0.001)
	c.pin = line{start: never}
	foreign, err := unix.Mmap(-1, 0, scratchBytes, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_POPULATE)
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
	if ns := usual(timed(register(pageBytes)), timed(register(scratchBytes))); !refused {
		c.pin.each = max((ns[1]-ns[0])/(pages-1), 0)
		c.pin.start = max(ns[0]-c.pin.each, 0)
	}
}
