// SPDX-License-Identifier: BSD-3-Clause

// One rank's process, here or on another host: how it is started and signalled,
// and how it ended.

package launch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// child is a rank's process. On another host its proxy holds cmd.
type child struct {
	rank   int
	pid    int
	host   *host  // nil: this machine
	where  string // name of its host, or of its pretended node
	cmd    *exec.Cmd
	status syscall.WaitStatus // once it has ended
	lost   string             // why its status is unknown
	leads  bool               // a process group of its own
	output func()             // writes what is left of its output; nil: that is not ours
	ended  chan struct{}      // closed when the event of its end has been queued
}

func (c *child) String() string {
	return fmt.Sprintf("rank %d (pid %d on %s)", c.rank, c.pid, c.where)
}

// spec describes a rank's process.
type spec struct {
	argv           []string
	env            []string // added to this process's
	stdin          *os.File // of the reader
	reader         int      // a rank
	debugged       bool     // the reader runs under a debugger
	stdout, stderr *os.File
	// leads a process group, so that everything it starts can be ended with it
	group bool
	lines *output // its output is written by lines with its rank; nil: left as it is
}

// start starts a rank on some processors (nil: any). The calling thread must not end: the child is
// killed when it does.
func (s *spec) start(rank int, cpus []int, env ...string) (*child, error) {
	argv, reads := s.argv, rank == s.reader
	if reads && s.debugged {
		argv = underDebugger(argv)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(append(cmd.Environ(), s.env...), env...)
	if reads && s.stdin != nil {
		cmd.Stdin = s.stdin
	}
	output := s.lines.connect(cmd, label(rank), s.stdout, s.stderr)
	leads := s.group || s.debugged && !reads // so that Ctrl-C is for the debugger alone
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: leads, Pdeathsig: syscall.SIGKILL}
	if err := startBound(cpus, cmd.Start); err != nil {
		return nil, notStarted(argv[0], err)
	}
	return &child{rank: rank, pid: cmd.Process.Pid, cmd: cmd, leads: leads, output: output,
		ended: make(chan struct{})}, nil
}

// notStarted is the error of a program that cannot be started, which may be in this directory.
func notStarted(program string, err error) error {
	if !errors.Is(err, exec.ErrNotFound) && !errors.Is(err, exec.ErrDot) ||
		strings.Contains(program, "/") {
		return err
	}
	st, missing := os.Stat(program)
	switch {
	case missing != nil || !st.Mode().IsRegular():
		return err
	case st.Mode()&0o111 == 0:
		return fmt.Errorf("%w; ./%s is there, but not executable: chmod +x %[2]s", err,
			program)
	}
	return fmt.Errorf("%w; did you mean ./%s?", err, program)
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
func (j *Job) startRank(rank int, cpus []int) (*child, error) {
	o := &j.options
	s := spec{argv: o.Argv, env: o.Env, stdin: o.Stdin, reader: o.reader(),
		debugged: o.Debug != nil, stdout: o.Stdout, stderr: o.Stderr,
		group: j.groups, lines: j.lines}
	env := j.server.Env(0, rank)
	where := nodeName(*o, rank)
	if where != "" {
		env = append(env, "ARMCI_NODE="+where)
	} else if name, err := os.Hostname(); err == nil {
		where = name
	} else {
		where = "this host"
	}
	c, err := s.start(rank, cpus, env...)
	if err == nil {
		c.where = where
	}
	return c, err
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

// signal reaches the process and, if it leads a group, all of the group. A
// group can outlive its leader; an ended process is not signalled. Ranks on
// other hosts are signalled host by host.
func (c *child) signal(s os.Signal) {
	switch {
	case c.host != nil:
	case c.leads:
		syscall.Kill(-c.pid, s.(syscall.Signal))
	default:
		c.cmd.Process.Signal(s)
	}
}

// groupAlive tells whether processes are left in the group that a rank led.
func (c *child) groupAlive() bool {
	return c.host == nil && c.leads && syscall.Kill(-c.pid, 0) == nil
}

func signalAll(children []*child, s os.Signal) {
	for _, c := range children {
		c.signal(s)
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
