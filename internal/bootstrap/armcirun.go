// SPDX-License-Identifier: BSD-3-Clause

// The job of a program started by armcirun: one connection to its job server,
// read by one goroutine. When the connection ends, armcirun is gone, and this
// process ends, too.

package bootstrap

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"libarmci/internal/bootstrap/jobwire"
	"libarmci/internal/config"
	"libarmci/internal/log"
)

// answerTimeout is how long to wait for the answer to Abort and Bye.
const answerTimeout = time.Second

// armcirunJob is a Job of which the ranks are connected to a job server. One goroutine reads the
// connection; any thread may send.
type armcirunJob struct {
	rank, size int
	secret     jobwire.Secret
	// how long a connection that is dropped before it has proved itself is made again
	timeout time.Duration
	conn    net.Conn
	node    nodeLinks
	answers chan jobwire.Frame // to what ask sends
	done    chan struct{}      // closed by the answer to Abort or Bye
	gone    chan struct{}      // closed when reading has ended
	ending  atomic.Bool        // Close, Abort or Die was called
	sending sync.Mutex         // one frame at a time
	exit    func(status int)   // os.Exit, except in tests
	onGone  func(error)        // the server is: says so
	report  lossReport
	launch  config.Launch // of armcirun, unless an MPI of one process in each rank is wanted
}

// startArmcirun joins the job of armcirun that the environment names.
func startArmcirun(s *config.Set) (Job, error) {
	secret, err := jobwire.ParseSecret(s.String("ARMCI_JOB_SECRET"))
	if err != nil {
		return nil, fmt.Errorf("armcirun: %w", err)
	}
	rank, size, timeout := s.Int("ARMCI_JOB_RANK"), s.Int("ARMCI_JOB_SIZE"),
		s.Duration("ARMCI_TIMEOUT")
	j, err := dialArmcirun(s.String("ARMCI_JOB_ADDR"), timeout, secret, rank, size, os.Exit)
	if err != nil {
		return nil, fmt.Errorf("armcirun: %w", err)
	}
	if !s.Bool("ARMCI_ALONE") {
		j.launch = s.Launcher()
	}
	j.leaveAtExit(-1)
	return j, nil
}

// dialArmcirun joins the job; exit is what ends this process.
func dialArmcirun(addr string, timeout time.Duration, secret jobwire.Secret, rank, size int,
	exit func(int)) (
	*armcirunJob, error) {
	conn, err := jobwire.Join(addr, timeout, secret, jobwire.Hello, rank, size)
	if err != nil {
		return nil, err
	}
	if err := jobwire.SetOutage(conn, timeout); err != nil {
		conn.Close()
		return nil, err
	}
	j := newArmcirunJob(conn, timeout, secret, rank, size, exit)
	j.onGone = j.onServerLost
	go j.listen()
	return j, nil
}

// newArmcirunJob is the job of the server at the other end of a connection, which it owns. The
// caller starts listen.
func newArmcirunJob(conn net.Conn, timeout time.Duration, secret jobwire.Secret, rank, size int,
	exit func(int)) *armcirunJob {
	return &armcirunJob{
		rank: rank, size: size, secret: secret, timeout: timeout, conn: conn,
		answers: make(chan jobwire.Frame, 1),
		done:    make(chan struct{}),
		gone:    make(chan struct{}),
		exit:    exit,
	}
}

// listen passes answers to waiting callers until the connection ends.
func (j *armcirunJob) listen() {
	defer log.Guard()
	defer close(j.gone)
	for {
		f, err := jobwire.Read(j.conn, jobwire.Placed, jobwire.Collected, jobwire.Refused,
			jobwire.Done, jobwire.Finish)
		switch {
		case err != nil && j.ending.Load():
			return
		case err != nil:
			j.onGone(err)
			j.exit(1)
			return
		case f.Kind == jobwire.Done:
			close(j.done)
			return // no answer follows
		case f.Kind == jobwire.Finish:
			j.ending.Store(true)
			j.exit(jobwire.UnpackStatus(f.Payload))
			return
		default:
			j.answers <- f
		}
	}
}

// lossReport is the function of OnLoss, if there is one yet.
type lossReport struct {
	to atomic.Pointer[func(rank int, reason string)]
}

// reportLoss calls the function of OnLoss, if there is one.
func (l *lossReport) reportLoss(rank int, reason string) {
	if report := l.to.Load(); report != nil {
		(*report)(rank, reason)
	}
}

// OnLoss implements LossWatcher.
func (j *armcirunJob) OnLoss(report func(rank int, reason string)) { j.report.to.Store(&report) }

// onServerLost reports at rank 0 that armcirun is gone. The other ranks end silently, which the
// kernel has begun already.
func (j *armcirunJob) onServerLost(err error) {
	if j.rank == 0 {
		j.ending.Store(true) // armcirun answers nothing any more
		reason := fmt.Sprintf("armcirun is gone (%v)", err)
		j.report.reportLoss(0, reason)
		log.Lastf("%s: ending", reason)
	}
}

func (j *armcirunJob) Kind() string { return "armcirun" }
func (j *armcirunJob) Rank() int    { return j.rank }
func (j *armcirunJob) Size() int    { return j.size }

func (j *armcirunJob) send(kind jobwire.Kind, payload []byte) error {
	j.sending.Lock()
	defer j.sending.Unlock()
	return jobwire.Write(j.conn, kind, payload)
}

// request sends the job server a frame and waits for the answer, which may take long. An answer
// Refused is an error.
func (j *armcirunJob) request(kind jobwire.Kind, payload []byte) (f jobwire.Frame, err error) {
	if err := j.send(kind, payload); err != nil {
		return f, err
	}
	select {
	case f = <-j.answers:
		if f.Kind == jobwire.Refused {
			err = errors.New(string(f.Payload))
		}
		return f, err
	case <-j.gone:
		return f, errors.New("the job is ending")
	}
}

func (j *armcirunJob) WorldComm() uintptr                    { return 0 }
func (j *armcirunJob) GroupComm([]int, int) (uintptr, error) { return 0, nil }
func (j *armcirunJob) FreeComm(uintptr)                      {}
func (j *armcirunJob) Abort(code int)                        { j.Die(code) }

// Die waits for the answer of armcirun. So armcirun knows that this rank was the first to fail
// before any other rank can notice and fail because of it.
func (j *armcirunJob) Die(code int) {
	status := exitStatus(code)
	j.sendLastFrame(jobwire.Abort, jobwire.PackStatus(status))
	j.exit(status)
}

// Close says bye to the job server and closes the connections. If MPI was started in each rank
// alone, it aborts the job.
func (j *armcirunJob) Close() error {
	if err := findMPI().startedApart(j.launch); err != nil {
		AwaitUnconnected(j.launch)
		log.Errorf("ARMCI_Finalize: %v", err)
		j.Abort(1)
	}
	j.sendLastFrame(jobwire.Bye, nil)
	stayAtExit()
	j.node.close()
	return j.conn.Close()
}

// sendLastFrame sends the last frame of this rank and waits a little for the answer. Only the first
// call has an effect.
func (j *armcirunJob) sendLastFrame(kind jobwire.Kind, payload []byte) {
	if j.ending.Swap(true) {
		return
	}
	j.conn.SetWriteDeadline(time.Now().Add(answerTimeout))
	if j.send(kind, payload) != nil {
		return
	}
	select {
	case <-j.done:
	case <-j.gone:
	case <-time.After(answerTimeout):
	}
}
