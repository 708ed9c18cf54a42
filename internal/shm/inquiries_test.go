// SPDX-License-Identifier: BSD-3-Clause

// The reporter and claims of ranks that have died since, and its answers to other hosts.
package shm

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"libarmci/internal/tcp"
	"libarmci/internal/testutil/leaktest"
)

// claimOnRequest claims the report of the job's end when the parent writes a line.
func claimOnRequest(r *rank) {
	r.writeLine("ready")
	r.readLine()
	r.writeLine("%v", r.ClaimNodeReport() && r.ClaimMachineReport())
	select {}
}

// A rank that prints the cause is killed before the reporter comes to look: one line is enough.
func TestReporterSeesClaimsOfTheDead(t *testing.T) {
	leaktest.Check(t)
	secret := freshSecret()
	node := func(number int, base uintptr) []*process {
		return launch(t, 2, "claim", func(o *order) {
			o.Reporter, o.Secret, o.Base = true, secret, base
			o.Node, o.Ranks = number, 4
		})
	}
	all := append(node(0, testBase), node(1, testBase+2*testArena)...)
	for _, p := range all {
		p.readLine(t)
	}
	pid, err := strconv.Atoi(filepath.Base(reporterOf(t, all[0])))
	if err != nil {
		t.Fatal(err)
	}
	unix.Kill(pid, unix.SIGSTOP)
	all[1].kill(t)
	all[2].writeLine("claim")
	if got := all[2].readLine(t); got != "true" {
		t.Errorf("a rank of the other node claims: %s", got)
	}
	for _, victim := range []int{2, 3, 0} {
		all[victim].kill(t)
	}
	unix.Kill(pid, unix.SIGCONT)
	for _, p := range all {
		p.awaitExit(t, true)
		if p.err.Len() > 0 {
			t.Errorf("a rank has printed the cause: %q", p.err.String())
		}
	}
}

// beAsked: every rank writes the address of the reporter it has started. Local rank 1 may settle
// the end.
func beAsked(r *rank) {
	r.writeLine("%s", hex.EncodeToString(r.InquiriesAt()))
	if r.readLine() == "settle" {
		r.MarkReported()
		os.Exit(1)
	}
	select {}
}

// inquiry is tcp.Inquiries.Ask of one address.
type inquiry func(answer string, within time.Duration) bool

// asked starts ranks with a reporter that other hosts can ask, and returns a function that asks it.
func asked(t *testing.T, secret []byte) ([]*process, inquiry) {
	t.Helper()
	all := launch(t, 3, "be asked", func(o *order) {
		o.Reporter, o.Secret, o.Asked = true, secret, true
	})
	at, err := hex.DecodeString(all[0].readLine(t))
	if err != nil || len(at) == 0 {
		t.Fatalf("asked at %q, %v", at, err)
	}
	for _, p := range all[1:] {
		if got := p.readLine(t); got != "" {
			t.Errorf("local rank %d would be asked at %s", p.Local, got)
		}
	}
	return all, func(answer string, within time.Duration) bool {
		return tcp.Inquiries{}.Ask(at, answer, within)
	}
}

// Another host learns that the cause is known after all ranks of this one have been killed, or when
// it has been printed elsewhere; not before.
func TestReporterAnswersOtherHosts(t *testing.T) {
	leaktest.Check(t)
	for _, settled := range []bool{false, true} {
		secret := freshSecret()
		all, ask := asked(t, secret)
		heard := make(chan bool)
		go func() { heard <- ask(causeKnownText(secret), patience) }()
		if settled {
			all[1].writeLine("settle")
			all[1].awaitExit(t, true)
		} else {
			all[1].kill(t)
		}
		for _, victim := range []int{2, 0} {
			all[victim].kill(t)
		}
		if !<-heard {
			t.Errorf("settled: %v; the cause is not known", settled)
		}
		if ask(causeKnownText(freshSecret()), patience) {
			t.Error("it answers another job")
		}
		for _, p := range all {
			if p.Local != 1 || !settled {
				p.awaitExit(t, true)
			}
		}
		if got := all[0].err.Len() > 0; got == settled {
			t.Errorf("settled: %v; %q", settled, all[0].err.String())
		}
		for reporterOf(t, all[0]) != "" {
			time.Sleep(10 * time.Millisecond)
		}
		if ask(causeKnownText(secret), patience) {
			t.Error("it answers after its end")
		}
	}
}
