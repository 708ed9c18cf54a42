// SPDX-License-Identifier: BSD-3-Clause

// Blocking operations over a transport that completes later: data, order, what the caller may do
// when the call has returned, and how failures of the transport reach it.
package core

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// strided makes a shape of rows of n bytes: packed locally, pitch bytes apart remotely.
func strided(kind Kind, proc int, local, remote uintptr, n, rows, pitch int32) *Op {
	o := op(kind, proc, local, remote, 0)
	o.Levels, o.Suffix = 1, "_ptr"
	o.Xfer.Count = []int32{n, rows}
	o.Xfer.Local.Stride, o.Xfer.Remote.Stride = []int32{n}, []int32{pitch}
	return o
}

// vector makes one descriptor of the given pieces.
func vector(kind Kind, proc, nbytes int, local, remote []uintptr) *Op {
	return &Op{Kind: kind, Proc: proc, Suffix: "_ptr_array",
		Xfer: transport.Xfer{Vector: []transport.Segments{{Local: local, Remote: remote,
			Bytes: nbytes}}}}
}

// Contiguous, strided and vector operations move the bytes that their descriptors name.
func TestShapes(t *testing.T) {
	world(t, 2, func(r *tr) {
		mem, buf := r.alloc(4096), r.local(4096)
		to := 1 - int(r.Me)
		at := mem[to]
		for i := range memory(buf, 64) {
			memory(buf, 64)[i] = byte(16*int(r.Me) + i)
		}
		r.must(r.Do(op(Put, to, buf, at, 10)))
		r.must(r.Do(strided(Put, to, buf, at+100, 8, 3, 32)))
		r.must(r.Do(vector(Put, to, 4, []uintptr{buf, buf + 8},
			[]uintptr{at + 300, at + 200})))
		scale := int64(3)
		r.must(r.Do(accOf(strided(Acc, to, buf, at+1000, 8, 2, 64), &scale)))
		clear(memory(buf, 64)) // it is mine again
		r.must(r.Fence(to))
		r.barrier()
		want := make([]byte, 4096)
		src := func(i, n int) []byte {
			b := make([]byte, n)
			for k := range b {
				b[k] = byte(16*to + i + k)
			}
			return b
		}
		copy(want, src(0, 10))
		for row := range 3 {
			copy(want[100+32*row:], src(8*row, 8))
		}
		copy(want[300:], src(0, 4))
		copy(want[200:], src(8, 4))
		if got := memory(mem[r.Me], 1000); !bytes.Equal(got, want[:1000]) {
			r.wrong("%x", got[:340])
		}
		r.must(r.Do(strided(Get, to, buf+512, at+100, 8, 3, 32)))
		r.must(r.Do(vector(Get, to, 4, []uintptr{buf + 600}, []uintptr{at + 300})))
		r.must(r.Do(strided(Get, to, buf+700, at+1000, 8, 2, 64)))
		for i := range byte(24) {
			if got := memory(buf+512, 24)[i]; got != byte(16*int(r.Me))+i {
				r.wrong("strided get: byte %d is %d", i, got)
			}
		}
		if got := memory(buf+600, 4); got[1] != byte(16*int(r.Me)+1) {
			r.wrong("vector get: %v", got)
		}
		for row := range uintptr(2) {
			var x int64
			for k := range uintptr(8) {
				x |= int64(byte(16*int(r.Me)+int(8*row+k))) << (8 * k)
			}
			if got := *long(buf + 700 + 8*row); got != 3*x {
				r.wrong("accumulate: row %d is %#x, expected 3 * %#x", row, got, x)
			}
		}
		r.barrier()
	})
}

// Two blocking stores of one rank arrive in order, and its own get sees the last one.
func TestLocationConsistency(t *testing.T) {
	world(t, 2, func(r *tr) {
		mem, buf := r.alloc(8*64), r.local(16)
		to := 1 - int(r.Me)
		for i := range int64(100) {
			word := mem[to] + uintptr(i%64)*8
			for k := range int64(3) {
				*long(buf) = i<<8 | k
				r.must(r.Do(op(Put, to, buf, word, 8)))
			}
			r.must(r.Do(op(Get, to, buf+8, word, 8)))
			if got := *long(buf + 8); got != i<<8|2 {
				r.wrong("round %d: read %#x", i, got)
			}
		}
		r.barrier()
	})
}

// Operations without bytes succeed, whatever their addresses are.
func TestNothingToDo(t *testing.T) {
	world(t, 1, func(r *tr) {
		for what, o := range map[string]*Op{
			"no bytes": op(Put, 0, 0, 0, 0), "no rows": strided(Get, 0, 0, 0, 8, 0, 16),
			"no descriptors": {Kind: Put,
				Xfer: transport.Xfer{Vector: []transport.Segments{}}},
			"no pieces":          vector(Put, 0, 8, nil, nil),
			"pieces of no bytes": vector(Put, 0, 0, []uintptr{0}, []uintptr{0}),
		} {
			if err := r.Do(o); err != nil {
				r.wrong("%s: %v", what, err)
			}
			if id, err := r.Start(o, false); id != Done || err != nil {
				r.wrong("%s, nonblocking: %d, %v", what, id, err)
			}
		}
		if n := r.c.Net.Count("put") + r.c.Net.Count("get"); n != 0 {
			r.wrong("%d operations for nothing", n)
		}
	})
}

// flaky makes the transports of a cluster fail as asked.
func flaky(now, later func(what string, p transport.Peer) error) func(*transporttest.Cluster) {
	return func(c *transporttest.Cluster) {
		c.Wrap = func(_ int, t transport.Transport) transport.Transport {
			return &transporttest.Flaky{Transport: t, Fail: now, FailLater: later}
		}
	}
}

// A failure of the transport reaches the caller with the same text and code, whenever it comes to
// light.
func TestTransportFails(t *testing.T) {
	for name, sentinel := range map[string]error{"address": transport.ErrBadAddr,
		"death": transport.ErrPeerDead} {
		fail := func(what string, _ transport.Peer) error {
			if what == "put" || what == "get" {
				return fmt.Errorf("the target says: %w", sentinel)
			}
			return nil
		}
		for when, change := range map[string]func(*transporttest.Cluster){"at once": flaky(
			fail, nil), "later": flaky(nil, fail)} {
			t.Run(name+" "+when, func(t *testing.T) {
				worldOf(t, 1, change, func(r *tr) {
					mem, buf := r.alloc(64), r.local(64)
					id, err := r.Start(op(Get, 0, buf, mem[0], 24), false)
					if err == nil {
						err = r.Wait(id)
					}
					checkFailure(r, "src", err, sentinel)
					checkFailure(r, "dst", r.Do(op(Put, 0, buf, mem[0], 24)),
						sentinel)
					checkFailure(r, "dst_ptr",
						r.Do(strided(Put, 0, buf, mem[0], 8, 3, 8)),
						sentinel)
					if r.open() != 0 {
						r.wrong("%d operations are still open", r.open())
					}
				})
			})
		}
	}
}

// checkFailure checks the error of an operation whose transport has failed with sentinel.
func checkFailure(r *tr, arg string, err, sentinel error) {
	r.Helper()
	if sentinel == transport.ErrBadAddr {
		wantArg(r, "put", err, arg, CodeAddress, "the target says")
		return
	}
	if !errors.Is(err, sentinel) || CodeOf(err) != CodeInternal ||
		!strings.Contains(err.Error(), "24 bytes to or from rank 0") {
		r.wrong("%v, code %d", err, CodeOf(err))
	}
}
