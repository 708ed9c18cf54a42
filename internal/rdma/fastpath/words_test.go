// SPDX-License-Identifier: BSD-3-Clause

// Questions of C as they travel (docs/wire.md), and what must not be taken for one.
package fastpath

import (
	"bytes"
	"encoding/binary"
	"testing"
	"unsafe"

	"libarmci/internal/transport"
)

// page is a receive buffer: aligned as one is.
type page [64]uint64

func (p *page) bytes() []byte { return unsafe.Slice((*byte)(unsafe.Pointer(p)), 512) }

// question writes the beginning of both kinds.
func question(b []byte, rank uint32, op, arg uint8, last uint16, addr uint64) {
	le := binary.LittleEndian
	b[2] = 1
	le.PutUint64(b[8:], 77)
	le.PutUint32(b[16:], rank)
	b[20], b[21] = op, arg
	le.PutUint16(b[22:], last)
	le.PutUint64(b[24:], addr)
}

// TestQuestion: a request for a read-modify-write or an unlock is decoded, one that means nothing
// is marked as such, and a frame is not taken for one.
func TestQuestion(t *testing.T) {
	b := new(page).bytes()[:48]
	question(b, 5, 6, 8, 0, 0x1000)
	binary.LittleEndian.PutUint64(b[32:], 42)
	binary.LittleEndian.PutUint64(b[40:], 43)
	q, ok := AsQuestion(b)
	want := transport.RMW{Op: transport.CompareAndSwap, Bytes: 8, Addr: 0x1000, Operand: 42,
		Compare: 43}
	if !ok || !IsQuestion(b) || q.ID != 77 || q.Rank != 5 || !q.Known || q.Unlocks ||
		q.RMW != want {
		t.Errorf("%v, %+v", ok, q)
	}
	for _, bad := range []struct{ op, bytes uint8 }{{0, 8}, {7, 4}, {9, 8}, {1, 2}, {1, 0}} {
		question(b, 5, bad.op, bad.bytes, 0, 0x1000)
		if q, ok := AsQuestion(b); !ok || q.Known || q.Unlocks {
			t.Errorf("operation %d of %d bytes: %v, %+v", bad.op, bad.bytes, ok, q)
		}
	}
	question(b, 5, 8, 4, 0, 0x1000)
	if q, ok := AsQuestion(b); !ok || !q.Unlocks || q.Addr != 0x1000 {
		t.Errorf("unlock: %v, %+v", ok, q)
	}
	b[2] = 0
	if _, ok := AsQuestion(b); ok || IsQuestion(b) {
		t.Error("a frame is taken for a question")
	}
}

// accumulate writes an accumulate with this shape and n bytes of data.
func accumulate(kind uint8, levels uint16, shape []int32, n int) []byte {
	b := new(page).bytes()
	question(b, 3, 16, kind, levels, 0x2000)
	for i, v := range shape {
		binary.LittleEndian.PutUint32(b[48+4*i:], uint32(v))
	}
	head := (48 + 4*(2*int(levels)+1) + 7) &^ 7
	return b[:min(head+n, len(b))]
}

// TestAccumulate: a request to accumulate is decoded, and refused where shape and data disagree.
func TestAccumulate(t *testing.T) {
	b := accumulate(3, 2, []int32{16, 2, 3, 100, -1000}, 96)
	a, ok := AsAccumulate(b)
	x := &a.Xfer
	if !ok || a.ID != 77 || a.Rank != 3 || a.Scale.Type != 3 || x.Remote.Base != 0x2000 ||
		x.Local.Base != uintptr(unsafe.Pointer(&b[72])) || len(x.Count) != 3 ||
		x.Count[2] != 3 || x.Remote.Stride[1] != -1000 || x.Local.Stride[0] != 16 ||
		x.Local.Stride[1] != 32 {
		t.Errorf("%v, %+v", ok, a)
	}
	for what, b := range map[string][]byte{
		"too little data":   accumulate(3, 1, []int32{16, 2, 100}, 24),
		"too much data":     accumulate(3, 1, []int32{16, 2, 100}, 40),
		"no data":           accumulate(3, 1, []int32{16, 2, 100}, 0),
		"many levels":       accumulate(3, 9, []int32{8}, 8),
		"a broken element":  accumulate(3, 0, []int32{12}, 12),
		"an unknown type":   accumulate(6, 0, []int32{8}, 8),
		"a negative count":  accumulate(3, 1, []int32{-8, -1, 8}, 8),
		"a huge count":      accumulate(3, 2, []int32{1 << 30, 1 << 30, 1 << 30, 1, 1}, 8),
		"a zero":            accumulate(3, 1, []int32{8, 0, 8}, 8),
		"a cut-off message": accumulate(3, 0, []int32{8}, 8)[:50],
	} {
		if _, ok := AsAccumulate(b); ok {
			t.Errorf("%s: it is accepted", what)
		}
	}
}

// A message without data is as long as a question about a word.
func TestSent(t *testing.T) {
	for _, n := range []int{0, 1, 100} {
		b := new(page).bytes()[:48+n]
		question(b, 4, 17, 0, 0, 2) // from rank 2
		binary.LittleEndian.PutUint64(b[40:], 1<<31-1)
		for i := range n {
			b[48+i] = byte(i + 1)
		}
		s, ok := AsSent(b)
		if !ok || s.ID != 77 || s.Rank != 4 || s.Tag != 1<<31-1 ||
			!bytes.Equal(s.Body, b[48:]) {
			t.Errorf("%d bytes: %v, %+v", n, ok, s)
		}
		if q, ok := AsQuestion(b); ok && q.Known {
			t.Errorf("%d bytes: a message is taken for a question about a word", n)
		}
		if _, ok := AsSent(b[:47]); ok {
			t.Error("a message that is cut off is accepted")
		}
	}
	b := new(page).bytes()[:48]
	question(b, 4, 6, 8, 0, 0x1000)
	if _, ok := AsSent(b); ok {
		t.Error("a question about a word is taken for a message")
	}
}

func TestAnswer(t *testing.T) {
	for _, done := range []bool{true, false} {
		b := AppendAnswer(nil, 77, -5, done)
		le := binary.LittleEndian
		if len(b) != AnswerBytes || b[2] != 2 || le.Uint64(b[8:]) != 77 ||
			int64(le.Uint64(b[16:])) != -5 || (le.Uint64(b[24:]) == 0) != done {
			t.Errorf("%v: % x", done, b)
		}
	}
}
