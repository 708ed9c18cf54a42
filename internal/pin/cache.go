// SPDX-License-Identifier: BSD-3-Clause

// Package pin keeps memory registered with a device: the arena of the node until the end
// (arena.go), memory of the application between transfers, within a budget, until the application
// unmaps it (cache.go). All it knows of a device is that it registers memory. It must not know
// transfers, or which memory is worth registering.
//
// This file: the registration cache: which memory is registered, who uses it, and what has to go.
// Entries in the list never overlap: a new one fills the gap between two. Memory that cannot be
// watched is registered for one user alone.
package pin

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"libarmci/internal/log"
)

// Device registers memory.
type Device interface {
	// Register lets the device use memory: for this process or, if shared, for other processes,
	// too.
	Register(addr uintptr, nbytes int64, shared bool) (Registration, error)
}

// Registration is registered memory.
type Registration interface {
	Key() uint64 // what requests need; the device knows what is in it
	Close() error
}

// Entry is registered memory [Lo, Hi). It stays registered until everybody who has taken it has
// released it.
type Entry struct {
	Lo, Hi uintptr
	Key    uint64
	reg    Registration
	cache  *Cache
	users  atomic.Int32 // one more while it is in the list
	last   uint64       // when it was taken last, by the cache's clock
}

// Mirror is another user of the entries in the list, which finds them by itself. It does not
// call the cache.
type Mirror interface {
	Watch(w unsafe.Pointer) // the C struct pin_watch whose events tell of changes, or nil
	Add(e *Entry)           // one that is used again
	Drop(e *Entry)          // it leaves the list; Hold it while it is in use
	Uses(e *Entry) bool     // it does: another one should go
	Reap()                  // releases what it has held and does not use any more
	Changing(do func())     // calls do, which takes events, while the mirror uses nothing new
}

const (
	mostEntries = 1024     // each may cost the process one more mapping
	chunkBytes  = 32 << 20 // longest entry: while one is used, the next can be registered
)

// Cache is for one device.
type Cache struct {
	device Device
	budget int64
	demand bool   // a registration stays good for whatever is mapped at its addresses
	watch  *watch // nil without on-demand paging: entries are for one user
	ended  chan struct{}
	bytes  atomic.Int64 // that are registered

	mu     sync.Mutex
	mirror Mirror   // nil: there is none
	list   []*Entry // sorted
	clock  uint64

	takes, hits atomic.Int64 // how often memory was asked for, and was registered
}

// Open makes a cache that pins up to budget bytes. demand: the device has on-demand paging. Then
// nothing is pinned, there is no budget, and a registration stays good for whatever is mapped at
// its addresses.
func Open(d Device, budget int64, demand bool) *Cache {
	c := &Cache{device: d, budget: budget, demand: demand}
	if demand {
		c.budget = math.MaxInt64
		return c
	}
	var err error
	if c.watch, err = openWatch(); err != nil {
		log.Infof("memory is registered anew for each transfer: %v", err)
		return c
	}
	c.ended = make(chan struct{})
	go c.listen()
	return c
}

// Uncached makes a cache that keeps nothing: memory is registered for one user, and no longer.
func Uncached(d Device, budget int64) *Cache { return &Cache{device: d, budget: budget} }

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
		return fmt.Sprintf("local memory registered for each transfer (%v), up to %d MiB",
			why, budget>>20)
	}
	return fmt.Sprintf("local memory stays registered, up to %d MiB", budget>>20)
}

// listen ends registrations soon after their memory has been unmapped, even if nobody asks for it
// any more.
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
		c.mu.Unlock()
	}
}

// Close ends all registrations. Nothing is in use.
func (c *Cache) Close() {
	c.mu.Lock()
	for len(c.list) > 0 {
		c.drop(0, event{})
	}
	c.mu.Unlock()
	if c.watch != nil {
		c.watch.stop()
		c.watch.bell.Close()
		<-c.ended
		c.watch.free()
	}
}

// Take gives the entry around an address. If there is none it registers memory from there on, up to
// n bytes, but nothing if n is 0. It returns nil if nothing is registered then; otherwise Release
// must follow.
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
	var e *Entry
	switch {
	case hit:
		c.takes.Add(1)
		c.hits.Add(1)
		e = c.list[i]
		if c.mirror != nil {
			c.mirror.Add(e)
		}
	case n == 0:
		return nil
	default:
		c.takes.Add(1)
		lo, hi := Pages(addr, int64(min(n, chunkBytes)))
		if i < len(c.list) {
			hi = min(hi, c.list[i].Lo)
		}
		hi = lo + uintptr(min(int64(hi-lo), c.budget&^(pageBytes-1)))
		if addr >= hi {
			return nil
		}
		if e = c.register(lo, hi); e == nil {
			return nil
		}
	}
	c.clock++
	e.last = c.clock
	e.users.Add(1)
	return e
}

// SetMirror has entries used by another user, too. It does so until the cache is closed.
func (c *Cache) SetMirror(m Mirror) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var w unsafe.Pointer
	if c.watch != nil {
		w = unsafe.Pointer(c.watch.w)
	}
	if c.watch == nil && !c.demand { // nothing stays in the list
		return
	}
	m.Watch(w)
	c.mirror = m
}

// Hold adds a user to an entry; Release must follow.
func (e *Entry) Hold() { e.users.Add(1) }

// Release says that a user of the entry has ended. The last one ends the registration.
func (e *Entry) Release() {
	if e.users.Add(-1) > 0 {
		return
	}
	if err := e.reg.Close(); err != nil {
		log.Errorf("memory stays pinned: %v", err)
	}
	e.cache.bytes.Add(-int64(e.Hi - e.Lo))
}

// Hits is how often memory was asked for that may be registered, and how often it was.
func (c *Cache) Hits() (takes, hits int64) { return c.takes.Load(), c.hits.Load() }

// Registered is how many bytes are registered.
func (c *Cache) Registered() int64 { return c.bytes.Load() }

// Yield gives back at least n bytes that nobody uses, the longest unused first; false if there are
// none at all.
func (c *Cache) Yield(n int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.evict(n)
}

// find returns the index of the entry around an address, or of the next one.
func (c *Cache) find(addr uintptr) (i int, hit bool) {
	i, hit = slices.BinarySearchFunc(c.list, addr,
		func(e *Entry, a uintptr) int { return cmp.Compare(e.Lo, a) })
	if !hit && i > 0 && addr < c.list[i-1].Hi {
		return i - 1, true
	}
	return i, hit
}

// hear handles events, and tells whether there were some.
func (c *Cache) hear() (some bool) {
	if c.watch == nil {
		return false
	}
	for c.watch.reading() {
		unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
	}
	if !c.watch.pending() {
		return false
	}
	forget := func() {
		for e, ok := c.watch.next(); ok; e, ok = c.watch.next() {
			some = true
			c.forget(e)
		}
	}
	if c.mirror == nil {
		forget()
	} else {
		c.mirror.Changing(forget)
	}
	return some
}

// forget drops the entries that an event is about.
func (c *Cache) forget(v event) {
	gone := event{lo: v.lo, hi: v.hi}
	if v.kept {
		gone = event{}
	}
	i, _ := c.find(v.lo)
	for i < len(c.list) && c.list[i].Lo < v.hi {
		c.drop(i, gone)
	}
	if v.moved != 0 {
		c.watch.remove(v.moved, v.moved+(v.hi-v.lo))
	}
}

// drop takes an entry out of the list, and ends watching its memory except what is gone: others may
// watch new memory there.
func (c *Cache) drop(i int, gone event) {
	e := c.list[i]
	if c.mirror != nil { // while its memory is watched
		c.mirror.Drop(e)
	}
	if c.watch != nil {
		c.watch.remove(e.Lo, min(gone.lo, e.Hi))
		c.watch.remove(max(gone.hi, e.Lo), e.Hi)
	}
	c.list = slices.Delete(c.list, i, i+1)
	e.Release()
}

// evict drops entries without users, the longest unused first, until n bytes are free; false if
// there are none.
func (c *Cache) evict(n int64) (some bool) {
	for freed := int64(0); freed < n; some = true {
		oldest := -1
		for i, e := range c.list {
			used := e.users.Load() > 1 || c.mirror != nil && c.mirror.Uses(e)
			if !used && (oldest < 0 || e.last < c.list[oldest].last) {
				oldest = i
			}
		}
		if oldest < 0 {
			break
		}
		freed += int64(c.list[oldest].Hi - c.list[oldest].Lo)
		c.drop(oldest, event{})
	}
	return some
}

// register registers memory that no entry overlaps. The entry goes into the list if it is watched.
func (c *Cache) register(lo, hi uintptr) *Entry {
	n := int64(hi - lo)
	if c.mirror != nil {
		c.mirror.Reap()
	}
	if over := c.bytes.Load() - (c.budget - n); over > 0 {
		if c.evict(over); c.bytes.Load() > c.budget-n {
			return nil
		}
	}
	if len(c.list) >= mostEntries {
		c.evict(1)
	}
	keep := len(c.list) < mostEntries &&
		(c.demand || c.watch != nil && c.watch.add(lo, hi) == nil)
	reg := c.pin(lo, hi)
	if keep && c.watch != nil && (reg == nil || !private(lo, hi)) {
		c.watch.remove(lo, hi)
		keep = false
	}
	if reg == nil {
		return nil
	}
	c.bytes.Add(n)
	e := &Entry{Lo: lo, Hi: hi, Key: reg.Key(), reg: reg, cache: c}
	if keep {
		e.users.Store(1)
		i, _ := c.find(lo)
		c.list = slices.Insert(c.list, i, e)
	}
	return e
}

// pin registers memory. Where the system's limit is reached, it drops entries without users for
// that.
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
			log.WarnOnce("pin",
				"memory cannot be pinned and is sent through buffers, which is "+
					"slower; is "+
					"RLIMIT_MEMLOCK (ulimit -l) too small? %v", err)
			return nil
		}
	}
}
