// SPDX-License-Identifier: BSD-3-Clause

// How ranks fail, and which of several failures was the cause.

package launch

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// cause is how a rank failed.
type cause int

const (
	byAbort cause = iota // it has asked for the end of the job
	byExit               // status not 0
	bySignal
	byLeaving // status 0, but it had not left the job, in which others still are
)

// failure is how a rank has failed.
type failure struct {
	cause  cause
	rank   int
	status int    // what armcirun exits with
	how    string // completes "rank 2 (pid 123) ..."
	lost   []int  // ranks whose connection had ended when this one aborted
}

// aborted is called by the job server before the rank is answered. Ranks abort
// when they notice that another one died: so every death that is already known
// to the kernel comes before this abort. Connections end a little earlier than
// their process; lost names those.
func (j *Job) aborted(rank, status int, lost []int) {
	select {
	case <-j.started:
	case <-j.over:
		return
	}
	for _, c := range j.children {
		if c.rank == rank || !c.hasEnded() {
			continue
		}
		select {
		case <-c.ended:
		case <-j.over:
			return
		}
	}
	how := fmt.Sprintf("aborted the job with status %d", status)
	f := failure{cause: byAbort, rank: rank, status: status, how: how, lost: lost}
	select {
	case j.events <- event{abort: &f}:
	default: // more aborts than ranks are queued; the first one counts
	}
}

// unfinished is called by the job server about a rank of which the process has ended without
// leaving the job.
func (j *Job) unfinished(rank int) {
	select {
	case <-j.started:
	case <-j.over:
		return
	}
	select {
	case j.events <- event{unfinished: j.children[rank]}:
	default: // more than there are ranks
	}
}

// withoutLeaving is the failure of a process that has ended without leaving the job, nil if it has
// failed otherwise.
func (c *child) withoutLeaving() *failure {
	if c.exitFailure() != nil {
		return nil
	}
	how := "ended with status 0, but without ARMCI_Finalize"
	return &failure{cause: byLeaving, rank: c.rank, status: 1, how: how}
}

// hasEnded tells whether the process has ended, reaped or not. On another host it
// has when its proxy has said so.
func (c *child) hasEnded() bool {
	if c.host != nil {
		select {
		case <-c.ended:
			return true
		default:
			return false
		}
	}
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, c.pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == unix.ECHILD || err == nil && info.Signo == int32(unix.SIGCHLD)
}

// exitFailure is the failure of an ended process by its status, nil if there is none.
func (c *child) exitFailure() *failure {
	ws := c.status
	switch {
	case c.lost != "":
		return &failure{cause: bySignal, rank: c.rank, status: 1, how: c.lost}
	case ws.Signaled():
		how := fmt.Sprintf("killed by signal %d (%s)", int(ws.Signal()), ws.Signal())
		return &failure{cause: bySignal, rank: c.rank, status: 128 + int(ws.Signal()),
			how: how}
	case ws.ExitStatus() != 0:
		how := fmt.Sprintf("exited with status %d", ws.ExitStatus())
		return &failure{cause: byExit, rank: c.rank, status: ws.ExitStatus(), how: how}
	}
	return nil
}

// forgiveLeaving forgets a failure of ranks that have only ended without leaving a job in which no
// other rank is left, and tells whether it was one. If no rank runs any more, the job server may
// not have seen the end of the last one yet.
func (j *Job) forgiveLeaving() bool {
	if j.first.cause != byLeaving || j.noticed || j.running > 0 && j.server.Connected() > 0 {
		return false
	}
	j.first, j.stage = nil, working
	return true
}

// recordFailure keeps the cause: the first failure, with two exceptions. The end of a rank without
// an abort of its own may be noticed after the abort that it caused in another rank. A death by
// signal may be noticed after an exit that it caused.
func (j *Job) recordFailure(f failure) {
	switch {
	case j.first == nil,
		j.first.cause == byAbort && f.cause != byAbort && !j.aborters[f.rank],
		j.first.cause == byExit && f.cause == bySignal:
		j.first = &f
	}
}
