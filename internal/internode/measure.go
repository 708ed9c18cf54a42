// SPDX-License-Identifier: BSD-3-Clause

// Measuring the parameters of the cost model: on the first target that needs them, once in a
// process for puts and once for gets. Each protocol moves patches between the scratch memory of
// both sides. The protocols take turns until their usual times agree with those before; a
// protocol's line goes through its times. What C does is measured in C. It takes as long as some
// hundred requests, and a few naps of the target's server.
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
	// a protocol is used for so many rounds, or so long, before it is measured: a server that
	// has just woken is slow at first
	warmRounds   = 50
	warmTime     = 25 * time.Millisecond
	rounds       = 15 // times that each patch is moved in a series
	maxSeries    = 8  // series, unless two agree before
	agreement    = 0.05
	naps         = 5                // of the server, to measure its wake-up
	nap          = time.Millisecond // of one; no server polls longer
	shareAwake   = 6                // see measureDirection: the server was awake
	longRow      = 1 << 10
	maxRuns      = 3                     // measurements of a direction, while they are doubtful
	doubtDelay   = 50 * time.Millisecond // between these
	scratchRows  = 64
	stride       = pageBytes + 64 // of rows: each is in a page of its own, as in large arrays
	scratchBytes = scratchRows * stride
	never        = 1e9 // ns, of memory that cannot be registered
)

// patch is rows of the scratch memory, and the time that it took to move them.
type patch struct {
	rows, row int32 // number of rows; bytes of each
	ns        float64
}

// totalBytes returns the size of the patch.
func (p *patch) totalBytes() float64 { return float64(p.rows) * float64(p.row) }

// fitLine returns the line through three patches: few rows, many, and long ones. If the first two
// have equally many, the costs of messages are part of the cost of a byte. No parameter is
// negative, whatever else the processor had to do meanwhile.
func fitLine(few, many, long patch) (l line) {
	l.byte = max((long.ns-many.ns)/(long.totalBytes()-many.totalBytes()), 0)
	if rows := float64(many.rows - few.rows); rows > 0 {
		l.each = max((many.ns-few.ns-l.byte*(many.totalBytes()-few.totalBytes()))/rows, 0)
	}
	l.start = max(few.ns-l.each*float64(few.rows)-l.byte*few.totalBytes(), 0)
	return l
}

// scratch is memory of a process that other processes may read and write to measure. No other
// memory is touched for that.
type scratch struct {
	once   sync.Once
	memory []byte
	lo     atomic.Uintptr // address of memory; 0: there is none
	ranges []transport.Range
}

// open returns the memory with its keys, and maps it on first use. There may be none. It is
// registered like the arena.
func (s *scratch) open(direct transport.DirectFabric) []transport.Range {
	s.once.Do(func() {
		var err error
		if s.memory, err = unix.Mmap(-1, 0, scratchBytes, unix.PROT_READ|unix.PROT_WRITE,
			unix.MAP_SHARED|unix.MAP_ANON); err != nil {
			log.Infof("memory to measure with: %v", err)
			return
		}
		lo := addressOf(s.memory)
		list := slices.Clone(direct.RegisterForPeers(lo, scratchBytes))
		if !slices.ContainsFunc(list, func(r transport.Range) bool { return !r.Direct }) {
			list[0].Lo, list[len(list)-1].Hi = lo, lo+scratchBytes
			s.ranges = list
			s.lo.Store(lo)
		}
	})
	return s.ranges
}

// contains reports whether memory is part of the scratch.
func (s *scratch) contains(addr uintptr, n int64) bool {
	lo := s.lo.Load()
	return lo != 0 && addr >= lo && n >= 0 && n <= int64(lo)+scratchBytes-int64(addr)
}

// costModel returns the parameters that protocols of puts, or of gets, are chosen by. It measures
// them if they are not settled and no other thread does. The caller holds mu.
func (g *target) costModel(get bool) *costs {
	t := g.t
	c := t.model.current.Load()
	if c.direction(get).basis == settled || !t.model.mu.TryLock() {
		return c // another thread measures
	}
	defer t.model.mu.Unlock()
	i := 0
	if get {
		i = 1
	}
	begin := time.Now()
	now := *t.model.current.Load()
	if now.direction(get).basis == settled || begin.Before(t.model.retryAt[i]) {
		return t.model.current.Load()
	}
	t.model.runs[i]++
	m := &measurement{target: g, get: get}
	err := m.measureDirection(&now, t.model.runs[i] == maxRuns)
	if err != nil {
		now.direction(get).basis = settled
	}
	t.model.retryAt[i] = time.Now().Add(doubtDelay)
	t.model.current.Store(&now)
	now.export(t, get)
	if err != nil {
		log.Infof("the cost model cannot be measured: %v", err)
	}
	log.Infof("cost model, measured in %v: %v", time.Since(begin).Round(time.Microsecond), &now)
	return &now
}

// measureDirection measures the parameters of one direction, and those of both if they were not
// measured. last: a slow server is taken for granted.
func (m *measurement) measureDirection(c *costs, last bool) error {
	g, get := m.target, m.get
	t, d := g.t, c.direction(get)
	here := t.model.scratch.open(t.direct)
	there, err := g.askRanges(0, nil)
	if err != nil || len(here) == 0 || len(there) == 0 {
		return errors.Join(err, errors.New("there is no memory to measure with"))
	}
	g.keys.registered.AddRanges(there...)
	if c.put.basis == assumed && c.get.basis == assumed {
		t.model.scratch.measureLocal(t.direct, c)
	}
	m.here, m.there = here[0].Lo, &there[0]
	found := direction{nic: m.measureLines(transport.ByDevice)[0], basis: settled}
	found.fast = m.fastLine(found.nic)
	soFar := *c
	*soFar.direction(get) = found
	t.model.current.Store(&soFar) // frames are divided by that
	by := []string{transport.ByPacking}
	if get {
		by = append(by, transport.ByTargetSide)
	}
	lines := m.measureLines(by...)
	if found.host = lines[0]; get {
		found.push = lines[1]
	}
	awake, asleep := m.timeWakeup()
	if m.err != nil {
		return fmt.Errorf("rank %d: %w", g.serverRank, m.err)
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

// measurement moves patches in one direction between the scratch memory of this process and of the
// target. The caller of its methods holds the target's mu.
type measurement struct {
	target *target
	get    bool
	here   uintptr
	there  *transport.Range
	err    error // the first error
}

// protocolPatches returns the patches through which the line of a protocol goes.
func protocolPatches(by string) []patch {
	few, many := patch{rows: 4, row: 64}, patch{rows: scratchRows, row: 64}
	if by == transport.ByPacking {
		many = few
	}
	return []patch{few, many, {rows: scratchRows, row: longRow}}
}

// xfer returns a transfer of a patch.
func (m *measurement) xfer(p *patch) *transport.Xfer {
	return &transport.Xfer{Count: []int32{p.row, p.rows},
		Local:  transport.Section{Base: m.here, Stride: []int32{stride}},
		Remote: transport.Section{Base: m.there.Lo, Stride: []int32{stride}}}
}

// timeOnce returns how long a patch takes by a protocol, in ns. The caller holds the target's mu.
// An error is kept in m.err, and then the time means nothing.
func (m *measurement) timeOnce(x *transport.Xfer, by string) float64 {
	begin := time.Now()
	if m.err == nil {
		m.err = m.moveOnce(x, by)
	}
	return float64(time.Since(begin))
}

// measureLines returns the lines of protocols. They and their patches take turns, so that what else
// the machine does hits all of them. The first patch is moved until a thread that has slept is
// awake.
func (m *measurement) measureLines(by ...string) (lines []line) {
	var all []patch
	var timed []func() float64
	for _, by := range by {
		for _, p := range protocolPatches(by) {
			x := m.xfer(&p)
			all = append(all, p)
			timed = append(timed, func() float64 { return m.timeOnce(x, by) })
		}
	}
	for n, begin := 0, time.Now(); n < warmRounds && time.Since(begin) < warmTime; n++ {
		timed[0]()
	}
	for i, ns := range steadyTimes(timed...) {
		all[i].ns = ns
	}
	for each := range slices.Chunk(all, 3) {
		lines = append(lines, fitLine(each[0], each[1], each[2]))
	}
	return lines
}

// fastLine returns the line of C's requests; nic where C cannot make such transfers.
func (m *measurement) fastLine(nic line) line {
	g, r := m.target, m.there
	if g.t.fast == nil || g.t.info.Bytewise {
		return nic
	}
	g.t.fast.CacheRange(g.tx.ep, g.serverRank, r.Lo, *r, transport.Span{Lo: r.Lo, Hi: r.Hi},
		g.progress.server)
	g.tx.fastPathOpen = true
	all := protocolPatches(transport.ByDevice)
	timed := make([]func() float64, len(all))
	for i := range all {
		x := m.xfer(&all[i])
		timed[i] = func() float64 {
			if ns, ok := g.t.fast.TimeRows(m.get, g.serverRank, x); ok {
				return ns
			}
			return never
		}
	}
	for i, ns := range steadyTimes(timed...) {
		if all[i].ns = ns; ns == never {
			return nic
		}
	}
	return fitLine(all[0], all[1], all[2])
}

// timeWakeup returns the usual time of a message that finds the target's server awake, and of one
// that finds it asleep; some naps are disturbed.
func (m *measurement) timeWakeup() (awake, asleep float64) {
	x := m.xfer(&protocolPatches(transport.ByPacking)[0])
	after := func(sleep time.Duration) []float64 {
		times := make([]float64, naps)
		for i := range times {
			time.Sleep(sleep)
			times[i] = m.timeOnce(x, transport.ByPacking)
		}
		slices.Sort(times)
		return times
	}
	asleep = after(nap)[naps-2]
	return after(0)[naps/2], asleep
}

// steadyTimes returns what some functions take, in ns: the usual times of a series that agrees with
// the fastest one before, or of the fastest of maxSeries. A server that has to find another core
// first, for example, takes long for a while.
func steadyTimes(timed ...func() float64) []float64 {
	best := lowerQuartiles(timed...)
	for range maxSeries - 1 {
		agree := true
		for i, ns := range lowerQuartiles(timed...) {
			agree = agree && math.Abs(ns-best[i]) <= agreement*best[i]
			best[i] = min(best[i], ns)
		}
		if agree {
			break
		}
	}
	return best
}

// lowerQuartiles returns what some functions take, called by turns: of each the lower quartile.
// Where a processor is shared, the shortest says little of the next, and the median much of what
// else happened to run.
func lowerQuartiles(timed ...func() float64) []float64 {
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

// moveOnce moves a patch by a protocol, and returns when it has taken effect.
func (m *measurement) moveOnce(x *transport.Xfer, by string) error {
	g, get := m.target, m.get
	kind := kindPut
	if get {
		kind = kindGet
	}
	f := new(transfer)
	f.reset(x, kind, g.serverRank, transport.Scale{})
	f.rewind()
	r, err := f.postBy(g, x.Bytes(), by)
	if r != nil {
		r.finishPart(err)
		g.awaitLocked(r.done.Load) // a loss completes r, too
		_, err = r.wait()
	}
	if err != nil || get {
		return err
	}
	if err = g.awaitStores(g.tx.lastStore); err == nil {
		writes := g.tx.direct.Mark()
		err = g.awaitLocked(func() bool { return g.tx.direct.Reached(writes) })
	}
	return err
}

// timedCall returns a function that returns how long do takes, in ns.
func timedCall(do func()) func() float64 {
	return func() float64 {
		begin := time.Now()
		do()
		return float64(time.Since(begin))
	}
}

// measureLocal measures what needs no target: copying, and registering memory.
func (s *scratch) measureLocal(direct transport.DirectFabric, c *costs) {
	const half, pages = scratchBytes / 2, scratchBytes / pageBytes
	memory := s.memory
	ns := steadyTimes(timedCall(func() { copy(memory[:half], memory[half:]) }))
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
			_, release, ok := direct.RegisterTemporarily(lo, lo+n)
			if refused = refused || !ok; ok {
				release()
			}
		}
	}
	if ns := lowerQuartiles(timedCall(register(pageBytes)),
		timedCall(register(scratchBytes))); !refused {
		c.pin.each = max((ns[1]-ns[0])/(pages-1), 0)
		c.pin.start = max(ns[0]-c.pin.each, 0)
	}
}
