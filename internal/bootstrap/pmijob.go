// SPDX-License-Identifier: BSD-3-Clause

// The job of a program without MPI that a launcher with PMI-1, PMI-2 or PMIx has started: Slurm's
// srun, MPICH's mpiexec, prterun, mpirun. The launcher lets the ranks know where rank 0 listens;
// there a job server runs, to which all connect as those of armcirun do to theirs.

package bootstrap

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"libarmci/internal/bootstrap/jobserver"
	"libarmci/internal/bootstrap/jobwire"
	"libarmci/internal/bootstrap/pmi"
	"libarmci/internal/config"
	"libarmci/internal/log"
)

// leaveTime is how long the ranks of a job that ends may take, before the launcher is asked to end
// them.
const leaveTime = 2 * time.Second

// killTime is how long a launcher that kills all ranks may take for it after one of them has died.
// It says more about that than the status that it would be told.
const killTime = 500 * time.Millisecond

// pmiJob is a Job that a launcher with PMI has started. Its job server is in rank 0.
type pmiJob struct {
	*armcirunJob
	client       *pmi.Client
	kind         string
	host         *pmiHost    // of rank 0
	mayAbort     bool        // the launcher ends all ranks with the status that Abort tells it
	rankZeroLost atomic.Bool // rank 0 is gone
}

// pmiHost is the job server in rank 0, and what ends the job there.
type pmiHost struct {
	server   *jobserver.Server
	client   *pmi.Client
	report   lossReport
	failed   sync.Once
	jobEnded atomic.Bool // the job has ended well
}

// joinCount makes the keys of a process differ, which may join the job again after it has left it.
var joinCount int

// startPMI joins the job; all ranks of the launcher must.
func startPMI(s *config.Set, launch config.Launch) (Job, error) {
	client, err := openPMI(launch, s.Duration("ARMCI_TIMEOUT"))
	if err != nil {
		return nil, &noPMIError{err}
	}
	if client.Size == 1 {
		return newSingleJob(), nil
	}
	j := &pmiJob{client: client, kind: fmt.Sprintf("%s (%v)", launch.Name, client.Interface)}
	j.mayAbort = launch.Hydra && client.Interface == pmi.PMI1
	oneHost := client.Local == client.Size || client.Interface != pmi.PMIx && launch.OneHost
	if err := j.join(s, oneHost); err != nil {
		j.abandonJoin(err)
		return nil, fmt.Errorf("%s: %w", j.kind, err)
	}
	j.sayByeAtExit()
	return j, nil
}

// noPMIError is the error of a process that cannot talk to its launcher.
type noPMIError struct{ error }

var pmiInterfaces = map[string]pmi.Interface{
	"pmi1": pmi.PMI1, "pmi2": pmi.PMI2, "pmix": pmi.PMIx,
}

// LeaveLauncher ends the use of the launcher's interface, before exit does. A program in Go ends
// without that; and a rank that exits has to leave before others notice it and end the job.
func LeaveLauncher() { pmi.Leave() }

// openPMI asks the launcher by one interface, or by the other that it may have. timeout limits its
// answers to PMI-1.
func openPMI(launch config.Launch, timeout time.Duration) (*pmi.Client, error) {
	server := pmi.Server{Address: launch.PMIAddress, Rank: launch.Rank, Size: launch.Size,
		Timeout: timeout}
	client, err := pmi.Open(pmiInterfaces[launch.PMI], server)
	if launch.PMIElse == "" || !errors.Is(err, pmi.ErrUnavailable) {
		return client, err
	}
	client, other := pmi.Open(pmiInterfaces[launch.PMIElse], server)
	if other != nil {
		return nil, fmt.Errorf("%w; %w", err, other)
	}
	return client, nil
}

// join publishes the address of the server in rank 0, and connects to it.
func (j *pmiJob) join(s *config.Set, oneHost bool) error {
	key := fmt.Sprintf("libarmci-%d", joinCount)
	joinCount++
	if j.client.Rank == 0 {
		where, err := j.serve(s, oneHost)
		if err != nil {
			return err
		}
		if err := j.client.Put(key, where); err != nil {
			return err
		}
	}
	if err := j.client.Fence(); err != nil {
		return err
	}
	text, err := j.client.Get(0, key)
	if err != nil {
		return err
	}
	var where meetingPoint
	if err := where.parse(text); err != nil {
		return err
	}
	timeout := s.Duration("ARMCI_TIMEOUT")
	conn, err := jobwire.JoinBy(where.connect, timeout, where.secret, jobwire.Hello,
		j.client.Rank, j.client.Size)
	if err == nil {
		err = jobwire.SetOutage(conn, timeout)
	}
	if err != nil {
		return fmt.Errorf("connect to rank 0: %w", err)
	}
	j.armcirunJob = newArmcirunJob(conn, timeout, where.secret, j.client.Rank, j.client.Size,
		os.Exit)
	j.onGone = j.onRankZeroLost
	go j.listen()
	return nil
}

// serve starts the job server in rank 0 and returns its meeting point.
func (j *pmiJob) serve(s *config.Set, oneHost bool) (string, error) {
	var files syscall.Rlimit // Go has raised it as far as the process may
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err == nil {
		if err := checkFileLimit(files.Cur, j.client.Size); err != nil {
			return "", err
		}
	}
	listeners, err := listenFor(s, oneHost)
	if err != nil {
		return "", err
	}
	h := &pmiHost{client: j.client}
	h.server = jobserver.NewWithin(j.client.Size, s.Duration("ARMCI_TIMEOUT"), h.aborted,
		h.rankLost, listeners)
	j.host = h
	return encodeMeetingPoint(h.server.Secret(), listeners), nil
}

// otherFiles are the descriptors that rank 0 needs beside those of the ranks, at least.
const otherFiles = 64

// checkFileLimit returns an error if rank 0 may not open a descriptor for each rank.
func checkFileLimit(limit uint64, ranks int) error {
	if limit >= uint64(ranks)+otherFiles {
		return nil
	}
	return fmt.Errorf("rank 0 needs a descriptor for each of %d ranks, and %d more, but may "+
		"open %d: raise the limit of open files (ulimit -Hn)",
		ranks, otherFiles, limit)
}

// abandonJoin ends the job because this rank cannot join it: the others would wait for it.
func (j *pmiJob) abandonJoin(err error) {
	log.Lastf("%s: rank %d of %d cannot join the job: %v", j.kind, j.client.Rank, j.client.Size,
		err)
	log.AwaitReader(time.Second)
	if j.host != nil {
		j.host.jobEnded.Store(true)
		j.host.server.Close()
	}
	j.client.Abort(1, "libarmci: a rank cannot join the job")
}

// OnLoss implements LossWatcher.
func (j *pmiJob) OnLoss(report func(rank int, reason string)) {
	j.armcirunJob.OnLoss(report)
	if j.host != nil {
		j.host.report.to.Store(&report)
	}
}

func (j *pmiJob) Kind() string { return j.kind }

// Abort is Die, but does not expect that the launcher ends the job.
func (j *pmiJob) Abort(code int) {
	if j.mayAbort {
		j.abortByLauncher(code)
	}
	j.endJob(code)
}

// abortByLauncher has a launcher end the job that kills all ranks with the first one that ends. It
// would return the status of one that it has killed, unless it is told another.
func (j *pmiJob) abortByLauncher(code int) {
	log.AwaitReader(time.Second) // the launcher reads no more then
	j.client.Abort(exitStatus(code), "")
	time.Sleep(leaveTime)
}

// Die lets all ranks end with the same status.
func (j *pmiJob) Die(code int) {
	if j.mayAbort {
		time.Sleep(killTime)
		j.abortByLauncher(code)
	}
	j.endJob(code)
}

// endJob has the job server end all ranks, or the launcher if that does not answer.
func (j *pmiJob) endJob(code int) {
	if j.host != nil {
		j.host.endJob(exitStatus(code), "")
	}
	j.sendLastFrame(jobwire.Abort, jobwire.PackStatus(exitStatus(code)))
	select {
	case <-j.done:
	default:
		if !j.rankZeroLost.Load() { // otherwise all notice that
			j.client.Abort(exitStatus(code), "libarmci: rank 0 does not answer")
		}
	}
	j.exit(exitStatus(code))
}

// onRankZeroLost reports that rank 0 is gone. If there is no function of OnLoss, as in the final
// barrier, one rank prints it. The others leave time for that, because many launchers end all
// processes with the first one.
func (j *pmiJob) onRankZeroLost(err error) {
	j.rankZeroLost.Store(true)
	j.ending.Store(true)       // rank 0 answers nothing any more
	time.Sleep(noticeTime / 4) // what watches the ranks of the node says more about it
	j.report.reportLoss(0, fmt.Sprintf("rank 0 is gone (%v)", err))
	if j.rank == 1 {
		log.Lastf("rank 0 is gone (%v): ending", err)
		log.AwaitReader(noticeTime)
		return
	}
	time.Sleep(2 * noticeTime)
}

// Close of rank 0 waits until all others have left, since the server is theirs, too.
func (j *pmiJob) Close() error {
	err := j.armcirunJob.Close()
	if j.host != nil {
		<-j.host.server.Empty()
		j.host.jobEnded.Store(true)
		err = errors.Join(err, j.host.server.Close())
	}
	return err
}

// aborted ends the job: the rank has printed the reason.
func (h *pmiHost) aborted(_, status int, _ []int) { go h.endJob(status, "") }

// noticeTime is how long a rank may take to notice by itself that another has died: it reports more
// about it.
const noticeTime = 200 * time.Millisecond

// rankLost ends the job with a report, unless it ends meanwhile: a rank that notices the loss by
// itself reports more.
func (h *pmiHost) rankLost(rank int) {
	go func() {
		defer log.Guard()
		if time.Sleep(noticeTime); !h.jobEnded.Load() {
			reason := fmt.Sprintf("rank %d has died or ended without ARMCI_Finalize "+
				"(its connection has ended)", rank)
			h.report.reportLoss(rank, reason)
			h.endJob(1, reason+": the job ends")
		}
	}()
}

// endJob ends the job: all other ranks exit, then this process. It does not return.
func (h *pmiHost) endJob(status int, text string) {
	h.failed.Do(func() {
		if text != "" {
			log.Lastf("%s", text)
		}
		// so that the launcher first notices the rank that failed first: many launchers
		// return its status
		time.Sleep(noticeTime / 2)
		h.server.Finish(status)
		if !h.server.AwaitOthers(leaveTime) {
			h.client.Abort(status, "libarmci: ending the job")
		}
		os.Exit(status)
	})
}
