// SPDX-License-Identifier: BSD-3-Clause

// The types of package sync.
package simulate

import "iter"

// Locker is sync.Locker.
type Locker interface {
	Lock()
	Unlock()
}

// Mutex is sync.Mutex.
type Mutex struct {
	held    bool
	waiters queue
}

// Lock is sync.Mutex.Lock.
func (m *Mutex) Lock() {
	point(stepLock)
	for m.held {
		m.waiters.wait("for a mutex")
	}
	m.held = true
}

// TryLock is sync.Mutex.TryLock.
func (m *Mutex) TryLock() bool {
	point(stepLock)
	if m.held {
		return false
	}
	m.held = true
	return true
}

// Unlock is sync.Mutex.Unlock.
func (m *Mutex) Unlock() {
	if !m.held {
		panic("unlock of an unlocked mutex")
	}
	m.held = false
	m.waiters.wakeAll()
	point(stepUnlock)
}

// Cond is sync.Cond.
type Cond struct {
	L       Locker
	waiters queue
}

// NewCond is sync.NewCond.
func NewCond(l Locker) *Cond { return &Cond{L: l} }

// Wait is sync.Cond.Wait. Nothing comes between its beginning to wait and its unlocking.
func (c *Cond) Wait() {
	m := c.L.(*Mutex)
	m.held = false
	m.waiters.wakeAll()
	world.step(stepCond)
	c.waiters.wait("for a condition")
	m.Lock()
}

// Signal is sync.Cond.Signal. It wakes any of the threads.
func (c *Cond) Signal() {
	point(stepCond)
	c.waiters.wakeOne()
}

// Broadcast is sync.Cond.Broadcast.
func (c *Cond) Broadcast() {
	point(stepCond)
	c.waiters.wakeAll()
}

// WaitGroup is sync.WaitGroup.
type WaitGroup struct {
	n       int
	waiters queue
}

// Add is sync.WaitGroup.Add.
func (g *WaitGroup) Add(n int) {
	point(stepAtomic)
	if g.n += n; g.n < 0 {
		panic("negative WaitGroup")
	} else if g.n == 0 {
		g.waiters.wakeAll()
	}
}

// Done is sync.WaitGroup.Done.
func (g *WaitGroup) Done() { g.Add(-1) }

// Go is sync.WaitGroup.Go.
func (g *WaitGroup) Go(f func()) {
	g.Add(1)
	Go("WaitGroup.Go", func() {
		defer g.Done()
		f()
	})
}

// Wait is sync.WaitGroup.Wait.
func (g *WaitGroup) Wait() {
	point(stepAtomic)
	for g.n > 0 {
		g.waiters.wait("for a WaitGroup")
	}
}

// Once is sync.Once.
type Once struct {
	mu   Mutex
	done bool
}

// Do is sync.Once.Do.
func (o *Once) Do(f func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.done {
		defer func() { o.done = true }()
		f()
	}
}

// Pool is sync.Pool. It gives out what was put in last.
type Pool struct {
	New  func() any
	free []any
}

// Get is sync.Pool.Get.
func (p *Pool) Get() any {
	point(stepAtomic)
	if n := len(p.free); n > 0 {
		v := p.free[n-1]
		p.free = p.free[:n-1]
		return v
	}
	return p.New()
}

// Put is sync.Pool.Put.
func (p *Pool) Put(v any) {
	point(stepAtomic)
	p.free = append(p.free, v)
}

// Map is sync.Map. Range goes through it in the order of the stores.
type Map struct{ keys, values []any }

// index is where a key is, or -1.
func (m *Map) index(key any) int {
	for i, k := range m.keys {
		if k == key {
			return i
		}
	}
	return -1
}

// Load is sync.Map.Load.
func (m *Map) Load(key any) (value any, ok bool) {
	point(stepAtomic)
	if i := m.index(key); i >= 0 {
		return m.values[i], true
	}
	return nil, false
}

// Store is sync.Map.Store.
func (m *Map) Store(key, value any) {
	point(stepAtomic)
	if i := m.index(key); i >= 0 {
		m.values[i] = value
		return
	}
	m.keys, m.values = append(m.keys, key), append(m.values, value)
}

// LoadOrStore is sync.Map.LoadOrStore.
func (m *Map) LoadOrStore(key, value any) (actual any, loaded bool) {
	point(stepAtomic)
	if i := m.index(key); i >= 0 {
		return m.values[i], true
	}
	m.keys, m.values = append(m.keys, key), append(m.values, value)
	return value, false
}

// Delete is sync.Map.Delete.
func (m *Map) Delete(key any) {
	point(stepAtomic)
	m.remove(m.index(key))
}

// remove removes the entry at an index, unless that is negative. A Range goes on with the lists as
// they were.
func (m *Map) remove(i int) {
	if i >= 0 {
		m.keys = append(m.keys[:i:i], m.keys[i+1:]...)
		m.values = append(m.values[:i:i], m.values[i+1:]...)
	}
}

// CompareAndDelete is sync.Map.CompareAndDelete.
func (m *Map) CompareAndDelete(key, old any) bool {
	point(stepAtomic)
	i := m.index(key)
	if i < 0 || m.values[i] != old {
		return false
	}
	m.remove(i)
	return true
}

// Range is sync.Map.Range.
func (m *Map) Range(yield func(key, value any) bool) {
	point(stepAtomic)
	values := m.values
	for i, k := range m.keys {
		if !yield(k, values[i]) {
			return
		}
		point(stepAtomic)
	}
}

var _ iter.Seq2[any, any] = (*Map)(nil).Range
