// SPDX-License-Identifier: BSD-3-Clause

// Tests of whole jobs: real processes, what they print, how they end, and that
// nothing is left.

package launch

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"libarmci/internal/testutil/leaktest"
)

// short is a fraction of the usual times, but for what a busy machine needs.
var short = times{
	judging:  50 * time.Millisecond,
	grace:    300 * time.Millisecond,
	signaled: 300 * time.Millisecond,
	asked:    200 * time.Millisecond,
	killed:   5 * time.Second,
}

// run is a job whose output is collected.
type run struct {
	*Job
	out    *os.File // what the ranks write
	report bytes.Buffer
}

// begin starts a job of this test program with a program of rankPrograms.
func begin(t *testing.T, o Options, program ...string) *run {
	t.Helper()
	leaktest.Check(t)
	out, err := os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	r := &run{out: out}
	o.Argv = append([]string{os.Args[0], "as-rank"}, program...)
	o.Stdout, o.Stderr, o.Report = out, out, &r.report
	// ranks built for the race detector end at once
	o.Env = append(o.Env, "GORACE=atexit_sleep_ms=0")
	if r.Job, err = Start(o); err != nil {
		t.Fatal(err)
	}
	r.times = short
	return r
}

func (r *run) output(t *testing.T) string {
	t.Helper()
	text, err := io.ReadAll(io.NewSectionReader(r.out, 0, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// awaitReady returns when every rank has printed that it is ready for signals.
func (r *run) awaitReady(t *testing.T) {
	t.Helper()
	end := time.Now().Add(10 * time.Second)
	for strings.Count(r.output(t), "ready") < r.options.Ranks {
		if time.Now().After(end) {
			t.Fatalf("ranks are not ready: %q", r.output(t))
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (r *run) lines(t *testing.T) []string {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(r.output(t), "\n"), "\n")
	slices.Sort(lines)
	return lines
}

// waitAndCheck waits and checks status, report, and that no rank is left.
func (r *run) waitAndCheck(t *testing.T, status int, report string) {
	t.Helper()
	if got := r.Wait(); got != status {
		t.Errorf("status %d, want %d", got, status)
	}
	if got := r.report.String(); got != report {
		t.Errorf("reported %q, want %q", got, report)
	}
	for _, c := range r.children {
		if syscall.Kill(c.pid, 0) == nil {
			t.Errorf("%s still runs", c)
		}
	}
	if t.Failed() {
		t.Log(r.output(t))
	}
}

func (r *run) line(rank int, how string) string {
	return fmt.Sprintf("armcirun: %s %s\n", r.children[rank], how)
}

// All ranks of a job exchange strings.
func TestRanksMeet(t *testing.T) {
	r := begin(t, Options{Ranks: 5}, "meet")
	r.waitAndCheck(t, 0, "")
	want := []string{"rank 0 met 5", "rank 1 met 5", "rank 2 met 5", "rank 3 met 5",
		"rank 4 met 5"}
	if got := r.lines(t); !slices.Equal(got, want) {
		t.Errorf("printed %q", got)
	}
}

// Ranks may exit with status 0 without ARMCI_Finalize.
func TestEndingWithoutFinalizeIsNoError(t *testing.T) {
	begin(t, Options{Ranks: 2}, "exit", "0").waitAndCheck(t, 0, "")
}

// The exit status is that of the rank that has failed first.
func TestFirstFailureCounts(t *testing.T) {
	r := begin(t, Options{Ranks: 3}, "fail", "1")
	r.waitAndCheck(t, 3, r.line(1, "exited with status 3"))
}

// A rank that is killed is reported with its signal.
func TestKilledRank(t *testing.T) {
	r := begin(t, Options{Ranks: 4}, "raise", "2")
	r.waitAndCheck(t, 128+9, r.line(2, "killed by signal 9 (killed)"))
}

// A rank that ends without a word while others are in the job fails it, though its status is 0. The
// line names its node.
func TestRankThatEndsWithoutFinalize(t *testing.T) {
	r := begin(t, Options{Ranks: 3, Nodes: 3}, "vanish", "2")
	began := time.Now()
	r.waitAndCheck(t, 1, r.line(2, "ended with status 0, but without ARMCI_Finalize"))
	if took := time.Since(began); took > aLongTime/2 {
		t.Errorf("the job has ended after %v", took)
	}
	if want := "on node2) "; !strings.Contains(r.report.String(), want) {
		t.Errorf("reported %q, which lacks %q", r.report.String(), want)
	}
}

// The exit status of an aborted job is that of the abort.
func TestAbortedJob(t *testing.T) {
	r := begin(t, Options{Ranks: 3}, "abort", "2")
	r.waitAndCheck(t, 42, r.line(2, "aborted the job with status 42"))
}

// Ranks that ignore SIGTERM are killed, but not before their time.
func TestRanksThatIgnoreSIGTERM(t *testing.T) {
	r := begin(t, Options{Ranks: 3}, "deaf")
	began := time.Now()
	r.waitAndCheck(t, 5, r.line(0, "exited with status 5"))
	if least := short.judging + short.grace + short.asked; time.Since(began) < least {
		t.Errorf("killed after %v, should have had %v", time.Since(began), least)
	}
}

// A job with a stopped rank ends when another one fails.
func TestStoppedRankIsKilled(t *testing.T) {
	r := begin(t, Options{Ranks: 2}, "sleep")
	syscall.Kill(r.children[1].cmd.Process.Pid, syscall.SIGSTOP)
	syscall.Kill(r.children[0].cmd.Process.Pid, syscall.SIGABRT)
	r.Wait()
	if !strings.HasPrefix(r.report.String(), "armcirun: rank 0 (pid ") {
		t.Errorf("reported %q", r.report.String())
	}
}

// Processes that ranks have started end with the job.
func TestWhatRanksStartedEndsToo(t *testing.T) {
	r := begin(t, Options{Ranks: 2}, "parent")
	if got := r.Wait(); got == 0 {
		t.Error("status 0")
	}
	leaktest.AllEnd(t, r.pids(t, 2))
}

// pids are those that ranks have printed.
func (r *run) pids(t *testing.T, n int) (pids []int) {
	t.Helper()
	for _, line := range r.lines(t) {
		var pid int
		if n, _ := fmt.Sscanf(line, "pid %d", &pid); n == 1 {
			pids = append(pids, pid)
		}
	}
	if len(pids) != n {
		t.Errorf("printed %q", r.output(t))
	}
	return pids
}

// Rank 0 reads the standard input, the others an empty one.
func TestOnlyRankZeroReadsStdin(t *testing.T) {
	in, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	w.WriteString("for zero")
	w.Close()
	r := begin(t, Options{Ranks: 2, Streams: Streams{Stdin: in}}, "stdin")
	r.waitAndCheck(t, 0, "")
	if got := r.lines(t); !slices.Equal(got, []string{`rank 0 read "for zero" <nil>`,
		`rank 1 read "" <nil>`}) {
		t.Errorf("printed %q", got)
	}
}

// Ranks are divided into pretended nodes in blocks.
func TestPretendedNodes(t *testing.T) {
	r := begin(t, Options{Ranks: 5, Nodes: 2}, "node")
	r.waitAndCheck(t, 0, "")
	want := []string{"rank 0 is on node0", "rank 1 is on node0", "rank 2 is on node0",
		"rank 3 is on node1", "rank 4 is on node1"}
	if got := r.lines(t); !slices.Equal(got, want) {
		t.Errorf("printed %q", got)
	}
}

// Signals to the launcher reach all ranks.
func TestSignalsAreForwarded(t *testing.T) {
	for _, c := range []struct {
		signal syscall.Signal
		status int
		report string
	}{
		{syscall.SIGINT, 130, "armcirun: received signal 2 (interrupt)\n"},
		{syscall.SIGTERM, 143, "armcirun: received signal 15 (terminated)\n"},
		{syscall.SIGUSR1, 0, ""},
	} {
		r := begin(t, Options{Ranks: 2}, "obey")
		r.awaitReady(t)
		r.Signal(c.signal)
		r.waitAndCheck(t, c.status, c.report)
		if got := strings.Count(r.output(t), c.signal.String()); got != 2 {
			t.Errorf("%v: printed %q", c.signal, r.output(t))
		}
	}
}

// Ranks that ignore a signal are killed, but not before their time.
func TestSignalToRanksThatDoNotEnd(t *testing.T) {
	r := begin(t, Options{Ranks: 2}, "stay")
	r.awaitReady(t)
	began := time.Now()
	r.Signal(syscall.SIGHUP)
	r.waitAndCheck(t, 129, "armcirun: received signal 1 (hangup)\n")
	if least := short.signaled + short.asked; time.Since(began) < least {
		t.Errorf("killed after %v, should have had %v", time.Since(began), least)
	}
}

// A second signal ends the job at once.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	r := begin(t, Options{Ranks: 2}, "stay")
	r.times.signaled = time.Minute
	r.awaitReady(t)
	r.Signal(syscall.SIGINT)
	r.Signal(syscall.SIGINT)
	r.waitAndCheck(t, 130, "armcirun: received signal 2 (interrupt)\n")
}

// A program that cannot be started is an error of Start.
func TestProgramThatCannotBeStarted(t *testing.T) {
	leaktest.Check(t)
	for _, program := range []string{"no-such-program-anywhere", "/", "./launch_test.go"} {
		if _, err := Start(Options{Ranks: 2, Argv: []string{program}}); err == nil {
			t.Errorf("%s: no error", program)
		}
	}
}
