// SPDX-License-Identifier: BSD-3-Clause

// What can go wrong with a rank, and which of several failures was the cause.

package launch

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// way is how a rank failed.
type way int

const (
	byAbort way = iota // it told us to end the job
	byExit             // status not 0
	bySignal
)

type failure struct {
	way    way
	rank   int
	status int    // what armcirun exits with
	how    string // completes "rank 2 (pid 123) ..."
}

// aborted is called by the job server before the rank is answered. Ranks abort
// when they notice that another one died: so every death that is already known
// to the kernel comes before this abort.
func (j *Job) aborted(rank, status int) {
	select {
	case <-j.started:
	case <-j.over:
		return
	}
	for _, c := range j.children {
		if c.rank == rank || !c.dead() {
			continue
		}
		select {
		case <-c.ended:
		case <-j.over:
			return
		}
	}
	f := failure{byAbort, rank, status, fmt.Sprintf("aborted the job with status %d", status)}
	select {
	case j.events <- event{abort: &f}:
	default: // more aborts than ranks are waiting to be looked at: the first counts
	}
}

// dead tells whether the process has ended, reaped or not.
func (c *child) dead() bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, c.cmd.Process.Pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == unix.ECHILD || err == nil && info.Signo == int32(unix.SIGCHLD)
}

// failed tells how an ended process failed, nil if it did not.
func (c *child) failed() *failure {
	ws, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case !ok:
		return &failure{byExit, c.rank, 1, "was lost"}
	case ws.Signaled():
		how := fmt.Sprintf("killed by signal %d (%s)", int(ws.Signal()), ws.Signal())
		return &failure{bySignal, c.rank, 128 + int(ws.Signal()), how}
	case ws.ExitStatus() != 0:
		how := fmt.Sprintf("exited with status %d", ws.ExitStatus())
		return &failure{byExit, c.rank, ws.ExitStatus(), how}
	}
	return nil
}

// blame keeps the first failure. Only exits may be heard in another order than
// they happened in; there a death by signal is the likelier cause.
func (j *Job) blame(f failure) {
	if j.first == nil || j.first.way == byExit && f.way == bySignal {
		j.first = &f
	}
}
