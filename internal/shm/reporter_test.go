// SPDX-License-Identifier: BSD-3-Clause

// The reporter names the rank that died first when all others are killed right after it. It is
// silent without a death, or when a rank has claimed the report, and leaves no trace in the leader
// or after the ranks. Its line is on the leader's standard error, which is read until no process
// holds it.
package shm

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"libarmci/internal/testutil/leaktest"
)

func watched(t *testing.T, n int, scenario string) []*process {
	t.Helper()
	secret := freshSecret()
	return launch(t, n, scenario, func(o *order) { o.Reporter, o.Secret = true, secret })
}

// beWatched checks that the application sees no child process, then waits for a loss.
func beWatched(r *rank) {
	if pid, err := unix.Wait4(-1, nil, unix.WNOHANG|unix.WALL, nil); !errors.Is(err,
		unix.ECHILD) {
		r.Errorf("a child: %d, %v", pid, err)
	}
	waitToDie(r)
}

// claimAndExit: local rank 1 claims the report of the job's end and exits.
func claimAndExit(r *rank) {
	r.World().Barrier()
	if r.Self() == 1 {
		if !r.ClaimNodeReport() || !r.ClaimMachineReport() {
			r.Errorf("another process has the claim")
		}
		os.Exit(1)
	}
	r.report()
}

// leaveAlone: local rank 1 exits without finalising.
func leaveAlone(r *rank) {
	r.World().Barrier()
	if r.Self() == 1 {
		r.Leave(false)
		os.Exit(0)
	}
	waitToDie(r)
}

// kill returns when the process is dead, as a launcher knows it, but lets its exit status be.
func (p *process) kill(t *testing.T) {
	t.Helper()
	p.cmd.Process.Kill()
	if err := unix.Waitid(unix.P_PID, p.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT,
		nil); err != nil {
		t.Fatal(err)
	}
}

func (p *process) deathText() string { return deathText(worldRank(p.Local), p.cmd.Process.Pid) }

// reporterOf finds the directory of a job's reporter under /proc.
func reporterOf(t *testing.T, p *process) string {
	t.Helper()
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		name, _ := os.ReadFile(dir + "/comm")
		line, _ := os.ReadFile(dir + "/cmdline")
		if string(name) == reporterName+"\n" && strings.Contains(string(line),
			p.deathText()) {
			return dir
		}
	}
	return ""
}

// checkFirst kills the victim, and all others right after it: the reporter, which writes to the
// standard error of the first process, must name the victim alone.
func checkFirst(t *testing.T, all []*process, victim int) {
	t.Helper()
	for _, p := range all {
		p.readLine(t)
	}
	all[victim].kill(t)
	for _, p := range all {
		p.cmd.Process.Kill()
	}
	for _, p := range all {
		p.awaitExit(t, true)
	}
	got := all[0].err.String()
	want := "] " + all[victim].deathText() + ": the job ends\n"
	if !strings.Contains(got, want) || strings.Count(got, "\n") != 1 {
		t.Errorf("victim %d: %q", victim, got)
	}
}

func TestReporterNamesTheFirst(t *testing.T) {
	leaktest.Check(t)
	for victim := range 4 {
		all := watched(t, 4, "be watched")
		checkFirst(t, all, victim)
	}
}

// The reporter holds only standard error of the leader's files, and is in no process group of a
// rank.
func TestReporterInheritsNothing(t *testing.T) {
	leaktest.Check(t)
	all := watched(t, 3, "be watched")
	for _, p := range all {
		p.readLine(t)
	}
	dir := reporterOf(t, all[0])
	if dir == "" {
		t.Fatal("there is none")
	}
	fds, _ := os.ReadDir(dir + "/fd")
	var open []string
	for _, fd := range fds {
		to, _ := os.Readlink(dir + "/fd/" + fd.Name())
		open = append(open, fd.Name()+" "+strings.Split(to, ":")[0])
	}
	if got := strings.Join(open,
		", "); got != "0 anon_inode, 2 pipe, 3 socket, 4 socket, 5 socket" {
		t.Errorf("open: %s", got)
	}
	var pid int
	fmt.Sscanf(filepath.Base(dir), "%d", &pid)
	if group, err := unix.Getpgid(pid); err != nil || group == unix.Getpgrp() {
		t.Errorf("process group %d, %v", group, err)
	}
	for _, p := range all {
		p.kill(t)
		p.awaitExit(t, true)
	}
	for tries := 0; reporterOf(t, all[0]) != ""; tries++ { // it keeps its claim for a second
		if time.Sleep(50 * time.Millisecond); tries > 100 {
			t.Fatal("it outlives the ranks")
		}
	}
}

// The reporter prints nothing after a clean end, nor when a rank has claimed the report.
func TestReporterIsSilent(t *testing.T) {
	leaktest.Check(t)
	for _, p := range watched(t, 4, "leave") {
		p.awaitExit(t, false)
		if p.err.Len() > 0 {
			t.Errorf("after a clean end: %q", p.err.String())
		}
	}
	all := watched(t, 3, "tell")
	all[1].awaitExit(t, true)
	for i, p := range all {
		if i != 1 { // the leader first: the others see no end but its
			p.readLine(t)
			p.writeLine("end")
			p.awaitExit(t, false)
		}
		if p.err.Len() > 0 {
			t.Errorf("a rank had the claim: %q", p.err.String())
		}
	}
}

// Two nodes of a machine share a reporter, which sees the first death even if all other ranks are
// killed right after it.
func TestOneReporterOfAMachine(t *testing.T) {
	leaktest.Check(t)
	for victim := range 4 {
		secret := freshSecret()
		node := func(number int, base uintptr) []*process {
			return launch(t, 2, "be watched", func(o *order) {
				o.Reporter, o.Secret, o.Base, o.Node, o.Ranks = true, secret, base,
					number, 4
			})
		}
		all := append(node(0, testBase), node(1, testBase+2*testArena)...)
		checkFirst(t, all, victim)
		if got := all[2].err.String(); got != "" {
			t.Errorf("victim %d: the other node says %q", victim, got)
		}
	}
}

// A leader that finds no reporter of the machine starts one for its node.
func TestReporterOfANodeAlone(t *testing.T) {
	leaktest.Check(t)
	secret := freshSecret()
	all := launch(t, 2, "be watched", func(o *order) {
		o.Reporter, o.Secret, o.Node,
			o.Ranks = true, secret, 1, 4
	})
	for _, p := range all {
		p.readLine(t)
	}
	all[1].kill(t)
	all[0].kill(t)
	all[1].awaitExit(t, true)
	all[0].awaitExit(t, true)
	if got := all[0].err.String(); !strings.Contains(got, all[1].deathText()) {
		t.Errorf("%q", got)
	}
}

// A rank that has left without finalising is named too: the launcher may have ended the others for
// it.
func TestReporterNamesTheLeaver(t *testing.T) {
	leaktest.Check(t)
	all := watched(t, 3, "leave alone")
	all[0].readLine(t)
	all[2].readLine(t)
	all[1].awaitExit(t, false)
	all[2].kill(t)
	all[0].kill(t)
	all[2].awaitExit(t, true)
	all[0].awaitExit(t, true)
	left := strings.Index(all[0].err.String(), all[1].deathText())
	dead := strings.Index(all[0].err.String(), all[2].deathText())
	if left < 0 || dead < left {
		t.Errorf("%q", all[0].err.String())
	}
}
