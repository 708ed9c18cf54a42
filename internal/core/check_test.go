// SPDX-License-Identifier: BSD-3-Clause

// Every mistake in the arguments of a data operation: which argument is blamed, with which code and
// words, and that nothing has moved.
package core

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"libarmci/internal/transport"
)

// mistake is a wrong operation and what must be said about it.
type mistake struct {
	what string
	o    *Op
	arg  string
	code int
	text string
}

// none is (void *)-1, and MAP_FAILED.
const none = ^uintptr(0)

// shaped is a put to rank 0 with the same strides on both sides.
func shaped(local, remote uintptr, count []int32, stride ...int32) *Op {
	o := strided(Put, 0, local, remote, 1, 1, 0)
	o.Levels = len(stride)
	o.Xfer.Count, o.Xfer.Local.Stride, o.Xfer.Remote.Stride = count, stride, stride
	return o
}

// contiguousMistakes are contiguous operations with one wrong argument each.
func contiguousMistakes(mem []uintptr, buf uintptr) []mistake {
	one := int64(1)
	badScale := accOf(op(Acc, 0, buf, mem[0], 8), nil)
	badType := accOf(op(Acc, 0, buf, mem[0], 8), &one)
	badType.AccCode = 36
	return []mistake{
		{"rank too small", op(Put, -1, buf, mem[0], 8), "proc", CodeProc,
			"rank -1 is outside 0..1"},
		{"rank too great", op(Get, 2, buf, mem[0], 8), "proc", CodeProc,
			"rank 2 is outside 0..1"},
		{"negative size", op(Put, 0, buf, mem[0], -8), "bytes", CodeBytes,
			"-8 is negative"},
		{"no source", op(Put, 0, 0, mem[0], 8), "src", CodeArgument, "null"},
		{"no destination", op(Put, 0, buf, 0, 8), "dst", CodeArgument, "null"},
		{"no source of a get", op(Get, 0, buf, 0, 8), "src", CodeArgument, "null"},
		{"no destination of a get", op(Get, 0, 0, mem[0], 8), "dst", CodeArgument, "null"},
		{"before the memory", op(Put, 1, buf, mem[1]-1, 8), "dst", CodeAddress,
			"not within one allocation of rank 1"},
		{"beyond the memory", op(Put, 1, buf, mem[1]+57, 8), "dst", CodeAddress,
			"8 bytes at"},
		{"beyond the memory, read", op(Get, 1, buf, mem[1]+57, 8), "src", CodeAddress,
			"8 bytes at"},
		{"another rank's memory", op(Put, 0, buf, mem[1], 8), "dst", CodeAddress,
			"of rank 0"},
		{"another rank's private memory", op(Put, 1, buf, buf, 8), "dst", CodeAddress,
			"of rank 1"},
		{"MAP_FAILED", op(Put, 1, buf, none, 8), "dst", CodeAddress,
			"8 bytes at 0xffffffffffffffff"},
		{"MAP_FAILED of my own", op(Get, 0, buf, none, 8), "src", CodeAddress,
			"8 bytes at 0xffffffffffffffff"},
		{"upper half", op(Put, 1, buf, 1<<63, 8), "dst", CodeAddress,
			"8 bytes at 0x8000000000000000"},
		{"end in the upper half", op(Put, 0, buf, 1<<63-4, 8), "dst", CodeAddress,
			"8 bytes at"},
		{"MAP_FAILED here", op(Put, 1, none, mem[1], 8), "src", CodeArgument, "no address"},
		{"type", badType, "optype", CodeOp, "36 is no accumulate operation"},
		{"no scale", badScale, "scale", CodeArgument, "null"},
		{"half an element", accOf(op(Acc, 0, buf, mem[0], 12), &one), "bytes", CodeBytes,
			"12 bytes are not a whole number of elements of 8"},
	}
}

// stridedMistakes are strided operations with one wrong argument each.
func stridedMistakes(mem []uintptr, buf uintptr) []mistake {
	one := int64(1)
	levels := func(n int) *Op {
		o := strided(Put, 0, buf, mem[0], 8, 2, 16)
		o.Levels = n
		return o
	}
	missing := func(name string) *Op {
		o := strided(Put, 0, buf, mem[0], 8, 2, 16)
		o.Missing = name
		return o
	}
	refused := strided(Put, 0, buf, mem[0], 8, 2, 16)
	refused.Refuse = &ArgError{Arg: "len", Text: "negative number of descriptors",
		Code: CodeLevels}
	return []mistake{
		{"levels", levels(-1), "stride_levels", CodeLevels, "-1 is outside 0..8"},
		{"more levels", levels(9), "stride_levels", CodeLevels, "9 is outside 0..8"},
		{"negative bytes", strided(Put, 0, buf, mem[0], -8, 2, 16), "count", CodeBytes,
			"-8 is negative"},
		{"negative rows", strided(Put, 0, buf, mem[0], 8, -2, 16), "count", CodeLevels,
			"-2 blocks at level 1"},
		{"no source", strided(Put, 0, 0, mem[0], 8, 2, 16), "src_ptr", CodeArgument,
			"null"},
		{"no destination", strided(Put, 0, buf, 0, 8, 2, 16), "dst_ptr", CodeArgument,
			"null"},
		{"last row outside", strided(Put, 0, buf, mem[0], 8, 5, 16), "dst_ptr", CodeAddress,
			"72 bytes at"},
		{"last row outside, read", strided(Get, 0, buf, mem[0], 8, 5, 16), "src_ptr",
			CodeAddress, "72 bytes at"},
		{"first row outside", strided(Put, 0, buf, mem[0]+8, 8, 3, -16), "dst_ptr",
			CodeAddress, "40 bytes at"},
		{"far", strided(Put, 0, buf, mem[0], 1<<10, 1<<30, 1<<30), "dst_ptr", CodeAddress,
			"not within"},
		{"huge", strided(Put, 0, buf, mem[0], 1<<30, 1<<30, 1<<30), "count", CodeLevels,
			"more than the 70368744177664 bytes"},
		{"more than 64 bits", shaped(buf, mem[0], []int32{24, 1 << 30, 1 << 30}, 24, 0),
			"count", CodeLevels, "more than"},
		{"zero bytes in 64 bits", shaped(buf, mem[0], []int32{1 << 16, 1 << 16, 1 << 16,
			1 << 16}, 0, 0, 0), "count",
			CodeLevels, "[65536 65536 65536 65536] are more than"},
		{"MAP_FAILED", strided(Put, 1, buf, none, 8, 2, 16), "dst_ptr", CodeAddress,
			"24 bytes at 0xffffffffffffffff"},
		{"MAP_FAILED here", strided(Put, 1, none, mem[1], 8, 2, 16), "src_ptr",
			CodeArgument, "no address"},
		{"begin below zero", strided(Put, 0, buf, mem[0], 8, 1<<20, -1<<30), "dst_ptr",
			CodeAddress, "not within"},
		{"a long way down", shaped(buf, mem[0], []int32{1, math.MaxInt32}, math.MinInt32),
			"dst_ptr", CodeAddress, "not within"},
		{"a long way up", shaped(buf, mem[0], []int32{1, math.MaxInt32}, math.MaxInt32),
			"dst_ptr", CodeAddress, "not within"},
		{"half an element", accOf(strided(Acc, 0, buf, mem[0], 12, 2, 16), &one), "count",
			CodeBytes, "whole number"},
		{"missing array", missing("count"), "count", CodeArrays, "null"},
		{"missing strides", missing("dst_stride_arr"), "dst_stride_arr", CodeArrays,
			"null"},
		{"refused by the front door", refused, "len", CodeLevels, "negative number"},
	}
}

// vectorMistakes are vector operations with one wrong argument each.
func vectorMistakes(mem []uintptr, buf uintptr) []mistake {
	one := int64(1)
	two := func(o *Op, s transport.Segments) *Op {
		o.Xfer.Vector = append(o.Xfer.Vector, s)
		return o
	}
	good := func() *Op { return vector(Put, 0, 8, []uintptr{buf}, []uintptr{mem[0]}) }
	return []mistake{
		{"negative bytes", two(good(), transport.Segments{Bytes: -1}), "darr", CodeBytes,
			"descriptor 1: bytes is -1"},
		{"null local", two(good(), transport.Segments{Local: []uintptr{buf, 0},
			Remote: []uintptr{mem[0], mem[0]}, Bytes: 4}), "darr",
			CodeArgument, "descriptor 1: src_ptr_array address 1 is null"},
		{"null remote", vector(Put, 0, 8, []uintptr{buf}, []uintptr{0}), "dst_ptr_array",
			CodeArgument, "null"},
		{"MAP_FAILED", vector(Put, 1, 8, []uintptr{buf, buf}, []uintptr{mem[1], none}),
			"dst_ptr_array", CodeAddress,
			"8 bytes at 0xffffffffffffffff"},
		{"MAP_FAILED of my own", vector(Put, 0, 8, []uintptr{buf}, []uintptr{none}),
			"dst_ptr_array", CodeAddress, "8 bytes at"},
		{"end in the upper half", vector(Put, 0, 8, []uintptr{buf}, []uintptr{1<<63 - 4}),
			"dst_ptr_array", CodeAddress, "8 bytes at"},
		{"MAP_FAILED here", vector(Put, 0, 8, []uintptr{none}, []uintptr{mem[0]}), "darr",
			CodeArgument, "address 0 is no address"},
		{"huge", vector(Put, 0, 1<<30, make([]uintptr, 1<<17), make([]uintptr, 1<<17)),
			"darr", CodeLevels, "more than"},
		{"outside", vector(Put, 0, 8, []uintptr{buf, buf}, []uintptr{mem[0], mem[0] + 57}),
			"dst_ptr_array", CodeAddress, "8 bytes at"},
		{"outside, read", vector(Get, 1, 8, []uintptr{buf}, []uintptr{mem[1] - 1}),
			"src_ptr_array", CodeAddress, "of rank 1"},
		{"half an element", accOf(vector(Acc, 0, 4, []uintptr{buf}, []uintptr{mem[0]}),
			&one), "darr", CodeBytes, "whole number"},
	}
}

// Each wrong argument is named by the error, with its code, by blocking and nonblocking calls.
func TestMistakes(t *testing.T) {
	world(t, 2, func(r *tr) {
		mem, buf := r.alloc(64), r.local(64)
		if r.Me == 0 {
			for shape, list := range map[string][]mistake{
				"contiguous": contiguousMistakes(mem, buf),
				"strided":    stridedMistakes(mem, buf),
				"vector":     vectorMistakes(mem, buf)} {
				for _, m := range list {
					what := fmt.Sprintf("%s, %s", shape, m.what)
					wantArg(r, what, r.Do(m.o), m.arg, m.code, m.text)
					id, err := r.Start(m.o, true)
					wantArg(r, what+", nonblocking", err, m.arg, m.code, m.text)
					if id != Done {
						r.wrong("%s: handle %d", what, id)
					}
				}
			}
			if n := r.c.Net.Count("put") + r.c.Net.Count("get") +
				r.c.Net.Count("acc"); n != 0 {
				r.wrong("%d operations were posted", n)
			}
		}
		r.barrier()
	})
}

// A rank may name private memory of its own as remote; and the whole of an allocation.
func TestAllowed(t *testing.T) {
	world(t, 1, func(r *tr) {
		mem, buf := r.alloc(64), r.local(128)
		*long(buf) = 6
		r.must(r.Do(op(Put, 0, buf, buf+64, 8)))
		r.must(r.Do(op(Put, 0, buf, mem[0], 64)))
		r.must(r.Do(strided(Put, 0, buf, mem[0]+48, 16, 4, -16)))
		r.must(r.Fence(0))
		if *long(buf + 64) != 6 || *long(mem[0]) != 0 && *long(mem[0] + 48) != 6 {
			r.wrong("%d, %d", *long(buf + 64), *long(mem[0] + 48))
		}
	})
}

// A flag is an aligned int within an allocation of an existing rank.
func TestCheckFlag(t *testing.T) {
	world(t, 1, func(r *tr) {
		mem := r.alloc(64)
		r.must(r.CheckFlag("f", 0, mem[0]+60))
		wantArg(r, "rank", r.CheckFlag("f", 1, mem[0]), "proc", CodeProc, "rank 1")
		wantArg(r, "alignment", r.CheckFlag("f", 0, mem[0]+2), "f", CodeArgument,
			"aligned to 4")
		wantArg(r, "outside", r.CheckFlag("f", 0, mem[0]+64), "f", CodeAddress, "4 bytes")
		wantArg(r, "null", r.CheckFlag("f", 0, 0), "f", CodeArgument, "null")
	})
}

// CodeOf finds the code of a wrapped ArgError; other errors are internal.
func TestCodeOf(t *testing.T) {
	if CodeOf(errors.New("anything")) != CodeInternal ||
		CodeOf(argErr(CodeOp, "a", "b")) != CodeOp {
		t.Error("codes")
	}
	if got := argErr(CodeOp, "", "only %s", "text").Error(); got != "only text" {
		t.Errorf("%q", got)
	}
	wrapped := fmt.Errorf("create mutexes: %w", argErr(CodeBytes, "num", "bad"))
	if CodeOf(wrapped) != CodeBytes {
		t.Errorf("the code of a wrapped mistake is %d", CodeOf(wrapped))
	}
}
