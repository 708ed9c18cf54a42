// SPDX-License-Identifier: BSD-3-Clause

// Every protocol that can be forced, alone: random shapes against plain loops, and that the forced one is what travels.
package rdma

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"libarmci/internal/transport"
)

// forced are the settings under which every transfer takes one way.
var forced = []struct{ contiguous, strided string }{
	{auto, nic}, {auto, host}, {auto, hostAtomic}, {auto, push}, {buffered, nic}, {zerocopy, nic}, {zerocopy, push}, {auto, auto},
}

// field is memory that random transfers lie in.
const field = 1 << 20

// someShape is a strided or vector transfer between two fields, of which no byte is named twice at either side.
func someShape(r *rand.Rand, local, remote uintptr) *transport.Xfer {
	x := &transport.Xfer{Known: true, Local: transport.Section{Base: local}, Remote: transport.Section{Base: remote}}
	row, count := 1+r.IntN(1<<r.IntN(12)), 1+r.IntN(40)
	if r.IntN(3) == 0 {
		s := transport.Segments{Bytes: row}
		for _, i := range r.Perm(count) {
			s.Local = append(s.Local, local+uintptr(i*row))
		}
		apart := row * (1 + r.IntN(2)) // or contiguous at the other side
		for i := range count {
			s.Remote = append(s.Remote, remote+uintptr(i*apart))
		}
		x.Vector = []transport.Segments{s}
		return x
	}
	step := func(n int) int32 { return int32(n + r.IntN(2)*r.IntN(3000)) }
	a, b := step(row), step(row)
	outer := 1 + r.IntN(4)
	x.Count = []int32{int32(row), int32(count), int32(outer)}
	x.Local.Stride, x.Remote.Stride = []int32{a, step(count * int(a))}, []int32{b, step(count * int(b))}
	return x
}

// image applies a transfer to copies of two fields with plain loops.
func image(x *transport.Xfer, get bool, local, remote []byte, base [2]uintptr) {
	for _, p := range pairs(x) {
		if l, r := &local[p[0]-base[0]], &remote[p[1]-base[1]]; get {
			*l = *r
		} else {
			*r = *l
		}
	}
}

func TestForced(t *testing.T) {
	for _, f := range forced {
		t.Run(f.contiguous+" "+f.strided, func(t *testing.T) {
			j := newJob(t, func(o *Options) { o.Contiguous, o.Strided, o.Buffer = f.contiguous, f.strided, 1<<20 }, 1, 1)
			j.ConnectAll(t)
			far := j.Alloc(t, 1, field)
			private := make([]byte, field)
			for name, near := range map[string]uintptr{"arena": j.Alloc(t, 0, field), "private": address(private)} {
				r := rand.New(rand.NewPCG(1, uint64(len(name))))
				mine, theirs := memory(near, field), memory(far, field)
				for i := range mine {
					mine[i], theirs[i] = byte(r.Uint32()), byte(r.Uint32())
				}
				for i := range 30 {
					x, get := someShape(r, near, far), r.IntN(2) == 0
					wantMine, wantTheirs := bytes.Clone(mine), bytes.Clone(theirs)
					image(x, get, wantMine, wantTheirs, [2]uintptr{near, far})
					err := error(nil)
					if get {
						err = j.tr[0].Get(1, x)
					} else if err = j.tr[0].Put(1, x); err == nil {
						err = j.tr[0].Fence(1)
					}
					if err != nil || !bytes.Equal(mine, wantMine) || !bytes.Equal(theirs, wantTheirs) {
						t.Fatalf("%s, transfer %d (get %v), %+v: %v; the right bytes here %v, there %v", name, i, get, x, err,
							bytes.Equal(mine, wantMine), bytes.Equal(theirs, wantTheirs))
					}
				}
			}
			runtime.KeepAlive(private)
		})
	}
}

// 64 strided transfers that nobody waits for, with the least buffers there are: all complete, and nothing grows.
func TestManyAtOnce(t *testing.T) {
	const many, row, rows, stride = 64, 200, 20, 400
	for _, f := range forced {
		t.Run(f.contiguous+" "+f.strided, func(t *testing.T) {
			j := newJob(t, func(o *Options) { o.Contiguous, o.Strided, o.Buffer = f.contiguous, f.strided, 1<<20 }, 1, 1)
			j.ConnectAll(t)
			far, private := j.Alloc(t, 1, many*rows*stride), make([]byte, many*rows*stride)
			for i := range private {
				private[i] = byte(i * 7 >> 3)
			}
			want := bytes.Clone(private)
			pool := j.tr[0].client.out
			before := pool.count()
			run := func(one func(transport.Peer, *transport.Xfer) error) {
				var all sync.WaitGroup
				failed := make(chan error, many)
				for i := range many {
					at := uintptr(i * rows * stride)
					x := &transport.Xfer{Known: true, Later: true, Count: []int32{row, rows}, Done: func(err error) { failed <- err },
						Local:  transport.Section{Base: address(private) + at, Stride: []int32{stride}},
						Remote: transport.Section{Base: far + at, Stride: []int32{stride}}}
					all.Go(func() {
						if err := one(1, x); err != nil {
							failed <- err
						}
					})
				}
				all.Wait()
				for range many {
					if err := <-failed; err != nil {
						t.Fatal(err)
					}
				}
				if err := j.tr[0].Fence(1); err != nil {
					t.Fatal(err)
				}
			}
			run(j.tr[0].Put)
			clear(private)
			run(j.tr[0].Get)
			for i := range want {
				if in := i%stride < row; in && private[i] != want[i] || !in && private[i] != 0 {
					t.Fatalf("byte %d is %d", i, private[i])
				}
			}
			j.tr[0].client.await(func() bool {
				pool.mu.Lock()
				defer pool.mu.Unlock()
				return len(pool.free) == pool.count()
			})
			if pool.count() != before || before*pool.size > 1<<20/allShares {
				t.Errorf("%d buffers, then %d", before, pool.count())
			}
		})
	}
}

// What is forced is what is done: it shows in what the server gets.
func TestForcedIsUsed(t *testing.T) {
	for _, by := range []string{nic, host, hostAtomic, push} {
		j := newJob(t, func(o *Options) { o.Strided, o.Eager = by, 0 }, 1, 1)
		j.ConnectAll(t)
		near, far := j.Alloc(t, 0, 1<<16), j.Alloc(t, 1, 1<<16)
		x := plain(near, far, 64)
		x.Count, x.Local.Stride, x.Remote.Stride = append(x.Count, 16), []int32{128}, []int32{128}
		w := j.tr[0].wires[1]
		messages := func(do func() error) uint64 {
			if err := do(); err != nil { // keys and the like are asked for
				t.Fatal(err)
			}
			before := w.sent
			if err := do(); err != nil {
				t.Fatal(err)
			}
			return w.sent - before
		}
		put := messages(func() error { return j.tr[0].Put(1, x) })
		get := messages(func() error { return j.tr[0].Get(1, x) })
		want := map[string]string{nic: "0 0", host: "1 1", hostAtomic: "1 1", push: "0 1"}[by]
		if by == push {
			put = 0 // as the model says
		}
		if got := fmt.Sprint(put, get); got != want {
			t.Errorf("%s: messages of a put and a get: %s, not %s", by, got, want)
		}
		if claimed := w.tickets.asked; claimed != (by == hostAtomic) {
			t.Errorf("%s: buffers claimed: %v", by, claimed)
		}
	}
}
