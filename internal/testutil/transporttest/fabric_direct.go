// SPDX-License-Identifier: BSD-3-Clause

// Direct transfers of the fabric suite: a device writes and reads memory of a target by keys,
// reports each part once, and changes nothing where there is no key. Fabrics without a device skip
// this.
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
	job    *fabricJob
	origin *fabricEnd
	target *fabricEnd
	ep     transport.DirectEndpoint
	keys   keyTable // of the target's memory
}

// newDirectPair opens two processes and connects them. It skips the test if there is no device.
func newDirectPair(t *testing.T, d transport.Driver) *directPair {
	j := openFabrics(t, d, 2)
	if _, ok := j.procs[0].fabric.(transport.DirectFabric); !ok {
		t.Skipf("%s has no device that reaches others' memory", d.Name)
	}
	o, target := j.connectPair()
	e, ok := o.ep.(transport.DirectEndpoint)
	if !ok {
		t.Fatal("the endpoint of a DirectFabric is no DirectEndpoint")
	}
	return &directPair{job: j, origin: o, target: target, ep: e,
		keys: keyTable{process: j.procs[1]}}
}

// keyTable caches the keys of a process's memory, as internode does. It asks the data server for
// those that it does not have.
type keyTable struct {
	process  *fabricProcess
	ranges   []transport.Range
	requests int
}

// lookUp is Transfer.Key.
func (k *keyTable) lookUp(addr uintptr, meanwhile func()) (*transport.Range, error) {
	for range 2 {
		for i := range k.ranges {
			if r := &k.ranges[i]; addr >= r.Lo && addr < r.Hi && !r.Direct {
				return nil, transport.ErrNotNative
			} else if addr >= r.Lo && addr < r.Hi {
				return r, nil
			}
		}
		lo, n := k.process.job.Node(int(k.process.rank)).RegionAt(addr)
		if n == 0 {
			break
		}
		k.requests++
		k.process.server.withoutPolling(func() {
			f := k.process.fabric.(transport.DirectFabric)
			k.ranges = append(k.ranges, f.RegisterForPeers(lo, n)...)
		})
		if meanwhile != nil {
			meanwhile()
		}
	}
	return nil, transport.ErrBadAddr
}

// partCounter is a Completion that counts parts.
type partCounter struct {
	mu          sync.Mutex
	changed     *sync.Cond
	added, done int32
	err         error
}

func newPartCounter() *partCounter {
	p := &partCounter{}
	p.changed = sync.NewCond(&p.mu)
	return p
}

// AddParts counts posted parts.
func (p *partCounter) AddParts(n int32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.added += n
}

// CompletePart counts ended parts and keeps the first error.
func (p *partCounter) CompletePart(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	if err != nil && p.err == nil {
		p.err = err
	}
	p.changed.Broadcast()
}

// waitAll waits for all parts of a posted transfer, and returns the first error.
func (p *partCounter) waitAll(t testing.TB) error {
	t.Helper()
	waitWithin(t, p.changed, "all parts of a direct transfer end",
		func() bool { return p.done >= p.added })
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done != p.added {
		t.Errorf("%d parts, of which %d have ended", p.added, p.done)
	}
	return p.err
}

// postTransfer posts a Write or a Read. The caller calls waitAll of the result.
func (d *directPair) postTransfer(local, remote kernel.Cursor, write, copied bool) (*partCounter,
	error) {
	d.origin.posting.Lock()
	defer d.origin.posting.Unlock()
	done := newPartCounter()
	x := transport.Transfer{Local: &local, Remote: &remote, Key: d.keys.lookUp, Copied: copied,
		Done: done}
	if write {
		return done, d.ep.Write(&x)
	}
	return done, d.ep.Read(&x)
}

// checkPost posts a transfer, which must succeed, and waits for its effect. If memory has no key it
// copies the data itself, as internode does by messages.
func (d *directPair) checkPost(t testing.TB, local, remote kernel.Cursor, write, copied bool) {
	t.Helper()
	done, err := d.postTransfer(local, remote, write, copied)
	if write && copied && err == nil {
		zeroCursor(local)
	}
	if partial := done.waitAll(t); err == nil {
		err = partial
	}
	switch {
	case errors.Is(err, transport.ErrNotNative) && write:
		remote.Unpack(packCursor(local))
		if copied {
			zeroCursor(local)
		}
	case errors.Is(err, transport.ErrNotNative):
		local.Unpack(packCursor(remote))
	case err != nil:
		t.Fatalf("write: %v: %v", write, err)
	case write:
		d.awaitWrites(t)
	}
}

// awaitWrites waits until all posted Writes have taken effect.
func (d *directPair) awaitWrites(t testing.TB) {
	t.Helper()
	mark := d.ep.Mark()
	for end := time.Now().Add(patience); !d.ep.Reached(mark); {
		time.Sleep(20 * time.Microsecond)
		if time.Now().After(end) {
			t.Fatal("what was written is not said to have taken effect")
		}
	}
}

// memoryBytes is memory outside the Go heap as a slice.
func memoryBytes(addr uintptr, n int) []byte { return unsafe.Slice((*byte)(kernel.Ptr(addr)), n) }

// rowCursor is a cursor of n contiguous bytes.
func rowCursor(addr uintptr, n int) (c kernel.Cursor) {
	c.SetContiguous(addr, int64(n))
	return c
}

// fabricDirect shows that rows of all lengths can be written and read, from arena memory and from
// other memory, and that neighbouring bytes are not changed.
func fabricDirect(t *testing.T, d transport.Driver) {
	p := newDirectPair(t, d)
	a, b := p.job.procs[0], p.job.procs[1]
	for i, n := range []int{1, 2, 4, 7, 8, 64, 100, 255, 4096, 5000, 65536, 100001, 1 << 20,
		fabricMemBytes - 64} {
		for k, from := range []uintptr{a.arenaMem + uintptr(i), a.ownMem + uintptr(i)} {
			want := noise(n+k, n)
			copy(memoryBytes(from, n), want)
			to := b.arenaMem + uintptr(3*i+8*k)
			clear(memoryBytes(b.arenaMem, fabricMemBytes))
			p.checkPost(t, rowCursor(from, n), rowCursor(to, n), true, (i+k)%2 == 0)
			if got := memoryBytes(to, n); !bytes.Equal(got, want) {
				t.Fatalf("byte %d of %d that were written differs",
					firstDifference(got, want), n)
			}
			if before := memoryBytes(b.arenaMem,
				int(to-b.arenaMem)); firstDifference(before,
				make([]byte, len(before))) >= 0 {
				t.Fatalf("a write of %d bytes has touched what is before", n)
			}
			clear(memoryBytes(from, n))
			p.checkPost(t, rowCursor(from, n), rowCursor(to, n), false, false)
			if got := memoryBytes(from, n); !bytes.Equal(got, want) {
				t.Fatalf("byte %d of %d that were read differs",
					firstDifference(got, want), n)
			}
		}
	}
	if p.keys.requests == 0 {
		t.Error("nobody has asked for a key")
	}
}

// rowsCursor is a cursor of k rows of n bytes, perhaps with gaps.
func rowsCursor(r *rand.Rand, at uintptr, n, k int) (c kernel.Cursor) {
	c.SetStrided(at, []int32{int32(n), int32(k)}, []int32{int32(n + r.IntN(3)*4)})
	return c
}

// twoShapes returns cursors of the same number of bytes at two places: rows at one, and at the
// other rows of another length, one row, or a list. Neither extends over more than 16 KiB.
func twoShapes(r *rand.Rand, here, there uintptr) (local, remote kernel.Cursor) {
	n, k := 1+r.IntN(200), 1+r.IntN(60)
	other := func(at uintptr) (c kernel.Cursor) {
		switch r.IntN(3) {
		case 0:
			return rowsCursor(r, at, k, n)
		case 1:
			return rowCursor(at+uintptr(r.IntN(100)), n*k)
		}
		addrs := make([]uintptr, k)
		for i, place := range r.Perm(k) {
			addrs[i] = at + uintptr(place*(n+8))
		}
		c.SetGroups([]kernel.Group{{Addrs: addrs, Bytes: n}}, int64(n*k))
		return c
	}
	if r.IntN(2) == 0 {
		return rowsCursor(r, here, n, k), other(there)
	}
	return other(here), rowsCursor(r, there, n, k)
}

// fabricDirectShapes shows that both sides may have any shapes. Many transfers are open at the same
// time.
func fabricDirectShapes(t *testing.T, d transport.Driver) {
	const places, room = 32, 16 << 10
	p := newDirectPair(t, d)
	r := rand.New(rand.NewPCG(21, 0))
	a, b := p.job.procs[0].arenaMem, p.job.procs[1].arenaMem
	for round := range 8 {
		write := round%2 == 0
		var open []*partCounter
		var check []func()
		copy(memoryBytes(a, places*room), noise(round, places*room))
		copy(memoryBytes(b, places*room), noise(round+100, places*room))
		for i := range uintptr(places) {
			local, remote := twoShapes(r, a+i*room, b+i*room)
			want := packCursor(remote)
			if write {
				want = packCursor(local)
			}
			done, err := p.postTransfer(local, remote, write, i%3 == 0)
			open = append(open, done)
			if errors.Is(err, transport.ErrNotNative) {
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			check = append(check, func() {
				if l, q := packCursor(local), packCursor(remote); !bytes.Equal(l,
					want) ||
					!bytes.Equal(q, want) {
					t.Fatalf("round %d, transfer %d (write: %v): bytes %d "+
						"and %d differ", round, i, write,
						firstDifference(l, want), firstDifference(q, want))
				}
			})
		}
		for _, done := range open {
			if err := done.waitAll(t); err != nil {
				t.Fatal(err)
			}
		}
		p.awaitWrites(t)
		for _, c := range check {
			c()
		}
	}
}
