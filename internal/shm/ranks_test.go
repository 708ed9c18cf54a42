// SPDX-License-Identifier: BSD-3-Clause

// Ranks of a test are processes: this test binary, started again. A test names a scenario; every
// rank joins the node and runs it. What a rank finds wrong it prints, and its exit status fails the
// test.
package shm

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"libarmci/internal/tcp"
	"libarmci/internal/testutil/leaktest"
	"libarmci/internal/transport"
)

const (
	testBase  = 0x400000000000 // the default: neither heaps nor the race detector lie there
	testArena = 4 << 30
	patience  = 60 * time.Second // of a test with its ranks, on a busy machine
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "rank" {
		os.Exit(rankMain())
	}
	os.Exit(m.Run())
}

// order is the parent's instruction to a rank.
type order struct {
	Scenario  string
	Listeners []string
	Self      int
	Secret    []byte
	Arena     int64
	Base      uintptr
	Keep      int64
	Margin    int64
	Reporter  bool
	Node      int // of the network namespace
	Ranks     int // of the network namespace, 0: those of the node
	NoVM      bool
	Asked     bool // other hosts may ask the reporter
}

const testWorld = 100 // ranks of the job, of which most are elsewhere

// worldRank differs from the local number, so that mixing them up is found.
func worldRank(local int) transport.Rank { return transport.Rank(3*local + 2) }

// options are the Options that the order stands for.
func (o *order) options() Options {
	ranks := make([]transport.Rank, len(o.Listeners))
	for i := range ranks {
		ranks[i] = worldRank(i)
	}
	return Options{Ranks: ranks, Listeners: o.Listeners, Self: o.Self, World: testWorld,
		Secret: o.Secret, MemoryOptions: MemoryOptions{Arena: o.Arena, Base: o.Base,
			Keep: o.Keep, Margin: o.Margin, NoVM: o.NoVM},
		MachineOptions:  MachineOptions{NetnsNode: o.Node, NetnsRanks: o.Ranks},
		ReporterOptions: ReporterOptions{Reporter: o.Reporter, Inquiries: o.inquiries()}}
}

func (o *order) inquiries() Inquiries {
	if !o.Asked {
		return nil
	}
	return tcp.Inquiries{Options: tcp.Options{Interface: "lo"}}
}

// rank is the environment of a scenario, and the testing.TB of its process.
type rank struct {
	testing.TB
	*Node
	order    order
	listener *Listener
	parent   *bufio.Scanner
	lost     chan string // "rank N: reason"
	cleanups []func()
	failed   bool
	mu       sync.Mutex
}

func (r *rank) Helper()          {}
func (r *rank) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }
func (r *rank) Failed() bool     { return r.failed }
func (r *rank) Errorf(format string, a ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = true
	fmt.Fprintf(os.Stderr, "local rank %d: %s\n", r.order.Self, fmt.Sprintf(format, a...))
}
func (r *rank) Error(a ...any) { r.Errorf("%s", fmt.Sprint(a...)) }
func (r *rank) Fatal(a ...any) { r.Fatalf("%s", fmt.Sprint(a...)) }
func (r *rank) Fatalf(format string, a ...any) {
	r.Errorf(format, a...)
	os.Exit(1)
}

// writeLine writes a line to the parent, readLine reads a line from it.
func (r *rank) writeLine(format string, a ...any) { fmt.Printf(format+"\n", a...) }
func (r *rank) readLine() string {
	r.parent.Scan()
	return r.parent.Text()
}

// join is Join with Lost going to a channel.
func (r *rank) join() error {
	opt := r.order.options()
	opt.Lost = func(who transport.Rank, reason string) {
		r.lost <- fmt.Sprintf("rank %d: %s",
			who, reason)
	}
	m, err := r.listener.Join(opt)
	r.Node = m
	return err
}

// rankMain runs a scenario as a rank: it reads its order, joins the node, and leaves it cleanly if
// the scenario returns. It returns the exit status.
func rankMain() int {
	r := &rank{parent: bufio.NewScanner(os.Stdin), lost: make(chan string, 10)}
	leaktest.Check(r)
	var err error
	if r.listener, err = Listen(); err != nil {
		r.Fatal(err)
	}
	r.writeLine("%s", r.listener.Name)
	if err := json.Unmarshal([]byte(r.readLine()), &r.order); err != nil {
		r.Fatal(err)
	}
	run, ok := scenarios[r.order.Scenario]
	if !ok {
		if err := r.join(); err != nil {
			r.Fatal(err)
		}
		run = joined[r.order.Scenario]
	}
	run(r)
	if r.Node != nil {
		r.World().Barrier()
		r.Leave(true)
		select {
		case who := <-r.lost:
			r.Errorf("reported lost: %s", who)
		default:
		}
	}
	r.listener.Close()
	for _, f := range r.cleanups {
		f()
	}
	if r.failed {
		return 1
	}
	return 0
}

// process is a rank as its parent sees it.
type process struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Scanner
	err   bytes.Buffer
	Local int
}

func (p *process) readLine(t testing.TB) string {
	t.Helper()
	if !p.out.Scan() {
		t.Fatalf("local rank %d has ended: %s", p.Local, p.err.String())
	}
	return p.out.Text()
}

func (p *process) writeLine(line string) { fmt.Fprintln(p.in, line) }

// awaitExit waits for the process; it must succeed unless it was meant to be killed.
func (p *process) awaitExit(t testing.TB, killed bool) {
	t.Helper()
	stacks := time.AfterFunc(patience, func() { p.cmd.Process.Signal(syscall.SIGQUIT) })
	defer stacks.Stop()
	for p.out.Scan() { // Wait wants the output read
	}
	err := p.cmd.Wait()
	if err != nil && !killed || killed && err == nil {
		t.Errorf("local rank %d: %v\n%s", p.Local, err, p.err.String())
	}
}

// start starts n processes that wait for their order. first is the local number of the first one.
func start(t testing.TB, first, n int) []*process {
	t.Helper()
	all := make([]*process, n)
	for i := range all {
		p := &process{cmd: exec.Command(os.Args[0], "rank"), Local: first + i}
		in, err := p.cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		p.in, p.out, p.cmd.Stderr = in, bufio.NewScanner(out), &p.err
		// a second for every process otherwise
		p.cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
		p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := p.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if p.cmd.ProcessState == nil {
				p.cmd.Process.Kill()
				p.cmd.Wait()
			}
		})
		all[i] = p
	}
	return all
}

// launch starts n ranks in a scenario; change may alter a rank's order.
func launch(t testing.TB, n int, scenario string, change func(*order)) []*process {
	t.Helper()
	all := start(t, 0, n)
	o := order{Scenario: scenario, Secret: testSecret(), Arena: testArena, Base: testBase,
		Keep: 8 << 20, Margin: 16 << 20}
	for _, p := range all {
		o.Listeners = append(o.Listeners, p.readLine(t))
	}
	for i, p := range all {
		mine := o
		mine.Self = i
		if change != nil {
			change(&mine)
		}
		p.order(t, mine)
	}
	return all
}

func (p *process) order(t testing.TB, o order) {
	t.Helper()
	line, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	p.writeLine(string(line))
}

func testSecret() []byte { return []byte(strings.Repeat("s", secretLen)) }

// freshSecret is the secret of a job of its own, which does not share its reporter's claim.
func freshSecret() []byte {
	secret := make([]byte, secretLen)
	rand.Read(secret)
	return secret
}

// launchBeside launches n ranks of a job that may run beside others.
func launchBeside(t *testing.T, n int, scenario string) []*process {
	t.Helper()
	secret := freshSecret()
	return launch(t, n, scenario, func(o *order) { o.Secret = secret })
}

// run launches n ranks and waits for their success.
func run(t *testing.T, n int, scenario string) {
	t.Helper()
	for _, p := range launch(t, n, scenario, nil) {
		p.awaitExit(t, false)
	}
}
