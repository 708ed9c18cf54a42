// SPDX-License-Identifier: BSD-3-Clause

// Servers of another kind, and servers that have proved themselves and then send no frames, or send
// them slowly. The client neither hangs nor trusts them.
package tcp

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/tcp/rawsock"
	"libarmci/internal/testutil/leaktest"
	"libarmci/internal/transport"
)

// A server that sends an incomplete or invalid frame: the connection is lost, with the reason.
func TestMalformedFramesEndTheConnection(t *testing.T) {
	for what, c := range map[string]struct {
		say   []byte
		words string
	}{
		"letters":       {bytes.Repeat([]byte("x"), 64), "violation"},
		"a long head":   {appendPrefix(nil, transport.MaxHead+1, 0), "violation"},
		"a long body":   {append(appendPrefix(nil, 1, maxBody+1), 'x'), "violation"},
		"half a prefix": {[]byte("1234567"), "EOF"},
		"half a head":   {append(appendPrefix(nil, 100, 0), "123"...), "EOF"},
		"half a body":   {append(appendPrefix(nil, 1, 100), "123"...), "EOF"},
		"nothing":       {nil, "EOF"},
	} {
		t.Run(what, func(t *testing.T) {
			leaktest.Check(t)
			addr := startImpostor(t, func(fd int) {
				acceptHandshake(t, fd)
				rawsock.SendAll(fd, c.say, testDeadline())
			})
			me := newClient(t, 2, nil)
			if err := me.connect(addr, 0); err != nil {
				t.Fatal(err)
			}
			if err := me.awaitLoss(t); !strings.Contains(err.Error(), c.words) {
				t.Errorf("lost: %v; want %q", err, c.words)
			}
			if err := me.send([]byte{opEcho}, nil); err == nil {
				t.Error("Send succeeds afterwards")
			}
		})
	}
}

// Answers that arrive byte by byte are complete in the end.
func TestSlowAnswers(t *testing.T) {
	leaktest.Check(t)
	want := [][]byte{[]byte("one"), []byte("the second, with a body"),
		bytes.Repeat([]byte("a long head "), 50)}
	addr := startImpostor(t, func(fd int) {
		acceptHandshake(t, fd)
		b := append(append(frame(want[0], nil), frame(want[1][:3], want[1][3:])...),
			frame(want[2][:590], want[2][590:])...)
		for i := range b {
			rawsock.SendAll(fd, b[i:i+1], testDeadline())
			time.Sleep(100 * time.Microsecond)
		}
		rawsock.WaitFor(fd, unix.POLLIN, testDeadline())
	})
	for _, scarce := range []bool{false, true} { // reading needs no buffer of those for sending
		c := newClient(t, 2, nil)
		var taken [][]byte
		buffers := &c.fabric.sendBuffers
		for b, ok := buffers.acquire(false); scarce && ok; b, ok = buffers.acquire(false) {
			taken = append(taken, b)
		}
		if err := c.connect(addr, 0); err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if got := c.nextFrame(t); !bytes.Equal(got, w) {
				t.Errorf("%q has come, not %q", got, w)
			}
		}
		for _, b := range taken {
			c.fabric.sendBuffers.recycle(b)
		}
		c.close()
	}
}

// A server that reads slowly gets everything, and the caller waits no longer than it takes.
func TestSlowServerGetsEverything(t *testing.T) {
	leaktest.Check(t)
	const n = 12 << 20
	sum := make(chan uint64, 1)
	addr := startImpostor(t, func(fd int) {
		acceptHandshake(t, fd)
		total, b := uint64(0), make([]byte, 64<<10)
		rawsock.ReceiveAll(fd, b[:prefixBytes+1], testDeadline())
		if h, m := parsePrefix(b); h != 1 || m != n {
			t.Errorf("a frame of %d and %d bytes", h, m)
		}
		for range n / len(b) {
			rawsock.ReceiveAll(fd, b, testDeadline())
			for i := 0; i < len(b); i += 8 {
				total += binary.LittleEndian.Uint64(b[i:])
			}
			time.Sleep(time.Millisecond)
		}
		sum <- total
		rawsock.WaitFor(fd, unix.POLLIN, testDeadline())
	})
	c := newClient(t, 2, nil)
	if err := c.connect(addr, 0); err != nil {
		t.Fatal(err)
	}
	body, want := make([]byte, n), uint64(0)
	for i := range n / 8 {
		v := uint64(i) * 0x9e3779b97f4a7c15
		binary.LittleEndian.PutUint64(body[8*i:], v)
		want += v
	}
	if err := c.send([]byte{opPut}, body); err != nil {
		t.Fatal(err)
	}
	if got := <-sum; got != want {
		t.Error("other bytes have arrived than were sent")
	}
}

// A program that is not a server of this job: the client does not hang, and reports the reason.
func TestWrongServer(t *testing.T) {
	for what, c := range map[string]struct {
		serve func(fd int)
		words string
	}{
		"nothing said": {func(fd int) { rawsock.WaitFor(fd, unix.POLLIN, testDeadline()) },
			"no answer"},
		"gone at once": {func(int) {}, "EOF"},
		"web server": {func(fd int) {
			rawsock.SendAll(fd,
				bytes.Repeat([]byte("HTTP/1.1 "), 20), testDeadline())
		}, "not an ARMCI"},
		"another job": {func(fd int) {
			rawsock.SendAll(fd, challengeOf(0), testDeadline())
			rawsock.ReceiveAll(fd, make([]byte, helloBytes), testDeadline())
			h := transport.Hello{To: 2, Extra: new(streamPoint).encode()}
			rawsock.SendAll(fd, h.Seal([]byte("guess"), roleTarget, nil),
				testDeadline())
		}, "no proof"},
		"another rank": {func(fd int) {
			rawsock.SendAll(fd, challengeOf(5), testDeadline())
		}, "of rank 5"},
		"another version": {func(fd int) {
			c := challengeOf(0)
			c[8] = 77
			rawsock.SendAll(fd, c, testDeadline())
		}, "version 77"},
	} {
		t.Run(what, func(t *testing.T) {
			leaktest.Check(t)
			me := newClient(t, 2, func(f *fabric) {
				f.Timeout, f.options.stoppedLimit = 300*time.Millisecond, 1
			})
			if err := me.connect(startImpostor(t, c.serve), 0); err == nil ||
				!strings.Contains(err.Error(), c.words) {
				t.Errorf("%v; want %q", err, c.words)
			}
		})
	}
	leaktest.Check(t)
	if err := newClient(t, 2, nil).connect([]byte("127.0.0.1:1"), 0); err == nil ||
		!strings.Contains(err.Error(), "refused") {
		t.Errorf("a port without a server: %v", err)
	}
}
