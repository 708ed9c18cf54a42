// SPDX-License-Identifier: BSD-3-Clause

// How a job ends: one line for the whole node, every rank dies, and nothing of that after the end.
package core

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"libarmci/internal/bootstrap/leaktest"
	"libarmci/internal/log"
	"libarmci/internal/transport"
	"libarmci/internal/transport/transporttest"
)

// discardLog drops what is logged until the returned function is called.
func discardLog() func() { return log.SetSink(func([]byte) {}) }

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
			if got := lines(); strings.Count(got, "rank 2 (pid 1) has died: the job ends") != 1 || strings.Count(got, "\n") != 1 {
				r.wrong("%q", got)
			}
		}
		r.barrier()
	})
}

// hasty is a platform whose node reports a loss before Join has returned.
type hasty struct {
	transport.Platform
	told chan struct{}
}

func (h hasty) Join(j transport.JoinInfo) (transport.Node, transport.Transport, error) {
	n, t, err := h.Platform.Join(j)
	go func() {
		j.Lost(0, "rank 0 has died early")
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
			return &transporttest.Flaky{Transport: t, Fail: func(what string, _ transport.Peer) error { return c.Fail(what, r) }}
		}
		h := hasty{c.Platform(0), make(chan struct{})}
		if _, err := Start(settings(), c.Job(0), h); (err != nil) != fails {
			t.Fatal(err)
		}
		<-h.told
		if ended := len(c.Job(0).Ends()) > 0; ended == fails || strings.Contains(lines(), "died early") == fails {
			t.Errorf("start fails: %v; ended: %v; %q", fails, ended, lines())
		}
		c.Close()
	}
}

func TestAbort(t *testing.T) {
	lines := logged(t)
	world(t, 2, func(r *tr) {
		if r.Me == 0 {
			r.Abort("the application gives up", 7)
			r.Abort("", 8)
			if got := r.c.Job(0).Ends(); !slices.Equal(got, []string{"abort 7", "abort 8"}) {
				r.wrong("%q", got)
			}
			r.c.Lose(0, "rank 0 has died") // the others end without a word
			if got := r.c.Job(1).Ends(); !slices.Equal(got, []string{"die 1"}) {
				r.wrong("rank 1: %q", got)
			}
			if got := lines(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "the application gives up") {
				r.wrong("%q", got)
			}
		}
		r.barrier()
	})
}

func TestLossAfterFinalize(t *testing.T) {
	lines := logged(t)
	world(t, 2, func(r *tr) {
		r.barrier()
		if r.Me == 0 {
			r.ending.Do(func() {}) // as Finalize does
			r.lost(1, "rank 1 has died")
			if got := r.c.Job(0).Ends(); len(got) != 0 || lines() != "" {
				r.wrong("%q, %q", got, lines())
			}
		}
		r.barrier()
	})
}
