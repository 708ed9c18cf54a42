// SPDX-License-Identifier: BSD-3-Clause

// Updates at ranks of all nodes: every operator and type as the kernel does it, large and scattered
// ones, fetching, their order, and compare-and-swap.
package core

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/testutil/transporttest"
)

func pointer(addr uintptr) unsafe.Pointer { return kernel.Ptr(addr) }

// sumOf adds longs.
func sumOf(proc int, addr uintptr, x []int64) *Update {
	return &Update{Proc: proc, Op: kernel.OpSum, Type: kernel.I64,
		Runs: []kernel.Segment{{Addr: addr, Bytes: int64(8 * len(x))}},
		Data: unsafe.Pointer(&x[0])}
}

// Each rank has a place of its own at every other; operators and types come one after the other on
// what is there.
func TestUpdatesOfAllKinds(t *testing.T) {
	everyShape(t, func(r *tr) {
		const room = 2048
		mem := r.alloc(int64(r.N) * room)
		random := rand.New(rand.NewPCG(uint64(r.Me), 7))
		small := func(n int) []byte { // bytes that make small numbers of every type
			b := make([]byte, n)
			for i := range b {
				b[i] = byte(random.IntN(4))
			}
			return b
		}
		for to := range r.N {
			at := mem[to] + uintptr(r.Me)*room
			want := small(room)
			*long(r.local(8)) = 0
			local := r.local(room)
			copy(memory(local, room), want)
			r.must(r.Do(op(Put, to, local, at, room)))
			for typ := range kernel.UpdateType(kernel.UpdateTypes) {
				if typ == kernel.PairF80Int {
					continue // its padding may become anything
				}
				for code := range kernel.UpdateOp(kernel.UpdateOps) {
					if kernel.UpdateValid(code, typ) {
						r.tryUpdate(to, at, want, code, typ, small, random)
					}
				}
			}
			r.must(r.Fence(to))
			r.must(r.Do(op(Get, to, local, at, room)))
			if got := memory(local, room); !bytes.Equal(got, want) {
				r.wrong("the memory at rank %d differs", to)
			}
		}
		r.barrier()
	})
}

// tryUpdate updates some runs and the same ones of want; every other time it fetches, and compares.
func (r *tr) tryUpdate(to int, at uintptr, want []byte, code kernel.UpdateOp, typ kernel.UpdateType,
	small func(int) []byte,
	random *rand.Rand) {
	r.Helper()
	size := kernel.UpdateBytes(typ)
	u := Update{Proc: to, Op: code, Type: typ, Trusted: random.IntN(2) == 0}
	type piece struct{ at, n int }
	var pieces []piece
	total := 0
	for begin := random.IntN(9); len(pieces) < 4; {
		n := random.IntN(12) * size
		u.Runs = append(u.Runs, kernel.Segment{Addr: at + uintptr(begin), Bytes: int64(n)})
		pieces = append(pieces, piece{begin, n})
		begin, total = begin+n+random.IntN(20), total+n
	}
	data, old := small(total+1), make([]byte, total)
	if code != kernel.OpNoOp {
		u.Data = unsafe.Pointer(&data[0])
	}
	if random.IntN(2) == 0 {
		u.Old = make([]byte, total)
	}
	for i, done := 0, 0; i < len(pieces); i++ {
		if p := pieces[i]; p.n > 0 {
			kernel.Update(kernel.Stripes{}, code, typ, unsafe.Pointer(&want[p.at]),
				unsafe.Pointer(&data[done]), unsafe.Pointer(&old[done]),
				p.n/size)
			done += p.n
		}
	}
	r.must(r.Update(&u))
	if u.Old != nil && !bytes.Equal(u.Old, old) {
		r.wrong("operator %d of type %d at rank %d fetches other values", code, typ, to)
	}
}

// One update of more than a message holds, in one run and in many, with elements that do not divide
// it.
func TestLargeUpdates(t *testing.T) {
	everyShape(t, func(r *tr) {
		const n = 9000 // elements of 32 bytes, with gaps
		mem := r.alloc(n * 40)
		data := make([]uint64, 4*n)
		for i := range data {
			data[i] = uint64(i)*0x9e3779b97f4a7c15 + uint64(r.Me)
		}
		r.barrier()
		if r.Me == 0 {
			to := r.N - 1
			one := Update{Proc: to, Op: kernel.OpReplace, Type: kernel.C80,
				Runs: []kernel.Segment{{Addr: mem[to] + 3, Bytes: 32 * n}},
				Data: unsafe.Pointer(&data[0])}
			r.must(r.Update(&one))
			many := one
			many.Runs = nil
			for i := range uintptr(n) {
				many.Runs = append(many.Runs,
					kernel.Segment{Addr: mem[to] + 40*i, Bytes: 32})
			}
			fetched := one
			fetched.Op, fetched.Old, fetched.Data = kernel.OpNoOp, make([]byte, 32*n),
				nil
			r.must(r.Update(&fetched))
			want := unsafe.Slice((*byte)(unsafe.Pointer(&data[0])), 32*n)
			if !bytes.Equal(fetched.Old, want) {
				r.wrong("one run is not what was stored")
			}
			r.must(r.Update(&many))
			fetched.Runs = many.Runs
			clear(fetched.Old)
			r.must(r.Update(&fetched))
			if !bytes.Equal(fetched.Old, want) {
				r.wrong("many runs are not what was stored")
			}
		}
		r.barrier()
	})
}

// All ranks take numbers of one counter by fetching, by compare-and-swap, and add to one more
// beside accumulates of ARMCI.
func TestUpdatesOfAll(t *testing.T) {
	everyShape(t, func(r *tr) {
		const rounds = 40
		mem, buf := r.alloc(4096), r.local(8)
		host := r.N - 1
		one, taken := []int64{1}, r.local(8*rounds)
		*long(buf) = 1
		for i := range uintptr(rounds) {
			u := sumOf(host, mem[host], one)
			u.Old = memory(taken+8*i, 8)
			r.must(r.Update(u))
			r.must(r.Update(sumOf(host, mem[host]+16, one)))
			r.must(r.Do(accOf(op(Acc, host, buf, mem[host]+16, 8), &one[0])))
			r.increase(host, mem[host]+8)
		}
		r.must(r.AllFence())
		r.must(r.Do(op(Put, host, taken, mem[host]+512+8*rounds*uintptr(r.Me), 8*rounds)))
		r.must(r.AllFence())
		r.barrier()
		if int(r.Me) == host {
			if a, b, c := *long(mem[host]), *long(mem[host] + 8),
				*long(mem[host] + 16); a != int64(rounds*r.N) || b != a ||
				c != 2*a {
				r.wrong("the counters are %d, %d and %d", a, b, c)
			}
			r.takenOnce(mem[host]+512, rounds*r.N)
		}
		r.barrier()
	})
}

// takenOnce checks that n numbers, in any order, are 0, 1, 2 and so on.
func (r *tr) takenOnce(at uintptr, n int) {
	r.Helper()
	numbers := slices.Clone(unsafe.Slice(long(at), n))
	slices.Sort(numbers)
	for i, got := range numbers {
		if got != int64(i) {
			r.wrong("number %d of those taken is %d", i, got)
			return
		}
	}
}

// The same counter in private memory that its owner has exposed.
func TestUpdatesOfPrivateMemory(t *testing.T) {
	everyShape(t, func(r *tr) {
		const rounds = 20
		mem, host := r.alloc(64), r.N-1
		private := r.local(128)
		if int(r.Me) == host {
			r.must(r.allocator.Expose(private, 128))
			*long(mem[host]) = int64(private)
		}
		r.barrier()
		at := make([]byte, 8)
		r.must(r.Update(&Update{Proc: host, Op: kernel.OpNoOp, Type: kernel.I64,
			Runs: []kernel.Segment{{Addr: mem[host], Bytes: 8}}, Old: at}))
		there := uintptr(binary.LittleEndian.Uint64(at))
		for range rounds {
			r.must(r.Update(sumOf(host, there, []int64{1, 2})))
			r.increase(host, there+16)
		}
		if r.Me != 0 { // rank 0 may name any memory of its own
			wantArg(r, "not exposed", r.Update(sumOf(0, there, []int64{1})), "target",
				CodeAddress, "are not within")
		}
		r.must(r.Fence(host))
		r.barrier()
		if int(r.Me) == host {
			all := int64(rounds * r.N)
			if a, b, c := *long(private), *long(private + 8),
				*long(private + 16); a != all || b != 2*all || c != all {
				r.wrong("the counters are %d, %d and %d", a, b, c)
			}
			r.must(r.allocator.Conceal(private, 128))
		}
		r.barrier()
	})
}

// increase adds one by compare-and-swap.
func (r *tr) increase(proc int, addr uintptr) {
	guess, value, old := make([]byte, 8), make([]byte, 8), make([]byte, 8)
	for {
		binary.LittleEndian.PutUint64(value, binary.LittleEndian.Uint64(guess)+1)
		if r.must(r.CompareSwap(proc, addr, 8, guess, value, old,
			proc%2 == 0)); bytes.Equal(guess, old) {
			return
		}
		copy(guess, old)
	}
}

// Replacements and accumulates of one origin take effect in order, on a slow wire.
func TestUpdatesInOrder(t *testing.T) {
	for _, ordered := range []bool{true, false} {
		shape{2, 4, true}.run(t, func(c *transporttest.Cluster) {
			c.Wire.Ordered, c.Wire.Eager, c.Wire.Pause = ordered, 16,
				200*time.Microsecond
		}, func(r *tr) {
			mem, buf := r.alloc(64), r.local(64)
			scale := int64(1)
			for to := range r.N {
				at := mem[to] + 8*uintptr(r.Me)
				last := int64(0)
				for i := range int64(20) {
					*long(buf) = 1000
					r.must(r.Do(accOf(op(Acc, to, buf, at, 8), &scale)))
					x, old := []int64{i + 1}, make([]byte, 8)
					u := sumOf(to, at, x)
					if u.Op = kernel.OpReplace; i%3 == 0 {
						u.Old = old
					}
					r.must(r.Update(u))
					if got := int64(binary.LittleEndian.Uint64(
						old)); u.Old != nil && got != last+1000 {
						r.wrong("replacement %d at rank %d finds %d, "+
							"expected %d", i, to, got, last+1000)
					}
					last = i + 1
				}
				for i := range int64(30) {
					u := sumOf(to, at, []int64{i})
					u.Op = kernel.OpReplace
					r.must(r.Update(u))
				}
				u := sumOf(to, at, []int64{0})
				u.Old = make([]byte, 8)
				if r.must(r.Update(u)); u.Old[0] != 29 {
					r.wrong("the last of 30 replacements at rank %d is not "+
						"there: %d", to, u.Old[0])
				}
			}
			r.must(r.AllFence())
			r.barrier()
		})
	}
}
