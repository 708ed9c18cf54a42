// SPDX-License-Identifier: BSD-3-Clause

// Accumulates by frames: what is answered, and how large ones are divided.
package internode

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/testutil/pipe"
	"libarmci/internal/transport"
)

// requestUpdates shows the answers to accumulates that fetch, of the memory of TestRequests.
func requestUpdates(t *testing.T, c *rawLink, at uintptr) {
	word := func(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }
	h := header{kind: kindAcc, addr: uint64(at), what: uint8(kernel.U64)}
	for _, x := range []struct {
		op            uint8
		operand, body []byte
		want          uint64
	}{
		{uint8(kernel.OpReplace), nil, word(20), 5},
		{uint8(kernel.OpProd), nil, word(3), 20},
		{opCompareSwap, append(word(60), make([]byte, 24)...), word(7), 60},
		{opCompareSwap, append(word(60), make([]byte, 24)...), word(8), 7},
		{uint8(kernel.OpNoOp), nil, nil, 7},
	} {
		if h.op, h.bytes = x.op, 8; x.op == opCompareSwap {
			h.what = uint8(kernel.Bytes)
		}
		if r := c.request(h, x.operand, x.body); r.kind != kindData ||
			!bytes.Equal(r.body, word(x.want)) {
			t.Fatalf("operator %d: %+v", x.op, r)
		}
	}
}

// TestLargeUpdates shows that updates of many runs, which are many frames and many pieces, change
// all of them and fetch what was there, also elements that do not divide a frame.
func TestLargeUpdates(t *testing.T) {
	for name, o := range map[string]pipe.Options{"frames of any size": {},
		"small frames": {MaxFrame: 5000, Credits: 4, Divide: true}} {
		t.Run(name, func(t *testing.T) {
			e := newEnds(t, pipe.New(o), nil, 1, 2)
			for _, tr := range e.Open {
				if err := tr.Connect(e.Peers()); err != nil {
					t.Fatal(err)
				}
			}
			const most = 1 << 20
			there := memory(e.Alloc(t, 2, most), most)
			r := rand.New(rand.NewPCG(1, 2))
			for _, size := range []int{16, 8, 1} {
				runs := someRuns(r, addressOf(there), most, size)
				checkReplaced(t, e.Open[0], there, runs, size)
			}
		})
	}
}

// someRuns returns runs of elements of size bytes in order, some of them at equal distances.
func someRuns(r *rand.Rand, at uintptr, room, size int) (runs []kernel.Segment) {
	n, step := 0, 0
	for end := at + uintptr(room); ; at += uintptr(step) {
		if r.IntN(20) == 0 || n == 0 {
			n = size * (1 + r.IntN(1<<r.IntN(10)))
			step = n + r.IntN(3)*size
		}
		if at+uintptr(step) > end {
			return append(runs, kernel.Segment{Addr: at})
		}
		runs = append(runs, kernel.Segment{Addr: at, Bytes: int64(n)})
	}
}

// checkReplaced replaces runs of there, and compares what is fetched, and what is there then.
func checkReplaced(t *testing.T, tr transport.Transport, there []byte, runs []kernel.Segment,
	size int) {
	t.Helper()
	u := transport.Update{Op: kernel.OpReplace, Runs: runs,
		Type: []kernel.UpdateType{1: kernel.Bytes, 8: kernel.U64, 16: kernel.C64}[size]}
	data, old := make([]byte, u.Bytes()), make([]byte, u.Bytes())
	rand.NewChaCha8([32]byte{byte(size)}).Read(data)
	want, was, rest := bytes.Clone(there), []byte(nil), data
	for _, s := range runs {
		at := s.Addr - addressOf(there)
		was = append(was, want[at:][:s.Bytes]...)
		rest = rest[copy(want[at:][:s.Bytes], rest):]
	}
	u.Data, u.Old = unsafe.Pointer(&data[0]), unsafe.Pointer(&old[0])
	if err := tr.Update(2, &u); err != nil || !bytes.Equal(old, was) {
		t.Fatalf("elements of %d bytes in %d runs: other ones are fetched, %v", size,
			len(runs), err)
	}
	if !slices.Equal(there, want) {
		t.Fatalf("elements of %d bytes in %d runs: other ones are stored", size, len(runs))
	}
}
