// SPDX-License-Identifier: BSD-3-Clause

// Strangers, broken frames, clients that die, and clients that do not read: each harms nobody but itself.
package tcp

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/transport"
)

// refused tells that the server closes a connection without another word.
func refused(t *testing.T, fd int) {
	t.Helper()
	var b [1]byte
	if err := recvFull(fd, b[:], soon()); err == nil || err == errTimeout {
		t.Errorf("a stranger is answered: %v %v", b, err)
	}
	unix.Close(fd)
}

func TestStrangers(t *testing.T) {
	r := newRig(t, nil)
	if err := shakeHands(r.connect(), []byte("guess"), 0, 2, soon()); err == nil {
		t.Error("a wrong secret passes")
	}
	if err := shakeHands(r.connect(), r.opt.Secret, 1, 2, soon()); err == nil || !strings.Contains(err.Error(), "rank 0") {
		t.Errorf("the server of another rank passes: %v", err)
	}
	for _, rank := range []transport.Rank{4, 1 << 31} {
		if err := shakeHands(r.connect(), r.opt.Secret, 0, rank, soon()); err == nil {
			t.Errorf("rank %d passes", rank)
		}
	}
	for n := range 40 {
		fd := r.connect()
		junk := make([]byte, challengeBytes+proofBytes*n)
		for i := range junk {
			junk[i] = byte(rand.Uint32())
		}
		recvFull(fd, junk[:challengeBytes], soon())
		if sendFull(fd, junk, soon()); n > 0 {
			refused(t, fd)
		} else {
			unix.Close(fd)
		}
	}
	c := r.dial(2)
	c.fence()
	c.bye()
}

// TestReplayedProof: what one connection has proved is worth nothing to another.
func TestReplayedProof(t *testing.T) {
	r := newRig(t, nil)
	fd := r.connect()
	var first challenge
	if err := recvFull(fd, first[:], soon()); err != nil {
		t.Fatal(err)
	}
	p := first.prove(r.opt.Secret, 2)
	other := r.connect()
	var second challenge
	recvFull(other, second[:], soon())
	sendFull(other, p[:], soon())
	refused(t, other)
	sendFull(fd, p[:], soon())
	var w welcome
	if err := recvFull(fd, w[:], soon()); err != nil || first.trust(r.opt.Secret, p, &w) != nil {
		t.Errorf("the true one is refused: %v", err)
	}
	if second.trust(r.opt.Secret, p, &w) == nil {
		t.Error("a welcome is good for another challenge")
	}
	(&caller{t: t, fd: fd}).bye()
}

// TestCrowd fills all places for strangers; a client is let in as soon as one has had its time.
func TestCrowd(t *testing.T) {
	r := newRig(t, nil)
	c := r.dial(2)
	for range maxGuests + 10 {
		defer unix.Close(r.connect())
	}
	c.fence() // who is in is not disturbed
	r.dial(3).bye()
	c.bye()
}

// lostReason waits for the report of a lost rank.
func (r *rig) lostReason() string {
	r.t.Helper()
	select {
	case reason := <-r.lost:
		return reason
	case <-time.After(10 * time.Second):
		r.t.Fatal("no report")
		return ""
	}
}

func TestLostClients(t *testing.T) {
	h := header{Kind: kindPut, Flags: flagVector, Desc: maxDesc + 8, Bytes: 1}
	data := make([]byte, 16)
	for name, words := range map[string][]byte{
		"unknown kind":       frame(header{Kind: 99}, nil, nil),
		"endless message":    frame(header{Kind: kindSend, Bytes: maxMsg + 1}, nil, nil),
		"endless put":        frame(header{Kind: kindPut, Bytes: 1 << 60}, nil, nil),
		"wrong descriptor":   frame(header{Kind: kindGet, Flags: flagVector, Bytes: 8}, make([]byte, 8), nil),
		"rank of others":     frame(header{Kind: kindGet, Rank: 2, Bytes: 8}, nil, nil),
		"no such rank":       frame(header{Kind: kindGet, Rank: 1 << 31, Bytes: 8}, nil, nil),
		"half an element":    frame(header{Kind: kindAcc, Flags: 3 << typeShift, Bytes: 12}, scaleOf(0), data),
		"endless descriptor": h.append(nil),
	} {
		t.Run(name, func(t *testing.T) { testLost(t, words, true) })
	}
	good := frame(header{Kind: kindPut, Bytes: 1 << 20}, nil, nil)
	for name, words := range map[string][]byte{"between frames": nil, "in a header": good[:20], "in data": append(good, 1)} {
		t.Run(name, func(t *testing.T) { testLost(t, words, false) })
	}
}

// testLost has a client say something and end, or be ended by the server; another client is not disturbed.
func testLost(t *testing.T, words []byte, byServer bool) {
	r := newRig(t, nil)
	other, c := r.dial(3), r.pair(2)
	h := binary.LittleEndian.Uint64(append(words, make([]byte, 32)...)[16:])
	if len(words) >= headerBytes {
		binary.LittleEndian.PutUint64(words[16:], h+uint64(r.node.base()))
	}
	c.send(words)
	if byServer {
		if h, text := c.answer(); h.Kind != kindLost || h.Rank != 2 || len(text) == 0 {
			t.Errorf("%+v %q", h, text)
		}
		refused(t, c.fd)
	} else {
		unix.Close(c.fd)
	}
	if reason := r.lostReason(); !strings.Contains(reason, "rank 2 (host there)") {
		t.Errorf("reason: %s", reason)
	}
	other.fence()
	other.bye()
}

// TestSlowReaders asks for more than any buffer holds and does not read; others are served, and it gets everything
// when it reads at last.
func TestSlowReaders(t *testing.T) {
	t.Run("few", func(t *testing.T) { testSlowReaders(t, 16<<20) })
	t.Run("more than works", func(t *testing.T) { testSlowReaders(t, 0) })
}

func testSlowReaders(t *testing.T, buffer int64) {
	r := newRig(t, func(o *Options) { o.Buffer = buffer })
	const readers, gets = 6, 10
	var slow []*caller
	size := uint64(len(r.node.mem) / 2)
	for range readers {
		c := r.dial(2)
		for range gets {
			c.send(frame(header{Kind: kindGet, Addr: uint64(r.node.base()), Bytes: size}, nil, nil))
		}
		slow = append(slow, c)
	}
	c := r.dial(3)
	for i := range 1000 {
		c.fence()
		if h, b := c.ask(header{Kind: kindCall, Rank: 1, Bytes: 1000}, nil, make([]byte, 1000)); len(b) < 1000 {
			t.Fatalf("call %d: %+v", i, h)
		}
	}
	c.bye()
	for _, c := range slow {
		for range gets {
			if h, b := c.answer(); h.Kind != kindData || uint64(len(b)) != size {
				t.Fatalf("%+v", h)
			}
		}
		c.bye()
	}
}

// TestStoppedReplies: replies that handlers give later wait for a client that does not read, not the handlers.
func TestStoppedReplies(t *testing.T) {
	const calls = 40
	replies := make(chan func([]byte), calls)
	r := newRig(t, func(o *Options) {
		o.Handle = func(_, _ transport.Rank, _ transport.Msg, reply func([]byte)) { replies <- reply }
	})
	c := r.dial(2)
	for i := range uint64(calls) {
		c.send(frame(header{Kind: kindCall, ID: 100 + i}, nil, nil))
	}
	c.fence()
	for range calls {
		go (<-replies)(make([]byte, maxMsg))
	}
	seen := map[uint64]bool{}
	for range calls {
		h, b := c.answer()
		if h.Kind != kindReply || len(b) != maxMsg || seen[h.ID] {
			t.Fatalf("%+v", h)
		}
		seen[h.ID] = true
	}
	c.fence()
	c.bye()
}

// TestGoodbye: a server that ends says so, also to a client in the middle of something.
func TestGoodbye(t *testing.T) {
	r := newRig(t, nil)
	quiet, stuck := r.dial(2), r.dial(3)
	stuck.send(frame(header{Kind: kindPut, Addr: uint64(r.node.base()), Bytes: 1 << 20}, nil, make([]byte, 100)))
	quiet.fence()
	r.s.close()
	if h, _ := quiet.answer(); h.Kind != kindBye {
		t.Errorf("%+v", h)
	}
	refused(t, quiet.fd)
	unix.Close(stuck.fd)
}

// FuzzServer feeds a proved connection with anything. Whatever it does to itself, the next one is served, and nothing
// but owned memory is touched.
func FuzzServer(f *testing.F) {
	f.Add(frame(header{Kind: kindFence, ID: 1}, nil, nil))
	f.Add(frame(header{Kind: kindPut, Addr: 1 << 40, Bytes: 8}, nil, make([]byte, 8)))
	f.Add(frame(header{Kind: kindGet, Flags: flagStrided, Bytes: 24}, appendStrided(nil, []int32{8, 3}, []int32{64}), nil))
	f.Add(frame(header{Kind: kindAcc, Flags: flagVector | 3<<typeShift, Bytes: 8}, append(scaleOf(1), 3, 8, 0, 0, 0, 0, 0, 0), nil))
	f.Add(frame(header{Kind: kindCall, Flags: 3, Bytes: 2, Rank: 1}, nil, []byte("ab")))
	r := newRig(f, func(o *Options) { o.Lost = func(transport.Rank, string) {} })
	f.Fuzz(func(t *testing.T, b []byte) {
		for at := 0; at+headerBytes <= len(b); at += headerBytes { // some addresses are good
			if a := b[at+16 : at+24]; a[7] == 0 && a[6] == 0 {
				off := binary.LittleEndian.Uint64(a) % uint64(len(r.node.mem))
				binary.LittleEndian.PutUint64(a, uint64(r.node.base())+off)
			}
		}
		c, next := r.pair(2), r.pair(3)
		if sendFull(c.fd, b, soon()) == nil {
			unix.Shutdown(c.fd, unix.SHUT_WR)
		}
		c.readAll()
		next.t = t
		next.fence()
		next.bye()
	})
}

func (c *caller) readAll() {
	b := make([]byte, 64<<10)
	for {
		_, err := recvNow(c.fd, b)
		if err == unix.EAGAIN {
			err = waitFor(c.fd, unix.POLLIN, soon())
		}
		if err != nil {
			unix.Close(c.fd)
			return
		}
	}
}
