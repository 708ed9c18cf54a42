// SPDX-License-Identifier: BSD-3-Clause

// How a job ends: one line for the whole node, every rank dies, and nothing of that after the end.
package core

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"libarmci/internal/log"
	"libarmci/internal/testutil/leaktest"
	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// discardLog drops what is logged until the returned function is called.
func discardLog() func() { return log.SetSink(func([]byte) {}) }

// A lost rank ends the job on the others, with one line, once.
func TestLost(t *testing.T) {
	lines := logged(t)
	world(t, 3, func(r *tr) {
		if r.barrier(); r.Me == 0 {
			for range 2 { // a second loss makes no difference
				r.c.Lose(2, "rank 2 (pid 1) has died")
			}
			for rank, want := range [][]string{{"die 1"}, {"die 1"}, nil} {
				if got := r.c.Job(rank).Ends(); !slices.Equal(got, want) {
					r.wrong("rank %d: %q, expected %q", rank, got, want)
				}
			}
			if got := lines(); strings.Count(got,
				"rank 2 (pid 1) has died: the job ends") != 1 ||
				strings.Count(got, "\n") != 1 {
				r.wrong("%q", got)
			}
		}
		r.barrier()
	})
}

// The job notices the loss, too, at every rank and before the node does: one line all the same.
func TestLostByTheJob(t *testing.T) {
	for _, s := range []shape{{nodes: 1, ranks: 4}, {nodes: 2, ranks: 4}} {
		lines := logged(t)
		s.run(t, nil, func(r *tr) {
			if r.barrier(); r.Me == 1 {
				for rank := 1; rank < 4; rank++ {
					go r.c.Job(rank).Lose(0, "rank 0 is gone")
				}
				r.c.Lose(0, "rank 0 (pid 1) has died")
				awaitEndsFrom(r, 1)
				got := lines()
				one := strings.Count(got, "\n") == 1
				if !one || !strings.Contains(got, "rank 0 ") {
					r.wrong("%q", got)
				}
			}
			r.barrier()
		})
	}
}

// hasty is a platform whose node reports a loss before Join has returned.
type hasty struct {
	transport.Platform
	told chan struct{}
}

func (h hasty) Join(j transport.JoinInfo) (transport.Node, transport.Transport, error) {
	n, t, err := h.Platform.Join(j)
	go func() {
		j.OnLoss(0, "rank 0 has died early")
		close(h.told)
	}()
	return n, t, err
}

// A loss while the job starts ends it once it has started, and is forgotten if it has not.
func TestLostAtStart(t *testing.T) {
	leaktest.Check(t)
	for _, fails := range []bool{false, true} {
		lines := logged(t)
		c := transporttest.NewCluster(1)
		c.Fail = func(step string, _ int) error {
			if fails && step == "connect" {
				return errors.New("broken")
			}
			return nil
		}
		c.Wrap = func(r int, t transport.Transport) transport.Transport {
			return &transporttest.Flaky{Transport: t, Fail: func(what string,
				_ transport.Peer) error {
				return c.Fail(what, r)
			}}
		}
		h := hasty{c.Platform(0), make(chan struct{})}
		if _, err := Start(settings(), c.Job(0), h); (err != nil) != fails {
			t.Fatal(err)
		}
		<-h.told
		if ended := len(c.Job(0).Ends()) > 0; ended == fails ||
			strings.Contains(lines(), "died early") == fails {
			t.Errorf("start fails: %v; ended: %v; %q", fails, ended, lines())
		}
		c.Close()
	}
}

// Abort prints the first cause only; the other ranks end silently.
func TestAbort(t *testing.T) {
	lines := logged(t)
	world(t, 2, func(r *tr) {
		if r.Me == 0 {
			r.Abort("the application gives up", 7)
			r.Abort("and again", 8) // the first cause is the one
			if got := r.c.Job(0).Ends(); !slices.Equal(got,
				[]string{"abort 7", "abort 8"}) {
				r.wrong("%q", got)
			}
			r.c.Lose(0, "rank 0 has died") // the others end without a word
			if got := r.c.Job(1).Ends(); !slices.Equal(got, []string{"die 1"}) {
				r.wrong("rank 1: %q", got)
			}
			if got := lines(); strings.Count(got, "\n") != 1 ||
				!strings.Contains(got, "the application gives up") {
				r.wrong("%q", got)
			}
		}
		r.barrier()
	})
}

// Where all nodes end the job at the same time, one says why.
func TestNodesAgree(t *testing.T) {
	for range 3 {
		lines := logged(t)
		shape{nodes: 4, ranks: 4}.run(t, nil, func(r *tr) {
			r.barrier()
			r.Abort(fmt.Sprintf("rank %d gives up", r.Me), 7)
			r.barrier()
		})
		if got := lines(); strings.Count(got, "\n") != 1 ||
			!strings.Contains(got, "gives up") {
			t.Fatalf("%q", got)
		}
	}
}

// A node that ends the job tells the others, which then end without a word about the ranks they
// lose.
func TestOtherNodesAreTold(t *testing.T) {
	lines := logged(t)
	shape{nodes: 3, ranks: 6}.run(t, nil, func(r *tr) {
		r.barrier()
		if r.Me == 1 {
			r.Abort("the application gives up", 7)
			for to := range 6 {
				r.c.Lose(to, fmt.Sprintf("rank %d: connection lost", to))
			}
			awaitEnds(r)
			if got := lines(); strings.Count(got, "\n") != 1 ||
				!strings.Contains(got, "the application gives up") {
				r.wrong("%q", got)
			}
		}
		r.barrier()
	})
}

// Nodes that lose a rank ask its node whether the cause is known there. One of them says why the
// job ends where it is not.
func TestKnownElsewhere(t *testing.T) {
	for _, known := range []bool{true, false} {
		lines, want := logged(t), 1
		if known {
			want = 0
		}
		answer := func(c *transporttest.Cluster) {
			c.Known = func(leader transport.Rank) bool { return known && leader == 1 }
		}
		shape{nodes: 3, ranks: 3}.run(t, answer, func(r *tr) {
			r.barrier()
			if r.Me == 0 {
				r.c.Lose(1, "rank 1: connection lost")
				awaitEnds(r)
				got := lines()
				about := strings.Count(got, "rank 1: connection lost")
				if strings.Count(got, "\n") != want || about != want {
					r.wrong("known: %v; %q", known, got)
				}
			}
			r.barrier()
		})
	}
}

// A mistake of all ranks at the same time: one node reports it, and the others learn of it before
// their turn.
func TestAbortInTurn(t *testing.T) {
	lines := logged(t)
	shape{nodes: 3, ranks: 6}.run(t, nil, func(r *tr) {
		r.barrier()
		r.AbortInTurn("all make a mistake", 5)
		r.barrier()
	})
	if got := lines(); strings.Count(got, "\n") != 1 ||
		!strings.Contains(got, "all make a mistake") {
		t.Errorf("%q", got)
	}
}

// awaitEnds waits until all ranks have ended.
func awaitEnds(r *tr) { awaitEndsFrom(r, 0) }

// awaitEndsFrom is awaitEnds for all ranks from the first on.
func awaitEndsFrom(r *tr, first int) {
	limit := time.Now().Add(20 * time.Second)
	for rank := first; rank < r.N; rank++ {
		for len(r.c.Job(rank).Ends()) == 0 && time.Now().Before(limit) {
			time.Sleep(time.Millisecond)
		}
	}
}

// A call that fails because a rank is gone waits for the end of the job, which a rank reports that
// has not said so yet.
func TestAwaitEnd(t *testing.T) {
	lines := logged(t)
	world(t, 1, func(r *tr) {
		r.AwaitJobEnd("ARMCI_Put", errors.New("something else"))
		gone := fmt.Errorf("8 bytes to rank 3: %w", transport.ErrPeerDead)
		for range 3 {
			r.AwaitJobEnd("ARMCI_Put", gone)
		}
		if got := r.c.Job(0).Ends(); !slices.Equal(got, []string{"die 1"}) {
			r.wrong("%q", got)
		}
		if got := lines(); strings.Count(got, "\n") != 1 ||
			!strings.Contains(got,
				"ARMCI_Put: 8 bytes to rank 3: the peer has died: the job ends") {
			r.wrong("%q", got)
		}
	})
}

// The death of a rank after Finalize ends nothing and prints nothing.
func TestLossAfterFinalize(t *testing.T) {
	lines := logged(t)
	world(t, 2, func(r *tr) {
		r.barrier()
		if r.Me == 0 {
			r.jobEnd.endOnce.Do(func() {}) // as Finalize does
			r.jobEnd.onRankLost(1, "rank 1 has died")
			if got := r.c.Job(0).Ends(); len(got) != 0 || lines() != "" {
				r.wrong("%q, %q", got, lines())
			}
		}
		r.barrier()
	})
}

// A rank that is lost in the final barrier may have left it: that is no reason to end the job,
// unless the barrier does not end.
func TestLostInFinalBarrier(t *testing.T) {
	lines := logged(t)
	shape{nodes: 2, ranks: 2}.run(t, nil, func(r *tr) {
		if r.barrier(); r.Me == 0 {
			r.leaving.Store(true)
			r.jobEnd.onRankLostAsync(1, "rank 1 has died")
			time.Sleep(finalBarrierTime / 2)
			r.jobEnd.endOnce.Do(func() {}) // the barrier has ended
			time.Sleep(finalBarrierTime)
			if got := r.c.Job(0).Ends(); len(got) > 0 || lines() != "" {
				r.wrong("the job ends: %q %q", got, lines())
			}
		}
	})
}
