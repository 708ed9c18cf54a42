// SPDX-License-Identifier: BSD-3-Clause

// Direct transfers of the fabric suite, part two: their order with frames, writes of a target's
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

// fabricDirectOrder shows that a frame arrives after the effect of the writes before it.
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
		done, err := p.postTransfer(rowCursor(a.ownMem, n), rowCursor(b.arenaMem, n), true,
			false)
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

// writesInOrder shows that the later of two writes to the same memory stays, and that a read that
// is posted after a write finds its data.
func (p *directPair) writesInOrder(t *testing.T) {
	a, b := p.job.procs[0], p.job.procs[1]
	const n, k = 3000, 8
	for round := range 10 {
		var open []*partCounter
		post := func(local kernel.Cursor, write bool) {
			done, err := p.postTransfer(local, rowCursor(b.arenaMem, n), write, false)
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

// violationCount counts violations, from any thread.
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

// fabricDirectBack shows that a target's end can write to memory that the origin has lent, and that
// a frame sent after it arrives after the data.
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
		f := a.fabric.(transport.DirectFabric)
		key, release, ok := f.RegisterTemporarily(at, at+uintptr(n))
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

// fabricDirectForeign shows that a transfer fails if some memory has no key, or belongs to no rank,
// and that such memory is not changed.
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
	// A Write without a Completion.
	x := transport.Transfer{Local: new(rowCursor(a.arenaMem, 8)),
		Remote: new(rowCursor(b.arenaMem, 8)),
		Key:    p.keys.lookUp, Copied: true}
	if err := p.ep.Write(&x); err != nil && !errors.Is(err, transport.ErrNotNative) {
		t.Error(err)
	}
	p.awaitWrites(t)
}

// fabricDirectLost shows that all parts of open transfers end when the connection is broken or
// closed, or when a key is not valid.
func fabricDirectLost(t *testing.T, d transport.Driver) {
	for round := range 4 {
		p := newDirectPair(t, d)
		a, b := p.job.procs[0], p.job.procs[1]
		var open []*partCounter
		for i := range 40 {
			n := 1000 * (1 + i)
			done, err := p.postTransfer(rowCursor(a.arenaMem, n),
				rowCursor(b.arenaMem, n),
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
		done, err := p.postTransfer(rowCursor(a.arenaMem, 8), rowCursor(b.arenaMem, 8),
			true, false)
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

// fabricRanges shows that RegisterForPeers lists all of the memory, in order, and returns the same
// keys again.
func fabricRanges(t *testing.T, d transport.Driver) {
	p := newDirectPair(t, d)
	b := p.job.procs[1]
	f := b.fabric.(transport.DirectFabric)
	var list, again []transport.Range
	b.server.withoutPolling(func() {
		list = f.RegisterForPeers(b.arenaMem, fabricMemBytes)
		again = f.RegisterForPeers(b.arenaMem, fabricMemBytes)
	})
	at := b.arenaMem
	for _, r := range list {
		if r.Lo > at || r.Hi <= at {
			t.Errorf("range %#x to %#x does not go on at %#x", r.Lo, r.Hi, at)
		}
		at = r.Hi
		if here := f.LocalRange(r.Lo); r.Direct && r.Lo >= b.arenaMem &&
			(here == nil || r.Lo < here.Lo || r.Lo >= here.Hi) {
			t.Errorf("LocalRange(%#x) is %v", r.Lo, here)
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
