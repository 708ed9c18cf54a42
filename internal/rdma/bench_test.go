// SPDX-License-Identifier: BSD-3-Clause

// What this transport adds to verbs: every operation beside the bare work request, over the same device in the same
// run. Without a device nothing is measured.
package rdma

import (
	"fmt"
	"testing"

	"libarmci/internal/rdma/verbs"
	"libarmci/internal/transport"
)

// raw is a queue pair and its partner in this process.
type raw struct {
	h      *hca
	pairs  [2]*verbs.Pair
	memory [2]*pool
}

func openRaw(b *testing.B) *raw {
	d := someDevice(b)
	h, err := openHCA(&d.ways[0], 256)
	if err != nil {
		b.Fatal(err)
	}
	r := &raw{h: h}
	for i := range r.pairs {
		if r.pairs[i], err = h.domain.NewPair(verbs.Caps{Send: 128, Receive: 1, Pieces: 1, Inline: 64, From: h.cq, To: h.cq}); err != nil {
			b.Fatal(err)
		}
		if r.memory[i], err = newPool(h.domain, 1, 4<<20); err != nil {
			b.Fatal(err)
		}
	}
	self := endpoint{lid: h.state.LID}
	if g := h.way.gid; g != nil {
		self.gid = g.addr
	}
	for i, p := range r.pairs {
		l := &verbs.Link{Path: h.path(&self), Pair: r.pairs[1-i].Number, MTU: h.state.MTU, MyPSN: 1, PSN: 1, ReadsOut: 16,
			ReadsIn: 16, Timeout: 14}
		if err := p.Connect(l); err != nil {
			b.Fatal(err)
		}
	}
	b.Cleanup(func() {
		for i := range r.pairs {
			r.pairs[i].Close()
			r.memory[i].close()
		}
		h.close()
	})
	return r
}

// one posts a request and waits until it is complete, as a waiter of the transport does.
func (r *raw) one(b *testing.B, far *verbs.Region, op uint8, n int) {
	q := [1]verbs.Request{{Remote: uint64(r.memory[1].addr(0)), Key: far.RKey, Pieces: 1, Op: op, Flags: verbs.Signal}}
	if op == verbs.Write && n <= 64 {
		q[0].Flags |= verbs.Inline
	}
	if _, err := r.pairs[0].Post(q[:], []verbs.Data{r.memory[0].data(0, 0, n)}); err != nil {
		b.Fatal(err)
	}
	var done [16]verbs.Completion
	for {
		k, err := r.h.cq.Look(done[:], 20, sleepAfter)
		if err != nil || k > 0 && done[0].Status != 0 {
			b.Fatal(err, done[0].Text())
		}
		if k > 0 {
			return
		}
	}
}

var sizes = []int{8, 1 << 10, 16 << 10, 256 << 10, 1 << 20}

func BenchmarkRaw(b *testing.B) {
	r := openRaw(b)
	far, err := r.h.domain.Register(r.memory[1].addr(0), 4<<20, true)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { far.Close() })
	for _, n := range sizes {
		for name, op := range map[string]uint8{"write": verbs.Write, "read": verbs.Read} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					r.one(b, far, op, n)
				}
			})
		}
	}
}

// two are ranks 0 and 1 on two nodes, and memory of each.
func two(b *testing.B, bytes int64) (tr *Transport, near, far uintptr) {
	j := newJob(b, nil, 1, 1)
	for _, t := range j.tr {
		if err := t.Connect(j.Peers()); err != nil {
			b.Fatal(err)
		}
	}
	return j.tr[0], j.Alloc(b, 0, bytes), j.Alloc(b, 1, bytes)
}

func BenchmarkTransport(b *testing.B) {
	tr, near, far := two(b, 2<<20)
	private := make([]byte, 1<<20)
	for _, n := range sizes {
		put := func(b *testing.B, local uintptr) {
			b.SetBytes(int64(n))
			for b.Loop() {
				if err := tr.Put(1, plain(local, far, n)); err != nil {
					b.Fatal(err)
				}
				if err := tr.Fence(1); err != nil {
					b.Fatal(err)
				}
			}
		}
		get := func(b *testing.B, local uintptr) {
			b.SetBytes(int64(n))
			for b.Loop() {
				if err := tr.Get(1, plain(local, far, n)); err != nil {
					b.Fatal(err)
				}
			}
		}
		own := address(private)
		b.Run(fmt.Sprintf("put+fence/%d", n), func(b *testing.B) { put(b, near) })
		b.Run(fmt.Sprintf("get/%d", n), func(b *testing.B) { get(b, near) })
		b.Run(fmt.Sprintf("put+fence unregistered/%d", n), func(b *testing.B) { put(b, own) })
		b.Run(fmt.Sprintf("get unregistered/%d", n), func(b *testing.B) { get(b, own) })
	}
	b.Run("rmw", func(b *testing.B) {
		for b.Loop() {
			if err := tr.RMW(1, &transport.RMW{Bytes: 8, Addr: far, Operand: 1}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkStrided: patches of n times n doubles out of an array of 1000 columns, by every protocol.
func BenchmarkStrided(b *testing.B) {
	const stride = 1000 * 8
	tr, near, far := two(b, stride*511+512*8)
	for _, get := range []bool{false, true} {
		for n := 16; n <= 512; n *= 2 {
			for _, p := range []string{nic, host, hostAtomic, push, auto} {
				if !get && p == push || get && p == hostAtomic {
					continue
				}
				b.Run(fmt.Sprintf("%s/%d/%s", map[bool]string{false: "put", true: "get"}[get], n, p), func(b *testing.B) {
					tr.opt.Strided = p
					b.SetBytes(int64(8 * n * n))
					x := plain(near, far, 8*n)
					x.Count = append(x.Count, int32(n))
					x.Local.Stride, x.Remote.Stride = []int32{stride}, []int32{stride}
					one := func() {
						err := error(nil)
						if get {
							err = tr.Get(1, x)
						} else if err = tr.Put(1, x); err == nil {
							err = tr.Fence(1)
						}
						if err != nil {
							b.Fatal(err)
						}
					}
					one() // the model is measured
					for b.Loop() {
						one()
					}
				})
			}
		}
	}
	fmt.Println(tr.known.Load())
}
