// SPDX-License-Identifier: BSD-3-Clause

// Mistakes in updates: wrong arguments at the origin, and wrong memory that only the target
// refuses.
package core

import (
	"errors"
	"testing"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// Wrong arguments of an update are refused. What only the target refuses changes nothing; the fence
// reports it if nothing was to be fetched.
func TestUpdateMistakes(t *testing.T) {
	shape{2, 4, true}.run(t, nil, func(r *tr) {
		mem := r.alloc(64)
		r.barrier()
		if r.Me == 0 {
			for _, to := range []int{0, 1, 2} {
				r.updateMistakes(to, mem)
			}
			wantArg(r, "rank", r.Update(sumOf(4, mem[0], []int64{1})), "proc", CodeProc,
				"rank 4")
			u := sumOf(1, mem[1]+64, []int64{1})
			u.Trusted = true
			r.must(r.Update(u))
			if err := r.Fence(1); !errors.Is(err, transport.ErrBadAddr) {
				r.wrong("a refused update is reported as %v", err)
			}
			u.Old = make([]byte, 8)
			wantArg(r, "trusted", r.Update(u), "target", CodeAddress,
				"outside the peer's memory")
			b := make([]byte, 8)
			wantArg(r, "trusted", r.CompareSwap(1, mem[1]+60, 8, b, b, b, true),
				"target", CodeAddress, "outside the peer's memory")
			r.must(r.Fence(1))
		}
		r.barrier()
		for i := range uintptr(8) {
			if *long(mem[r.Me] + 8*i) != 0 {
				r.wrong("memory has changed")
			}
		}
		r.barrier()
	})
}

// updateMistakes checks the error of each wrong argument of updates and compare-and-swaps.
func (r *tr) updateMistakes(to int, mem []uintptr) {
	x := make([]int64, 16)
	change := func(f func(u *Update)) error {
		u := sumOf(to, mem[to], x[:1])
		f(u)
		return r.Update(u)
	}
	for what, c := range map[string]struct {
		change    func(u *Update)
		arg, text string
		code      int
	}{
		"operator": {func(u *Update) { u.Op = 99 }, "op", "operator 99", CodeOp},
		"type":     {func(u *Update) { u.Type = -1 }, "op", "type -1", CodeOp},
		"broken element": {func(u *Update) { u.Runs[0].Bytes = 7 }, "target",
			"7 bytes are not a whole number", CodeBytes},
		"negative": {func(u *Update) { u.Runs[0].Bytes = -8 }, "target", "-8 bytes",
			CodeBytes},
		"huge": {func(u *Update) { u.Runs[0].Bytes = 1 << 62 }, "target",
			"more than the", CodeBytes},
		"no address": {func(u *Update) { u.Runs[0].Addr = ^uintptr(7) }, "target",
			"are no memory", CodeAddress},
		"no data": {func(u *Update) { u.Data = nil }, "origin", "null",
			CodeArgument},
		"result": {func(u *Update) { u.Old = make([]byte, 9) }, "result",
			"room for 9 bytes", CodeBytes},
		"beyond": {func(u *Update) {
			u.Runs[0] = kernel.Segment{Addr: mem[to] + 8,
				Bytes: 64}
		}, "target", "are not within", CodeAddress},
		"another's": {func(u *Update) { u.Runs[0].Addr = mem[(to+2)%4] }, "target",
			"are not within", CodeAddress},
		"second run": {func(u *Update) {
			u.Runs = append(u.Runs,
				kernel.Segment{Addr: mem[to] + 4096, Bytes: 8})
		}, "target", "are not within",
			CodeAddress},
	} {
		wantArg(r, what, change(c.change), c.arg, c.code, c.text)
	}
	r.must(change(func(u *Update) { u.Runs = nil }))
	r.must(change(func(u *Update) { u.Op, u.Data = kernel.OpNoOp, nil }))
	b := make([]byte, 33)
	wantArg(r, "compare", r.CompareSwap(to, mem[to], 33, b, b, b, false), "bytes", CodeBytes,
		"33 is outside")
	wantArg(r, "compare", r.CompareSwap(to, mem[to], 8, b[:8], b[:7], b[:8], false), "bytes",
		CodeBytes, "not the size")
	wantArg(r, "compare", r.CompareSwap(to, mem[to]+60, 8, b[:8], b[:8], b[:8], false),
		"target", CodeAddress, "are not within")
}

// Trusted operations are not checked at the origin: no question is asked, and the target refuses
// what is wrong.
func TestTrusted(t *testing.T) {
	apart.run(t, nil, func(r *tr) {
		mem, buf := r.alloc(64), r.local(64)
		var mine uintptr // what the other rank does not know
		if r.Me == 1 {
			var err error
			mine, err = r.MallocLocal(64)
			r.must(err)
			*long(buf) = int64(mine)
			r.must(r.Do(op(Put, 0, buf, mem[0], 8)))
			r.must(r.Fence(0))
		}
		r.barrier()
		if r.Me == 0 {
			there := uintptr(*long(mem[0]))
			*long(buf) = 77
			for _, o := range []*Op{op(Put, 1, buf, there, 8), {Kind: Put, Proc: 1,
				Xfer: transport.Xfer{Vector: []transport.Segments{
					{Local: []uintptr{buf}, Remote: []uintptr{there + 8},
						Bytes: 8}}}}} {
				o.Trusted = true
				some, err := r.checkOp(o)
				if r.must(err); !some || !o.remoteKnown {
					r.wrong("a trusted operation is not known")
				}
				r.must(r.Do(o))
			}
			r.must(r.Fence(1))
			bad := op(Put, 1, buf, there+64, 8)
			bad.Trusted = true
			r.must(r.Do(bad))
			if err := r.Fence(1); err == nil {
				r.wrong("a put beyond the memory was not refused")
			}
		}
		r.barrier()
		if r.Me == 1 {
			if a, b := *long(mine), *long(mine + 8); a != 77 || b != 77 {
				r.wrong("the words are %d and %d", a, b)
			}
			r.must(r.FreeLocal(mine))
		}
		r.barrier()
	})
}
