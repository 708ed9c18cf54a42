// SPDX-License-Identifier: BSD-3-Clause

// One rank's process, here or on another host: how it is started and signalled,
// and how it ended.

package launch

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// child is a rank's process. On another host its proxy holds cmd.
type child struct {
	rank   int
	pid    int
	host   *host // nil: this machine
	cmd    *exec.Cmd
	status syscall.WaitStatus // once it has ended
	lost   string             // why its status is unknown
	output func()             // writes what is left of its output; nil: that is not ours
	ended  chan struct{}      // closed when the event of its end has been queued
}

func (c *child) String() string {
	if c.host != nil {
		return fmt.Sprintf("rank %d (pid %d on %s)", c.rank, c.pid, c.host.name)
	}
	return fmt.Sprintf("rank %d (pid %d)", c.rank, c.pid)
}

// spec describes a rank's process.
type spec struct {
	argv           []string
	env            []string // added to this process's
	stdin          *os.File // of rank 0
	stdout, stderr *os.File
	group          bool    // leads a process group, so that everything it starts can be ended with it
	lines          *output // its output is written by lines with its rank; nil: left as it is
}

// start starts a rank. The calling thread must not end: the child is killed when
// it does.
func (s *spec) start(rank int, env ...string) (*child, error) {
	cmd := exec.Command(s.argv[0], s.argv[1:]...)
	cmd.Env = append(append(cmd.Environ(), s.env...), env...)
	if rank == 0 && s.stdin != nil {
		cmd.Stdin = s.stdin
	}
	output := s.lines.connect(cmd, label(rank), s.stdout, s.stderr)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: s.group, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &child{rank: rank, pid: cmd.Process.Pid, cmd: cmd, output: output, ended: make(chan struct{})}, nil
}

// wait returns when the process has ended.
func (c *child) wait() {
	c.cmd.Wait() // the process state has the same information as the error
	c.output()
	if ws, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus); ok {
		c.status = ws
	} else {
		c.lost = "was lost"
	}
}

// startRank starts a rank here, in a process group of its own. At a terminal
// that we read from, the ranks stay in our group instead: only the foreground
// group may read, and Ctrl-C and Ctrl-Z reach all of it from the kernel.
func (j *Job) startRank(rank int) (*child, error) {
	o := &j.options
	s := spec{argv: o.Argv, env: o.Env, stdin: o.Stdin, stdout: o.Stdout, stderr: o.Stderr, group: j.groups, lines: j.lines}
	env := j.server.Env(0, rank)
	if name := nodeName(*o, rank); name != "" {
		env = append(env, "ARMCI_NODE="+name)
	}
	return s.start(rank, env...)
}

// nodeName is the pretended node of a rank: ranks in blocks as equal as possible, or in turn.
func nodeName(o Options, rank int) string {
	if o.Nodes == 0 {
		return ""
	}
	if o.Cyclic {
		return fmt.Sprintf("node%d", rank%o.Nodes)
	}
	if o.PerNode > 0 {
		return fmt.Sprintf("node%d", rank/o.PerNode)
	}
	return fmt.Sprintf("node%d", rank*o.Nodes/o.Ranks)
}

func node(o Options, rank int) string {
	if name := nodeName(o, rank); name != "" {
		return " on " + name
	}
	return ""
}

// signal reaches the process and, if it leads a group, all of the group. A
// group can outlive its leader; an ended process is not signalled. Ranks on
// other hosts are signalled host by host.
func (c *child) signal(s os.Signal, group bool) {
	switch {
	case c.host != nil:
	case group:
		syscall.Kill(-c.pid, s.(syscall.Signal))
	default:
		c.cmd.Process.Signal(s)
	}
}

// groupAlive tells whether processes are left in the group that a rank led.
func (c *child) groupAlive() bool {
	return c.host == nil && syscall.Kill(-c.pid, 0) == nil
}

func signalAll(children []*child, s os.Signal, group bool) {
	for _, c := range children {
		c.signal(s, group)
	}
}

// describe says how a process ended, as os.ProcessState does.
func (c *child) describe() string {
	switch {
	case c.lost != "":
		return c.lost
	case c.status.Signaled():
		return "signal: " + c.status.Signal().String()
	}
	return fmt.Sprintf("exit status %d", c.status.ExitStatus())
}
