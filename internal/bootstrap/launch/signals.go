// SPDX-License-Identifier: BSD-3-Clause

// Signals sent to the launcher: which ones are passed on to the job, and what each does.

package launch

import (
	"os"
	"os/signal"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// Signals returns those that the launcher must pass to Job.Signal. Signals that
// were ignored when it started, as by nohup, stay ignored.
func Signals() []os.Signal {
	return slices.DeleteFunc([]os.Signal{
		syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, // end the job
		syscall.SIGUSR1, syscall.SIGUSR2, // the application's
		syscall.SIGTSTP, syscall.SIGCONT, // stop and continue
	}, signal.Ignored)
}

// ownsTerminal tells whether f is a terminal that our process group may read.
func ownsTerminal(f *os.File) bool {
	if f == nil {
		return false
	}
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err == nil && group == syscall.Getpgrp()
}

// forwardSignal passes a signal on to the ranks. Signals from the keyboard also reach ranks in the
// launcher's process group from the kernel.
func (j *Job) forwardSignal(s syscall.Signal) {
	switch s {
	case syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGCONT:
		j.signalAll(s)
	case syscall.SIGTSTP:
		j.suspend()
	case syscall.SIGINT:
		if j.options.Debug == nil { // else it is the debugger's
			j.beginEnd(s)
		}
	default:
		j.beginEnd(s)
	}
}

// suspend stops the ranks and then this process, as the shell expects of a job. It continues by
// SIGCONT, which is forwarded.
func (j *Job) suspend() {
	j.signalAll(syscall.SIGSTOP)
	syscall.Kill(syscall.Getpid(), syscall.SIGSTOP)
}

// beginEnd begins to end the job; a second such signal ends it at once.
func (j *Job) beginEnd(s syscall.Signal) {
	if j.stopped != 0 {
		j.kill()
		return
	}
	j.stopped = s
	j.report("received signal %d (%s)", int(s), s)
	if j.groups || j.options.Debug != nil || s == syscall.SIGTERM {
		j.signalAll(s)
	}
	if j.stage < asked {
		j.enterStage(grace, j.times.signaled)
	}
}
