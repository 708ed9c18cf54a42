// SPDX-License-Identifier: BSD-3-Clause

// Package launch starts the ranks of a job on this machine, without MPI, and
// ends them all when one of them fails. armcirun is this package with a command
// line; tests use it directly. What the ranks say to each other at init is
// jobserver's matter.
package launch

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"
	"time"

	"libarmci/internal/bootstrap/jobserver"
)

// Options says what to start.
type Options struct {
	Ranks   int
	Nodes   int      // pretended nodes, ranks in blocks; 0 is none pretended
	Argv    []string // program and arguments; the program is looked up in PATH
	Env     []string // added to the environment of this process
	Stdin   *os.File // of rank 0, nil for /dev/null; the others have /dev/null
	Stdout  *os.File // inherited by all, nil for /dev/null
	Stderr  *os.File
	Report  io.Writer // one line about how the job failed
	Verbose bool      // report starts and ends too
}

// Job is a running job.
type Job struct {
	options  Options
	times    times
	server   *jobserver.Server
	children []*child
	groups   bool // every rank leads a process group of its own

	events  chan event     // in the order in which they happened
	signals chan os.Signal // to us, for the job
	started chan struct{}  // closed when children is complete
	over    chan struct{}  // closed when Wait is about to return

	// Only Wait uses what follows.
	stage   stage
	timer   *time.Timer    // when the stage ends
	running int            // processes
	first   *failure       // what the job failed of
	stopped syscall.Signal // the signal to us that ends the job

	aborters map[int]bool // ranks that aborted the job
}

// event is one of two things.
type event struct {
	ended *child   // a rank's process ended
	abort *failure // a rank aborted the job
}

// Start starts all ranks, or none. The error of a program that cannot be
// started is an *exec.Error or *fs.PathError.
func Start(o Options) (*Job, error) {
	if o.Report == nil {
		o.Report = io.Discard
	}
	j := &Job{
		options: o,
		times:   usual,
		groups:  !ownsTerminal(o.Stdin),
		events:  make(chan event, 2*o.Ranks),
		signals: make(chan os.Signal, 8),
		started: make(chan struct{}),
		over:    make(chan struct{}),
		timer:   time.NewTimer(time.Hour),

		aborters: make(map[int]bool),
	}
	j.timer.Stop()
	server, err := jobserver.New(o.Ranks, j.aborted)
	if err != nil {
		return nil, err
	}
	j.server = server
	started := make(chan error)
	go j.parent(started)
	if err := <-started; err != nil {
		close(j.over)
		server.Close()
		return nil, err
	}
	return j, nil
}

// parent starts the ranks and stays as long as they run: a child is killed when
// the thread that started it ends, not only when its process does.
func (j *Job) parent(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := j.startAll()
	started <- err
	<-j.over
}

func (j *Job) startAll() error {
	for rank := range j.options.Ranks {
		c, err := j.startRank(rank)
		if err != nil {
			for _, c := range j.children {
				c.signal(syscall.SIGKILL, j.groups)
				c.cmd.Wait()
			}
			return err
		}
		j.children = append(j.children, c)
		j.verbosely("%s started%s", c, node(j.options, rank))
	}
	close(j.started)
	j.running = len(j.children)
	for _, c := range j.children {
		go func() {
			c.cmd.Wait() // the process state tells what its error does
			j.events <- event{ended: c}
			close(c.ended)
		}()
	}
	return nil
}

// Signal hands the job a signal that was sent to the launcher.
func (j *Job) Signal(s os.Signal) {
	select {
	case j.signals <- s:
	case <-j.over:
	}
}

func (j *Job) report(format string, args ...any) {
	fmt.Fprintf(j.options.Report, "armcirun: "+format+"\n", args...)
}

func (j *Job) verbosely(format string, args ...any) {
	if j.options.Verbose {
		j.report(format, args...)
	}
}
