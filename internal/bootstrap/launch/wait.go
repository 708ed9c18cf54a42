// SPDX-License-Identifier: BSD-3-Clause

// From the first failure to the last process: the stages in which a job ends.

package launch

import (
	"os"
	"slices"
	"syscall"
	"time"

	"libarmci/internal/leftovers"
)

// stage is a step in ending a job. Each stage but the first has a time limit,
// after which the next begins.
type stage int

const (
	working stage = iota
	judging       // something has failed: wait for further events, to find the cause
	grace         // the ranks notice it themselves, and print why they end
	asked         // SIGTERM was sent
	killed        // SIGKILL was sent
	givenUp       // some process does not end
)

// times are how long the stages last.
type times struct {
	judging  time.Duration
	grace    time.Duration
	signaled time.Duration // grace after a signal to us, which the ranks obey
	asked    time.Duration
	killed   time.Duration
}

var usualTimes = times{
	judging:  100 * time.Millisecond,
	grace:    900 * time.Millisecond,
	signaled: 3 * time.Second,
	asked:    2 * time.Second,
	killed:   5 * time.Second,
}

const sweepPause = 20 * time.Millisecond

// Wait returns when no rank runs any more: the exit status of the first that
// failed, 128 and its number if a signal killed it, or 0. It must be called
// exactly once.
func (j *Job) Wait() int {
	var late <-chan time.Time
	if j.options.Timeout > 0 {
		late = time.After(j.options.Timeout)
	}
	for j.running > 0 && j.stage < givenUp {
		select {
		case e := <-j.events:
			j.handleEvent(e)
		case s := <-j.signals:
			j.forwardSignal(s.(syscall.Signal))
		case <-j.timer.C:
			j.nextStage()
		case <-late:
			j.expire()
		}
	}
	if j.stage == judging && !j.forgiveLeaving() {
		j.reportFirstFailure()
	}
	j.timer.Stop()
	j.endLeftovers()
	removeFiles(j.children)
	j.dismissProxies(j.stage != working)
	close(j.over)
	j.server.Close()
	switch {
	case j.expired:
		return statusExpired
	case j.stopped != 0:
		return 128 + int(j.stopped)
	case j.first != nil:
		return j.first.status
	}
	return 0
}

// statusExpired is the exit status of a job whose time is over, as of timeout(1).
const statusExpired = 124

// expire ends a job that has taken too long, if nothing else ends it already.
func (j *Job) expire() {
	if j.stage == working {
		j.expired = true
		j.report("the job has not ended within %v", j.options.Timeout)
		j.askRanksToEnd()
	}
}

// handleEvent handles the end or abort of a rank: the first failure begins the end of the job.
func (j *Job) handleEvent(e event) {
	f := j.failure(e)
	if f == nil || j.stage > judging {
		return
	}
	j.noticed = j.noticed || f.cause != byLeaving
	j.recordFailure(*f)
	if j.stage != working {
		return
	}
	if len(f.lost) > 0 { // their status will arrive soon, and is more likely the cause
		j.enterStage(judging, j.times.grace)
		return
	}
	j.enterStage(judging, j.times.judging)
}

// failure is the failure that an event means, nil if it means none. It records the event.
func (j *Job) failure(e event) *failure {
	switch {
	case e.abort != nil:
		j.aborters[e.abort.rank] = true
		return e.abort
	case e.unfinished != nil:
		return e.unfinished.withoutLeaving()
	}
	j.running--
	j.server.ProcessEnded(e.ended.rank)
	j.verbosely("%s ended: %s", e.ended, e.ended.describe())
	return e.ended.exitFailure()
}

// enterStage begins a stage, which lasts for d at most. From the first one on a host that is out of
// reach is not waited for.
func (j *Job) enterStage(s stage, d time.Duration) {
	if j.stage == working {
		for _, h := range j.hosts {
			h.setOutage(endingOutage)
		}
	}
	j.stage = s
	j.timer.Reset(d)
}

// nextStage begins the next stage when the time of one has passed.
func (j *Job) nextStage() {
	switch j.stage {
	case judging:
		if j.forgiveLeaving() {
			return
		}
		j.reportFirstFailure()
		if j.first.cause == byAbort { // it has printed the reason itself
			j.askRanksToEnd()
			return
		}
		j.enterStage(grace, j.times.grace)
	case grace:
		j.askRanksToEnd()
	case asked:
		j.kill()
	case killed:
		j.report("%d processes do not end", j.running)
		j.stage = givenUp
	}
}

func (j *Job) reportFirstFailure() {
	j.report("%s %s", j.children[j.first.rank], j.first.how)
}

func (j *Job) askRanksToEnd() {
	j.signalAll(syscall.SIGTERM)
	j.enterStage(asked, j.times.asked)
}

func (j *Job) kill() {
	j.signalAll(syscall.SIGKILL)
	j.enterStage(killed, j.times.killed)
}

func (j *Job) signalAll(s os.Signal) {
	signalAll(j.children, s)
	for _, h := range j.hosts {
		h.signal(s.(syscall.Signal))
	}
}

// endLeftovers ends processes that ranks of a failed job have started and left behind.
func (j *Job) endLeftovers() {
	if j.stage == working {
		return
	}
	if j.stage < asked {
		j.signalAll(syscall.SIGTERM)
	}
	awaitGroups(j.children, j.times.asked)
	j.signalAll(syscall.SIGKILL)
}

// removeFiles removes what ranks that were killed have left.
func removeFiles(children []*child) {
	leftovers.Remove(leftovers.Shm, func(pid int) bool {
		return slices.ContainsFunc(children, func(c *child) bool {
			return c.host == nil &&
				c.pid == pid
		})
	})
}

// awaitGroups waits, for a limited time, until all processes that the ranks have
// started have ended.
func awaitGroups(children []*child, most time.Duration) {
	end := time.Now().Add(most)
	for slices.ContainsFunc(children, (*child).groupAlive) && time.Now().Before(end) {
		time.Sleep(sweepPause)
	}
}
