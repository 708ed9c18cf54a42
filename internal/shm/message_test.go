// SPDX-License-Identifier: BSD-3-Clause

// Messages between ranks of a node: all to all at once, from several threads, larger than the
// rings; matching by source and tag; and notification.
package shm

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"libarmci/internal/testutil/leaktest"
	"libarmci/internal/transport"
)

const biggest = 200 << 10 // three rings full

// letterOf is message number i from one rank to another with a tag.
func letterOf(from, to int, tag int64, i int) []byte {
	seed := uint64(from)<<40 | uint64(to)<<32 | uint64(tag)<<16 | uint64(i)
	g := rand.New(rand.NewPCG(seed, 0))
	n := []int{0, 1, 16, 17, 100, 4096, 70000, biggest}[g.IntN(8)]
	return content(seed, 1, n)
}

// messages: two threads of each rank send to all, two receive, one of them from any rank.
func messages(r *rank) {
	const n = 25
	const fromAny, fromOne = int64(1), int64(-2)
	ranks := len(r.Ranks())
	var running sync.WaitGroup
	for _, tag := range []int64{fromAny, fromOne} {
		running.Go(func() {
			for i := range n {
				for k := range ranks {
					to := (r.Self() + k) % ranks
					r.Send(to, tag, letterOf(r.Self(), to, tag, i))
				}
			}
		})
	}
	running.Go(func() {
		next := make([]int, ranks)
		for range n * ranks {
			from := receive(r, -1, fromAny, next)
			next[from]++
		}
	})
	running.Go(func() {
		next := make([]int, ranks)
		for i := range n * ranks {
			next[receive(r, (i+r.Self())%ranks, fromOne, next)]++
		}
	})
	running.Wait()
}

// take is Recv from a local rank, -1 for any; everything comes in one part.
func (r *rank) take(from int, tag int64, buf []byte) (source, n int, err error) {
	who := transport.Rank(-1)
	if from >= 0 {
		who = worldRank(from)
	}
	l, err := r.Recv(who, tag, buf)
	source, here := r.localOf(l.From)
	if !here || l.Bytes != l.Total {
		r.Errorf("%d of %d bytes came from rank %d", l.Bytes, l.Total, l.From)
	}
	return source, l.Bytes, err
}

// receive takes a message and compares it with the next one that its source has sent.
func receive(r *rank, from int, tag int64, next []int) int {
	buf := make([]byte, biggest)
	source, n, err := r.take(from, tag, buf)
	if err != nil || from >= 0 && source != from {
		r.Fatalf("message from %d came from %d, %v", from, source, err)
	}
	if want := letterOf(source, r.Self(), tag, next[source]); !bytes.Equal(buf[:n], want) {
		r.Fatalf("message %d with tag %d from %d: %d bytes, expected %d, or other ones",
			next[source], tag, source, n, len(want))
	}
	return source
}

func TestMessages(t *testing.T) {
	leaktest.Check(t)
	run(t, 3, "messages")
}

// messagesInPieces: two ranks send each other more than the rings hold before either receives.
// Messages are received by tag in any order, and one that is too long remains.
func messagesInPieces(r *rank) {
	other := 1 - r.Self()
	big := content(uint64(r.Self()), 0, 500<<10)
	for tag := range int64(4) {
		r.Send(other, tag, big[:len(big)>>tag])
	}
	r.Send(other, 9, nil)
	r.Send(r.Self(), 9, []byte("self"))
	theirs := content(uint64(other), 0, len(big))
	buf := make([]byte, len(big)-1)
	for range 2 {
		source, n, err := r.take(other, 0, buf)
		if !errors.Is(err, transport.ErrTooLong) || n != len(big) || source != other {
			r.Errorf("into too small a buffer: %d bytes from %d, %v", n, source, err)
		}
	}
	buf = make([]byte, len(big))
	for _, tag := range []int64{3, 1, 0, 2} {
		source, n, err := r.take(-1, tag, buf)
		if err != nil || source != other || !bytes.Equal(buf[:n], theirs[:len(big)>>tag]) {
			r.Errorf("tag %d: %d bytes from %d, %v", tag, n, source, err)
		}
	}
	if _, n, err := r.take(r.Self(), 9, buf); err != nil || string(buf[:n]) != "self" {
		r.Errorf("from myself: %q, %v", buf[:n], err)
	}
	if _, n, err := r.take(other, 9, nil); err != nil || n != 0 {
		r.Errorf("an empty message has %d bytes, %v", n, err)
	}
	r.Send(r.Self(), 10, []byte("never received")) // forgotten when the rank leaves
}

func TestMessagesInPieces(t *testing.T) {
	leaktest.Check(t)
	run(t, 2, "messages in pieces")
}

// shortBuffers: two threads receive the same tag, one of them with a buffer that is too short for
// every other message. The other thread receives what the first refuses, whole, in its own buffer.
func shortBuffers(r *rank) {
	const n, tag = 150, 3
	size := func(i int) int { return []int{100000, 16, 3000}[i%3] }
	if r.Self() == 1 {
		for i := range n {
			r.Send(0, tag, content(uint64(i), 0, size(i)))
		}
		return
	}
	number := map[string]int{} // by how it begins
	for i := range n {
		number[string(content(uint64(i), 0, size(i))[:16])] = i
	}
	var got atomic.Int64
	seen := make([]atomic.Bool, n)
	check := func(b []byte) int {
		i, sent := number[string(b[:16])]
		if !sent || !bytes.Equal(b, content(uint64(i), 0, size(i))) || seen[i].Swap(true) {
			r.Errorf("%d bytes that were not sent so, or came twice (as message %d: "+
				"%v)", len(b), i, sent)
		}
		got.Add(1)
		return i
	}
	var running sync.WaitGroup
	running.Go(func() {
		b := make([]byte, 16)
		for {
			source, n, err := r.take(-1, tag, b)
			if source == 0 {
				return
			}
			if err == nil {
				check(b[:n])
			} else if !errors.Is(err, transport.ErrTooLong) || n <= len(b) {
				r.Errorf("%d bytes, %v", n, err)
			}
		}
	})
	for last := -1; last != n-1; {
		// it is a long one, and the others have been taken before, if not counted
		b := make([]byte, 100000)
		_, n, err := r.take(1, tag, b)
		if err != nil {
			r.Fatal(err)
		}
		last = check(b[:n])
	}
	r.Send(0, tag, nil)
	running.Wait()
	if got.Load() != n {
		r.Errorf("%d of %d messages came", got.Load(), n)
	}
}

func TestShortBuffers(t *testing.T) {
	leaktest.Check(t)
	run(t, 2, "short buffers")
}

// notify: counters per ordered pair, and what was stored before is there.
func notify(r *rank) {
	ranks := len(r.Ranks())
	mem := shared(r, page)
	for i := uint32(1); i <= 50; i++ {
		for to := range ranks {
			at(mem, page)[ranks*r.Self()+to] = byte(i)
			if n := r.Notify(to, worldRank(r.Self())); n != i {
				r.Errorf("notification %d of %d is counted as %d", i, to, n)
			}
		}
		for from := range ranks {
			if n := r.NotifyWait(worldRank(from), i); n < i {
				r.Errorf("waited for %d notifications of %d, got %d", i, from, n)
			}
			if b := at(mem, page)[ranks*from+r.Self()]; b < byte(i) {
				r.Errorf("notification %d of %d came before its data: %d", i, from,
					b)
			}
		}
	}
}

func TestNotify(t *testing.T) {
	leaktest.Check(t)
	run(t, 3, "notify")
}
