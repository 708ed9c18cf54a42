// SPDX-License-Identifier: BSD-3-Clause

// Frames of the fabric suite: they arrive whole, once and in order, of all sizes and shapes, in
// both directions, from many threads and origins.
package transporttest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// fabricInfo shows that FabricInfo has sensible values and does not change.
func fabricInfo(t *testing.T, d transport.Driver) {
	j := openFabrics(t, d, 2)
	a, b := j.procs[0].fabric.Info(), j.procs[0].fabric.Info()
	if len(a.Addr) == 0 || a.Credits < 0 || a.Credits == 1 || a.Patience < 0 || a.Look < 0 ||
		a.Tick <= 0 || a.MinDirectRow < 0 {
		t.Errorf("%+v", a)
	}
	if !bytes.Equal(a.Addr, b.Addr) || a.Credits != b.Credits ||
		a.MinDirectRow != b.MinDirectRow {
		t.Errorf("was %+v, is %+v", a, b)
	}
	o, target := j.connectPair()
	if m, n := o.ep.MaxFrame(), target.ep.MaxFrame(); m != 0 && m < 1<<10 || n != 0 &&
		n < 1<<10 {
		t.Errorf("frames have at most %d and %d bytes", m, n)
	}
}

var (
	headSizes = []int{0, 1, 2, 7, 8, 9, 24, 63, 64, 65, 200, 255, 256, 257, 1000, 4096, 8191,
		transport.MaxHead - 1, transport.MaxHead}
	bodySizes = []int{0, 1, 2, 3, 8, 63, 100, 512, 1000, 4095, 4096, 4097, 8 << 10, 20000,
		65535, 65536, 100000, 1 << 20, 1<<20 + 7, 3 << 20}
)

// fabricSizes shows that heads and bodies of all sizes arrive, in both directions.
func fabricSizes(t *testing.T, d transport.Driver) {
	o, target := openFabrics(t, d, 2).connectPair()
	echo := func(head, body int) {
		limit := min(o.maxBody(head), target.maxBody(head))
		if limit < 0 {
			return
		}
		h, b := bytes.Clone(noise(head, head)), noise(body, min(body, limit))
		if head > 0 {
			h[0] = headEcho
		}
		o.sendBytes(h, b, transport.Now)
		checkFrame(t, target.takeFrames(1)[0], h, b)
		if head > 0 {
			h[0] = headReply
			checkFrame(t, o.takeFrames(1)[0], h, b)
		}
	}
	for _, head := range headSizes {
		for _, body := range []int{0, 1, 700} {
			echo(head, body)
		}
	}
	for _, body := range bodySizes {
		echo(20, body)
	}
	if m := min(o.maxBody(0), target.maxBody(0)); m < 1<<40 {
		echo(20, m-20)
		echo(1, m-1)
	}
}

// fabricShapes shows that bodies are read from, and stored to, memory of any shape, at both ends.
func fabricShapes(t *testing.T, d transport.Driver) {
	j := newFabricJob(t, d, 2)
	r := rand.New(rand.NewPCG(11, 0))
	var there, back *kernel.Cursor
	j.onAccept = func(e *fabricEnd) error {
		e.bodyFor = func([]byte, int64) transport.Body {
			return transport.Body{Into: there}
		}
		e.expectsData = func() bool { return there != nil && there.Left()%2 == 0 }
		return nil
	}
	j.openAll()
	o, target := j.connectPair()
	a, b := j.procs[0], j.procs[1]
	o.bodyFor = func(head []byte, _ int64) transport.Body {
		if head[0] == headReply {
			return transport.Body{Into: back}
		}
		return transport.Body{}
	}
	for round := range 150 {
		from := randomCursor(r, []uintptr{a.arenaMem, a.ownMem}[round%2], fabricMemBytes, 1)
		if from.Left() > int64(min(o.maxBody(9), target.maxBody(9))) {
			continue
		}
		for _, at := range []uintptr{a.arenaMem, a.ownMem} {
			copy(unsafe.Slice((*byte)(kernel.Ptr(at)), 300<<10), noise(round, 300<<10))
		}
		want, head := packCursor(from), fmt.Appendf(nil, "%c%d", headKeep, round)
		target.configure(func() { there = nil })
		if round%3 > 0 {
			into := randomCursor(r, b.arenaMem, fabricMemBytes, 1)
			if into.Left() < from.Left() {
				into.SetContiguous(b.arenaMem+uintptr(round), from.Left())
			}
			landed := into
			zeroCursor(into)
			target.configure(func() { there = &into })
			if _, err := o.sendFrame(head, &from, transport.Now); err != nil {
				t.Fatal(err)
			}
			checkFrame(t, target.takeFrames(1)[0], head, nil)
			if got := packCursor(landed); !bytes.Equal(got[:len(want)], want) {
				t.Fatalf("round %d: byte %d of what was stored differs", round,
					firstDifference(got[:len(want)], want))
			} else if i := firstDifference(got[len(want):],
				make([]byte, len(got)-len(want))); i >= 0 {
				t.Fatalf("round %d: byte %d after the end was written", round, i)
			}
			continue
		}
		head[0] = headEcho
		into := randomCursor(r, a.ownMem+2<<20, 1<<20, 1)
		if into.Left() < from.Left() {
			into.SetContiguous(a.ownMem+2<<20+uintptr(round), from.Left())
		}
		landed := into
		o.configure(func() { back = &into })
		if _, err := o.sendFrame(head, &from, transport.Now); err != nil {
			t.Fatal(err)
		}
		checkFrame(t, target.takeFrames(1)[0], head, want)
		head[0] = headReply
		checkFrame(t, o.takeFrames(1)[0], head, nil)
		if got := packCursor(landed)[:len(want)]; !bytes.Equal(got, want) {
			t.Fatalf("round %d: byte %d of the echo differs", round,
				firstDifference(got, want))
		}
	}
}

// fabricOrder shows that frames arrive in order, whatever their urgency.
func fabricOrder(t *testing.T, d transport.Driver) {
	o, target := openFabrics(t, d, 2).connectPair()
	const n = 1500
	go func() {
		for i := range n {
			kind := []byte{headKeep, headKeep, headEcho}[i%3]
			o.sendBytes(numberedHead(kind, 0, i), frameBody(0, i, o.maxBody(9)),
				[]transport.When{transport.Soon, transport.Burst, transport.Now,
					transport.Soon}[i%4])
		}
		o.flushAll()
	}()
	for i, f := range target.takeFrames(n) {
		checkFrame(t, f, numberedHead([]byte{headKeep, headKeep, headEcho}[i%3], 0, i),
			frameBody(0, i, o.maxBody(9)))
	}
	for i, f := range o.takeFrames(n / 3) {
		checkFrame(t, f, numberedHead(headReply, 0, 3*i+2), frameBody(0, 3*i+2,
			o.maxBody(9)))
	}
}

// fabricOrigins shows that a target serves many origins, and that each may be a target itself.
func fabricOrigins(t *testing.T, d transport.Driver) {
	const procs, n = 5, 200
	j := openFabrics(t, d, procs)
	var running sync.WaitGroup
	for from := range procs {
		for _, to := range []int{0, 1} {
			if from == to {
				continue
			}
			o := j.procs[from].dialRank(to)
			running.Go(func() {
				for i := range n {
					o.sendBytes(numberedHead(headEcho, from, i),
						frameBody(from, i, o.maxBody(9)), transport.Now)
				}
			})
			running.Go(func() {
				for i, f := range o.takeFrames(n) {
					checkFrame(t, f, numberedHead(headReply, from, i),
						frameBody(from, i, o.maxBody(9)))
				}
			})
		}
	}
	running.Wait()
}

// fabricPost shows that many threads may send at both ends at the same time. Each thread's own
// frames stay in order.
func fabricPost(t *testing.T, d transport.Driver) {
	const posters, n = 4, 100
	o, target := openFabrics(t, d, 2).connectPair()
	var running sync.WaitGroup
	for sender := range posters {
		running.Go(func() {
			for i := range n {
				o.sendBytes(numberedHead(headKeep, sender, i),
					frameBody(sender, i, o.maxBody(9)), transport.Soon)
			}
		})
		running.Go(func() {
			for i := range n {
				target.postFrame(numberedHead(headPosted, sender, i),
					frameBody(sender, i, target.maxBody(9)))
			}
		})
	}
	running.Go(func() {
		for i := range n {
			o.sendBytes(numberedHead(headEcho, posters, i), frameBody(posters, i,
				o.maxBody(9)),
				transport.Now)
		}
	})
	running.Wait()
	o.flushAll()
	for name, got := range map[string][]frame{"target": target.takeFrames((posters + 1) * n),
		"origin": o.takeFrames((posters + 1) * n)} {
		next := [posters + 1]int{}
		for _, f := range got {
			sender, i := headNumber(f.head)
			if i != next[sender] {
				t.Fatalf("at the %s frame %d of sender %d comes after %d others",
					name, i, sender, next[sender])
			}
			next[sender]++
			checkFrame(t, f, f.head, frameBody(sender, i, o.maxBody(9)))
		}
	}
}

// fabricData shows that Data is called with whole grains (fabricEnd checks it), at both ends,
// whatever ExpectsBulk returns.
func fabricData(t *testing.T, d transport.Driver) {
	j := newFabricJob(t, d, 2)
	grain := 1
	j.onAccept = func(e *fabricEnd) error {
		e.bodyFor = func([]byte, int64) transport.Body {
			return transport.Body{Grain: grain}
		}
		return nil
	}
	j.openAll()
	o, target := j.connectPair()
	for i, g := range []int{0, 1, 2, 4, 8, 16, 48} {
		target.configure(func() { grain = g })
		o.configure(func() {
			o.bodyFor = func([]byte, int64) transport.Body {
				return transport.Body{Grain: g}
			}
		})
		for k, n := range []int{1, 3, 100, 4097, 30000} {
			body := noise(n, min(n*max(g, 1), o.maxBody(9), target.maxBody(9))/max(g,
				1)*max(g, 1))
			o.configure(func() { o.expectsData = func() bool { return (i+k)%2 == 0 } })
			o.sendBytes(numberedHead(headEcho, i, k), body, transport.Now)
			checkFrame(t, target.takeFrames(1)[0], numberedHead(headEcho, i, k), body)
			checkFrame(t, o.takeFrames(1)[0], numberedHead(headReply, i, k), body)
		}
	}
}

// fabricDeferred shows that a deferred frame leaves with the next frame or with Flush, and one that
// is not deferred by itself.
func fabricDeferred(t *testing.T, d transport.Driver) {
	o, target := openFabrics(t, d, 2).connectPair()
	for round := range 60 {
		when := []transport.When{transport.Soon, transport.Burst}[round%2]
		n := 1 + round%7
		deferred := false
		for i := range n {
			var err error
			body := cursorOf(frameBody(round, i, o.maxBody(9)))
			if deferred, err = o.sendFrame(numberedHead(headKeep, round, i), &body,
				when); err != nil {
				t.Fatal(err)
			}
		}
		switch {
		case deferred && round%3 == 0:
			o.sendBytes(numberedHead(headKeep, round, n), frameBody(round, n,
				o.maxBody(9)),
				transport.Now)
			n++
		case deferred:
			o.flushAll()
		}
		for i, f := range target.takeFrames(n) {
			checkFrame(t, f, numberedHead(headKeep, round, i), frameBody(round, i,
				o.maxBody(9)))
		}
	}
	o.posting.Lock()
	defer o.posting.Unlock()
	if o.originEndpoint().Flush() {
		time.Sleep(200 * time.Millisecond)
		if o.originEndpoint().Flush() {
			t.Error("Flush says that something is left, though all has come")
		}
	}
}
