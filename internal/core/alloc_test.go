// SPDX-License-Identifier: BSD-3-Clause

//go:build !race

// A small operation at another node allocates nothing, collected or not. Not under the race
// detector, where pools forget.
package core

import (
	"testing"

	"libarmci/internal/transport"
)

// swallow is a wire that completes everything at once.
type swallow struct{ transport.Transport }

func (swallow) Put(_ transport.Peer, x *transport.Xfer) error {
	x.Finish(nil)
	return nil
}

func (s swallow) Get(p transport.Peer, x *transport.Xfer) error { return s.Put(p, x) }

func (s swallow) Acc(p transport.Peer, x *transport.Xfer, _ transport.Scale) error {
	return s.Put(p, x)
}

// A call of each shape and kind allocates no memory once its pools are filled.
func TestAllocations(t *testing.T) {
	apart.run(t, nil, func(r *tr) {
		mem, buf := r.alloc(4096), r.local(4096)
		if r.Me == 0 {
			to := r.internode
			r.internode.tr = swallow{to.tr}
			r.allocations(buf, mem[1])
			r.internode = to
		}
		r.barrier()
	})
}

// allocations measures what each shape and kind of operation allocates, and reports any.
func (r *tr) allocations(local, remote uintptr) {
	one, count, stride := int64(1), []int32{8, 2}, []int32{16}
	addrs := []uintptr{local, local + 8}
	there := []uintptr{remote, remote + 8}
	shapes := map[string]func(o *Op){
		"contiguous": func(o *Op) { o.Xfer.Count = count[:1] },
		"strided": func(o *Op) {
			o.Levels, o.Xfer.Count, o.Xfer.Local.Stride, o.Xfer.Remote.Stride = 1,
				count, stride, stride
		},
		"vector": func(o *Op) {
			o.Xfer.Vector = append(o.Segments(), transport.Segments{Local: addrs,
				Remote: there, Bytes: 8})
		},
	}
	ways := map[string]func(o *Op) error{
		"blocking": r.Do,
		"implicit": func(o *Op) error {
			id, err := r.Start(o, true)
			r.must(err)
			return r.Wait(id) // not WaitAll, which makes a list
		},
		"explicit": func(o *Op) error {
			id, err := r.Start(o, false)
			r.must(err)
			return r.Wait(id)
		},
		"collected": func(o *Op) error {
			_, err := r.Collect(agg, o)
			r.must(err)
			return r.WaitAggregate(agg)
		},
	}
	r.SetAggregate(agg)
	for shape, describe := range shapes {
		for way, do := range ways {
			for _, kind := range []Kind{Put, Get, Acc} {
				n := testing.AllocsPerRun(100, func() {
					o := NewOp()
					o.Proc, o.Xfer.Local.Base, o.Xfer.Remote.Base = 1, local,
						remote
					accOf(o, &one).Kind = kind
					describe(o)
					r.must(do(o))
					o.Release()
				})
				if n >= 1 {
					r.wrong("%s, %s, kind %d: %v allocations", shape, way, kind,
						n)
				}
			}
		}
	}
	r.UnsetAggregate(agg)
}
