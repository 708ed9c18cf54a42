// SPDX-License-Identifier: BSD-3-Clause

// The cache over a device that only counts: which entries are kept and evicted, and when, and the
// effect of a refusal. Memory is not accessed, so addresses are numbers here; watch_test.go has
// real memory.
package pin

import (
	"fmt"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"libarmci/internal/log"
)

// device registers up to limit bytes.
type device struct {
	mu     sync.Mutex
	limit  int64
	pinned int64
	open   map[uint64]string
	serial uint64
	refuse error
}

func newDevice(limit int64) *device { return &device{limit: limit, open: map[uint64]string{}} }

// registration is memory that the device has counted.
type registration struct {
	d      *device
	n      int64
	serial uint64
}

func (r *registration) Key() uint64 { return r.serial }

func (r *registration) Close() error {
	r.d.mu.Lock()
	defer r.d.mu.Unlock()
	if r.d.open[r.serial] == "" {
		return fmt.Errorf("registration %d is closed twice", r.serial)
	}
	delete(r.d.open, r.serial)
	r.d.pinned -= r.n
	return nil
}

// Register counts n bytes, or returns ENOMEM at the limit.
func (d *device) Register(addr uintptr, n int64, _ bool) (Registration, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refuse != nil {
		return nil, d.refuse
	}
	if d.pinned+n > d.limit {
		return nil, fmt.Errorf("register %d bytes: %w", n, unix.ENOMEM)
	}
	d.serial++
	d.pinned += n
	d.open[d.serial] = fmt.Sprintf("%#x+%d", addr, n)
	return &registration{d, n, d.serial}, nil
}

// unwatchedCache is a cache that keeps all entries, as over a device that needs no pinning, but
// with a budget.
func unwatchedCache(d Device, budget int64) *Cache {
	return &Cache{device: d, budget: budget, onDemand: true}
}

// takeAndRelease takes memory and releases it at once.
func takeAndRelease(t *testing.T, c *Cache, addr uintptr, n int) *Entry {
	t.Helper()
	e := c.Acquire(addr, n)
	if e == nil {
		t.Fatalf("%d bytes at %#x are refused", n, addr)
	}
	e.Release()
	return e
}

// Entries are found by every address in them, and a new one fills the gap between two.
func TestHitsAndGaps(t *testing.T) {
	d := newDevice(1 << 30)
	c := unwatchedCache(d, 1<<30)
	if c.Acquire(0x10000, 0) != nil {
		t.Error("memory that was not registered is found")
	}
	first := takeAndRelease(t, c, 0x10010, 0x1000) // two pages
	if first.Lo != 0x10000 || first.Hi != 0x12000 {
		t.Errorf("[%#x, %#x)", first.Lo, first.Hi)
	}
	third := takeAndRelease(t, c, 0x14000, 0x1000)
	for addr, want := range map[uintptr]*Entry{0x10000: first, 0x11fff: first, 0x14000: third,
		0x14fff: third} {
		if e := c.Acquire(addr, 0); e != want {
			t.Errorf("%#x: %+v", addr, e)
		} else {
			e.Release()
		}
	}
	for _, addr := range []uintptr{0xffff, 0x12000, 0x13fff, 0x15000} {
		if e := c.Acquire(addr, 0); e != nil {
			t.Errorf("%#x: %+v", addr, e)
		}
	}
	if e := takeAndRelease(t, c, 0x11000, 0x10000); e != first { // its end is the next call's
		t.Errorf("overlapping: %+v", e)
	}
	if e := takeAndRelease(t, c, 0x12000, 0x10000); e.Lo != 0x12000 || e.Hi != 0x14000 {
		t.Errorf("the gap is [%#x, %#x)", e.Lo, e.Hi)
	}
	if e := takeAndRelease(t, c, 0x20000, 1<<30); e.Hi-e.Lo != chunkBytes {
		t.Errorf("one entry of %d bytes", e.Hi-e.Lo)
	}
	c.Close()
	if d.pinned != 0 || len(d.open) != 0 {
		t.Errorf("%d bytes stay pinned: %v", d.pinned, d.open)
	}
}

// The longest unused entry is evicted for a new one; entries in use stay.
func TestBudget(t *testing.T) {
	const mib = 1 << 20
	d := newDevice(1 << 30)
	c := unwatchedCache(d, 4*mib)
	defer c.Close()
	at := func(i int) uintptr { return uintptr(16*mib + 2*i*mib) }
	for i := range 4 {
		takeAndRelease(t, c, at(i), mib)
	}
	held := c.Acquire(at(0), 0) // so 1 is the longest unused now
	takeAndRelease(t, c, at(4), mib)
	for i, want := range []bool{true, false, true, true, true} {
		e := c.Acquire(at(i), 0)
		if (e != nil) != want {
			t.Errorf("entry %d: %v", i, e)
		}
		if e != nil {
			e.Release()
		}
	}
	if d.pinned != 4*mib || c.bytes.Load() != 4*mib {
		t.Errorf("%d bytes are pinned, %d counted", d.pinned, c.bytes.Load())
	}
	if e := c.Acquire(at(5), 4*mib); e != nil {
		t.Error("more than the budget, with a piece in use")
	}
	if e := c.Acquire(at(0), 0); e != held {
		t.Error("an entry in use has gone")
	} else {
		e.Release()
	}
	held.Release()
	if takeAndRelease(t, c, at(5), 4*mib); d.pinned != 4*mib {
		t.Errorf("%d bytes are pinned", d.pinned)
	}
}

// An entry that is dropped while it is used is closed by the last user.
func TestInUse(t *testing.T) {
	d := newDevice(1 << 30)
	c := unwatchedCache(d, 1<<30)
	defer c.Close()
	e := c.Acquire(0x10000, 1)
	if c.Acquire(0x10000, 1) != e {
		t.Fatal("registered twice")
	}
	if c.Evict(1) {
		t.Error("an entry in use was given back")
	}
	c.mu.Lock()
	c.dropEntry(0, event{})
	c.mu.Unlock()
	if c.Acquire(0x10000, 0) != nil {
		t.Error("found though it has been dropped")
	}
	e.Release()
	if d.pinned != pageBytes {
		t.Error("closed while it is used")
	}
	e.Release()
	if d.pinned != 0 || c.bytes.Load() != 0 {
		t.Errorf("%d bytes stay pinned", d.pinned)
	}
}

// countWarnings counts lines that are printed until the test ends.
func countWarnings(t *testing.T) *int {
	n := new(int)
	t.Cleanup(log.SetSink(func([]byte) { *n++ }))
	return n
}

// warned: this process has had its one warning, in an earlier run of the test.
var warned bool

// A device that has less room than the budget evicts unused entries; where that is not enough,
// there is one warning. A full budget is no reason for one, nor is memory that cannot be registered
// at all.
func TestRefusal(t *testing.T) {
	printed := countWarnings(t)
	const page = pageBytes
	d := newDevice(4 * page)
	c := unwatchedCache(d, 1<<30)
	defer c.Close()
	for i := range uintptr(6) {
		takeAndRelease(t, c, 0x100000*(i+1), page)
	}
	if d.pinned != 4*page || c.Acquire(0x200000, 0) != nil {
		t.Errorf("%d bytes are pinned", d.pinned)
	}
	d.refuse = unix.EFAULT
	if c.Acquire(0x900000, page) != nil || d.pinned != 4*page {
		t.Errorf("memory that is not there: %d bytes are pinned", d.pinned)
	}
	d.refuse = nil
	small := unwatchedCache(d, page)
	d.limit += page
	if e := takeAndRelease(t, small, 0x1000, 2*page); e.Hi-e.Lo != page {
		t.Error("more than the budget")
	}
	small.Close()
	d.limit -= page
	if none := unwatchedCache(d, 1); none.Acquire(0x1000, page) != nil {
		t.Error("less than a page was registered")
	}
	if *printed != 0 {
		t.Errorf("%d lines were printed", *printed)
	}
	for range 3 {
		if c.Acquire(0xa00000, 5*page) != nil {
			t.Error("more than the device has")
		}
	}
	want := 1
	if warned {
		want = 0
	}
	if warned = true; *printed != want {
		t.Errorf("%d warnings, expected %d", *printed, want)
	}
	takeAndRelease(t, c, 0xb00000, 4*page)
}

// The number of entries is bounded, whatever the budget.
func TestMostEntries(t *testing.T) {
	d := newDevice(1 << 40)
	c := unwatchedCache(d, 1<<40)
	defer c.Close()
	var held []*Entry
	for i := range maxEntries {
		held = append(held, c.Acquire(uintptr(i+1)<<20, 1))
	}
	e := c.Acquire(0x1000, 1) // for itself
	if e == nil || c.Acquire(0x1000, 0) != nil || len(c.entries) != maxEntries {
		t.Fatalf("%v, %d entries", e, len(c.entries))
	}
	e.Release()
	if d.pinned != maxEntries*pageBytes {
		t.Errorf("%d bytes are pinned", d.pinned)
	}
	held[7].Release()
	takeAndRelease(t, c, 0x1000, 1)
	if c.Acquire(8<<20, 0) != nil || len(c.entries) != maxEntries {
		t.Error("the unused entry is still there")
	}
	held = append(held[:7], held[8:]...)
	for _, e := range held {
		e.Release()
	}
}

// Without a watch an entry has one user.
func TestForTheTransfer(t *testing.T) {
	d := newDevice(1 << 30)
	c := &Cache{device: d, budget: 4 * pageBytes}
	defer c.Close()
	e := c.Acquire(0x10000, 2*pageBytes)
	if again := c.Acquire(0x10000, 2*pageBytes); again == e {
		t.Error("shared")
	} else {
		if c.Acquire(0x10000, pageBytes) != nil {
			t.Error("more than the budget")
		}
		again.Release()
	}
	if e.Release(); d.pinned != 0 || d.serial != 2 {
		t.Errorf("%d bytes stay pinned, %d registrations", d.pinned, d.serial)
	}
}

// With on-demand paging no memory is pinned, so no entry is evicted.
func TestOnDemand(t *testing.T) {
	d := newDevice(1 << 40)
	c := Open(d, 1, true)
	defer c.Close()
	for i := range uintptr(8) {
		takeAndRelease(t, c, (i+1)<<30, 1<<20)
	}
	for i := range uintptr(8) {
		if e := c.Acquire((i+1)<<30, 0); e == nil {
			t.Errorf("entry %d has gone", i)
		} else {
			e.Release()
		}
	}
	if d.serial != 8 || c.bytes.Load() != 8<<20 {
		t.Errorf("%d registrations, %d bytes are registered", d.serial, c.bytes.Load())
	}
}
