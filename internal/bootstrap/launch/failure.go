// SPDX-License-Identifier: BSD-3-Clause

// What can go wrong with a rank, and which of several failures was the cause.

package launch

import (
	"fmt"
	"syscall"
)

// weight orders failures that come within the same short time. Ranks abort when
// they notice that another one died, and their aborts may be heard before the
// death is: so a death outranks an abort, and a signal outranks an exit.
type weight int

const (
	byAbort weight = iota
	byExit
	bySignal
)

type failure struct {
	weight weight
	rank   int
	status int    // what armcirun exits with
	how    string // completes "rank 2 (pid 123) ..."
}

// aborted is called by the job server.
func (j *Job) aborted(rank, status int) {
	f := failure{byAbort, rank, status, fmt.Sprintf("aborted the job with status %d", status)}
	select {
	case j.events <- event{abort: &f}:
	default: // more than one abort per rank is waiting to be looked at: the first counts
	}
}

// failed tells how a process failed, nil if it did not.
func (c *child) failed() *failure {
	ws, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case !ok:
		return &failure{byExit, c.rank, 1, fmt.Sprintf("was lost: %v", c.err)}
	case ws.Signaled():
		how := fmt.Sprintf("killed by signal %d (%s)", int(ws.Signal()), ws.Signal())
		return &failure{bySignal, c.rank, 128 + int(ws.Signal()), how}
	case ws.ExitStatus() != 0:
		how := fmt.Sprintf("exited with status %d", ws.ExitStatus())
		return &failure{byExit, c.rank, ws.ExitStatus(), how}
	}
	return nil
}

// blame keeps the failure that explains the others. That a rank which aborted
// also exits is nothing new.
func (j *Job) blame(f failure) {
	if f.weight == byAbort {
		j.announced[f.rank] = true
	}
	if f.weight == byExit && j.announced[f.rank] {
		return
	}
	if j.first == nil || f.weight > j.first.weight {
		j.first = &f
	}
}
