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
	a, b := p.j.procs[0], p.j.procs[1]
	var early atomicInts
	p.target.change(func() {
		p.target.ended = func(f *frame) error {
			_, i := number(f.head)
			n := 1 + 997*i
			early.add(!bytes.Equal(memoryAt(b.mem, n), noise(i, n)))
			return p.target.finish(f)
		}
	})
	for i := range 100 {
		n := 1 + 997*i
		copy(memoryAt(a.own, n), noise(i, n))
		done, err := p.move(row(a.own, n), row(b.mem, n), true, false)
		if errors.Is(err, transport.ErrNotNative) {
			t.Skip("this memory has no key")
		} else if err != nil {
			t.Fatal(err)
		}
		p.o.sendBytes(numbered(headEcho, 0, i), nil, transport.Now)
		p.o.frames(1)
		if err := done.wait(t); err != nil {
			t.Fatal(err)
		}
	}
	if n := early.sum(); n > 0 {
		t.Errorf("%d of 100 frames came before what was written earlier", n)
	}
	p.writesInOrder(t)
}

// writesInOrder: a later write of the same memory stays, and a read that is posted after it finds
// it.
func (p *directPair) writesInOrder(t *testing.T) {
	a, b := p.j.procs[0], p.j.procs[1]
	const n, k = 3000, 8
	for round := range 10 {
		var open []*parts
		post := func(local kernel.Cursor, write bool) {
			done, err := p.move(local, row(b.mem, n), write, false)
			if err != nil {
				t.Fatal(err)
			}
			open = append(open, done)
		}
		copy(memoryAt(a.own, k*n), noise(round, k*n))
		for i := range uintptr(k) {
			post(row(a.own+i*n, n), true)
			post(row(a.mem+i*n, n), false)
		}
		for _, done := range open {
			if err := done.wait(t); err != nil {
				t.Fatal(err)
			}
		}
		p.settle(t)
		if !bytes.Equal(memoryAt(b.mem, n), memoryAt(a.own+(k-1)*n, n)) {
			t.Fatal("the last write is not what stays")
		}
		if !bytes.Equal(memoryAt(a.mem+(k-1)*n, n), memoryAt(a.own+(k-1)*n, n)) {
			t.Fatal("a read does not find what was written before it was posted")
		}
	}
}

// atomicInts counts what is so.
type atomicInts struct {
	mu sync.Mutex
	n  int
}

func (c *atomicInts) add(yes bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if yes {
		c.n++
	}
}

func (c *atomicInts) sum() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

// fabricDirectBack: a target's end writes into memory that the origin has lent, and then sends a
// frame.
func fabricDirectBack(t *testing.T, d transport.Driver) {
	p := newDirectPair(t, d)
	a, b := p.j.procs[0], p.j.procs[1]
	var open []*parts
	p.target.change(func() {
		p.target.ended = func(f *frame) error { // key, address, bytes
			key, at := binary.LittleEndian.Uint64(f.body),
				uintptr(binary.LittleEndian.Uint64(f.body[8:]))
			n := int(binary.LittleEndian.Uint64(f.body[16:]))
			done := newParts()
			open = append(open, done)
			lent := transport.Range{Lo: at, Hi: at + uintptr(n), Key: key, Direct: true}
			local := row(b.mem, n)
			if n > 100 {
				local.SetStrided(b.mem, []int32{int32(n / 20), 20},
					[]int32{int32(n/20 + 12)})
			}
			err := p.target.e.(transport.DirectWriter).Write(
				&transport.Transfer{Local: &local, Remote: new(row(at, n)),
					Done: done,
					Key: func(uintptr, func()) (*transport.Range, error) {
						return &lent,
							nil
					}})
			if err != nil {
				return err
			}
			return p.target.finish(f)
		}
	})
	copy(memoryAt(b.mem, memBytes), noise(5, memBytes))
	for i, n := range []int{1, 8, 100, 5000, 200000, 1000000, 60, 2000000} {
		at := []uintptr{a.mem, a.own}[i%2] + uintptr(i)
		clear(memoryAt(at, n))
		key, release, ok := a.fabric.(transport.DirectFabric).Lend(at, at+uintptr(n))
		if !ok {
			continue
		}
		body := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, key),
			uint64(at))
		p.o.sendBytes([]byte{headEcho}, binary.LittleEndian.AppendUint64(body, uint64(n)),
			transport.Now)
		p.o.frames(1)
		want := memoryAt(b.mem, n)
		if n > 100 {
			var c kernel.Cursor
			c.SetStrided(b.mem, []int32{int32(n / 20), 20}, []int32{int32(n/20 + 12)})
			want = packed(c)
		}
		if got := memoryAt(at, len(want)); !bytes.Equal(got, want) {
			t.Fatalf("byte %d of %d that the target has written differs",
				firstDifference(got, want), n)
		}
		release()
	}
	var all []*parts
	b.server.inside(func() { all = open })
	for _, done := range all {
		if err := done.wait(t); err != nil {
			t.Error(err)
		}
	}
}

// fabricDirectForeign: where memory has no key, or is nobody's, the transfer says so and nothing
// has happened.
func fabricDirectForeign(t *testing.T, d transport.Driver) {
	p := newDirectPair(t, d)
	a, b := p.j.procs[0], p.j.procs[1]
	copy(memoryAt(a.mem, memBytes), noise(1, memBytes))
	copy(memoryAt(b.mem, memBytes), noise(2, memBytes))
	for _, why := range []error{transport.ErrNotNative, transport.ErrBadAddr} {
		for _, limit := range []uintptr{0, 64 << 10} { // so many bytes have a key
			for _, write := range []bool{true, false} {
				done := newParts()
				x := transport.Transfer{Local: new(row(a.mem, 100<<10)),
					Remote: new(row(b.mem, 100<<10)), Done: done,
					Key: func(addr uintptr, meanwhile func()) (*transport.Range,
						error) {
						if addr >= b.mem+limit {
							return nil, why
						}
						r, err := p.keys.find(addr, meanwhile)
						if err == nil {
							r = &transport.Range{Lo: r.Lo,
								Hi:  min(r.Hi, b.mem+limit),
								Key: r.Key, Direct: true}
						}
						return r, err
					}}
				p.o.posting.Lock()
				err := p.e.Read(&x)
				if write {
					err = p.e.Write(&x)
				}
				p.o.posting.Unlock()
				if !errors.Is(err, why) && !errors.Is(err, transport.ErrNotNative) {
					t.Errorf("no key from byte %d on (%v), write %v: %v", limit,
						why, write, err)
				}
				if err := done.wait(t); err != nil {
					t.Errorf("a part that was posted: %v", err)
				}
				p.settle(t)
				if got := memoryAt(b.mem+limit, memBytes-int(limit)); !bytes.Equal(
					got, noise(2, memBytes)[limit:]) {
					t.Fatal("memory without a key was changed")
				}
				copy(memoryAt(a.mem, memBytes), noise(1, memBytes))
				copy(memoryAt(b.mem, memBytes), noise(2, memBytes))
			}
		}
	}
	p.moved(t, row(a.mem, 5000), row(b.mem, 5000), true, false)
	p.o.posting.Lock()
	defer p.o.posting.Unlock()
	// nobody is told
	x := transport.Transfer{Local: new(row(a.mem, 8)), Remote: new(row(b.mem, 8)),
		Key: p.keys.find, Copied: true}
	if err := p.e.Write(&x); err != nil && !errors.Is(err, transport.ErrNotNative) {
		t.Error(err)
	}
	p.settle(t)
}

// fabricDirectLost: all parts of what is open end when the connection is broken, or closed, or a
// key opens nothing.
func fabricDirectLost(t *testing.T, d transport.Driver) {
	for round := range 4 {
		p := newDirectPair(t, d)
		a, b := p.j.procs[0], p.j.procs[1]
		var open []*parts
		for i := range 40 {
			n := 1000 * (1 + i)
			done, err := p.move(row(a.mem, n), row(b.mem, n), i%2 == 0, false)
			open = append(open, done)
			if err != nil && !errors.Is(err, transport.ErrNotNative) {
				t.Fatal(err)
			}
		}
		switch round {
		case 0:
			p.o.e.Break()
		case 1:
			p.target.e.Break()
		case 2:
			p.o.close(patience)
		case 3:
			wrong := transport.Range{Lo: 0, Hi: ^uintptr(0), Key: 0x12345678,
				Direct: true}
			done := newParts()
			open = append(open, done)
			x := transport.Transfer{Local: new(row(a.mem, 8)),
				Remote: new(row(b.mem, 8)), Done: done,
				Key: func(uintptr, func()) (*transport.Range,
					error) {
					return &wrong, nil
				}}
			p.o.posting.Lock()
			err := p.e.Write(&x)
			p.o.posting.Unlock()
			stop := p.o.pulses()
			if err == nil && done.wait(t) == nil {
				t.Error("a key that opens nothing opens something")
			}
			stop()
		}
		for _, done := range open {
			if err := done.wait(t); round == 2 && err != nil {
				t.Errorf("closed, with time: %v", err)
			}
		}
		p.target.gone()
		if round == 2 {
			continue
		}
		p.o.gone()
		done, err := p.move(row(a.mem, 8), row(b.mem, 8), true, false)
		if err == nil && done.wait(t) == nil {
			t.Error("a write over a lost connection succeeds")
		}
	}
}

// pulses calls Pulse until stop, if the fabric asks for that: it may not learn by other means that
// something will never be done.
func (e *fabricEnd) pulses() (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for e.p.fabric.Info().Pulses {
			select {
			case <-end:
				return
			case <-time.After(300 * time.Millisecond):
				e.posting.Lock()
				e.e.Pulse()
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
	b := p.j.procs[1]
	f := b.fabric.(transport.DirectFabric)
	var list, again []transport.Range
	b.server.inside(func() {
		list, again = f.Expose(b.mem, memBytes), f.Expose(b.mem, memBytes)
	})
	at := b.mem
	for _, r := range list {
		if r.Lo > at || r.Hi <= at {
			t.Errorf("range %#x to %#x does not go on at %#x", r.Lo, r.Hi, at)
		}
		at = r.Hi
		if here := f.Here(r.Lo); r.Direct && r.Lo >= b.mem &&
			(here == nil || r.Lo < here.Lo || r.Lo >= here.Hi) {
			t.Errorf("Here(%#x) is %v", r.Lo, here)
		}
	}
	if at < b.mem+memBytes || !slices.Equal(list, again) {
		t.Errorf("%v, then %v", list, again)
	}
	if n := p.e.Requests(new(row(p.j.procs[0].mem, 100)), new(row(b.mem, 100))); n != 1 {
		t.Errorf("100 bytes take %d requests", n)
	}
	local, remote := row(p.j.procs[0].mem, 400), kernel.Cursor{}
	remote.SetStrided(b.mem, []int32{100, 4}, []int32{500})
	if n := p.e.Requests(&local, &remote); n < 1 || n > 4 || remote.Left() != 400 {
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
	word := j.procs[0].mem + 512
	j.Node(0).Declare(word, 64)
	clear(memoryAt(word, 64))
	olds := make([][]int64, procs)
	var running sync.WaitGroup
	for from := 1; from < procs; from++ {
		o := j.procs[from].dial(0)
		keys := keyTable{p: j.procs[0]}
		r, err := keys.find(word, nil)
		if errors.Is(err, transport.ErrNotNative) {
			t.Skip("this memory has no key")
		}
		e := o.e.(transport.DirectEndpoint)
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
	got := memoryAt(word, 24)
	if a, s, after := native.Uint64(got), native.Uint64(got[8:]),
		native.Uint64(got[16:]); a != (procs-1)*n || s != 3*(procs-1)*n || after != 0 {
		t.Errorf("the words are %d, %d and %d", a, s, after)
	}
}
