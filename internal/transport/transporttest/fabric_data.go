// SPDX-License-Identifier: BSD-3-Clause

// What frames of the fabric suite are made of, and comparing them: numbered heads, bodies that
// depend on a number.
package transporttest

import (
	"bytes"
	"encoding/binary"
	"sync"
	"testing"

	"libarmci/internal/kernel"
)

// checkFrame compares a frame.
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

// zeroCursor fills the memory before a cursor with zeros.
func zeroCursor(c kernel.Cursor) { c.Unpack(make([]byte, c.Left())) }

// numberedHead is the head of the i-th frame of a sender.
func numberedHead(kind byte, sender, i int) []byte {
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32([]byte{kind},
		uint32(sender)), uint32(i))
}

func headNumber(head []byte) (sender, i int) {
	return int(binary.LittleEndian.Uint32(head[1:])), int(binary.LittleEndian.Uint32(head[5:]))
}

// noiseSource is what bodies are made of.
var noiseSource = sync.OnceValue(func() []byte {
	b := make([]byte, fabricMemBytes+1<<16)
	fill(b, 77)
	return b
})

// noise is n bytes that depend on a number and are only to be read.
func noise(seed, n int) []byte {
	at := seed * 7919 % (1 << 16)
	return noiseSource()[at : at+n : at+n]
}

// someBody is a body whose contents and length depend on its number.
func someBody(sender, i, limit int) []byte {
	n := []int{0, 8, 0, 100, 8, 3000, 1, 20000, 8, 64}[(i+sender)%10]
	return noise(31*sender+i, min(n, limit))
}
