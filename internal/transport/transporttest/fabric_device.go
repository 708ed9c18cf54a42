// SPDX-License-Identifier: BSD-3-Clause

// More of the direct transfers of the fabric suite: their order with frames, writes of a target's
// end, memory without a key, lost connections, registered ranges, and atomic operations.
package transporttest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// fabricDirectOrder: a frame comes after the effect of the writes before it.
func fabricDirectOrder(t *testing.T, d transport.Driver) {
	p := newDirectPair(t, d)
	a, b := p.job.procs[0], p.job.procs[1]
	var early violationCount
	p.target.configure(func() {
		p.target.onFrame = func(f *frame) error {
			_, i := headNumber(f.head)
			n := 1 + 997*i
			early.countIf(!bytes.Equal(memoryBytes(b.arenaMem, n), noise(i, n)))
			return p.target.recordFrame(f)
		}
	})
	for i := range 100 {
		n := 1 + 997*i
		copy(memoryBytes(a.ownMem, n), noise(i, n))
		done, err := p.post(rowCursor(a.ownMem, n), rowCursor(b.arenaMem, n), true, false)
		if errors.Is(err, transport.ErrNotNative) {
			t.Skip("this memory has no key")
		} else if err != nil {
			t.Fatal(err)
		}
		p.origin.sendBytes(numberedHead(headEcho, 0, i), nil, transport.Now)
		p.origin.takeFrames(1)
		if err := done.waitAll(t); err != nil {
			t.Fatal(err)
		}
	}
	if n := early.total(); n > 0 {
		t.Errorf("%d of 100 frames came before what was written earlier", n)
	}
	p.writesInOrder(t)
}

// writesInOrder: a later write of the same memory stays, and a read that is posted after it finds
// it.
func (p *directPair) writesInOrder(t *testing.T) {
	a, b := p.job.procs[0], p.job.procs[1]
	const n, k = 3000, 8
	for round := range 10 {
		var open []*partCounter
		post := func(local kernel.Cursor, write bool) {
			done, err := p.post(local, rowCursor(b.arenaMem, n), write, false)
			if err != nil {
				t.Fatal(err)
			}
			open = append(open, done)
		}
		copy(memoryBytes(a.ownMem, k*n), noise(round, k*n))
		for i := range uintptr(k) {
			post(rowCursor(a.ownMem+i*n, n), true)
			post(rowCursor(a.arenaMem+i*n, n), false)
		}
		for _, done := range open {
			if err := done.waitAll(t); err != nil {
				t.Fatal(err)
			}
		}
		p.awaitWrites(t)
		if !bytes.Equal(memoryBytes(b.arenaMem, n), memoryBytes(a.ownMem+(k-1)*n, n)) {
			t.Fatal("the last write is not what stays")
		}
		if !bytes.Equal(memoryBytes(a.arenaMem+(k-1)*n, n), memoryBytes(a.ownMem+(k-1)*n,
			n)) {
			t.Fatal("a read does not find what was written before it was posted")
		}
	}
}

// violationCount counts what is so.
type violationCount struct {
	mu    sync.Mutex
	count int
}

func (c *violationCount) countIf(yes bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if yes {
		c.count++
	}
}

func (c *violationCount) total() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count
}

// fabricDirectBack: a target's end writes into memory that the origin has lent, and then sends a
// frame.
func fabricDirectBack(t *testing.T, d transport.Driver) {
	p := newDirectPair(t, d)
	a, b := p.job.procs[0], p.job.procs[1]
	var open []*partCounter
	p.target.configure(func() {
		p.target.onFrame = func(f *frame) error { // key, address, bytes
			key, at := binary.LittleEndian.Uint64(f.body),
				uintptr(binary.LittleEndian.Uint64(f.body[8:]))
			n := int(binary.LittleEndian.Uint64(f.body[16:]))
			done := newPartCounter()
			open = append(open, done)
			lent := transport.Range{Lo: at, Hi: at + uintptr(n), Key: key, Direct: true}
			local := rowCursor(b.arenaMem, n)
			if n > 100 {
				local.SetStrided(b.arenaMem, []int32{int32(n / 20), 20},
					[]int32{int32(n/20 + 12)})
			}
			err := p.target.ep.(transport.DirectWriter).Write(
				&transport.Transfer{Local: &local, Remote: new(rowCursor(at, n)),
					Done: done,
					Key: func(uintptr, func()) (*transport.Range, error) {
						return &lent, nil
					}})
			if err != nil {
				return err
			}
			return p.target.recordFrame(f)
		}
	})
	copy(memoryBytes(b.arenaMem, fabricMemBytes), noise(5, fabricMemBytes))
	for i, n := range []int{1, 8, 100, 5000, 200000, 1000000, 60, 2000000} {
		at := []uintptr{a.arenaMem, a.ownMem}[i%2] + uintptr(i)
		clear(memoryBytes(at, n))
		key, release, ok := a.fabric.(transport.DirectFabric).Lend(at, at+uintptr(n))
		if !ok {
			continue
		}
		body := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, key),
			uint64(at))
		p.origin.sendBytes([]byte{headEcho}, binary.LittleEndian.AppendUint64(body,
			uint64(n)),
			transport.Now)
		p.origin.takeFrames(1)
		want := memoryBytes(b.arenaMem, n)
		if n > 100 {
			var c kernel.Cursor
			c.SetStrided(b.arenaMem, []int32{int32(n / 20), 20},
				[]int32{int32(n/20 + 12)})
			want = packCursor(c)
		}
		if got := memoryBytes(at, len(want)); !bytes.Equal(got, want) {
			t.Fatalf("byte %d of %d that the target has written differs",
				firstDifference(got, want), n)
		}
		release()
	}
	var all []*partCounter
	b.server.withoutPolling(func() { all = open })
	for _, done := range all {
		if err := done.waitAll(t); err != nil {
			t.Error(err)
		}
	}
}

// fabricDirectForeign: where memory has no key, or is nobody's, the transfer says so and nothing
// has happened.
func fabricDirectForeign(t *testing.T, d transport.Driver) {
	p := newDirectPair(t, d)
	a, b := p.job.procs[0], p.job.procs[1]
	copy(memoryBytes(a.arenaMem, fabricMemBytes), noise(1, fabricMemBytes))
	copy(memoryBytes(b.arenaMem, fabricMemBytes), noise(2, fabricMemBytes))
	for _, why := range []error{transport.ErrNotNative, transport.ErrBadAddr} {
		for _, limit := range []uintptr{0, 64 << 10} { // so many bytes have a key
			for _, write := range []bool{true, false} {
				done := newPartCounter()
				x := transport.Transfer{Local: new(rowCursor(a.arenaMem, 100<<10)),
					Remote: new(rowCursor(b.arenaMem, 100<<10)), Done: done,
					Key: func(addr uintptr, meanwhile func()) (*transport.Range,
						error) {
						if addr >= b.arenaMem+limit {
							return nil, why
						}
						r, err := p.keys.lookUp(addr, meanwhile)
						if err == nil {
							r = &transport.Range{Lo: r.Lo,
								Hi:  min(r.Hi, b.arenaMem+limit),
								Key: r.Key, Direct: true}
						}
						return r, err
					}}
				p.origin.posting.Lock()
				err := p.ep.Read(&x)
				if write {
					err = p.ep.Write(&x)
				}
				p.origin.posting.Unlock()
				if !errors.Is(err, why) && !errors.Is(err, transport.ErrNotNative) {
					t.Errorf("no key from byte %d on (%v), write %v: %v", limit,
						why, write, err)
				}
				if err := done.waitAll(t); err != nil {
					t.Errorf("a part that was posted: %v", err)
				}
				p.awaitWrites(t)
				if got := memoryBytes(b.arenaMem+limit,
					fabricMemBytes-int(limit)); !bytes.Equal(
					got, noise(2, fabricMemBytes)[limit:]) {
					t.Fatal("memory without a key was changed")
				}
				copy(memoryBytes(a.arenaMem, fabricMemBytes), noise(1,
					fabricMemBytes))
				copy(memoryBytes(b.arenaMem, fabricMemBytes), noise(2,
					fabricMemBytes))
			}
		}
	}
	p.checkPost(t, rowCursor(a.arenaMem, 5000), rowCursor(b.arenaMem, 5000), true, false)
	p.origin.posting.Lock()
	defer p.origin.posting.Unlock()
	// nobody is told
	x := transport.Transfer{Local: new(rowCursor(a.arenaMem, 8)),
		Remote: new(rowCursor(b.arenaMem, 8)),
		Key:    p.keys.lookUp, Copied: true}
	if err := p.ep.Write(&x); err != nil && !errors.Is(err, transport.ErrNotNative) {
		t.Error(err)
	}
	p.awaitWrites(t)
}

// fabricDirectLost: all parts of what is open end when the connection is broken, or closed, or a
// key opens nothing.
func fabricDirectLost(t *testing.T, d transport.Driver) {
	for round := range 4 {
		p := newDirectPair(t, d)
		a, b := p.job.procs[0], p.job.procs[1]
		var open []*partCounter
		for i := range 40 {
			n := 1000 * (1 + i)
			done, err := p.post(rowCursor(a.arenaMem, n), rowCursor(b.arenaMem, n),
				i%2 == 0, false)
			open = append(open, done)
			if err != nil && !errors.Is(err, transport.ErrNotNative) {
				t.Fatal(err)
			}
		}
		switch round {
		case 0:
			p.origin.ep.Break()
		case 1:
			p.target.ep.Break()
		case 2:
			p.origin.closeOrigin(patience)
		case 3:
			wrong := transport.Range{Lo: 0, Hi: ^uintptr(0), Key: 0x12345678,
				Direct: true}
			done := newPartCounter()
			open = append(open, done)
			x := transport.Transfer{Local: new(rowCursor(a.arenaMem, 8)),
				Remote: new(rowCursor(b.arenaMem, 8)), Done: done,
				Key: func(uintptr, func()) (*transport.Range,
					error) {
					return &wrong, nil
				}}
			p.origin.posting.Lock()
			err := p.ep.Write(&x)
			p.origin.posting.Unlock()
			stop := p.origin.startPulses()
			if err == nil && done.waitAll(t) == nil {
				t.Error("a key that opens nothing opens something")
			}
			stop()
		}
		for _, done := range open {
			if err := done.waitAll(t); round == 2 && err != nil {
				t.Errorf("closed, with time: %v", err)
			}
		}
		p.target.waitLost()
		if round == 2 {
			continue
		}
		p.origin.waitLost()
		done, err := p.post(rowCursor(a.arenaMem, 8), rowCursor(b.arenaMem, 8), true, false)
		if err == nil && done.waitAll(t) == nil {
			t.Error("a write over a lost connection succeeds")
		}
	}
}

// startPulses calls Pulse until stop, if the fabric asks for that: it may not learn by other means
// that something will never be done.
func (e *fabricEnd) startPulses() (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for e.proc.fabric.Info().Pulses {
			select {
			case <-end:
				return
			case <-time.After(300 * time.Millisecond):
				e.posting.Lock()
				e.ep.Pulse()
				e.posting.Unlock()
			}
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}

// fabricRanges: Expose lists all of the memory it is asked for, in order, and the same keys again.
func fabricRanges(t *testing.T, d transport.Driver) {
	p := newDirectPair(t, d)
	b := p.job.procs[1]
	f := b.fabric.(transport.DirectFabric)
	var list, again []transport.Range
	b.server.withoutPolling(func() {
		list, again = f.Expose(b.arenaMem, fabricMemBytes), f.Expose(b.arenaMem,
			fabricMemBytes)
	})
	at := b.arenaMem
	for _, r := range list {
		if r.Lo > at || r.Hi <= at {
			t.Errorf("range %#x to %#x does not go on at %#x", r.Lo, r.Hi, at)
		}
		at = r.Hi
		if here := f.Here(r.Lo); r.Direct && r.Lo >= b.arenaMem &&
			(here == nil || r.Lo < here.Lo || r.Lo >= here.Hi) {
			t.Errorf("Here(%#x) is %v", r.Lo, here)
		}
	}
	if at < b.arenaMem+fabricMemBytes || !slices.Equal(list, again) {
		t.Errorf("%v, then %v", list, again)
	}
	if n := p.ep.Requests(new(rowCursor(p.job.procs[0].arenaMem, 100)),
		new(rowCursor(b.arenaMem, 100))); n != 1 {
		t.Errorf("100 bytes take %d requests", n)
	}
	local, remote := rowCursor(p.job.procs[0].arenaMem, 400), kernel.Cursor{}
	remote.SetStrided(b.arenaMem, []int32{100, 4}, []int32{500})
	if n := p.ep.Requests(&local, &remote); n < 1 || n > 4 || remote.Left() != 400 {
		t.Errorf("four rows take %d requests", n)
	}
}

// fabricAtomic: several origins change the same words by their devices.
func fabricAtomic(t *testing.T, d transport.Driver) {
	const procs, n = 4, 60
	j := openFabrics(t, d, procs)
	f, ok := j.procs[0].fabric.(transport.DirectFabric)
	if !ok || !f.Atomics() {
		t.Skipf("%s has no device with atomic operations", d.Name)
	}
	word := j.procs[0].arenaMem + 512
	j.Node(0).Declare(word, 64)
	clear(memoryBytes(word, 64))
	olds := make([][]int64, procs)
	var running sync.WaitGroup
	for from := 1; from < procs; from++ {
		o := j.procs[from].dialRank(0)
		keys := keyTable{process: j.procs[0]}
		r, err := keys.lookUp(word, nil)
		if errors.Is(err, transport.ErrNotNative) {
			t.Skip("this memory has no key")
		}
		e := o.ep.(transport.DirectEndpoint)
		running.Go(func() {
			o.posting.Lock()
			defer o.posting.Unlock()
			for i := 0; i < n && err == nil; i++ {
				var old int64
				old, err = e.Atomic(transport.AtomicAdd, word, r.Key, 1, 0)
				olds[from] = append(olds[from], old)
				for guess := int64(0); err == nil; guess = old {
					if old, err = e.Atomic(transport.AtomicCompareSwap, word+8,
						r.Key, guess+3, guess); old == guess {
						break
					}
				}
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	seen := map[int64]bool{}
	for _, all := range olds {
		for i, old := range all {
			if seen[old] || i > 0 && old <= all[i-1] {
				t.Errorf("ticket %d was drawn twice, or late", old)
			}
			seen[old] = true
		}
	}
	got := memoryBytes(word, 24)
	if a, s, after := native.Uint64(got), native.Uint64(got[8:]),
		native.Uint64(got[16:]); a != (procs-1)*n || s != 3*(procs-1)*n || after != 0 {
		t.Errorf("the words are %d, %d and %d", a, s, after)
	}
}
