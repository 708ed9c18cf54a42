// SPDX-License-Identifier: BSD-3-Clause

// What a rank knows of the memory on other nodes, and what becomes of operations on memory that is
// not there.
package core

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"testing"

	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// A bad address on another node is an error that names it, at once where this rank does not know
// the memory, and at the fence where it thought it did.
func TestBadAddressesAcrossNodes(t *testing.T) {
	for _, s := range shapes[1:] {
		t.Run(s.String(), func(t *testing.T) {
			s.run(t, nil, func(r *tr) {
				mem, buf := r.alloc(64), r.local(64)
				to := (int(r.Me) + 1) % r.N
				for r.Topo.SameNode(transport.Rank(to)) {
					to = (to + 1) % r.N
				}
				for name, at := range map[string]uintptr{"beyond": mem[to] + 60,
					"nowhere": 4096, "before": mem[to] - 8} {
					wantArg(r, name+": put", r.Do(op(Put, to, buf, at, 8)),
						"dst", CodeAddress, "")
					wantArg(r, name+": get", r.Do(op(Get, to, buf, at, 8)),
						"src", CodeAddress, "")
					id, err := r.Start(op(Put, to, buf, at, 8), false)
					if err == nil {
						// where this rank knows better, the call itself
						// fails
						err = r.Wait(id)
					}
					wantArg(r, name+": nonblocking", err, "dst", CodeAddress,
						"")
					if at%8 == 0 {
						err = r.RMW(to, &transport.RMW{Op: transport.Swap,
							Bytes: 8, Addr: at})
						wantArg(r, name+": rmw", err, "prem", CodeAddress,
							"")
					}
					wantArg(r, name+": flag", r.CheckFlag("f", to, (at+7)&^3),
						"f", CodeAddress, "")
				}
				r.must(r.CheckFlag("f", to, mem[to]))
				r.must(r.AllFence())
				// nonsense that this rank takes for good
				r.regionManager.remote.addExtent(transport.Rank(to), 1<<20, 64)
				r.must(r.Do(op(Put, to, buf, 1<<20, 8)))
				if err := r.Fence(to); err == nil {
					r.wrong("the fence tells nothing of a bad address")
				}
				r.must(r.Fence(to))
				r.barrier()
			})
		})
	}
}

// A large store to a wrong address is not sent: its local side may be as wrong as the other.
func TestLargeBadStores(t *testing.T) {
	shape{2, 2, false}.run(t, nil, func(r *tr) {
		mem, own := r.alloc(64), uintptr(0)
		if r.Me == 1 {
			var err error
			own, err = r.MallocLocal(100000)
			r.must(err)
		}
		all := r.groups.world.team.Allgather(binary.LittleEndian.AppendUint64(nil,
			uint64(own)))
		if r.Me == 0 {
			r.badTransfers(1, mem[1])
			there, buf := uintptr(binary.LittleEndian.Uint64(all[8:])), r.local(100000)
			copy(memory(buf, 100000), pattern(3, 100000))
			r.must(r.Do(op(Put, 1, buf, there, 100000))) // not known, but good
			r.must(r.Fence(1))
		}
		r.barrier()
		if r.Me == 1 && !bytes.Equal(memory(own, 100000), pattern(3, 100000)) {
			r.wrong("a large store to memory that was not known has not come")
		}
		r.barrier()
	})
}

// badTransfers checks that wrong remote addresses are refused before a byte travels.
func (r *tr) badTransfers(to int, good uintptr) {
	before := r.c.Between.Count("put") + r.c.Between.Count("acc")
	const nowhere = 8192
	one := int64(1)
	wantArg(r, "large put", r.Do(op(Put, to, nowhere, good+8, 1<<20)), "dst", CodeAddress,
		"1048576 bytes at")
	_, err := r.Start(strided(Put, to, nowhere, good, 1024, 64, 4096), true)
	wantArg(r, "large strided put", err, "dst_ptr", CodeAddress,
		"are not within one allocation of rank")
	wantArg(r, "large acc", r.Do(accOf(op(Acc, to, nowhere, good, 1<<20), &one)), "dst",
		CodeAddress, "1048576 bytes at")
	local, remote := make([]uintptr, 3*maxRanges), make([]uintptr, 3*maxRanges)
	for i := range local {
		local[i], remote[i] = nowhere, good
	}
	remote[2*maxRanges+7] = good + 60
	err = r.Do(vector(Put, to, 8, local, remote))
	wantArg(r, "large vector put", err, "dst_ptr_array", CodeAddress,
		fmt.Sprintf("8 bytes at %#x", good+60))
	if got := r.c.Between.Count("put") + r.c.Between.Count("acc") - before; got != 0 {
		r.wrong("%d stores were sent", got)
	}
}

// Memory of a rank's own, which the others have not been told of, is good all the same; what is
// freed is known no more.
func TestKnownMemory(t *testing.T) {
	shape{2, 4, true}.run(t, nil, func(r *tr) {
		mem, buf := r.alloc(8+8*int64(r.Me)), r.local(64)
		own, err := r.MallocLocal(64)
		r.must(err)
		all := r.groups.world.team.Allgather(binary.LittleEndian.AppendUint64(nil,
			uint64(own)))
		for i := range r.N {
			rank, there := transport.Rank(i),
				uintptr(binary.LittleEndian.Uint64(all[8*i:]))
			far := !r.Topo.SameNode(rank)
			size := int64(8 + 8*i)
			if knows(r, rank, mem[i], size) != far || knows(r, rank, mem[i], size+1) ||
				knows(r, rank, there, 8) ||
				knows(r, rank, mem[i]-1, 1) || knows(r, rank, mem[i]+uintptr(size),
				1) {
				r.wrong("what is known of rank %d: %v", i,
					r.regionManager.remote.regionsOf(rank))
			}
			*long(buf) = 7
			r.must(r.Do(op(Put, i, buf, there+8*uintptr(r.Me), 8)))
		}
		r.must(r.AllFence())
		r.barrier()
		for i := range uintptr(r.N) {
			if *long(own + 8*i) != 7 {
				r.wrong("rank %d has not stored", i)
			}
		}
		r.must(r.Free(r.groups.world, mem[r.Me]))
		for i := range r.N {
			if knows(r, transport.Rank(i), mem[i], 1) {
				r.wrong("freed memory of rank %d is known", i)
			}
		}
		r.barrier()
	})
}

func knows(r *tr, rank transport.Rank, addr uintptr, n int64) bool {
	yes, _ := r.regionManager.remote.contains(rank, addr, n)
	return yes
}

// asking counts the questions of a rank, the transfers to unknown memory, and those of them before
// any question.
type asking struct {
	transport.Transport
	unknownMemory           atomic.Uintptr // that begins here
	asked, checked, unasked atomic.Int32
}

func (a *asking) Call(p transport.Peer, m transport.Msg) ([]byte, error) {
	if m.Kind == msgOwns {
		a.asked.Add(1)
	}
	return a.Transport.Call(p, m)
}

func (a *asking) note(x *transport.Xfer) {
	if x.Remote.Base == a.unknownMemory.Load() && a.checked.Add(1) > 0 && a.asked.Load() == 0 {
		a.unasked.Add(1)
	}
}

func (a *asking) Put(p transport.Peer, x *transport.Xfer) error {
	a.note(x)
	return a.Transport.Put(p, x)
}

func (a *asking) Get(p transport.Peer, x *transport.Xfer) error {
	a.note(x)
	return a.Transport.Get(p, x)
}

// The owner of memory that is not known is asked once, by core: neither the transport nor the next
// transfer asks again. After the owner has freed it and allocated more, a longer transfer asks
// again.
func TestOwnerIsAskedOnce(t *testing.T) {
	shape{2, 2, false}.run(t, func(c *transporttest.Cluster) {
		c.Wrap = func(_ int,
			t transport.Transport) transport.Transport {
			return &asking{Transport: t}
		}
	}, func(r *tr) {
		mem, own := r.alloc(64), uintptr(0)
		own, err := r.MallocLocal(5000)
		r.must(err)
		all := r.groups.world.team.Allgather(binary.LittleEndian.AppendUint64(nil,
			uint64(own)))
		to := 1 - int(r.Me)
		a, buf := r.internode.tr.(*asking), r.local(5000)
		there := uintptr(binary.LittleEndian.Uint64(all[8*to:]))
		a.unknownMemory.Store(there)
		want := int32(0)
		for _, n := range []int{8, 5000} {
			for _, kind := range []Kind{Put, Get} {
				r.must(r.Do(op(kind, to, buf, there, n)))
				id, err := r.Start(op(kind, to, buf, there, n), false)
				r.must(err)
				r.must(r.Wait(id))
				r.must(r.Do(op(kind, to, buf, mem[to], 64)))
				want += 2
			}
		}
		r.must(r.CheckFlag("f", to, there))
		if asked, unasked := a.asked.Load(), a.unasked.Load(); asked != 1 || unasked != 0 ||
			a.checked.Load() != want {
			r.wrong("asked %d times; %d transfers to memory that nobody had asked "+
				"for, of %d", asked, unasked, a.checked.Load())
		}
		r.must(r.AllFence())
		r.barrier()
		r.must(r.FreeLocal(own))
		own, err = r.MallocLocal(9000)
		r.must(err)
		all = r.groups.world.team.Allgather(binary.LittleEndian.AppendUint64(nil,
			uint64(own)))
		there, buf = uintptr(binary.LittleEndian.Uint64(all[8*to:])), r.local(9000)
		r.must(r.Do(op(Put, to, buf, there, 9000)))
		if asked := a.asked.Load(); asked != 2 {
			r.wrong("asked %d times after the memory had changed", asked)
		}
		r.must(r.AllFence())
		r.barrier()
	})
}
