// SPDX-License-Identifier: BSD-3-Clause

// Direct transfers of the fabric suite: a device writes and reads memory of a target by keys that
// are asked for, tells of each part once, and changes nothing where there is no key. Fabrics
// without a device skip this.
package transporttest

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// directPair is a connection between two processes whose devices reach each other's memory.
type directPair struct {
	j      *fabricJob
	o      *fabricEnd
	target *fabricEnd
	e      transport.DirectEndpoint
	keys   keyTable // of the target's memory
}

func newDirectPair(t *testing.T, d transport.Driver) *directPair {
	j := openFabrics(t, d, 2)
	if _, ok := j.procs[0].fabric.(transport.DirectFabric); !ok {
		t.Skipf("%s has no device that reaches others' memory", d.Name)
	}
	o, target := j.pair()
	e, ok := o.e.(transport.DirectEndpoint)
	if !ok {
		t.Fatal("the endpoint of a DirectFabric is no DirectEndpoint")
	}
	return &directPair{j: j, o: o, target: target, e: e, keys: keyTable{p: j.procs[1]}}
}

// keyTable finds keys of a process's memory as internode does: it asks the data server for what it
// does not know.
type keyTable struct {
	p     *fabricProcess
	known []transport.Range
	asked int
}

func (k *keyTable) find(addr uintptr, meanwhile func()) (*transport.Range, error) {
	for range 2 {
		for i := range k.known {
			if r := &k.known[i]; addr >= r.Lo && addr < r.Hi && !r.Direct {
				return nil, transport.ErrNotNative
			} else if addr >= r.Lo && addr < r.Hi {
				return r, nil
			}
		}
		lo, n := k.p.j.Node(int(k.p.rank)).Extent(addr)
		if n == 0 {
			break
		}
		k.asked++
		k.p.server.inside(func() {
			k.known = append(k.known,
				k.p.fabric.(transport.DirectFabric).Expose(lo, n)...)
		})
		if meanwhile != nil {
			meanwhile()
		}
	}
	return nil, transport.ErrBadAddr
}

// parts counts what a Completion is told.
type parts struct {
	mu          sync.Mutex
	changed     *sync.Cond
	added, done int32
	err         error
}

func newParts() *parts {
	p := &parts{}
	p.changed = sync.NewCond(&p.mu)
	return p
}

// Add is told of more parts.
func (p *parts) Add(n int32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.added += n
}

// Done is told of the end of one.
func (p *parts) Done(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	if err != nil && p.err == nil {
		p.err = err
	}
	p.changed.Broadcast()
}

// wait waits for the parts of a transfer that has been posted, and tells the error.
func (p *parts) wait(t testing.TB) error {
	t.Helper()
	within(t, p.changed, "all parts of a direct transfer end",
		func() bool { return p.done >= p.added })
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done != p.added {
		t.Errorf("%d parts, of which %d have ended", p.added, p.done)
	}
	return p.err
}

// move writes or reads and returns what has to be waited for. The lock is the origin's caller's.
func (d *directPair) move(local, remote kernel.Cursor, write, copied bool) (*parts, error) {
	d.o.posting.Lock()
	defer d.o.posting.Unlock()
	done := newParts()
	x := transport.Transfer{Local: &local, Remote: &remote, Key: d.keys.find, Copied: copied,
		Done: done}
	if write {
		return done, d.e.Write(&x)
	}
	return done, d.e.Read(&x)
}

// moved is a move that must succeed, unless memory has no key: then it is made by other means, as
// internode does.
func (d *directPair) moved(t testing.TB, local, remote kernel.Cursor, write, copied bool) {
	t.Helper()
	done, err := d.move(local, remote, write, copied)
	if write && copied && err == nil {
		clearShape(local)
	}
	if partial := done.wait(t); err == nil {
		err = partial
	}
	switch {
	case errors.Is(err, transport.ErrNotNative) && write:
		remote.Unpack(packed(local))
		if copied {
			clearShape(local)
		}
	case errors.Is(err, transport.ErrNotNative):
		local.Unpack(packed(remote))
	case err != nil:
		t.Fatalf("write: %v: %v", write, err)
	case write:
		d.settle(t)
	}
}

// settle waits until all writes have taken effect.
func (d *directPair) settle(t testing.TB) {
	t.Helper()
	mark := d.e.Mark()
	for end := time.Now().Add(patience); !d.e.Reached(mark); time.Sleep(20 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatal("what was written is not said to have taken effect")
		}
	}
}

func memoryAt(addr uintptr, n int) []byte { return unsafe.Slice((*byte)(kernel.Ptr(addr)), n) }

func row(addr uintptr, n int) (c kernel.Cursor) {
	c.SetContiguous(addr, int64(n))
	return c
}

// fabricDirect writes and reads rows of all lengths, from memory of the arena and from other
// memory.
func fabricDirect(t *testing.T, d transport.Driver) {
	p := newDirectPair(t, d)
	a, b := p.j.procs[0], p.j.procs[1]
	for i, n := range []int{1, 2, 4, 7, 8, 64, 100, 255, 4096, 5000, 65536, 100001, 1 << 20,
		memBytes - 64} {
		for k, from := range []uintptr{a.mem + uintptr(i), a.own + uintptr(i)} {
			want := noise(n+k, n)
			copy(memoryAt(from, n), want)
			to := b.mem + uintptr(3*i+8*k)
			clear(memoryAt(b.mem, memBytes))
			p.moved(t, row(from, n), row(to, n), true, (i+k)%2 == 0)
			if got := memoryAt(to, n); !bytes.Equal(got, want) {
				t.Fatalf("byte %d of %d that were written differs",
					firstDifference(got, want), n)
			}
			if before := memoryAt(b.mem, int(to-b.mem)); firstDifference(before,
				make([]byte, len(before))) >= 0 {
				t.Fatalf("a write of %d bytes has touched what is before", n)
			}
			clear(memoryAt(from, n))
			p.moved(t, row(from, n), row(to, n), false, false)
			if got := memoryAt(from, n); !bytes.Equal(got, want) {
				t.Fatalf("byte %d of %d that were read differs",
					firstDifference(got, want), n)
			}
		}
	}
	if p.keys.asked == 0 {
		t.Error("nobody has asked for a key")
	}
}

// rows are k rows of n bytes, perhaps with gaps.
func rows(r *rand.Rand, at uintptr, n, k int) (c kernel.Cursor) {
	c.SetStrided(at, []int32{int32(n), int32(k)}, []int32{int32(n + r.IntN(3)*4)})
	return c
}

// twoShapes are memory of as many bytes at two places: rows at one, and at the other rows of
// another length, one row, or a list. Neither takes more than 16 KiB.
func twoShapes(r *rand.Rand, here, there uintptr) (local, remote kernel.Cursor) {
	n, k := 1+r.IntN(200), 1+r.IntN(60)
	other := func(at uintptr) (c kernel.Cursor) {
		switch r.IntN(3) {
		case 0:
			return rows(r, at, k, n)
		case 1:
			return row(at+uintptr(r.IntN(100)), n*k)
		}
		addrs := make([]uintptr, k)
		for i, place := range r.Perm(k) {
			addrs[i] = at + uintptr(place*(n+8))
		}
		c.SetGroups([]kernel.Group{{Addrs: addrs, Bytes: n}}, int64(n*k))
		return c
	}
	if r.IntN(2) == 0 {
		return rows(r, here, n, k), other(there)
	}
	return other(here), rows(r, there, n, k)
}

// fabricDirectShapes: whatever the shapes of the two sides. Many transfers are open at the same
// time.
func fabricDirectShapes(t *testing.T, d transport.Driver) {
	const places, room = 32, 16 << 10
	p := newDirectPair(t, d)
	r := rand.New(rand.NewPCG(21, 0))
	a, b := p.j.procs[0].mem, p.j.procs[1].mem
	for round := range 8 {
		write := round%2 == 0
		var open []*parts
		var check []func()
		copy(memoryAt(a, places*room), noise(round, places*room))
		copy(memoryAt(b, places*room), noise(round+100, places*room))
		for i := range uintptr(places) {
			local, remote := twoShapes(r, a+i*room, b+i*room)
			want := packed(remote)
			if write {
				want = packed(local)
			}
			done, err := p.move(local, remote, write, i%3 == 0)
			open = append(open, done)
			if errors.Is(err, transport.ErrNotNative) {
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			check = append(check, func() {
				if l, q := packed(local), packed(remote); !bytes.Equal(l, want) ||
					!bytes.Equal(q, want) {
					t.Fatalf("round %d, transfer %d (write: %v): bytes %d "+
						"and %d differ", round, i, write,
						firstDifference(l, want), firstDifference(q, want))
				}
			})
		}
		for _, done := range open {
			if err := done.wait(t); err != nil {
				t.Fatal(err)
			}
		}
		p.settle(t)
		for _, c := range check {
			c()
		}
	}
}
