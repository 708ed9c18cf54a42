// SPDX-License-Identifier: BSD-3-Clause

// Every protocol that can be forced, alone: random shapes against plain loops, and that the forced
// one is what travels.
package rdma

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/pin"
	"libarmci/internal/transport"
)

// forcedProtocols are the settings that force a protocol for every transfer.
var forcedProtocols = []struct{ contiguous, strided string }{
	{"auto", "nic"}, {"auto", "host"}, {"auto", "host-atomic"}, {"auto", "push"},
	{"buffered", "nic"}, {"zerocopy", "nic"},
	{"zerocopy", "push"}, {"auto", "auto"},
}

// fieldBytes is the length of the memory in which random transfers lie.
const fieldBytes = 1 << 20

// someShape is a strided or vector transfer between two fields, of which no byte is named twice at
// either side.
func someShape(r *rand.Rand, local, remote uintptr) *transport.Xfer {
	x := &transport.Xfer{Local: transport.Section{Base: local},
		Remote: transport.Section{Base: remote}}
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
	x.Local.Stride, x.Remote.Stride = []int32{a, step(count * int(a))},
		[]int32{b, step(count * int(b))}
	return x
}

// applyTransfer applies a transfer to copies of two fields with plain loops.
func applyTransfer(x *transport.Xfer, get bool, local, remote []byte, base [2]uintptr) {
	for _, p := range listBytePairs(x) {
		if l, r := &local[p[0]-base[0]], &remote[p[1]-base[1]]; get {
			*l = *r
		} else {
			*r = *l
		}
	}
}

// TestForced: with each forced protocol random shapes arrive as plain loops would have copied them.
func TestForced(t *testing.T) {
	for _, f := range forcedProtocols {
		t.Run(f.contiguous+" "+f.strided, func(t *testing.T) {
			j := newJob(t, func(s *settings) {
				s.Contiguous, s.Strided,
					s.Buffer = f.contiguous, f.strided, 1<<20
			}, 1, 1)
			far := j.Alloc(t, 1, fieldBytes)
			private := make([]byte, fieldBytes)
			for name, near := range map[string]uintptr{
				"arena": j.Alloc(t, 0, fieldBytes), "private": sliceAddr(private),
			} {
				r := rand.New(rand.NewPCG(1, uint64(len(name))))
				mine := memoryAt(near, fieldBytes)
				theirs := memoryAt(far, fieldBytes)
				for i := range mine {
					mine[i], theirs[i] = byte(r.Uint32()), byte(r.Uint32())
				}
				for i := range 30 {
					x, get := someShape(r, near, far), r.IntN(2) == 0
					wantMine, wantTheirs := bytes.Clone(mine),
						bytes.Clone(theirs)
					applyTransfer(x, get, wantMine, wantTheirs,
						[2]uintptr{near, far})
					err := error(nil)
					if get {
						err = j.Open[0].Get(1, x)
					} else if err = j.Open[0].Put(1, x); err == nil {
						err = j.Open[0].Fence(1)
					}
					if err != nil || !bytes.Equal(mine, wantMine) ||
						!bytes.Equal(theirs, wantTheirs) {
						t.Fatalf("%s, transfer %d (get %v), %+v: %v; the "+
							"right bytes here %v, there %v", name, i,
							get, x, err,
							bytes.Equal(mine, wantMine),
							bytes.Equal(theirs, wantTheirs))
					}
				}
			}
			runtime.KeepAlive(private)
		})
	}
}

// TestManyAtOnce: 64 nonblocking strided transfers with the fewest buffers all complete, and every
// buffer is free afterwards.
func TestManyAtOnce(t *testing.T) {
	const many, row, rows, stride = 64, 200, 20, 400
	for _, f := range forcedProtocols {
		t.Run(f.contiguous+" "+f.strided, func(t *testing.T) {
			j := newJob(t, func(s *settings) {
				s.Contiguous, s.Strided,
					s.Buffer = f.contiguous, f.strided, 1<<20
			}, 1, 1)
			far, private := j.Alloc(t, 1, many*rows*stride),
				make([]byte, many*rows*stride)
			for i := range private {
				private[i] = byte(i * 7 >> 3)
			}
			want := bytes.Clone(private)
			pool := j.fabrics[0].originQueue.sendBuffers
			before := countFree(pool)
			run := func(one func(transport.Peer, *transport.Xfer) error) {
				var all sync.WaitGroup
				failed := make(chan error, many)
				for i := range many {
					at := uintptr(i * rows * stride)
					x := &transport.Xfer{Later: true, Count: []int32{row, rows},
						Done: func(err error) { failed <- err },
						Local: transport.Section{Base: sliceAddr(private) +
							at, Stride: []int32{stride}},
						Remote: transport.Section{Base: far + at,
							Stride: []int32{stride}}}
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
				if err := j.Open[0].Fence(1); err != nil {
					t.Fatal(err)
				}
			}
			run(j.Open[0].Put)
			clear(private)
			run(j.Open[0].Get)
			for i := range want {
				if in := i%stride < row; in && private[i] != want[i] || !in &&
					private[i] != 0 {
					t.Fatalf("byte %d is %d", i, private[i])
				}
			}
			end := time.Now().Add(testTimeout)
			for ; countFree(pool) != before; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("%d buffers are free, %d were",
						countFree(pool), before)
				}
			}
		})
	}
}

// countFree counts the free buffers of a pool.
func countFree(p *pin.Pool) (n int) {
	var all []int32
	for b := p.TakeBuffer(); b != noBuffer; b = p.TakeBuffer() {
		all = append(all, b)
	}
	for _, b := range all {
		p.Put(b)
	}
	return len(all)
}

// listBytePairs lists the bytes of a transfer one by one: local and remote address.
func listBytePairs(x *transport.Xfer) (list [][2]uintptr) {
	add := func(local, remote uintptr, n int) {
		for i := range uintptr(n) {
			list = append(list, [2]uintptr{local + i, remote + i})
		}
	}
	for _, s := range x.Vector {
		for i := range s.Local {
			add(s.Local[i], s.Remote[i], s.Bytes)
		}
	}
	if x.Vector != nil {
		return list
	}
	var level func(l int, local, remote uintptr)
	level = func(l int, local, remote uintptr) {
		if l == 0 {
			add(local, remote, int(x.Count[0]))
			return
		}
		for i := range x.Count[l] {
			level(l-1, local+uintptr(int64(x.Local.Stride[l-1])*int64(i)),
				remote+uintptr(int64(x.Remote.Stride[l-1])*int64(i)))
		}
	}
	level(len(x.Count)-1, x.Local.Base, x.Remote.Base)
	return list
}

func memoryAt(addr uintptr, n int) []byte { return unsafe.Slice((*byte)(kernel.Ptr(addr)), n) }
