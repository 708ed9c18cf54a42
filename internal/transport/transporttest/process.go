// SPDX-License-Identifier: BSD-3-Clause

// A peer that is a process of its own, for what cannot be done to a goroutine: to kill it, to stop
// it. It is the test's own program, started with the argument "peer"; what it does then is the
// test's.
package transporttest

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"libarmci/internal/bootstrap/leaktest"
)

// Greeting is what a peer says first.
type Greeting struct {
	Addr []byte
	Base uintptr
}

// Greet is called by the peer, which may end when it returns.
func Greet(g Greeting) {
	json.NewEncoder(os.Stdout).Encode(g)
	io.Copy(io.Discard, os.Stdin)
}

// Process is a peer as the test sees it.
type Process struct {
	Greeting
	cmd *exec.Cmd
	in  io.WriteCloser
}

// StartPeer starts one and waits for its greeting. It ends with the test.
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

// End lets the peer close its transport and end.
func (p *Process) End() {
	p.in.Close()
	p.cmd.Wait()
}

// Stop stops the process and waits until it has.
func (p *Process) Stop() {
	p.Signal(syscall.SIGSTOP)
	for leaktest.State(p.cmd.Process.Pid) != "T" {
		time.Sleep(time.Millisecond)
	}
}

// Signal sends it a signal.
func (p *Process) Signal(s syscall.Signal) { p.cmd.Process.Signal(s) }
