// SPDX-License-Identifier: BSD-3-Clause

// Operations of the conformance suite that matter between nodes: calls, fences of several peers,
// transfers with Xfer.Later, and errors for bad addresses. A transport within a node passes by its
// usual means.
package transporttest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"libarmci/internal/transport"
)

// remoteTests are tests of operations between nodes.
type remoteTests struct{ *suite }

// testCalls shows that each call gets its own reply, also when several threads call several places
// at the same time. The handlers reply with the body.
func (s remoteTests) testCalls(t *testing.T) {
	if _, err := s.end.Transport.Call(1, transport.Msg{}); errors.Is(err,
		transport.ErrNotNative) {
		t.Skip("calls are not native to this transport")
	}
	const threads, n = 4, 30
	var running sync.WaitGroup
	for th := range threads {
		running.Go(func() {
			for i := range n {
				to := transport.Peer((th + i) % len(s.memOf))
				body := bytes.Repeat([]byte{byte(th), byte(i)}, i*i*th)
				got, err := s.end.Transport.Call(to,
					transport.Msg{Kind: uint8(i), Body: body})
				if err != nil || !bytes.Equal(got, body) {
					t.Errorf("thread %d, call %d to place %d: %d bytes "+
						"became %d, %v", th, i, to, len(body), len(got),
						err)
					return
				}
			}
		})
	}
	running.Wait()
	s.checkNonblockingCalls(t)
	// Longer than any buffer. The tests of internode have the longest body.
	body := make([]byte, 8<<20)
	fill(body, 4)
	if got, err := s.end.Transport.Call(1, transport.Msg{Body: body}); err != nil ||
		!bytes.Equal(got, body) {
		t.Errorf("a call with %d bytes: %d came back, %v", len(body), len(got), err)
	}
}

// checkNonblockingCalls shows that many calls may be open, and that each gets its own reply.
func (s remoteTests) checkNonblockingCalls(t *testing.T) {
	const n = 200
	done := make(chan error, n)
	for i := range n {
		to := transport.Peer(i % len(s.memOf))
		body := bytes.Repeat([]byte{byte(i)}, i*i%3000)
		sent := bytes.Clone(body)
		replied := func(got []byte, err error) {
			if err == nil && !bytes.Equal(got, body) {
				err = fmt.Errorf("call %d: %d bytes are %d", i, len(body), len(got))
			}
			done <- err
		}
		m := transport.Msg{Kind: uint8(i), Body: sent, Replied: replied}
		if _, err := s.end.Transport.Call(to, m); err != nil {
			t.Fatal(err)
		}
		clear(sent) // the caller may reuse it after Call
	}
	if err := s.awaitCompletions(done, n); err != nil {
		t.Fatal(err)
	}
}

// testFenceSeveral shows that one fence covers the stores at all places.
func (s remoteTests) testFenceSeveral(t *testing.T) {
	var all []transport.Peer
	for round := range 5 {
		all = all[:0]
		for place := range s.memOf {
			s.mustRequest(t, place, command{Do: "clear"})
			all = append(all, transport.Peer(place), transport.Peer(place))
		}
		fill(s.end.memory(scratchAt, dataBytes), uint64(round))
		for place := range s.memOf {
			x := contiguous(s.end.Mem+scratchAt, s.memOf[place], 100+30000*(round%2))
			s.checkDoneOnce(t, s.end.putTo(place), x)
		}
		if err := s.end.Transport.Fence(all...); err != nil {
			t.Fatal(err)
		}
		model := make([]byte, reachBytes)
		copy(model, s.end.memory(scratchAt, 100+30000*(round%2)))
		for place := range s.memOf {
			got := s.mustRequest(t, place, command{Do: "read"}).Body
			if i := firstDifference(got, model); i >= 0 {
				t.Fatalf("round %d, place %d: byte %d is %#x, expected %#x", round,
					place, i, got[i], model[i])
			}
		}
	}
	if err := s.end.Transport.Fence(); err != nil {
		t.Errorf("a fence of nobody: %v", err)
	}
}

// testFenceEach shows that a fence after every store works, which may make a transport acknowledge
// stores without a request. The fence then still reports the errors of stores.
func (s remoteTests) testFenceEach(t *testing.T) {
	s.mustRequest(t, 1, command{Do: "fill", Seed: 21})
	model := s.filledModel(21)
	put := func(addr uintptr, n int) error {
		x := contiguous(s.end.Mem+scratchAt, addr, n)
		s.checkDoneOnce(t, s.end.putTo(1), x)
		return s.end.Transport.Fence(1)
	}
	for round := range 12 {
		n := 8 << (round % 12)
		fill(s.end.memory(scratchAt, n), uint64(round))
		if err := put(s.memOf[1]+uintptr(round), n); err != nil {
			t.Fatal(err)
		}
		copy(model[round:], s.end.memory(scratchAt, n))
		got := s.mustRequest(t, 1, command{Do: "read"}).Body
		if i := firstDifference(got, model); i >= 0 {
			t.Fatalf("round %d: byte %d is %#x, expected %#x", round, i, got[i],
				model[i])
		}
	}
	if !s.end.Guarded {
		return
	}
	if err := put(s.memOf[1]+MemBytes+64<<20, 8); !errors.Is(err, transport.ErrBadAddr) {
		t.Errorf("a fence after a put to a bad address: %v", err)
	}
	if err := put(s.memOf[1], 8); err != nil {
		t.Errorf("the fence after that: %v", err)
	}
}

// testArrive shows that stores take effect without further calls, whether many or one, with Later
// or without.
func (s remoteTests) testArrive(t *testing.T) {
	for _, later := range []bool{false, true} {
		for _, n := range []int{1, 300} {
			s.mustRequest(t, 1, command{Do: "clear"})
			model := make([]byte, reachBytes)
			fill(s.end.memory(scratchAt, 8*n), uint64(n))
			copy(model, s.end.memory(scratchAt, 8*n))
			for i := range n {
				x := contiguous(s.end.Mem+scratchAt+uintptr(8*i),
					s.memOf[1]+uintptr(8*i), 8)
				x.Later = later
				if err := s.end.Transport.Put(1, x); err != nil {
					t.Fatal(err)
				}
			}
			different := 0
			for end := time.Now().Add(10 * time.Second); different >= 0 &&
				time.Now().Before(end); {
				different = firstDifference(s.mustRequest(t, 1,
					command{Do: "read"}).Body,
					model)
			}
			if different >= 0 {
				t.Errorf("of %d puts (later: %v) not all arrive: byte %d", n, later,
					different)
			}
		}
	}
}

// testLater shows that many transfers with Xfer.Later may be open at the same time.
func (s remoteTests) testLater(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 0))
	for place := range s.memOf {
		s.mustRequest(t, place, command{Do: "fill", Seed: 8})
		model := s.filledModel(8)
		fill(s.end.memory(scratchAt, dataBytes), 9)
		const part = dataBytes / 16
		done := make(chan error, 16)
		for i, at := range r.Perm(16) {
			n := []int{8, 100, part}[i%3]
			x := contiguous(s.end.Mem+scratchAt+uintptr(i*part),
				s.memOf[place]+uintptr(at*part), n)
			x.Later = true
			x.Done = func(err error) {
				// The caller may reuse the descriptor after Done.
				*x = transport.Xfer{Count: []int32{-1}}
				done <- err
			}
			start := s.end.Transport.Put
			if i%4 == 3 {
				start = s.end.Transport.Get
			} else {
				copy(model[at*part:], s.end.memory(scratchAt+i*part, n))
			}
			if err := start(transport.Peer(place), x); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.awaitCompletions(done, 16); err != nil {
			t.Fatal(err)
		}
		s.compareMemory(t, place, model)
		for i := 3; i < 16; i += 4 {
			s.checkContains(t, model, s.end.memory(scratchAt+i*part, []int{8, 100,
				part}[i%3]))
		}
	}
}

// awaitCompletions drives progress until n errors have been sent to done. It returns the first that
// is not nil.
func (s remoteTests) awaitCompletions(done chan error, n int) error {
	for end := time.Now().Add(20 * time.Second); n > 0; {
		if _, err := s.end.Transport.Progress(time.Millisecond); err != nil {
			return err
		}
		for ; n > 0 && len(done) > 0; n-- {
			if err := <-done; err != nil {
				return err
			}
		}
		if time.Now().After(end) {
			return fmt.Errorf("%d transfers that nobody waited for are not complete "+
				"after 20 s", n)
		}
	}
	return nil
}

// checkContains checks that the model contains the bytes that a get has returned.
func (s remoteTests) checkContains(t *testing.T, model, got []byte) {
	t.Helper()
	if !bytes.Contains(model, got) {
		t.Errorf("%d bytes that were got are nowhere in the memory of the place", len(got))
	}
}

// testBadAddress shows that a bad address is an error for its own operation only, at targets that
// check addresses.
func (s remoteTests) testBadAddress(t *testing.T) {
	if !s.end.Guarded {
		t.Skip("this transport's targets do not check addresses")
	}
	s.mustRequest(t, 1, command{Do: "fill", Seed: 12})
	bad := s.memOf[1] + MemBytes + 64<<20
	for _, n := range []int{8, 20000} {
		for _, x := range []*transport.Xfer{contiguous(s.end.Mem+scratchAt, bad, n),
			s.halfBadVector(bad, n)} {
			if err := waitTransfer(s.end.getFrom(1), x); !errors.Is(err,
				transport.ErrBadAddr) {
				t.Errorf("get of %d bytes at a bad address: %v", n, err)
			}
		}
		x := contiguous(s.end.Mem+scratchAt, bad, n)
		s.checkDoneOnce(t, s.end.putTo(1), x)
		if err := s.end.Transport.Fence(1); !errors.Is(err, transport.ErrBadAddr) {
			t.Errorf("a fence after a put of %d bytes to a bad address: %v", n, err)
		}
	}
	if err := s.end.Transport.RMW(1, &transport.RMW{Bytes: 8, Addr: bad}); !errors.Is(err,
		transport.ErrBadAddr) {
		t.Errorf("a read-modify-write at a bad address: %v", err)
	}
	err := s.end.Transport.RMW(1, &transport.RMW{Bytes: 4, Addr: bad, Operand: 1, Posted: true})
	if err == nil {
		err = s.end.Transport.Fence(1)
	}
	if !errors.Is(err, transport.ErrBadAddr) {
		t.Errorf("a posted read-modify-write at a bad address: %v", err)
	}
	s.compareMemory(t, 1, s.filledModel(12))
}

// halfBadVector makes a transfer of two segments, of which only the second has a bad address.
func (s remoteTests) halfBadVector(bad uintptr, n int) *transport.Xfer {
	mine := s.end.Mem + scratchAt
	return &transport.Xfer{Vector: []transport.Segments{
		{Local: []uintptr{mine, mine}, Remote: []uintptr{s.memOf[1], bad}, Bytes: n}}}
}
