// SPDX-License-Identifier: BSD-3-Clause

// Mail between nodes: messages of all sizes arrive whole and in order, ranks that send to each
// other do not deadlock, and a rank that does not receive blocks its senders but buffers nothing.
package core

import (
	"bytes"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"libarmci/internal/transport"
)

var mailSizes = []int{0, 1, 8, 1000, fragmentBytes - 1, fragmentBytes, fragmentBytes + 1, 100000,
	1 << 20}

// Everybody sends to everybody before anybody receives, of two tags, in another order than they are
// received.
func TestMailAcrossNodes(t *testing.T) {
	everyMail(t, func(r *tr) {
		for to := range r.N {
			for i, size := range mailSizes[:8] {
				r.must(r.Send(transport.Rank(to), int64(i%2),
					pattern(int(r.Me)+i, size)))
			}
		}
		buf := make([]byte, 1<<20)
		for _, tag := range []int{1, 0} {
			for from := range r.N {
				for i := tag; i < 8; i += 2 {
					l, err := r.Recv(transport.Rank(from), int64(tag), buf)
					r.must(err)
					if int(l.From) != from || l.Bytes != mailSizes[i] ||
						l.Total != l.Bytes ||
						!bytes.Equal(buf[:l.Bytes],
							pattern(from+i, mailSizes[i])) {
						r.wrong("message %d from rank %d: %+v", i, from, l)
					}
				}
			}
		}
		r.barrier()
	})
}

// Large messages both ways at once, far more than any window.
func TestLargeMailBothWays(t *testing.T) {
	for _, s := range []shape{{2, 2, false}, {2, 4, true}, {3, 3, false}} {
		mailed(t, s, func(r *tr) {
			buf := make([]byte, 4<<20)
			for to := range r.N {
				r.must(r.Send(transport.Rank(to), 7, pattern(int(r.Me), len(buf))))
			}
			for range r.N {
				l, err := r.Recv(-1, 7, buf)
				if r.must(err); !bytes.Equal(buf, pattern(int(l.From), len(buf))) {
					r.wrong("%+v", l)
				}
			}
			r.barrier()
		})
	}
}

// Threads of two ranks exchange large messages of one tag, and of several.
func TestMailThreads(t *testing.T) {
	mailed(t, shape{2, 2, false}, func(r *tr) {
		const threads = 4
		var running sync.WaitGroup
		var sum atomic.Int64
		for th := range threads {
			running.Go(func() {
				r.must(r.Send(1-r.Me, int64(th%2),
					pattern(th, 50000*(th+1))))
			})
			running.Go(func() {
				buf := make([]byte, 1<<20)
				l, err := r.Recv(1-r.Me, int64(th%2), buf)
				r.must(err)
				from := l.Bytes/50000 - 1
				if !bytes.Equal(buf[:l.Bytes], pattern(from, l.Bytes)) {
					r.wrong("%d bytes are mixed up", l.Bytes)
				}
				sum.Add(int64(l.Bytes))
			})
		}
		running.Wait()
		if got := sum.Load(); got != 50000*(1+2+3+4) {
			r.wrong("%d bytes have come", got)
		}
		r.barrier()
	})
}

// A rank that does not receive blocks those that send to it, and no others.
func TestMailWindow(t *testing.T) {
	mailed(t, shape{2, 4, false}, func(r *tr) {
		const n = 100
		var sent atomic.Int32
		r.barrier()
		switch r.Me {
		case 0:
			done := make(chan bool)
			go func() {
				for i := range n {
					r.must(r.Send(3, 1, pattern(i, 10000)))
					sent.Add(1)
				}
				close(done)
			}()
			for i := range n {
				r.must(r.Send(2, 1, pattern(i, 10000)))
			}
			time.Sleep(20 * time.Millisecond)
			const most = (maxUnacked+1)*ackBytes + 2*fragmentBytes + stageSlots*10000
			if got := int(sent.Load()); got*10000 > most {
				r.wrong("%d messages of 10000 bytes are under way to a rank that "+
					"does not receive", got)
			}
			r.must(r.Send(2, 2, nil))
			<-done
		case 2:
			buf := make([]byte, 10000)
			for i := range n {
				_, err := r.Recv(0, 1, buf)
				if r.must(err); !bytes.Equal(buf, pattern(i, 10000)) {
					r.wrong("message %d is not", i)
				}
			}
			_, err := r.Recv(0, 2, nil)
			r.must(err)
			r.must(r.Send(3, 2, nil))
		case 3:
			time.Sleep(100 * time.Millisecond)
			buf := make([]byte, 10000)
			for i := range n {
				_, err := r.Recv(0, 1, buf)
				if r.must(err); !bytes.Equal(buf, pattern(i, 10000)) {
					r.wrong("message %d is not", i)
				}
			}
		}
		r.barrier()
	})
}

// A message longer than the buffer is left unread, also one in fragments. A message that is never
// received does not hold up Finalize.
func TestMailTooLong(t *testing.T) {
	mailed(t, shape{2, 3, false}, func(r *tr) {
		if r.Me == 0 {
			r.must(r.Send(2, 1, pattern(1, 100000)))
			for range 12 {
				r.must(r.Send(1, 5, make([]byte, 9000)))
			}
		}
		if r.Me == 2 {
			buf := make([]byte, 100000)
			for range 2 {
				l, err := r.Recv(0, 1, buf[:99999])
				if !errors.Is(err, transport.ErrTooLong) || l.Total != 100000 {
					r.wrong("%+v, %v", l, err)
				}
			}
			l, err := r.Recv(-1, 1, buf)
			if r.must(err); l.Bytes != 100000 || !bytes.Equal(buf, pattern(1, 100000)) {
				r.wrong("%+v", l)
			}
		}
		r.barrier()
	})
}
