// SPDX-License-Identifier: BSD-3-Clause

// Bytes that are kept to be sent again: which they are, when they are freed, and how many there are
// in all.
package tcp

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/unix"
)

// keepingStream is a stream over a socket, alone in its process, which keeps up to most bytes.
func keepingStream(fd int, most int64) *outStream {
	return &outStream{socket: streamSocket{fd: fd}, resumes: true,
		memory: keptMemory{all: &keptTotal{most: most}}}
}

// Of what is sent, the bytes that are not acknowledged are kept, and few others.
func TestKeptBytes(t *testing.T) {
	pair := connectedPair(t)
	s := keepingStream(pair[0], 1<<30)
	var all []byte
	buffer := make([]byte, 1<<20)
	for i := range 2000 {
		b := bytes.Repeat([]byte{byte(i)}, 1+rand.IntN(3000))
		if n, err := s.send(b); err == nil {
			all = append(all, b[:n]...)
		}
		if rand.IntN(4) == 0 {
			unix.Read(pair[1], buffer[:1+rand.IntN(20000)])
		}
		if !bytes.HasSuffix(all, s.unacked) || s.end != uint64(len(all)) {
			t.Fatal("other bytes are kept")
		}
	}
	receiveAll := func() {
		for {
			if n, err := unix.Read(pair[1], buffer); n <= 0 || err != nil {
				return
			}
		}
	}
	receiveAll()
	for { // until the kernel takes a long send whole: for a short one it is not asked
		n, _ := s.send(make([]byte, longSend))
		if n == longSend {
			break
		}
		receiveAll()
	}
	if len(s.unacked) > longSend {
		t.Errorf("%d bytes are kept", len(s.unacked))
	}
	receiveAll()
	if s.freeIfIdle(); cap(s.unacked) == 0 {
		t.Error("memory was freed that was used just now")
	}
	if s.freeIfIdle(); cap(s.unacked) != 0 {
		t.Error("memory of an idle stream stays")
	}
}

// Many connections to processes that receive nothing keep no more than they may together. Nothing
// is lost, and when all has been received the kernel decides again how large send buffers are.
func TestBoundOfKeptBytes(t *testing.T) {
	const streams, most = 24, 2 << 20
	total := &keptTotal{most: most}
	var all [streams]struct {
		*outStream
		to         int
		sent, came int
	}
	for i := range all {
		pair := connectedPair(t)
		all[i].outStream, all[i].to = keepingStream(pair[0], 0), pair[1]
		all[i].memory.all = total
	}
	piece, received := make([]byte, 48<<10), make([]byte, 1<<20)
	sendAll := func() (some bool) {
		for i := range all {
			s := &all[i]
			for j := range piece {
				piece[j] = byte((s.sent + j) % 251)
			}
			n, err := s.send(piece)
			if err != nil && err != unix.EAGAIN {
				t.Fatal(err)
			}
			s.sent, some = s.sent+n, some || n > 0
		}
		return some
	}
	for sendAll() { // slices that grow have up to twice the capacity
		if now := total.bytes.Load(); now > most+streams*2*minKept {
			t.Fatalf("%d bytes are kept", now)
		}
	}
	if now := total.bytes.Load(); now < most/8 {
		t.Errorf("only %d bytes are kept", now)
	}
	for i := range all {
		s := &all[i]
		for s.came < s.sent {
			n, err := unix.Read(s.to, received)
			for j := 0; j < n; j++ {
				if received[j] != byte((s.came+j)%251) {
					t.Fatalf("byte %d of stream %d is wrong", s.came+j, i)
				}
			}
			if s.came += max(n, 0); err != nil && err != unix.EAGAIN {
				t.Fatal(err)
			}
		}
	}
	for range 3 {
		for i := range all {
			all[i].freeIfIdle()
		}
	}
	if now := total.bytes.Load(); now != 0 {
		t.Errorf("%d bytes are kept of idle streams", now)
	}
	for i := range all {
		if all[i].memory.limited {
			t.Errorf("stream %d still has a smaller send buffer", i)
		}
	}
}
