// SPDX-License-Identifier: BSD-3-Clause

// The calls of a mirror by a cache, and when they are made.
package pin

import (
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mirror is another user of entries. The cache's own goroutine calls it, too, for events.
type mirror struct {
	mu       sync.Mutex
	known    map[*Entry]bool
	uses     map[*Entry]bool // those that are dropped meanwhile are held
	changing bool
}

func newMirror() *mirror { return &mirror{known: map[*Entry]bool{}, uses: map[*Entry]bool{}} }

func (m *mirror) locked(do func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	do()
}

func (m *mirror) Watch(unsafe.Pointer) {}
func (m *mirror) AddEntry(e *Entry)    { m.locked(func() { m.known[e] = true }) }

func (m *mirror) Drop(e *Entry) {
	m.locked(func() {
		if m.uses[e] {
			e.Hold()
		}
		delete(m.known, e)
	})
}

func (m *mirror) Uses(*Entry) bool { return false }
func (m *mirror) Reap()            {}

func (m *mirror) Changing(do func()) {
	m.locked(func() { m.changing = true })
	do()
	m.locked(func() { m.changing = false })
}

func (m *mirror) knows(e *Entry) (yes bool) {
	m.locked(func() { yes = m.known[e] })
	return yes
}

// keptAway reports whether Changing does not return.
func (m *mirror) keptAway() (yes bool) {
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(
		time.Millisecond) {
		if m.locked(func() { yes = m.changing }); !yes {
			return false
		}
	}
	return true
}

// A mirror gets entries that are used again, and loses dropped ones before they are deregistered,
// unless it holds them.
func TestMirror(t *testing.T) {
	d := newDevice(1 << 30)
	c := unwatchedCache(d, 1<<30)
	m := newMirror()
	c.SetMirror(m)
	e := takeAndRelease(t, c, 0x10000, 2*pageBytes)
	if m.knows(e) {
		t.Error("the mirror knows what was used once")
	}
	takeAndRelease(t, c, 0x10000, 2*pageBytes)
	if !m.knows(e) {
		t.Error("the mirror does not know what was used twice")
	}
	m.uses[e] = true
	c.Evict(1)
	if m.knows(e) || d.open[e.Key] == "" {
		t.Errorf("the mirror knows it: %v; registered: %q, while it is in use",
			m.knows(e), d.open[e.Key])
	}
	e.Release()
	if d.open[e.Key] != "" {
		t.Error("it stays registered")
	}
	takeAndRelease(t, c, 0x20000, 4*pageBytes)
	other := takeAndRelease(t, c, 0x20000, 4*pageBytes)
	c.dropChanged(event{lo: 0x21000, hi: 0x22000})
	if m.knows(other) || d.open[other.Key] != "" {
		t.Errorf("the mirror knows what was unmapped: %v; registered: %q",
			m.knows(other), d.open[other.Key])
	}
	none := Uncached(d, 1<<30)
	if none.SetMirror(m); none.mirror != nil {
		t.Error("a cache that keeps nothing has a mirror")
	}
}

// Events are handled only within Changing, and the mirror loses entries of unmapped memory before
// the next transfer.
func TestMirrorIsKeptAway(t *testing.T) {
	c, _ := openWatched(t)
	m := newMirror()
	c.SetMirror(m)
	p := mapMemory(t, 0, testBytes, unix.MAP_PRIVATE)
	takeAndRelease(t, c, p, testBytes)
	e := takeAndRelease(t, c, p, testBytes)
	if !m.knows(e) {
		t.Error("the mirror does not know what was used twice")
	}
	unmapMemory(t, p, testBytes)
	c.Acquire(p, 0)
	if m.knows(e) || m.keptAway() {
		t.Error("the mirror knows what was unmapped, or is kept away")
	}
}
