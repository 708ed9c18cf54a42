// SPDX-License-Identifier: BSD-3-Clause

// Messages of the conformance suite. Their contents follow from sender, receiver and number, so
// that a receiver detects loss, repetition, mixture and wrong order.
package transporttest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
	"libarmci/internal/transport"
)

// messageTests are tests of Send and of handlers.
type messageTests struct{ *suite }

// message makes the i-th message between two places.
func message(from, to, i int, seed uint64) transport.Msg {
	r := rand.New(rand.NewPCG(seed, uint64(from)<<32|uint64(to)<<16|uint64(i)))
	sizes := []int{0, 1, 7, 64, 1000, 5000, 70000}
	body := make([]byte, sizes[r.IntN(len(sizes))])
	fill(body, r.Uint64())
	return transport.Msg{Kind: uint8(i), Body: body}
}

// sendNumbered sends c.N messages to a place, and reuses their memory.
func (e *End) sendNumbered(c command) error {
	for i := range c.N {
		m := message(e.Self, c.Place, i, c.Seed)
		if m.Unordered = c.Unordered; m.Unordered {
			n := min(i*7, transport.MaxMessageHead, len(m.Body))
			m.Head, m.Body = m.Body[:n], m.Body[n:]
		}
		if err := e.Transport.Send(transport.Peer(c.Place), m); err != nil {
			return err
		}
		fill(m.Head, 0) // the caller may reuse both after Send
		fill(m.Body, 0)
	}
	return nil
}

// checkMessages waits for the messages that sendNumbered of another place has sent, and compares
// them.
func (e *End) checkMessages(c command) error {
	if w, may := e.Transport.(transport.Watcher); may && c.Unordered {
		defer w.Watch(transport.Peer(c.Place),
			func() bool { return e.Inbox.Has(e.Ranks[c.Place], c.N) }, true)()
	}
	got, err := e.Inbox.receive(e.Ranks[c.Place], c.N)
	if err != nil {
		return err
	}
	if c.Unordered { // they may come in any order; their kinds tell which is which
		slices.SortFunc(got,
			func(a, b transport.Msg) int { return int(a.Kind) - int(b.Kind) })
	}
	for i, m := range got {
		if want := message(c.Place, e.Self, i, c.Seed); m.Kind != want.Kind ||
			!bytes.Equal(m.Body, want.Body) {
			return fmt.Errorf("message %d from place %d: kind %d, %d bytes; expected "+
				"kind %d, %d bytes", i, c.Place, m.Kind,
				len(m.Body), want.Kind, len(want.Body))
		}
	}
	return nil
}

// testMessages shows that messages between all places, sent at the same time, arrive in order.
func (s messageTests) testMessages(t *testing.T) { s.exchangeMessages(t, command{N: 20, Seed: 3}) }

// testUnorderedMessages shows that all unordered messages arrive, and ordered ones before and after
// them, too.
func (s messageTests) testUnorderedMessages(t *testing.T) {
	for i := range uint64(3) {
		s.exchangeMessages(t, command{N: 20, Seed: 50 + i, Unordered: true})
		s.exchangeMessages(t, command{N: 5, Seed: 60 + i})
	}
}

// testMessagesFenced shows that the peer's handler has been called for all messages before a fence.
func (s messageTests) testMessagesFenced(t *testing.T) {
	c := command{N: 20, Seed: 70}
	if s.info.Immediate {
		t.Skip("the transport is immediate: its fence has nothing to wait for")
	}
	for place := 1; place < len(s.end.Ranks); place++ {
		c.Place = place
		if err := s.end.sendNumbered(c); err != nil {
			t.Fatal(err)
		}
		if err := s.end.Transport.Fence(transport.Peer(place)); err != nil {
			t.Fatal(err)
		}
		for _, do := range []string{"has", "got"} {
			if _, err := s.request(place,
				command{Do: do, N: c.N, Seed: c.Seed}); err != nil {
				t.Errorf("place %d: %v", place, err)
			}
		}
	}
}

// exchangeMessages has every place send messages to every place, and then check those it got.
func (s messageTests) exchangeMessages(t *testing.T, c command) {
	t.Helper()
	for _, c.Do = range []string{"send", "got"} {
		s.atEachPlace(t, func(place int) error {
			c := c
			for c.Place = range s.end.Ranks {
				if _, err := s.request(place, c); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// testMessageThreads shows that messages of several threads to one peer arrive whole, and in order
// for each thread.
func (s messageTests) testMessageThreads(t *testing.T) {
	const threads, n = 4, 30
	var running sync.WaitGroup
	for th := range threads {
		running.Go(func() {
			for i := range n {
				body := bytes.Repeat([]byte{byte(th), byte(i)}, 1+i*300)
				if err := s.end.Transport.Send(0,
					transport.Msg{Kind: uint8(th), Body: body}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	got, err := s.end.Inbox.receive(s.end.Ranks[0], threads*n)
	if err != nil {
		t.Fatal(err)
	}
	var next [threads]int
	for _, m := range got {
		th := int(m.Kind)
		if want := bytes.Repeat([]byte{byte(th), byte(next[th])},
			1+next[th]*300); !bytes.Equal(m.Body, want) {
			t.Fatalf("thread %d, message %d: %d bytes %x..., expected %d", th, next[th],
				len(m.Body), m.Body[:2], len(want))
		}
		next[th]++
	}
}

// testMessageSize shows that a message of MaxMessage+1 bytes is refused, and a long one arrives.
func (s messageTests) testMessageSize(t *testing.T) {
	const limit = transport.MaxMessage
	// Pages that are never touched need no memory.
	body, err := unix.Mmap(-1, 0, limit+1, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANON|
		unix.MAP_NORESERVE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(body)
	err = s.end.Transport.Send(1, transport.Msg{Kind: 1, Body: body})
	if !errors.Is(err, transport.ErrTooLong) {
		t.Errorf("%d bytes, one more than the limit: %v", limit+1, err)
	}
	body = make([]byte, 3<<20)
	fill(body, 9)
	if err := s.end.Transport.Send(0, transport.Msg{Kind: 77, Body: body}); err != nil {
		t.Fatal(err)
	}
	got, err := s.end.Inbox.receive(s.end.Ranks[0], 1)
	if err != nil || got[0].Kind != 77 || !bytes.Equal(got[0].Body, body) {
		t.Errorf("message of %d bytes: %v, %d messages", len(body), err, len(got))
	}
}
