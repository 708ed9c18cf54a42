// SPDX-License-Identifier: BSD-3-Clause

// How a job ends: one line for the whole node, every rank dies, and nothing of that after the end.
package core

import (
	"slices"
	"strings"
	"testing"

	"libarmci/internal/log"
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
