// SPDX-License-Identifier: BSD-3-Clause

// Heads and bodies of frames of the fabric suite, and their comparison: heads have a number, and
// bodies depend on it.
package transporttest

import (
	"bytes"
	"encoding/binary"
	"sync"
	"testing"

	"libarmci/internal/kernel"
)

// checkFrame fails the test unless the frame has this head and body.
func checkFrame(t testing.TB, f frame, head, body []byte) {
	t.Helper()
	if bytes.Equal(f.head, head) && bytes.Equal(f.body, body) {
		return
	}
	if !bytes.Equal(f.head, head) {
		t.Fatalf("the head has %d bytes, expected %d, or differs (%.20x, %.20x)",
			len(f.head), len(head), f.head, head)
	}
	t.Fatalf("the body has %d bytes, expected %d; byte %d differs", len(f.body), len(body),
		firstDifference(f.body, body))
}

// zeroCursor fills the memory in front of a cursor with zeros. The caller's cursor does not move.
func zeroCursor(c kernel.Cursor) { c.Unpack(make([]byte, c.Left())) }

// numberedHead makes the head of the i-th frame of a sender.
func numberedHead(kind byte, sender, i int) []byte {
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32([]byte{kind},
		uint32(sender)), uint32(i))
}

// headNumber decodes numberedHead.
func headNumber(head []byte) (sender, i int) {
	return int(binary.LittleEndian.Uint32(head[1:])), int(binary.LittleEndian.Uint32(head[5:]))
}

// noiseSource has the bytes of all bodies.
var noiseSource = sync.OnceValue(func() []byte {
	b := make([]byte, fabricMemBytes+1<<16)
	fill(b, 77)
	return b
})

// noise returns n bytes that depend on the seed. The caller must not change them.
func noise(seed, n int) []byte {
	at := seed * 7919 % (1 << 16)
	return noiseSource()[at : at+n : at+n]
}

// frameBody returns the body of the i-th frame of a sender, of at most limit bytes. Its contents
// and its length depend on both numbers.
func frameBody(sender, i, limit int) []byte {
	n := []int{0, 8, 0, 100, 8, 3000, 1, 20000, 8, 64}[(i+sender)%10]
	return noise(31*sender+i, min(n, limit))
}
