// SPDX-License-Identifier: BSD-3-Clause

// Package pin keeps memory registered with a device: the arena of the node until the end
// (arena.go), memory of the application between transfers, within a budget, until the application
// unmaps it (cache.go). All it knows of a device is that it registers memory. It must not know
// transfers, or which memory is worth registering.
//
// This file is the registration cache: which memory is registered and used, and which entry is
// evicted. Entries in the list never overlap: a new one fills the gap between two. Memory that
// cannot be watched is registered for one user alone.
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
	Key() uint64 // for requests; only the device knows its parts
	Close() error
}

// Entry is registered memory [Lo, Hi). It stays registered until all its users have released it.
type Entry struct {
	Lo, Hi  uintptr
	Key     uint64
	reg     Registration
	cache   *Cache
	users   atomic.Int32 // one more while it is in the cache's list
	lastUse uint64       // Cache.clock of the last Acquire; guarded by Cache.mu
}

// Mirror is another user of the entries in the list: it keeps a list of its own. The cache calls it
// with its lock held; the mirror does not call the cache.
type Mirror interface {
	Watch(w unsafe.Pointer) // sets the C struct pin_watch with the events of changes, or nil
	AddEntry(e *Entry)      // adds an entry that is used again
	Drop(e *Entry)          // removes an entry; the mirror calls Hold while it is in use
	Uses(e *Entry) bool     // whether the mirror uses it: then another one is evicted
	Reap()                  // releases entries that it holds and does not use any more
	Changing(do func())     // calls do, which handles events, while the mirror begins no use
}

const (
	maxEntries = 1024     // each may cost the process one more mapping
	chunkBytes = 32 << 20 // longest entry: while one is used, the next can be registered
)

// Cache is for one device.
type Cache struct {
	device      Device
	budget      int64
	onDemand    bool   // a registration stays valid for later mappings of its addresses
	watch       *watch // nil without onDemand: entries are for one user
	listenEnded chan struct{}
	bytes       atomic.Int64 // that are registered

	mu      sync.Mutex // guards mirror, entries and clock
	mirror  Mirror     // nil: there is none
	entries []*Entry   // sorted
	clock   uint64

	lookups, hits atomic.Int64 // calls of Acquire, and those that have found an entry
}

// Open makes a cache that pins up to budget bytes. demand: the device has on-demand paging. Then
// nothing is pinned, there is no budget, and a registration stays valid for all later mappings of
// its addresses.
func Open(d Device, budget int64, demand bool) *Cache {
	c := &Cache{device: d, budget: budget, onDemand: demand}
	if demand {
		c.budget = math.MaxInt64
		return c
	}
	var err error
	if c.watch, err = openWatch(); err != nil {
		log.Infof("memory is registered anew for each transfer: %v", err)
		return c
	}
	c.listenEnded = make(chan struct{})
	go c.handleEventsLoop()
	return c
}

// Uncached makes a cache that keeps no entries: memory is registered for one user, and no longer.
func Uncached(d Device, budget int64) *Cache { return &Cache{device: d, budget: budget} }

// Watching returns nil if registrations can outlast a transfer here, else the reason.
func Watching() error {
	w, err := openWatch()
	if err != nil {
		return err
	}
	w.stopThread()
	w.free()
	return nil
}

// Notes describes how a cache will keep memory, for armci_info.
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

// handleEventsLoop ends registrations soon after their memory has been unmapped, even if Acquire is
// not called any more. It runs until Close.
func (c *Cache) handleEventsLoop() {
	defer log.Guard()
	defer close(c.listenEnded)
	var b [8]byte
	for {
		if _, err := c.watch.wakeup.Read(b[:]); err != nil {
			return
		}
		c.mu.Lock()
		c.handleEvents()
		c.mu.Unlock()
	}
}

// Close ends all registrations. No entry is in use.
func (c *Cache) Close() {
	c.mu.Lock()
	for len(c.entries) > 0 {
		c.dropEntry(0, event{})
	}
	c.mu.Unlock()
	if c.watch != nil {
		c.watch.stopThread()
		c.watch.wakeup.Close()
		<-c.listenEnded
		c.watch.free()
	}
}

// Acquire returns the entry around an address, and counts one more user, which calls Release. If
// there is none it registers memory from the address on, up to n bytes; with n = 0 it registers
// nothing. It returns nil if the memory is not registered then. It locks mu.
func (c *Cache) Acquire(addr uintptr, n int) *Entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, hit := c.indexOf(addr)
	if hit && c.watch != nil {
		c.watch.awaitRaisedEvents()
	}
	if c.handleEvents() {
		i, hit = c.indexOf(addr)
	}
	var e *Entry
	switch {
	case hit:
		c.lookups.Add(1)
		c.hits.Add(1)
		e = c.entries[i]
		if c.mirror != nil {
			c.mirror.AddEntry(e)
		}
	case n == 0:
		return nil
	default:
		c.lookups.Add(1)
		lo, hi := Pages(addr, int64(min(n, chunkBytes)))
		if i < len(c.entries) {
			hi = min(hi, c.entries[i].Lo)
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
	e.lastUse = c.clock
	e.users.Add(1)
	return e
}

// SetMirror shares the entries with a mirror until the cache is closed. A cache that keeps no
// entries ignores it. It locks mu.
func (c *Cache) SetMirror(m Mirror) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var w unsafe.Pointer
	if c.watch != nil {
		w = unsafe.Pointer(c.watch.shared)
	}
	if c.watch == nil && !c.onDemand { // no entry stays in the list
		return
	}
	m.Watch(w)
	c.mirror = m
}

// Hold counts one more user of an entry, which calls Release.
func (e *Entry) Hold() { e.users.Add(1) }

// Release ends a use of the entry. The last one ends the registration.
func (e *Entry) Release() {
	if e.users.Add(-1) > 0 {
		return
	}
	if err := e.reg.Close(); err != nil {
		log.Errorf("memory stays pinned: %v", err)
	}
	e.cache.bytes.Add(-int64(e.Hi - e.Lo))
}

// Hits returns how often Acquire was called for memory that may be registered, and how often it has
// found an entry.
func (c *Cache) Hits() (takes, hits int64) { return c.lookups.Load(), c.hits.Load() }

// Registered is how many bytes are registered.
func (c *Cache) Registered() int64 { return c.bytes.Load() }

// Evict ends registrations of at least n unused bytes, the longest unused first; false if there are
// none at all. It locks mu.
func (c *Cache) Evict(n int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.evictUnused(n)
}

// indexOf returns the index of the entry around an address, or of the next one. The caller holds
// mu.
func (c *Cache) indexOf(addr uintptr) (i int, hit bool) {
	i, hit = slices.BinarySearchFunc(c.entries, addr,
		func(e *Entry, a uintptr) int { return cmp.Compare(e.Lo, a) })
	if !hit && i > 0 && addr < c.entries[i-1].Hi {
		return i - 1, true
	}
	return i, hit
}

// handleEvents drops the entries of changed memory, and tells whether there were events. The caller
// holds mu.
func (c *Cache) handleEvents() (some bool) {
	if c.watch == nil {
		return false
	}
	for c.watch.threadReading() {
		unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
	}
	if !c.watch.hasEvents() {
		return false
	}
	handle := func() {
		for e, ok := c.watch.nextEvent(); ok; e, ok = c.watch.nextEvent() {
			some = true
			c.dropChanged(e)
		}
	}
	if c.mirror == nil {
		handle()
	} else {
		c.mirror.Changing(handle)
	}
	return some
}

// dropChanged drops the entries that an event is about. The caller holds mu.
func (c *Cache) dropChanged(v event) {
	gone := event{lo: v.lo, hi: v.hi}
	if v.stillMapped {
		gone = event{}
	}
	i, _ := c.indexOf(v.lo)
	for i < len(c.entries) && c.entries[i].Lo < v.hi {
		c.dropEntry(i, gone)
	}
	if v.movedTo != 0 {
		c.watch.unwatchRange(v.movedTo, v.movedTo+(v.hi-v.lo))
	}
}

// dropEntry removes an entry from the list, and ends watching its memory. The range that is gone is
// skipped: new memory there may be watched for another entry. The caller holds mu.
func (c *Cache) dropEntry(i int, gone event) {
	e := c.entries[i]
	if c.mirror != nil { // while its memory is watched
		c.mirror.Drop(e)
	}
	if c.watch != nil {
		c.watch.unwatchRange(e.Lo, min(gone.lo, e.Hi))
		c.watch.unwatchRange(max(gone.hi, e.Lo), e.Hi)
	}
	c.entries = slices.Delete(c.entries, i, i+1)
	e.Release()
}

// evictUnused drops entries without users, the longest unused first, until n bytes are free; false
// if there are none. The caller holds mu.
func (c *Cache) evictUnused(n int64) (some bool) {
	for freed := int64(0); freed < n; some = true {
		oldest := -1
		for i, e := range c.entries {
			used := e.users.Load() > 1 || c.mirror != nil && c.mirror.Uses(e)
			if !used && (oldest < 0 || e.lastUse < c.entries[oldest].lastUse) {
				oldest = i
			}
		}
		if oldest < 0 {
			break
		}
		freed += int64(c.entries[oldest].Hi - c.entries[oldest].Lo)
		c.dropEntry(oldest, event{})
	}
	return some
}

// register registers memory that no entry overlaps. The entry goes into the list if the memory is
// watched. nil: the budget or the device does not allow it. The caller holds mu.
func (c *Cache) register(lo, hi uintptr) *Entry {
	n := int64(hi - lo)
	if c.mirror != nil {
		c.mirror.Reap()
	}
	if over := c.bytes.Load() - (c.budget - n); over > 0 {
		if c.evictUnused(over); c.bytes.Load() > c.budget-n {
			return nil
		}
	}
	if len(c.entries) >= maxEntries {
		c.evictUnused(1)
	}
	keep := len(c.entries) < maxEntries &&
		(c.onDemand || c.watch != nil && c.watch.watchRange(lo, hi) == nil)
	reg := c.pinPages(lo, hi)
	if keep && c.watch != nil && (reg == nil || !allPrivate(lo, hi)) {
		c.watch.unwatchRange(lo, hi)
		keep = false
	}
	if reg == nil {
		return nil
	}
	c.bytes.Add(n)
	e := &Entry{Lo: lo, Hi: hi, Key: reg.Key(), reg: reg, cache: c}
	if keep {
		e.users.Store(1)
		i, _ := c.indexOf(lo)
		c.entries = slices.Insert(c.entries, i, e)
	}
	return e
}

// pinPages registers memory. If the system's limit is reached, it evicts entries for that. nil: the
// device refuses the memory, or no entry can be evicted. The caller holds mu.
func (c *Cache) pinPages(lo, hi uintptr) Registration {
	for {
		reg, err := c.device.Register(lo, int64(hi-lo), false)
		switch {
		case err == nil:
			return reg
		case !errors.Is(err, unix.ENOMEM) && !errors.Is(err, unix.EAGAIN):
			log.Infof("memory is sent through buffers: %v", err)
			return nil
		case !c.evictUnused(int64(hi - lo)):
			log.WarnOnce("pin",
				"memory cannot be pinned and is sent through buffers, which is "+
					"slower; is "+
					"RLIMIT_MEMLOCK (ulimit -l) too small? %v", err)
			return nil
		}
	}
}
