// SPDX-License-Identifier: BSD-3-Clause

// Messages of updates: cutting keeps elements whole and messages short, and what was cut is
// decoded; no message, however wrong, makes the decoder give memory beyond it.
package core

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"libarmci/internal/kernel"
)

// messagesOf cuts an update.
func messagesOf(u *Update) (all [][]byte) {
	c := updateMessages{update: u, elementBytes: kernel.UpdateBytes(u.Type),
		runsLeft: append([]kernel.Segment(nil), u.Runs...)}
	for bytes := c.nextMessage(); bytes > 0; bytes = c.nextMessage() {
		all = append(all, c.appendMessage(nil, bytes))
	}
	return all
}

// The messages of an update have all its runs and elements, and none is too long.
func TestUpdateMessages(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	for round := range 200 {
		typ := kernel.UpdateType(random.IntN(int(kernel.UpdateTypes)))
		size := kernel.UpdateBytes(typ)
		u := Update{Op: kernel.OpReplace, Type: typ}
		total := int64(0)
		for addr := uintptr(4096); len(u.Runs) < 1+random.IntN(30); {
			n := int64(random.IntN(1<<random.IntN(14)) * size)
			u.Runs = append(u.Runs, kernel.Segment{Addr: addr, Bytes: n})
			addr, total = addr+uintptr(n)+uintptr(random.IntN(3)), total+n
		}
		data := make([]byte, total+1)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		if u.Data = unsafe.Pointer(&data[0]); round%4 == 0 {
			u.Op, u.Old = kernel.OpNoOp, data[:total]
		}
		var runs []kernel.Segment
		var got []byte
		for _, m := range messagesOf(&u) {
			q, ok := decodeUpdate(m)
			if !ok || q.op != u.Op || q.typ != typ || q.fetch != (u.Old != nil) ||
				q.elements*q.elementBytes > mostUpdate-updateHead-runBytes {
				t.Fatalf("a message of %d bytes is decoded as %+v, %v", len(m), q,
					ok)
			}
			for at := 0; at < len(q.runs); at += runBytes {
				addr, n := rangeAt(q.runs[at:])
				if last := len(runs) - 1; last >= 0 &&
					runs[last].Addr+uintptr(runs[last].Bytes) == addr {
					runs[last].Bytes += n
				} else {
					runs = append(runs, kernel.Segment{Addr: addr, Bytes: n})
				}
			}
			got = append(got, q.data...)
		}
		if round%4 != 0 && string(got) != string(data[:total]) {
			t.Fatalf("round %d: %d bytes have come, %d were sent", round, len(got),
				total)
		}
		sum := int64(0)
		for _, run := range runs {
			sum += run.Bytes
		}
		if sum != total {
			t.Fatalf("round %d: runs of %d bytes, expected %d", round, sum, total)
		}
	}
}

// A decoded message names no byte beyond its end, and any other is refused.
func FuzzDecodeUpdate(f *testing.F) {
	x := []int64{1, 2, 3}
	for _, u := range []*Update{sumOf(0, 4096, x), {Op: kernel.OpNoOp, Type: kernel.C80,
		Runs: []kernel.Segment{{Addr: 64, Bytes: 32}, {Addr: 4096, Bytes: 64}},
		Old:  make([]byte, 96)}} {
		for _, m := range messagesOf(u) {
			f.Add(m)
			f.Add(m[:len(m)-1])
			f.Add(append(m, 0))
		}
	}
	f.Add([]byte{2, 6, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		q, ok := decodeUpdate(b)
		if !ok {
			return
		}
		sum := 0
		for at := 0; at < len(q.runs); at += runBytes {
			_, n := rangeAt(q.runs[at:])
			if n <= 0 || n%int64(q.elementBytes) != 0 {
				t.Fatalf("a run of %d bytes of elements of %d", n, q.elementBytes)
			}
			sum += int(n)
		}
		if want := q.elements * q.elementBytes; sum != want || sum == 0 ||
			sum > mostUpdate ||
			q.data != nil && len(q.data) != sum {
			t.Fatalf("runs of %d bytes, %d elements of %d bytes, %d bytes of data", sum,
				q.elements, q.elementBytes, len(q.data))
		}
		if (q.data == nil) != (q.op == kernel.OpNoOp) ||
			len(q.runs)+len(q.data)+updateHead != len(b) {
			t.Fatalf("%d bytes of runs and %d of data in a message of %d", len(q.runs),
				len(q.data), len(b))
		}
	})
}
