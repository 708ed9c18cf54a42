// SPDX-License-Identifier: BSD-3-Clause

// Servers that are none, or that have proved themselves and then talk nonsense or slowly. The client neither hangs nor
// believes them.
package tcp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
	"libarmci/internal/bootstrap/leaktest"
	"libarmci/internal/transport"
	"libarmci/internal/transport/transporttest"
)

// impostor listens, and does with each connection what it is told.
func impostor(t testing.TB, serve func(fd int)) string {
	t.Helper()
	ln, at, err := listen(netip.MustParseAddr("127.0.0.1"), "")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for waitFor(ln, unix.POLLIN, soon()) == nil {
			fd, _, err := unix.Accept4(ln, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
			if err != nil {
				return
			}
			serve(fd)
			unix.Close(fd)
		}
	}()
	t.Cleanup(func() {
		unix.Shutdown(ln, unix.SHUT_RDWR)
		<-ended
		unix.Close(ln)
	})
	return at.String()
}

// welcomes does the server's side of the handshake and reads the client's first frame header.
func welcomes(t testing.TB, fd int) header {
	c := newChallenge(1)
	var p proof
	var b [headerBytes]byte
	var h header
	err := sendFull(fd, c[:], soon())
	if err == nil {
		err = recvFull(fd, p[:], soon())
	}
	_, w, e := c.admit([]byte("secret"), &p)
	if e != nil {
		t.Errorf("the client's proof: %v", e)
		return h
	}
	if err == nil {
		err = sendFull(fd, w[:], soon())
	}
	if err == nil {
		err = recvFull(fd, b[:], soon())
	}
	if err != nil {
		t.Errorf("the client's first request: %v", err)
	}
	h.decode(b[:])
	return h
}

// noOwner stands for the ID of what is no answer.
const noOwner = math.MaxUint64

// A server that has proved itself and then says what no server says ends the job, with a reason.
func TestNonsense(t *testing.T) {
	for what, c := range map[string]struct {
		h     header // the answer; its ID is relative to what was asked
		body  string
		words string
	}{
		"no answer":         {header{}, "", "kind 0"},
		"another's answer":  {header{Kind: kindData, ID: 1, Bytes: 8}, "12345678", "not asked"},
		"an old answer":     {header{Kind: kindData, ID: math.MaxUint64 - 1<<placeBits + 1, Bytes: 8}, "12345678", "not asked"},
		"an unknown answer": {header{Kind: 99}, "", "kind 99"},
		"too little data":   {header{Kind: kindData, Bytes: 7}, "1234567", "missing"},
		"no data":           {header{Kind: kindDone}, "", "not asked"},
		"too much data":     {header{Kind: kindData, Bytes: 9}, "123456789", "not asked for"},
		"endless data":      {header{Kind: kindData, Bytes: 1 << 63}, "", "violation"},
		"cut data":          {header{Kind: kindData, Bytes: 8}, "1234", "connection lost"},
		"a reply":           {header{Kind: kindReply, Bytes: 8}, "12345678", "not asked"},
		"an endless error":  {header{Kind: kindError, Bytes: 1 << 40}, "", "text of"},
		"a long descriptor": {header{Kind: kindError, Desc: 16}, "", "text of"},
		"data, described":   {header{Kind: kindData, Desc: 8, Bytes: 8}, "", "violation"},
		"another's mail":    {header{Kind: kindSend, ID: noOwner, Rank: 1, Bytes: 4}, "fire", "message of 4 bytes for rank 1"},
		"endless mail":      {header{Kind: kindSend, ID: noOwner, Bytes: 1 << 40}, "", "message of"},
		"the job ends":      {header{Kind: kindLost, ID: noOwner, Rank: 7, Bytes: 4}, "fire", "fire"},
	} {
		t.Run(what, func(t *testing.T) {
			leaktest.Check(t)
			addr := impostor(t, func(fd int) {
				if asked := welcomes(t, fd).ID; c.h.ID == noOwner {
					c.h.ID = 0
				} else {
					c.h.ID += asked
				}
				sendFull(fd, append(c.h.append(nil), c.body...), soon())
			})
			me := newClient(t, addr, nil)
			if err := me.Within(transporttest.Started(me.Get, plain(me.g.base, 4096, 8))); !errors.Is(err, transport.ErrPeerDead) {
				t.Errorf("the get ended with %v", err)
			}
			me.ExpectLoss(c.words)
		})
	}
}

// A reply that is too long is not received.
func TestEndlessReply(t *testing.T) {
	leaktest.Check(t)
	addr := impostor(t, func(fd int) {
		h := header{Kind: kindReply, ID: welcomes(t, fd).ID, Bytes: 1 << 40}
		sendFull(fd, h.append(nil), soon())
	})
	c := newClient(t, addr, nil)
	if _, err := c.Call(1, transport.Msg{}); !errors.Is(err, transport.ErrPeerDead) {
		t.Errorf("the call ended with %v", err)
	}
	c.ExpectLoss("reply of")
}

// A server that breaks off, or says things that are no frame at all.
func TestNoFrame(t *testing.T) {
	for what, c := range map[string]struct{ say, words string }{
		"zeros":         {strings.Repeat("\x00", 64), "kind 0"},
		"letters":       {strings.Repeat("x", 64), "violation"},
		"half a header": {"1234567", "connection lost"},
		"data for none": {string(append((&header{Kind: kindData, Bytes: 8}).append(nil), "12345678"...)), "not asked for"},
	} {
		t.Run(what, func(t *testing.T) {
			leaktest.Check(t)
			addr := impostor(t, func(fd int) {
				welcomes(t, fd)
				sendFull(fd, []byte(c.say), soon())
			})
			me := newClient(t, addr, nil)
			if err := me.Within(transporttest.Started(me.Get, plain(me.g.base, 4096, 8))); !errors.Is(err, transport.ErrPeerDead) {
				t.Errorf("the get ended with %v", err)
			}
			me.ExpectLoss(c.words)
		})
	}
}

// Answers that come byte by byte are understood.
func TestSlowAnswers(t *testing.T) {
	leaktest.Check(t)
	addr := impostor(t, func(fd int) {
		h := welcomes(t, fd)
		b := append((&header{Kind: kindData, ID: h.ID, Bytes: 8}).append(nil), "12345678"...)
		for i := range b {
			sendFull(fd, b[i:i+1], soon())
			time.Sleep(time.Millisecond)
		}
		waitFor(fd, unix.POLLIN, soon())
	})
	c := newClient(t, addr, nil)
	if err := c.Within(transporttest.Started(c.Get, plain(c.g.base, 4096, 8))); err != nil || string(memory(c.g.base, 8)) != "12345678" {
		t.Errorf("%q, %v", memory(c.g.base, 8), err)
	}
	c.ExpectNoLoss()
}

// A server that reads slowly gets everything, and the caller waits no longer than it takes.
func TestSlowReader(t *testing.T) {
	leaktest.Check(t)
	const n = 12 << 20
	sum := make(chan uint64, 1)
	addr := impostor(t, func(fd int) {
		if h := welcomes(t, fd); h.Bytes != n {
			t.Errorf("a put of %d bytes", h.Bytes)
		}
		total, b := uint64(0), make([]byte, 64<<10)
		for range n / len(b) {
			recvFull(fd, b, soon())
			for i := 0; i < len(b); i += 8 {
				total += binary.LittleEndian.Uint64(b[i:])
			}
			time.Sleep(time.Millisecond)
		}
		sum <- total
		waitFor(fd, unix.POLLIN, soon())
	})
	c := newClient(t, addr, nil)
	want := uint64(0)
	words := unsafe.Slice((*uint64)(unsafe.Pointer(&memory(c.g.base, n)[0])), n/8)
	for i := range words {
		words[i] = uint64(i) * 0x9e3779b97f4a7c15
		want += words[i]
	}
	x := plain(c.g.base, 4096, n)
	x.Known = true
	if err := c.Within(transporttest.Started(c.Put, x)); err != nil {
		t.Fatal(err)
	}
	if got := <-sum; got != want {
		t.Error("other bytes have arrived than were put")
	}
}

// Who is there but is no server of this job: nobody hangs, and the reason is told.
func TestWrongServer(t *testing.T) {
	for what, c := range map[string]struct {
		serve func(fd int)
		words string
	}{
		"nothing said": {func(fd int) { waitFor(fd, unix.POLLIN, soon()) }, "no answer"},
		"gone at once": {func(int) {}, "EOF"},
		"web server":   {func(fd int) { sendFull(fd, bytes.Repeat([]byte("HTTP/1.1 "), 20), soon()) }, "not an ARMCI"},
		"another job": {func(fd int) {
			c := newChallenge(1)
			sendFull(fd, c[:], soon())
			var p proof
			recvFull(fd, p[:], soon())
			sendFull(fd, make([]byte, welcomeBytes), soon())
		}, "no proof"},
		"another rank": {func(fd int) { c := newChallenge(5); sendFull(fd, c[:], soon()) }, "of rank 5"},
	} {
		t.Run(what, func(t *testing.T) {
			leaktest.Check(t)
			me := newClient(t, impostor(t, c.serve), func(o *Options) { o.Timeout = 300 * time.Millisecond })
			if err := me.Within(transporttest.Started(me.Put, plain(me.g.base, 4096, 8))); !errors.Is(err, transport.ErrPeerDead) {
				t.Errorf("the put ended with %v", err)
			}
			me.ExpectLoss(c.words)
		})
	}
	t.Run("nobody", func(t *testing.T) {
		leaktest.Check(t)
		me := newClient(t, "127.0.0.1:1", nil)
		if err := me.Within(transporttest.Started(me.Put, plain(me.g.base, 4096, 8))); !errors.Is(err, transport.ErrPeerDead) {
			t.Errorf("the put ended with %v", err)
		}
		me.ExpectLoss("refused")
	})
}
