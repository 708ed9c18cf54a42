// SPDX-License-Identifier: BSD-3-Clause

// One rank's process: how it is started and signalled, and how it ended.

package launch

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

type child struct {
	rank  int
	cmd   *exec.Cmd
	ended chan struct{} // closed when the event of its end is on the way
}

func (c *child) String() string {
	return fmt.Sprintf("rank %d (pid %d)", c.rank, c.cmd.Process.Pid)
}

// startRank starts a rank in a process group of its own, so that everything it
// starts can be ended with it. At a terminal that we read from, the ranks stay
// in our group instead: only the foreground group may read, and Ctrl-C and
// Ctrl-Z reach all of it from the kernel.
func (j *Job) startRank(rank int) (*child, error) {
	o := &j.options
	cmd := exec.Command(o.Argv[0], o.Argv[1:]...)
	cmd.Env = append(append(cmd.Environ(), o.Env...), j.server.Env(rank)...)
	if name := nodeName(*o, rank); name != "" {
		cmd.Env = append(cmd.Env, "ARMCI_NODE="+name)
	}
	// Only files that exist: a nil *os.File in an interface would not be nil.
	if rank == 0 && o.Stdin != nil {
		cmd.Stdin = o.Stdin
	}
	if o.Stdout != nil {
		cmd.Stdout = o.Stdout
	}
	if o.Stderr != nil {
		cmd.Stderr = o.Stderr
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: j.groups, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &child{rank: rank, cmd: cmd, ended: make(chan struct{})}, nil
}

// nodeName is the pretended node of a rank: ranks in blocks as equal as possible.
func nodeName(o Options, rank int) string {
	if o.Nodes == 0 {
		return ""
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
// group can outlive its leader; an ended process is not signalled.
func (c *child) signal(s os.Signal, group bool) {
	if group {
		syscall.Kill(-c.cmd.Process.Pid, s.(syscall.Signal))
		return
	}
	c.cmd.Process.Signal(s)
}

// groupAlive tells whether anything is left of the group a rank led.
func (c *child) groupAlive() bool {
	return syscall.Kill(-c.cmd.Process.Pid, 0) == nil
}
