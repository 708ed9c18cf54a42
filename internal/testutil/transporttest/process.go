// SPDX-License-Identifier: BSD-3-Clause

// A peer that is a process of its own, which a test can kill or stop. It is the test's own program,
// started with the argument "peer"; the test says what the program then does.
package transporttest

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"libarmci/internal/testutil/leaktest"
)

// Greeting is the first output of a peer.
type Greeting struct {
	Addr []byte
	Base uintptr
}

// Greet writes the greeting and waits for Process.End. The peer calls it, and exits when it
// returns.
func Greet(g Greeting) {
	json.NewEncoder(os.Stdout).Encode(g)
	io.Copy(io.Discard, os.Stdin)
}

// Process is the test's handle of a peer.
type Process struct {
	Greeting
	cmd *exec.Cmd
	in  io.WriteCloser
}

// StartPeer starts a peer and waits for its greeting. The peer ends with the test.
func StartPeer(t testing.TB) *Process {
	t.Helper()
	p := &Process{cmd: exec.Command(os.Args[0], "peer")}
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.in, p.cmd.Stderr = in, os.Stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.End)
	if err := json.NewDecoder(out).Decode(&p.Greeting); err != nil {
		t.Fatalf("the peer does not greet: %v", err)
	}
	return p
}

// End has the peer close its transport and exit, and waits for that.
func (p *Process) End() {
	p.in.Close()
	p.cmd.Wait()
}

// Stop suspends the process (SIGSTOP) and waits until it is stopped.
func (p *Process) Stop() {
	p.Signal(syscall.SIGSTOP)
	for leaktest.State(p.cmd.Process.Pid) != "T" {
		time.Sleep(time.Millisecond)
	}
}

// Signal sends it a signal.
func (p *Process) Signal(s syscall.Signal) { p.cmd.Process.Signal(s) }
