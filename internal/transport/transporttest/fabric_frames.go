// SPDX-License-Identifier: BSD-3-Clause

// Frames: whole, once and in order, of all sizes and shapes, both ways, from many at a time.
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

func fabricInfo(t *testing.T, d transport.Driver) {
	j := openFabrics(t, d, 2)
	a, b := j.procs[0].fabric.Info(), j.procs[0].fabric.Info()
	if len(a.Addr) == 0 || a.Credits < 0 || a.Credits == 1 || a.Patience < 0 || a.Look < 0 ||
		a.Tick <= 0 || a.Straight < 0 {
		t.Errorf("%+v", a)
	}
	if !bytes.Equal(a.Addr, b.Addr) || a.Credits != b.Credits || a.Straight != b.Straight {
		t.Errorf("was %+v, is %+v", a, b)
	}
	o, target := j.pair()
	if m, n := o.e.MaxFrame(), target.e.MaxFrame(); m != 0 && m < 1<<10 || n != 0 && n < 1<<10 {
		t.Errorf("frames have at most %d and %d bytes", m, n)
	}
}

var (
	headSizes = []int{0, 1, 2, 7, 8, 9, 24, 63, 64, 65, 200, 255, 256, 257, 1000, 4096, 8191,
		transport.MaxHead - 1, transport.MaxHead}
	bodySizes = []int{0, 1, 2, 3, 8, 63, 100, 512, 1000, 4095, 4096, 4097, 8 << 10, 20000,
		65535, 65536, 100000, 1 << 20, 1<<20 + 7, 3 << 20}
)

// fabricSizes sends echoes of all sizes.
func fabricSizes(t *testing.T, d transport.Driver) {
	o, target := openFabrics(t, d, 2).pair()
	echo := func(head, body int) {
		limit := min(o.most(head), target.most(head))
		if limit < 0 {
			return
		}
		h, b := bytes.Clone(noise(head, head)), noise(body, min(body, limit))
		if head > 0 {
			h[0] = headEcho
		}
		o.sendBytes(h, b, transport.Now)
		same(t, target.frames(1)[0], h, b)
		if head > 0 {
			h[0] = headReply
			same(t, o.frames(1)[0], h, b)
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
	if m := min(o.most(0), target.most(0)); m < 1<<40 {
		echo(20, m-20)
		echo(1, m-1)
	}
}

// fabricShapes: bodies are taken from, and stored to, memory of any shape. An echo is stored by the
// origin, too.
func fabricShapes(t *testing.T, d transport.Driver) {
	j := newFabricJob(t, d, 2)
	r := rand.New(rand.NewPCG(11, 0))
	var there, back *kernel.Cursor
	j.accept = func(e *fabricEnd) error {
		e.place = func([]byte, int64) transport.Body { return transport.Body{Into: there} }
		e.expects = func() bool { return there != nil && there.Left()%2 == 0 }
		return nil
	}
	j.open()
	o, target := j.pair()
	a, b := j.procs[0], j.procs[1]
	o.place = func(head []byte, _ int64) transport.Body {
		if head[0] == headReply {
			return transport.Body{Into: back}
		}
		return transport.Body{}
	}
	for round := range 150 {
		from := someCursor(r, []uintptr{a.mem, a.own}[round%2], memBytes, 1)
		if from.Left() > int64(min(o.most(9), target.most(9))) {
			continue
		}
		for _, at := range []uintptr{a.mem, a.own} {
			copy(unsafe.Slice((*byte)(kernel.Ptr(at)), 300<<10), noise(round, 300<<10))
		}
		want, head := packed(from), fmt.Appendf(nil, "%c%d", headKeep, round)
		target.change(func() { there = nil })
		if round%3 > 0 {
			into := someCursor(r, b.mem, memBytes, 1)
			if into.Left() < from.Left() {
				into.SetContiguous(b.mem+uintptr(round), from.Left())
			}
			landed := into
			clearShape(into)
			target.change(func() { there = &into })
			if _, err := o.send(head, &from, transport.Now); err != nil {
				t.Fatal(err)
			}
			same(t, target.frames(1)[0], head, nil)
			if got := packed(landed); !bytes.Equal(got[:len(want)], want) {
				t.Fatalf("round %d: byte %d of what was stored differs", round,
					firstDifference(got[:len(want)], want))
			} else if i := firstDifference(got[len(want):],
				make([]byte, len(got)-len(want))); i >= 0 {
				t.Fatalf("round %d: byte %d after the end was written", round, i)
			}
			continue
		}
		head[0] = headEcho
		into := someCursor(r, a.own+2<<20, 1<<20, 1)
		if into.Left() < from.Left() {
			into.SetContiguous(a.own+2<<20+uintptr(round), from.Left())
		}
		landed := into
		o.change(func() { back = &into })
		if _, err := o.send(head, &from, transport.Now); err != nil {
			t.Fatal(err)
		}
		same(t, target.frames(1)[0], head, want)
		head[0] = headReply
		same(t, o.frames(1)[0], head, nil)
		if got := packed(landed)[:len(want)]; !bytes.Equal(got, want) {
			t.Fatalf("round %d: byte %d of the echo differs", round,
				firstDifference(got, want))
		}
	}
}

// fabricOrder: whatever the urgency.
func fabricOrder(t *testing.T, d transport.Driver) {
	o, target := openFabrics(t, d, 2).pair()
	const n = 1500
	go func() {
		for i := range n {
			kind := []byte{headKeep, headKeep, headEcho}[i%3]
			o.sendBytes(numbered(kind, 0, i), someBody(0, i, o.most(9)),
				[]transport.When{transport.Soon, transport.Burst, transport.Now,
					transport.Soon}[i%4])
		}
		o.flush()
	}()
	for i, f := range target.frames(n) {
		same(t, f, numbered([]byte{headKeep, headKeep, headEcho}[i%3], 0, i),
			someBody(0, i, o.most(9)))
	}
	for i, f := range o.frames(n / 3) {
		same(t, f, numbered(headReply, 0, 3*i+2), someBody(0, 3*i+2, o.most(9)))
	}
}

// fabricOrigins: many origins at one target, each of which is a target itself.
func fabricOrigins(t *testing.T, d transport.Driver) {
	const procs, n = 5, 200
	j := openFabrics(t, d, procs)
	var running sync.WaitGroup
	for from := range procs {
		for _, to := range []int{0, 1} {
			if from == to {
				continue
			}
			o := j.procs[from].dial(to)
			running.Go(func() {
				for i := range n {
					o.sendBytes(numbered(headEcho, from, i),
						someBody(from, i, o.most(9)), transport.Now)
				}
			})
			running.Go(func() {
				for i, f := range o.frames(n) {
					same(t, f, numbered(headReply, from, i),
						someBody(from, i, o.most(9)))
				}
			})
		}
	}
	running.Wait()
}

// fabricPost: from many threads, at both ends, between other frames. Each thread's own frames stay
// in order.
func fabricPost(t *testing.T, d transport.Driver) {
	const posters, n = 4, 100
	o, target := openFabrics(t, d, 2).pair()
	var running sync.WaitGroup
	for sender := range posters {
		running.Go(func() {
			for i := range n {
				o.sendBytes(numbered(headKeep, sender, i),
					someBody(sender, i, o.most(9)), transport.Soon)
			}
		})
		running.Go(func() {
			for i := range n {
				target.post(numbered(headPosted, sender, i),
					someBody(sender, i, target.most(9)))
			}
		})
	}
	running.Go(func() {
		for i := range n {
			o.sendBytes(numbered(headEcho, posters, i), someBody(posters, i, o.most(9)),
				transport.Now)
		}
	})
	running.Wait()
	o.flush()
	for name, got := range map[string][]frame{"target": target.frames((posters + 1) * n),
		"origin": o.frames((posters + 1) * n)} {
		next := [posters + 1]int{}
		for _, f := range got {
			sender, i := number(f.head)
			if i != next[sender] {
				t.Fatalf("at the %s frame %d of sender %d comes after %d others",
					name, i, sender, next[sender])
			}
			next[sender]++
			same(t, f, f.head, someBody(sender, i, o.most(9)))
		}
	}
}

// fabricData: Data comes in whole grains (fabricEnd checks it), at both ends, whatever is expected.
func fabricData(t *testing.T, d transport.Driver) {
	j := newFabricJob(t, d, 2)
	grain := 1
	j.accept = func(e *fabricEnd) error {
		e.place = func([]byte, int64) transport.Body { return transport.Body{Grain: grain} }
		return nil
	}
	j.open()
	o, target := j.pair()
	for i, g := range []int{0, 1, 2, 4, 8, 16, 48} {
		target.change(func() { grain = g })
		o.change(func() {
			o.place = func([]byte,
				int64) transport.Body {
				return transport.Body{Grain: g}
			}
		})
		for k, n := range []int{1, 3, 100, 4097, 30000} {
			body := noise(n, min(n*max(g, 1), o.most(9), target.most(9))/max(g,
				1)*max(g, 1))
			o.change(func() { o.expects = func() bool { return (i+k)%2 == 0 } })
			o.sendBytes(numbered(headEcho, i, k), body, transport.Now)
			same(t, target.frames(1)[0], numbered(headEcho, i, k), body)
			same(t, o.frames(1)[0], numbered(headReply, i, k), body)
		}
	}
}

// fabricParts: a target's end sends a long answer in several frames, each when the one before has
// left (Sent). Frames that come meanwhile wait. The origin stores all parts by one cursor.
func fabricParts(t *testing.T, d transport.Driver) {
	const parts, rounds = 5, 20
	j := newFabricJob(t, d, 2)
	part := 20000
	j.accept = func(e *fabricEnd) error {
		part, left := min(part, e.e.MaxFrame()-9), 0
		if part < 0 {
			part = 20000
		}
		e.ended = func(f *frame) error {
			if f.head[0] == headEcho {
				left = parts
				return e.part(&left, part)
			}
			return e.finish(f)
		}
		return nil
	}
	j.open()
	o, target := j.pair()
	part = min(part, target.most(9))
	var into kernel.Cursor
	o.place = func(head []byte, _ int64) transport.Body {
		if head[0] == headReply || head[0] == headPosted {
			return transport.Body{Into: &into}
		}
		return transport.Body{}
	}
	for round := range rounds {
		got := make([]byte, parts*part)
		o.change(func() { into = cursorOf(got) })
		o.sendBytes(numbered(headEcho, 0, round), nil, transport.Now)
		o.sendBytes(numbered(headKeep, 0, round), nil, transport.Now)
		o.frames(parts)
		for i := range parts {
			if k := firstDifference(got[i*part:(i+1)*part], noise(i, part)); k >= 0 {
				t.Fatalf("round %d: byte %d of part %d differs", round, k, i)
			}
		}
	}
	target.wait("all parts have left", func() bool { return target.sent == parts*rounds })
}

// part sends the next part of an answer. It is called again when the part has left.
func (e *fabricEnd) part(left *int, n int) error {
	*left--
	head := []byte{headPosted}
	if *left == 0 {
		head[0] = headReply
	}
	e.reply = bytes.Clone(noise(4-*left, n))
	if *left > 0 {
		e.next = func() { e.part(left, n) }
	}
	c := cursorOf(e.reply)
	_, err := e.e.Send(head, &c, c.Left(), transport.Now)
	return err
}

// fabricCursor: one cursor is the body of many frames, at both ends.
func fabricCursor(t *testing.T, d transport.Driver) {
	j := openFabrics(t, d, 2)
	o, target := j.pair()
	r := rand.New(rand.NewPCG(12, 0))
	copy(unsafe.Slice((*byte)(kernel.Ptr(j.procs[0].mem)), memBytes), noise(12, memBytes))
	for range 30 {
		from := someCursor(r, j.procs[0].mem, 1<<20, 1)
		want, into := packed(from), make([]byte, from.Left())
		to := cursorOf(into)
		target.change(func() {
			target.place = func([]byte,
				int64) transport.Body {
				return transport.Body{Into: &to}
			}
		})
		frames := 0
		for ; from.Left() > 0; frames++ {
			left, n := from.Left(), min(1+r.Int64N(from.Left()), int64(o.most(1)))
			if err := o.sendSome([]byte{headKeep}, &from, n,
				transport.Now); err != nil {
				t.Fatal(err)
			}
			if from.Left() != left-n {
				t.Fatalf("after %d of %d bytes, %d are left", n, left, from.Left())
			}
		}
		if target.frames(frames); !bytes.Equal(into, want) {
			t.Fatalf("byte %d differs after %d frames", firstDifference(into, want),
				frames)
		}
	}
}

// fabricDeferred: a frame that was put off leaves with the next one or with Flush; one that was not
// leaves by itself.
func fabricDeferred(t *testing.T, d transport.Driver) {
	o, target := openFabrics(t, d, 2).pair()
	for round := range 60 {
		when := []transport.When{transport.Soon, transport.Burst}[round%2]
		n := 1 + round%7
		deferred := false
		for i := range n {
			var err error
			body := cursorOf(someBody(round, i, o.most(9)))
			if deferred, err = o.send(numbered(headKeep, round, i), &body,
				when); err != nil {
				t.Fatal(err)
			}
		}
		switch {
		case deferred && round%3 == 0:
			o.sendBytes(numbered(headKeep, round, n), someBody(round, n, o.most(9)),
				transport.Now)
			n++
		case deferred:
			o.flush()
		}
		for i, f := range target.frames(n) {
			same(t, f, numbered(headKeep, round, i), someBody(round, i, o.most(9)))
		}
	}
	o.posting.Lock()
	defer o.posting.Unlock()
	if o.origin().Flush() {
		time.Sleep(200 * time.Millisecond)
		if o.origin().Flush() {
			t.Error("Flush says that something is left, though all has come")
		}
	}
}
