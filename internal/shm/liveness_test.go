// SPDX-License-Identifier: BSD-3-Clause

// Deaths and departures: a killed process is reported once, by a rank that watches it; a wait for a
// rank that has left without finalising ends the job; a clean end is no loss.
package shm

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"libarmci/internal/kernel"
	"libarmci/internal/testutil/leaktest"
)

// report writes a loss to the parent, then waits for the parent's line, and fails on a second loss.
func (r *rank) report() {
	r.writeLine("%s", <-r.lost)
	if word := r.readLine(); word != "end" {
		r.Fatalf("the parent says %q", word)
	}
	select {
	case again := <-r.lost:
		r.Errorf("reported again: %s", again)
	default:
	}
	if r.failed {
		os.Exit(1)
	}
	os.Exit(0) // the other ranks are gone or stuck, and enter no barrier
}

func waitToDie(r *rank) {
	r.writeLine("%d", os.Getpid())
	r.report()
}

// The leader reports a killed member, and a member the killed leader.
func TestKilledRanks(t *testing.T) {
	leaktest.Check(t)
	all := launch(t, 3, "wait to die", nil)
	pids := make([]string, len(all))
	for i, p := range all {
		pids[i] = p.readLine(t)
	}
	for _, step := range []struct{ dies, tells int }{{1, 0}, {0, 2}} {
		begin := time.Now()
		all[step.dies].cmd.Process.Kill()
		got := all[step.tells].readLine(t)
		want := fmt.Sprintf("rank %d: rank %d (pid %s) has died", worldRank(step.dies),
			worldRank(step.dies), pids[step.dies])
		if !strings.HasPrefix(got, want) {
			t.Errorf("%q, expected %q", got, want)
		}
		if took := time.Since(begin); took > patience/2 {
			t.Errorf("it took %v", took)
		}
	}
	all[2].writeLine("end")
	for i, p := range all {
		p.awaitExit(t, i != 2)
	}
}

// exitEarly: local rank 1 leaves without finalising, as a process that just exits does, while each
// of the others waits for it in its own way.
func exitEarly(r *rank) {
	mem := shared(r, page)
	if r.Self() == 1 {
		r.Lock(mem, r.Ranks()[1])
	}
	r.World().Barrier()
	switch r.Self() {
	case 0:
		go r.World().Barrier()
	case 1:
		r.Leave(false)
		os.Exit(0)
	case 2:
		go r.Recv(worldRank(1), 5, nil)
	case 3:
		go r.Lock(mem, r.Ranks()[3])
	case 4:
		go r.NotifyWait(worldRank(1), 1)
	}
	r.report()
}

// Each wait for a rank that has exited without finalising is reported with the call that waits.
func TestExitWithoutFinalize(t *testing.T) {
	leaktest.Check(t)
	all := launch(t, 5, "exit early", nil)
	for i, what := range []string{"a collective call", "", "armci_msg_rcv", "ARMCI_Lock",
		"armci_notify_wait"} {
		if what == "" {
			continue
		}
		want := fmt.Sprintf("rank 5: rank 5 has exited without ARMCI_Finalize while rank "+
			"%d waits for it in %s", worldRank(i), what)
		if got := all[i].readLine(t); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
	for i, p := range all {
		if i != 1 {
			p.writeLine("end")
		}
		p.awaitExit(t, false)
	}
}

// finaliseEarly: local rank 1 is in its last barrier while each of the others waits for something
// else from it.
func finaliseEarly(r *rank) {
	mem := shared(r, page)
	if r.Self() == 1 {
		r.Lock(mem, r.Ranks()[1])
	}
	r.World().Barrier()
	switch r.Self() {
	case 0:
		go r.World().Bcast(kernel.Ptr(mem), 8, 1)
	case 1:
		r.AnnounceFinalBarrier(true)
		go r.World().Barrier()
		r.readLine()
		os.Exit(0)
	case 2:
		go r.Recv(worldRank(1), 5, nil)
	case 3:
		go r.Lock(mem, r.Ranks()[3])
	case 4:
		go r.NotifyWait(worldRank(1), 1)
	}
	r.report()
}

// barrierTooMany: local rank 1 has finalised; the others enter another barrier.
func barrierTooMany(r *rank) {
	if r.Self() == 1 {
		r.AnnounceFinalBarrier(true)
		r.World().Barrier()
		r.Leave(true)
		os.Exit(0)
	}
	r.World().Barrier()
	go r.World().Barrier()
	r.report()
}

// Each wait for a rank that has finalised is reported with the call that waits.
func TestWaitForTheFinalised(t *testing.T) {
	leaktest.Check(t)
	cases := []struct {
		scenario string
		what     []string
		all      []*process
	}{
		{scenario: "finalise early", what: []string{"a collective call", "",
			"armci_msg_rcv", "ARMCI_Lock", "armci_notify_wait"}},
		{scenario: "barrier too many", what: []string{"a collective call", "",
			"a collective call"}},
		// a counter, not flags
		{scenario: "barrier too many", what: []string{0: "a collective call", 9: ""}},
	}
	for i, c := range cases {
		cases[i].all = launchBeside(t, len(c.what), c.scenario)
	}
	for _, c := range cases {
		for i, what := range c.what {
			if what == "" {
				continue
			}
			want := fmt.Sprintf("rank 5: rank 5 has called ARMCI_Finalize while rank "+
				"%d waits for it in %s", worldRank(i), what)
			if got := c.all[i].readLine(t); got != want {
				t.Errorf("%q, expected %q", got, want)
			}
		}
		for i, p := range c.all {
			if c.what[i] == "" && i != 1 {
				p.readLine(t)
			}
			p.writeLine("end")
		}
		for _, p := range c.all {
			p.awaitExit(t, false)
		}
	}
}

// endLate: ranks that have long been in the last barrier are not reported, and neither is a wait
// for the message or broadcast that was the last act of a rank before it.
func endLate(r *rank) {
	mem := shared(r, page)
	switch r.Self() {
	case 1:
		r.Send(2, 5, []byte("last"))
		r.World().Bcast(kernel.Ptr(mem), 8, 1)
	case 2:
		time.Sleep(2500 * time.Millisecond)
		if l, err := r.Recv(worldRank(1), 5, make([]byte, 4)); l.Bytes != 4 || err != nil {
			r.Errorf("%d bytes, %v", l.Bytes, err)
		}
		fallthrough
	default:
		r.World().Bcast(kernel.Ptr(mem), 8, 1)
	}
	r.AnnounceFinalBarrier(true)
}

func TestLateEndIsNoLoss(t *testing.T) {
	leaktest.Check(t)
	all := slices.Concat(launchBeside(t, 4, "end late"), launchBeside(t, 10, "end late"))
	for _, p := range all {
		p.awaitExit(t, false)
	}
}

// Ranks that leave cleanly, in any order, are no loss, however often it is done.
func TestCleanEnd(t *testing.T) {
	leaktest.Check(t)
	for range 2 {
		for _, p := range launch(t, 4, "leave", nil) {
			p.awaitExit(t, false)
		}
	}
}
