// SPDX-License-Identifier: BSD-3-Clause

// The cache: which memory is registered, who uses it, and what has to go. Registered pieces never overlap: a new one
// fills the gap between two. Whatever is not watched is registered for its user alone.
package pin

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"libarmci/internal/log"
)

// Device registers memory.
type Device interface {
	// Register lets the device at memory: for this process or, if shared, also on behalf of others.
	Register(addr uintptr, nbytes int64, shared bool) (Registration, error)
}

// Registration is registered memory.
type Registration interface {
	Keys() (local, remote uint64)
	Close() error
}

// Entry is registered memory [Lo, Hi), which stays so until who has taken it has released it.
type Entry struct {
	Lo, Hi uintptr
	Key    uint64
	reg    Registration
	cache  *Cache
	users  atomic.Int32
	gone   atomic.Bool // out of the list: closed when it has no users
	last   uint64      // when it was taken
}

// place is an entry in the list, where a look-up finds it without looking at the entry.
type place struct {
	lo, hi uintptr
	e      *Entry
}

const (
	mostEntries = 1024     // each may cost the process a mapping more
	chunkBytes  = 32 << 20 // longest entry: while one is used, the next can be registered
)

// Cache is for one device.
type Cache struct {
	device Device
	budget int64
	watch  *watch // nil: entries are for one user
	why    error  // it is nil
	demand bool   // a registration stays good for whatever is mapped at its addresses
	pins   bool   // it counts against the budget
	ended  chan struct{}

	mu    sync.Mutex
	list  []place // sorted
	gone  []*Entry
	bytes int64 // that are pinned
	clock uint64
}

// Open makes a cache that pins up to budget bytes. demand: the device takes pages as it finds them, so that nothing is
// pinned, and a registration stays good for whatever is mapped at its addresses.
func Open(d Device, budget int64, demand bool) *Cache {
	c := &Cache{device: d, budget: budget, demand: demand, pins: !demand}
	if demand {
		return c
	}
	if c.watch, c.why = openWatch(); c.why != nil {
		log.Infof("memory is registered for each transfer anew: %v", c.why)
		return c
	}
	c.ended = make(chan struct{})
	go c.listen()
	return c
}

// Watching is nil if registrations can outlast a transfer here, else it says why not.
func Watching() error {
	w, err := openWatch()
	if err != nil {
		return err
	}
	w.stop()
	w.free()
	return nil
}

// Notes tells how a cache will keep memory, for armci_info.
func Notes(budget int64, demand bool) string {
	if demand {
		return "local memory registered on demand, not pinned"
	}
	if why := Watching(); why != nil {
		return fmt.Sprintf("local memory registered for each transfer (%v), up to %d MiB", why, budget>>20)
	}
	return fmt.Sprintf("local memory stays registered, up to %d MiB", budget>>20)
}

// listen unpins, soon after it has been unmapped, what nobody asks for any more.
func (c *Cache) listen() {
	defer log.Guard()
	defer close(c.ended)
	var b [8]byte
	for {
		if _, err := c.watch.bell.Read(b[:]); err != nil {
			return
		}
		c.mu.Lock()
		c.hear()
		c.bury()
		c.mu.Unlock()
	}
}

// Close ends all registrations. Nothing is in use.
func (c *Cache) Close() {
	c.mu.Lock()
	for len(c.list) > 0 {
		c.drop(0)
	}
	c.mu.Unlock()
	if c.watch != nil {
		c.watch.stop()
		c.watch.bell.Close()
		<-c.ended
		c.watch.free()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bury()
}

// Take gives the entry around an address. If there is none it registers memory from there on, up to n bytes, but
// nothing if n is 0. It is nil where nothing is registered then; else Release must follow.
func (c *Cache) Take(addr uintptr, n int) *Entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, hit := c.find(addr)
	if hit && c.watch != nil {
		c.watch.settle()
	}
	if c.hear() {
		i, hit = c.find(addr)
	}
	c.clock++
	var e *Entry
	switch {
	case hit:
		e = c.list[i].e
	case n == 0:
		return nil
	default:
		lo, hi := addr&^(pageBytes-1), (addr+uintptr(min(n, chunkBytes))+pageBytes-1)&^(pageBytes-1)
		if i < len(c.list) {
			hi = min(hi, c.list[i].lo)
		}
		if c.pins {
			hi = min(hi, lo+uintptr(c.budget)&^(pageBytes-1))
		}
		if addr >= hi {
			return nil
		}
		if e = c.register(lo, hi); e == nil {
			return nil
		}
	}
	e.last = c.clock
	e.users.Add(1)
	return e
}

// Release says that a user of the entry has ended.
func (e *Entry) Release() {
	if e.users.Add(-1) > 0 || !e.gone.Load() {
		return
	}
	e.cache.mu.Lock()
	e.cache.bury()
	e.cache.mu.Unlock()
}

// Pinned is the bytes that are pinned.
func (c *Cache) Pinned() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

// Yield gives back at least n bytes that nobody uses, the longest unused first; false if there are none at all.
func (c *Cache) Yield(n int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.evict(n)
}

// find is where the entry around an address is, or where one would be.
func (c *Cache) find(addr uintptr) (i int, hit bool) {
	i, hit = slices.BinarySearchFunc(c.list, addr, func(p place, a uintptr) int { return cmp.Compare(p.lo, a) })
	if !hit && i > 0 && addr < c.list[i-1].hi {
		return i - 1, true
	}
	return i, hit
}

// hear takes events, and tells whether there were some.
func (c *Cache) hear() (some bool) {
	if c.watch == nil {
		return false
	}
	for c.watch.reading() {
		unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
	}
	for e, ok := c.watch.next(); ok; e, ok = c.watch.next() {
		some = true
		c.forget(e)
	}
	return some
}

// forget drops what an event is about.
func (c *Cache) forget(v event) {
	i, hit := c.find(v.lo)
	if !hit && i > 0 && c.list[i-1].hi > v.lo {
		i--
	}
	for i < len(c.list) && c.list[i].lo < v.hi {
		p := c.list[i]
		c.unlist(i)
		if v.kept {
			c.watch.remove(p.lo, p.hi)
			continue
		}
		c.watch.remove(p.lo, v.lo) // at the addresses between may be what others watch
		c.watch.remove(v.hi, p.hi)
	}
	if v.moved != 0 {
		c.watch.remove(v.moved, v.moved+(v.hi-v.lo))
	}
}

// unlist takes an entry out of the list.
func (c *Cache) unlist(i int) {
	e := c.list[i].e
	c.list = slices.Delete(c.list, i, i+1)
	e.gone.Store(true)
	c.gone = append(c.gone, e)
}

// drop takes an entry out of the list though its memory is still there.
func (c *Cache) drop(i int) {
	p := c.list[i]
	c.unlist(i)
	if c.watch != nil {
		c.watch.remove(p.lo, p.hi)
	}
}

// bury closes what is out of the list and has no users.
func (c *Cache) bury() {
	c.gone = slices.DeleteFunc(c.gone, func(e *Entry) bool {
		if e.users.Load() > 0 {
			return false
		}
		if err := e.reg.Close(); err != nil {
			log.Errorf("memory stays pinned: %v", err)
		}
		c.bytes -= c.cost(e.Lo, e.Hi)
		return true
	})
}

// cost is what memory takes of the budget.
func (c *Cache) cost(lo, hi uintptr) int64 {
	if !c.pins {
		return 0
	}
	return int64(hi - lo)
}

// evict gives back entries without users, the longest unused first, until they are n bytes; false if there are none.
func (c *Cache) evict(n int64) (some bool) {
	for freed := int64(0); freed < n; some = true {
		oldest := -1
		for i, p := range c.list {
			if p.e.users.Load() == 0 && (oldest < 0 || p.e.last < c.list[oldest].e.last) {
				oldest = i
			}
		}
		if oldest < 0 {
			break
		}
		freed += int64(c.list[oldest].hi - c.list[oldest].lo)
		c.drop(oldest)
	}
	c.bury()
	return some
}

// register registers memory that no entry overlaps, to be kept if it is watched.
func (c *Cache) register(lo, hi uintptr) *Entry {
	c.bury()
	need := c.cost(lo, hi)
	if over := c.bytes + need - c.budget; over > 0 {
		if c.evict(over); c.bytes+need > c.budget {
			return nil
		}
	}
	if len(c.list) >= mostEntries {
		c.evict(1)
	}
	keep := c.demand || c.watch != nil && c.watch.add(lo, hi) == nil
	reg := c.pin(lo, hi)
	if reg == nil {
		if c.watch != nil && keep {
			c.watch.remove(lo, hi)
		}
		return nil
	}
	c.bytes += need
	key, _ := reg.Keys()
	e := &Entry{Lo: lo, Hi: hi, Key: key, reg: reg, cache: c}
	if keep && !c.demand && !private(lo, hi) {
		c.watch.remove(lo, hi)
		keep = false
	}
	if !keep || len(c.list) >= mostEntries {
		e.gone.Store(true)
		c.gone = append(c.gone, e)
		return e
	}
	i, _ := c.find(lo)
	c.list = slices.Insert(c.list, i, place{lo, hi, e})
	return e
}

// pin registers memory, if need be in exchange for what is not in use.
func (c *Cache) pin(lo, hi uintptr) Registration {
	for {
		reg, err := c.device.Register(lo, int64(hi-lo), false)
		switch {
		case err == nil:
			return reg
		case !errors.Is(err, unix.ENOMEM) && !errors.Is(err, unix.EAGAIN):
			log.Infof("memory is sent through buffers: %v", err)
			return nil
		case !c.evict(int64(hi - lo)):
			log.WarnOnce("pin", "memory cannot be pinned and is sent through buffers, which is slower; is "+
				"RLIMIT_MEMLOCK (ulimit -l) too small? %v", err)
			return nil
		}
	}
}
