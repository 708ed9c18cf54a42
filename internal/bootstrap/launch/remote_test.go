// SPDX-License-Identifier: BSD-3-Clause

// Tests of jobs on several hosts, which are all this one: an agent that only runs
// the command stands in for ssh. Real hosts are in tests/hosts.

package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"libarmci/internal/testutil/leaktest"
)

// twoHosts is a job on two hosts.
func twoHosts() Remote {
	return Remote{Hosts: []Host{{Name: "127.0.0.1"}, {Name: "localhost"}},
		Agent: []string{os.Args[0], "as-agent"},
		Proxy: []string{os.Args[0], "as-proxy"}, Env: []string{"GORACE=atexit_sleep_ms=0"}}
}

// The ranks of several hosts exchange strings, and are placed in blocks.
func TestHostsMeet(t *testing.T) {
	r := begin(t, Options{Ranks: 5, Remote: twoHosts()}, "meet")
	r.waitAndCheck(t, 0, "")
	want := []string{"rank 0 met 5", "rank 1 met 5", "rank 2 met 5", "rank 3 met 5",
		"rank 4 met 5"}
	if got := r.lines(t); !slices.Equal(got, want) {
		t.Errorf("printed %q", got)
	}
	names := []string{}
	for _, c := range r.children {
		names = append(names, c.host.name)
	}
	if want := []string{"127.0.0.1", "127.0.0.1", "127.0.0.1", "localhost",
		"localhost"}; !slices.Equal(names, want) {
		t.Errorf("placed on %q", names)
	}
}

// Failures of ranks on hosts are reported as those of ranks here.
func TestFailuresOnHosts(t *testing.T) {
	for _, c := range []struct {
		program, arg string
		status       int
		how          string
	}{
		{"fail", "1", 3, "exited with status 3"},
		{"raise", "2", 128 + 9, "killed by signal 9 (killed)"},
		{"abort", "2", 42, "aborted the job with status 42"},
		{"deaf", "0", 5, "exited with status 5"},
		{"vanish", "2", 1, "ended with status 0, but without ARMCI_Finalize"},
	} {
		r := begin(t, Options{Ranks: 3, Remote: twoHosts()}, c.program, c.arg)
		r.waitAndCheck(t, c.status, r.line(number(c.arg), c.how))
	}
}

// Processes that ranks on hosts have started end with the job.
func TestWhatRanksOnHostsStartedEndsToo(t *testing.T) {
	r := begin(t, Options{Ranks: 2, Remote: twoHosts()}, "parent")
	if got := r.Wait(); got == 0 {
		t.Error("status 0")
	}
	leaktest.AllEnd(t, r.pids(t, 2))
}

// A proxy that dies takes its ranks with it, and the others end.
func TestKilledProxy(t *testing.T) {
	r := begin(t, Options{Ranks: 4, Remote: twoHosts()}, "stay")
	r.awaitReady(t)
	pgid := r.hosts[1].agent.Process.Pid
	syscall.Kill(-pgid, syscall.SIGKILL)
	status, want := r.Wait(), r.line(2, "was lost with its host: its connection has ended")
	if status != 1 || r.report.String() != want {
		t.Errorf("status %d, reported %q, want %q", status, r.report.String(), want)
	}
	var pids []int
	for _, c := range r.children {
		pids = append(pids, c.pid)
	}
	leaktest.AllEnd(t, pids)
}

// What the proxy prints when armcirun goes is its own matter: that its ranks end is tested here.
func TestProxyAlone(t *testing.T) {
	r := begin(t, Options{Ranks: 2, Remote: twoHosts()}, "stay")
	r.awaitReady(t)
	for _, h := range r.hosts {
		h.writing.Lock()
		h.conn.(*net.TCPConn).CloseWrite()
		h.writing.Unlock()
	}
	if got := r.Wait(); got == 0 {
		t.Error("status 0")
	}
	if got := strings.Count(r.output(t), "the connection to armcirun has ended"); got != 2 {
		t.Errorf("%d proxies noticed: %s", got, r.output(t))
	}
}

// Signals to the launcher reach the ranks on all hosts.
func TestSignalsToHosts(t *testing.T) {
	for s, status := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGUSR1: 0} {
		r := begin(t, Options{Ranks: 3, Remote: twoHosts()}, "obey")
		r.awaitReady(t)
		r.Signal(s)
		if got := r.Wait(); got != status {
			t.Errorf("%v: status %d", s, got)
		}
		if got := strings.Count(r.output(t), s.String()); got < 3 {
			t.Errorf("%v: printed %q", s, r.output(t))
		}
	}
}

// Rank 0 on a host reads the standard input of the launcher.
func TestStdinOfRankZeroOnAHost(t *testing.T) {
	in, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	w.WriteString("for zero\nand more")
	w.Close()
	r := begin(t, Options{Ranks: 2, Streams: Streams{Stdin: in}, Remote: twoHosts()}, "stdin")
	r.waitAndCheck(t, 0, "")
	if got := r.lines(t); !slices.Equal(got, []string{`rank 0 read "for zero\nand more" <nil>`,
		`rank 1 read "" <nil>`}) {
		t.Errorf("printed %q", got)
	}
}

// Arguments, variables and directories may have any bytes but zero, on hosts as here.
func TestBytesReachHosts(t *testing.T) {
	const odd = "\xff\xfe a\x80'\"\\ \u00e9\n"
	dir := filepath.Join(t.TempDir(), odd)
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	want := fmt.Sprintf("%+q %+q %+q", odd, odd+"=", odd)
	for _, remote := range []Remote{{}, twoHosts()} {
		r := begin(t, Options{Ranks: 2, Remote: remote,
			Env: []string{"LAUNCH_TEST_BYTES=" + odd + "="}}, "bytes", odd)
		r.waitAndCheck(t, 0, "")
		if got := r.lines(t); !slices.Equal(got, []string{want, want}) {
			t.Errorf("%d hosts: printed %q, want %q twice", len(remote.Hosts), got,
				want)
		}
	}
}

// A host on which the ranks cannot be started is an error of Start that says why.
func TestHostsThatCannotStart(t *testing.T) {
	leaktest.Check(t)
	failing := func(change func(*Options)) error {
		o := Options{Ranks: 2, Argv: []string{"true"}, Remote: twoHosts()}
		change(&o)
		_, err := Start(o)
		if err == nil {
			t.Fatal("started")
		}
		return err
	}
	err := failing(func(o *Options) { o.Argv = []string{"no-such-program-anywhere"} })
	if !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "host ") {
		t.Errorf("no such program: %v", err)
	}
	err = failing(func(o *Options) { o.Remote.Agent = []string{"false"} })
	if !strings.Contains(err.Error(),
		"false has ended before any rank was started: exit status 1") {
		t.Errorf("an agent that fails: %v", err)
	}
	err = failing(func(o *Options) { o.Remote.Hosts[1].Name = "no-such-host.invalid" })
	if !strings.Contains(err.Error(), "-interface says") {
		t.Errorf("no such host: %v", err)
	}
	err = failing(func(o *Options) { o.Remote.Interface = "no-such-interface" })
	if !strings.Contains(err.Error(), "no interface, network or address of this host") {
		t.Errorf("no such interface: %v", err)
	}
	err = failing(func(o *Options) { o.Remote.PerHost, o.Ranks = 1, 3 })
	if !strings.Contains(err.Error(), "more than the hosts take (2)") {
		t.Errorf("too many ranks: %v", err)
	}
}

// A stranger without the secret starts nothing, and a signal ends the waiting for hosts that
// never answer.
func TestSilentAgent(t *testing.T) {
	leaktest.Check(t)
	remote := twoHosts()
	remote.Agent = []string{"sh", "-c", "exec sleep 60"}
	signals := make(chan os.Signal, 1)
	time.AfterFunc(50*time.Millisecond, func() { signals <- syscall.SIGTERM })
	_, err := Start(Options{Ranks: 2, Argv: []string{"true"}, Remote: remote, Signals: signals})
	if stopped := (Interrupted{}); !errors.As(err, &stopped) ||
		stopped.Signal != syscall.SIGTERM {
		t.Errorf("%v", err)
	}
}
