// SPDX-License-Identifier: BSD-3-Clause

// Package launch starts the ranks of a job, without MPI, and ends them all when one of them fails.
// It starts them on this machine, or by a proxy on each of several hosts. armcirun is this package
// with a command line; tests use it directly. Exchanges between ranks at init are in jobserver.
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
	Nodes   int      // pretended nodes; 0 is none pretended
	PerNode int      // ranks of each of them but the last; 0: as equal as possible
	Cyclic  bool     // ranks are dealt out to nodes or hosts in turn, not in blocks
	Argv    []string // program and arguments; the program is looked up in PATH
	Env     []string // added to the environment of this process
	Bind    string   // BindAuto, BindCore, BindSocket; anything else: none
	Debug   *int     // a rank that runs under gdb; nil: none
	Streams
	Report  io.Writer     // one line about how the job failed
	Verbose bool          // report starts and ends too
	Label   bool          // output by whole lines that begin with the rank
	Timeout time.Duration // the job is ended after that; 0: never
	Remote  Remote        // other hosts; none: this machine
	// signals to the launcher while the ranks are being started; nil: none
	Signals <-chan os.Signal
}

// Streams are the standard streams of the ranks.
type Streams struct {
	Stdin  *os.File // of rank 0, or Debug; nil for /dev/null; the others have /dev/null
	Stdout *os.File // inherited by all, nil for /dev/null
	Stderr *os.File
}

// Job is a running job.
type Job struct {
	options  Options
	times    times
	server   *jobserver.Server
	children []*child
	hosts    []*host
	// every rank leads a process group of its own; else at most those that are not debugged
	groups bool
	lines  *output // nil: the ranks' output is left as it is

	events  chan event     // in the order in which they happened
	signals chan os.Signal // to the launcher, for the job
	started chan struct{}  // closed when children is complete
	over    chan struct{}  // closed when Wait is about to return

	ending
}

// ending is how far the job has ended. Only Wait uses it.
type ending struct {
	stage    stage
	timer    *time.Timer    // when the stage ends
	running  int            // processes
	first    *failure       // cause of the job's failure
	stopped  syscall.Signal // the signal to the launcher that ends the job
	expired  bool           // Options.Timeout has passed
	aborters map[int]bool   // ranks that aborted the job
	noticed  bool           // a rank has failed in another way than byLeaving
}

// event is one of three things.
type event struct {
	ended      *child   // a rank's process ended
	abort      *failure // a rank aborted the job
	unfinished *child   // a rank's process, which has ended, had not left the job
}

// Start starts all ranks, or none. The error of a program that cannot be
// started is an *exec.Error or *fs.PathError.
func Start(o Options) (*Job, error) {
	if o.Report == nil {
		o.Report = io.Discard
	}
	j := &Job{
		options: o,
		times:   usualTimes,
		groups:  !ownsTerminal(o.Stdin),
		events:  make(chan event, 3*o.Ranks),
		signals: make(chan os.Signal, 8),
		started: make(chan struct{}),
		over:    make(chan struct{}),
		ending:  ending{timer: time.NewTimer(time.Hour), aborters: make(map[int]bool)},
	}
	j.timer.Stop()
	if o.Label {
		j.lines = &output{}
	}
	err := o.checkLimits()
	if err == nil {
		err = j.openServer()
	}
	if err != nil {
		return nil, err
	}
	started := make(chan error)
	go j.parent(started)
	if err := <-started; err != nil {
		close(j.over)
		j.server.Close()
		return nil, err
	}
	return j, nil
}

// openServer starts the job server, for this machine or for hosts.
func (j *Job) openServer() (err error) {
	if len(j.options.Remote.Hosts) > 0 {
		err = j.openRemote()
	} else {
		j.server, err = jobserver.New(j.options.Ranks, j.aborted)
	}
	if err == nil {
		j.server.OnUnfinished(j.unfinished)
	}
	return err
}

// parent starts the ranks and stays as long as they run: a child is killed when
// the thread that started it ends, not only when its process does.
func (j *Job) parent(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := j.startAll
	if len(j.hosts) > 0 {
		start = j.startHosts
	}
	started <- start()
	<-j.over
}

// startAll starts all ranks on this machine. If one cannot be started, it ends the others.
func (j *Job) startAll() error {
	places, release, err := bindings(j.options.Bind, j.options.Ranks)
	if err != nil {
		return err
	}
	defer release()
	for rank, cpus := range places {
		c, err := j.startRank(rank, cpus)
		if err != nil {
			endAll(j.children)
			return explain(err, j.options.Ranks)
		}
		j.children = append(j.children, c)
		j.verbosely("%s started%s", c, boundText(cpus))
	}
	close(j.started)
	j.running = len(j.children)
	for _, c := range j.children {
		go func() {
			c.wait()
			j.events <- event{ended: c}
			close(c.ended)
		}()
	}
	return nil
}

// endAll ends ranks that were started although the job cannot start.
func endAll(children []*child) {
	signalAll(children, syscall.SIGKILL)
	for _, c := range children {
		c.wait()
	}
}

// Signal passes on to the job a signal that was sent to the launcher.
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
