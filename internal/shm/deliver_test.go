// SPDX-License-Identifier: BSD-3-Clause

// Messages and notifications that a rank delivers for ranks of other nodes: they name their source,
// never block the deliverer, and are not mixed up with messages of the deliverer.
package shm

import (
	"bytes"
	"errors"
	"sync"
	"testing"
	"time"

	"libarmci/internal/testutil/leaktest"
	"libarmci/internal/transport"
)

// Ranks of other nodes: before, between and after those of this one.
var elsewhere = []transport.Rank{0, 4, testWorld - 1}

func foreign(from transport.Rank, to int, i int) []byte { return letterOf(int(from), to, 7, i) }

// delivery: local rank 0 delivers messages of three ranks at once, some only where there is room,
// and meanwhile sends its own with the same tag. All ranks, itself included, tell them apart.
func delivery(r *rank) {
	const n, tag = 20, 7
	var running sync.WaitGroup
	if r.Self() == 0 {
		for _, from := range append([]transport.Rank{worldRank(0)}, elsewhere...) {
			running.Go(func() {
				for i := range n {
					for to := range r.Ranks() {
						body := foreign(from, to, i)
						if from == worldRank(0) {
							r.Send(to, tag, body)
						} else if !r.Deliver(to, from, tag,
							int64(len(body)), body, false) {
							r.Deliver(to, from, tag, int64(len(body)),
								body, true)
						}
					}
				}
			})
		}
	}
	for _, from := range append([]transport.Rank{worldRank(0)}, elsewhere...) {
		running.Go(func() {
			buf := make([]byte, biggest)
			for i := range n {
				l, err := r.Recv(from, tag, buf)
				if err != nil || l.From != from || l.Total != l.Bytes ||
					!bytes.Equal(buf[:l.Bytes], foreign(from, r.Self(), i)) {
					r.Errorf("message %d from rank %d: %+v, %v, or other bytes",
						i, from, l, err)
				}
			}
		})
	}
	running.Wait()
	r.World().Barrier()
	parts(r)
	foreignNotes(r)
}

// parts: the first part of a long message is delivered with the length of the whole.
func parts(r *rank) {
	const tag, total = 8, 1 << 40
	from := elsewhere[1]
	if r.Self() == 0 {
		for to := range r.Ranks() {
			r.Deliver(to, from, tag, 9, []byte("beginning")[:5], true)
			r.Deliver(to, from, tag, total, []byte("beginning"), true)
		}
	}
	buf := make([]byte, 100)
	for _, who := range []transport.Rank{-1, from} {
		if l, err := r.Recv(who, tag, buf[:8]); !errors.Is(err, transport.ErrTooLong) ||
			l != (transport.Received{From: from, Bytes: 5, Total: 9}) {
			r.Errorf("a part of a message that is too long: %+v, %v", l, err)
		}
	}
	if l, err := r.Recv(from, tag, buf); err != nil ||
		l != (transport.Received{From: from, Bytes: 5, Total: 9}) ||
		string(buf[:5]) != "begin" {
		r.Errorf("a part: %+v, %v, %q", l, err, buf[:5])
	}
	if l, err := r.Recv(from, tag, buf); !errors.Is(err, transport.ErrTooLong) ||
		l.Total != total {
		r.Errorf("the first part of %d bytes: %+v, %v", total, l, err)
	}
}

// foreignNotes: counters by rank of the job, raised by the server for others.
func foreignNotes(r *rank) {
	if r.Self() == 0 {
		for i := uint32(1); i <= 3; i++ {
			for to := range r.Ranks() {
				for _, from := range elsewhere {
					if n := r.Notify(to, from); n != i {
						r.Errorf("notification %d by rank %d is counted "+
							"as %d", i, from, n)
					}
				}
			}
		}
	}
	for _, from := range elsewhere {
		if n := r.NotifyWait(from, 3); n != 3 {
			r.Errorf("%d notifications by rank %d", n, from)
		}
	}
	if n := r.NotifyWait(worldRank(0), 0); n != 0 {
		r.Errorf("%d notifications by a rank that sent none", n)
	}
	r.World().Barrier()
}

func TestDelivery(t *testing.T) {
	leaktest.Check(t)
	run(t, 3, "delivery")
}

// fullRing: local rank 1 does not read. Local rank 0, which fills its ring and then has a thread
// waiting there, is refused at once and can still reach local rank 2; afterwards everything arrives
// in order.
func fullRing(r *rank) {
	const tag = 7
	from := elsewhere[2]
	body := bytes.Repeat([]byte("0123456789"), 1000)
	buf := make([]byte, len(body))
	switch r.Self() {
	case 0:
		sent := 0
		for ; r.Deliver(1, from, tag, int64(len(body)), body, false); sent++ {
			if sent > 1000 {
				r.Fatal("a ring without end")
			}
		}
		waited := make(chan bool)
		go func() { waited <- r.Deliver(1, from, tag, int64(len(body)), body, true) }()
		// most often it is waiting by then; the test holds in any case
		time.Sleep(20 * time.Millisecond)
		if r.Deliver(1, from, tag, int64(len(body)), body, false) {
			r.Error("delivered where there is no room")
		}
		if !r.Deliver(2, from, tag, 3, []byte("far"), false) {
			r.Error("a full ring stops deliveries to another rank")
		}
		r.Send(2, tag, []byte("own"))
		r.World().Barrier()
		if !<-waited {
			r.Error("a delivery that waits was refused")
		}
		r.Deliver(1, from, tag, 4, []byte("last"), true)
	case 1:
		r.World().Barrier()
		for {
			l, err := r.Recv(-1, tag, buf)
			if err != nil || l.From != from {
				r.Fatalf("%+v, %v", l, err)
			}
			if string(buf[:l.Bytes]) == "last" {
				return
			}
			if !bytes.Equal(buf[:l.Bytes], body) {
				r.Fatalf("%d bytes, not those that were sent", l.Bytes)
			}
		}
	case 2:
		for _, want := range []string{"far", "own"} {
			if l, err := r.Recv(-1, tag, buf); err != nil ||
				string(buf[:l.Bytes]) != want {
				r.Errorf("%q, %v, expected %q", buf[:l.Bytes], err, want)
			}
		}
		r.World().Barrier()
	}
}

func TestFullRing(t *testing.T) {
	leaktest.Check(t)
	run(t, 3, "full ring")
}

// violation: a rank that announces more than any message has is reported like one that is lost.
func violation(r *rank) {
	if r.Self() == 1 {
		o, err := r.connectionTo(0)
		if err != nil {
			r.Fatal(err)
		}
		o.c.Write([]byte{0xff, 0xff, 0xff, 0xff, 1})
		r.readLine()
		return
	}
	r.report()
}

// A message that is announced too long is reported as the loss of its sender.
func TestOverlongMessageIsALoss(t *testing.T) {
	leaktest.Check(t)
	all := launch(t, 2, "violation", nil)
	want := "rank 5: rank 5 has announced a message of 4294967295 bytes to rank 2, where " +
		"67109120 are the most: its memory is damaged"
	if got := all[0].readLine(t); got != want {
		t.Errorf("%q, expected %q", got, want)
	}
	all[0].writeLine("end")
	all[0].awaitExit(t, false)
	all[1].cmd.Process.Kill()
	all[1].awaitExit(t, true)
}
