// SPDX-License-Identifier: BSD-3-Clause

// How a job ends when it cannot go on: the first rank that notices the cause prints one line and
// notifies the other nodes that the cause is known. Then every rank ends, silently. Nodes take
// turns; where two still notice at the same time, the first node that can be reached decides. Calls
// that fail only because the job is ending wait for the end.
package core

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"libarmci/internal/log"
	"libarmci/internal/transport"
)

const (
	// for another node to answer, or for all to hear that the cause has been printed
	noticeTime = 500 * time.Millisecond
	reportTime = time.Second            // for the rank that may report the cause to end the job
	endTime    = 20 * time.Second       // for the job to end
	reportTurn = 500 * time.Millisecond // between the turns of two nodes
	maxTurns   = 6                      // which all further nodes share
)

// jobEnd is the end of a job that cannot go on. Its channels are closed once.
type jobEnd struct {
	rt      *Runtime
	endOnce sync.Once // done: the job is ending, or may end without a report
	// exitThread is the number of the thread that is in Leave or has been, 0 if none.
	exitThread   atomic.Int64
	inquiryAddrs [][]byte      // by node: where to ask whether it knows the cause of the end
	started      chan struct{} // closed when it is known whether all ranks take part
	jobEnding    chan struct{} // closed when the job begins to end because of a failure
	jobEnded     chan struct{} // closed when this process has ended, in tests
}

// onRankLost is called by the node when a rank has died, on any goroutine, so it must not call MPI.
// While the job starts it waits: the start fails on all ranks if it must. Without a reason the
// node's reporter prints one.
func (j *jobEnd) onRankLost(rank transport.Rank, reason string) {
	<-j.started
	if reason == "" {
		j.endJobWith(0, j.notifyNodes)
		return
	}
	wait := j.reportDelay(rank)
	j.endJobWith(0, func() {
		if j.causeKnownAt(j.rt.Topo.Node(rank), wait) {
			j.endSettled()
		} else {
			j.reportCause(reason)
		}
	})
}

// causeKnownAt tells whether the cause of the end is known at another node, where all ranks may
// have ended already. It waits for the answer, and without one until this rank's turn to report.
func (j *jobEnd) causeKnownAt(node int, turn time.Duration) bool {
	began := time.Now()
	if node < len(j.inquiryAddrs) && len(j.inquiryAddrs[node]) > 0 {
		if j.rt.Liveness.AskCauseKnown(j.inquiryAddrs[node], max(turn, noticeTime)) {
			return true
		}
	}
	time.Sleep(turn - time.Since(began))
	return false
}

// endSettled ends the job on this node silently: the cause has been printed elsewhere.
func (j *jobEnd) endSettled() {
	if j.rt.Liveness.ClaimNodeReport() {
		j.rt.Liveness.MarkReported()
		j.notifyNodes()
	}
}

// onRankLostAsync is onRankLost for transports between nodes. It returns at once, since their
// threads still have to receive messages about the end. In the final barrier it waits: the rank may
// have left it, and its goodbye may be lost with the connection; then this rank leaves it, too.
func (j *jobEnd) onRankLostAsync(rank transport.Rank, reason string) {
	go func() {
		defer log.Guard()
		if reason != "" && j.rt.leaving.Load() {
			time.Sleep(finalBarrierTime)
		}
		j.onRankLost(rank, reason)
	}()
}

// finalBarrierTime is longer than the ranks of a job take to leave the final barrier after the
// first one, on a busy machine.
const finalBarrierTime = time.Second

// endJob ends the job because of reason, unless it is ending already. It waits first, so that
// another rank may do so.
func (j *jobEnd) endJob(wait time.Duration, reason string) {
	j.endJobWith(wait, func() { j.reportCause(reason) })
}

// endJobWith is endJob with a function that reports the reason.
func (j *jobEnd) endJobWith(wait time.Duration, tell func()) {
	j.endOnce.Do(func() {
		defer close(j.jobEnded)
		close(j.jobEnding)
		j.Abandon() // the launcher may end this process at any time
		time.Sleep(wait)
		tell()
		j.Abandon()
		j.rt.Job.Die(1)
	})
}

// Abandon is called before the process ends without finalising, and not by Leave. Messages that are
// buffered leave, and the transports remove what would outlive the process.
func (j *jobEnd) Abandon() {
	log.Flush()
	for _, tr := range j.rt.transports {
		if a, ok := tr.(transport.Abandoner); ok {
			a.Abandon()
		}
	}
}

// reportCause prints why the job ends, unless another rank does.
func (j *jobEnd) reportCause(reason string) {
	switch first, elsewhere := j.claimReport(); {
	case first:
		log.Lastf("%s: the job ends", reason)
		j.notifyNodes()
	case elsewhere:
		time.Sleep(reportTime)
	}
}

// reportDelay is how long this node waits for others to report and end the job. The lost rank's own
// node reports first, then the other nodes one after the other. Of two nodes that lose each other
// the second waits half a turn: the launcher may end the job by then.
func (j *jobEnd) reportDelay(lost transport.Rank) time.Duration {
	theirs, mine := j.rt.Topo.Node(lost), j.rt.Topo.MyNode()
	if theirs == mine {
		return 0
	}
	place, half := mine, 0
	if mine > theirs {
		place--
		half = 1
	}
	if len(j.rt.Topo.Nodes[theirs]) > 1 {
		place++
	}
	if j.rt.Liveness.Exited() {
		// perhaps the data server, which would have received that the job ends
		place += 2
	}
	return reportTurn / 2 * time.Duration(2*min(place, maxTurns)+half)
}

// claimReport tells whether this rank is the first that is to report why the job ends; if not,
// whether another node reports.
func (j *jobEnd) claimReport() (first, elsewhere bool) {
	if !j.rt.Liveness.ClaimNodeReport() {
		return false, false
	}
	if !j.isFirstNode() {
		j.rt.Liveness.MarkReported()
		return false, true
	}
	first = j.rt.Liveness.ClaimMachineReport()
	return first, !first
}

// isFirstNode asks the nodes before this one whether one of them ends the job, too. The first that
// answers decides.
func (j *jobEnd) isFirstNode() bool {
	late := time.After(noticeTime)
	for _, ranks := range j.rt.Topo.Nodes[:j.rt.Topo.MyNode()] {
		heard := make(chan []byte, 1)
		go func() {
			defer log.Guard()
			if answer, err := j.rt.callActive(ranks[0], msgEnding, nil); err == nil {
				heard <- answer
			}
			close(heard)
		}()
		select {
		case answer, ok := <-heard:
			if ok {
				return len(answer) == 1 && answer[0] == 1
			}
		case <-late: // however many nodes do not answer
			return true
		}
	}
	return true
}

// notifyNodes notifies the other nodes that the job ends and that the cause has been printed, so
// that none of them reports the loss of a rank that was only ended. It does not wait long for a
// node that cannot be reached.
func (j *jobEnd) notifyNodes() {
	others := len(j.rt.Topo.Nodes) - 1
	heard := make(chan struct{}, others)
	for i, ranks := range j.rt.Topo.Nodes {
		if i != j.rt.Topo.MyNode() {
			go func() {
				defer log.Guard()
				// a node that cannot be reached has ended already
				j.rt.callActive(ranks[0], msgEnding, nil)
				heard <- struct{}{}
			}()
		}
	}
	late := time.After(noticeTime)
	for range others {
		select {
		case <-heard:
		case <-late:
			return
		}
	}
}

// handleEnding handles a notification that another node ends the job. The answer is whether that
// node is the first. The launcher ends this process, or it ends itself.
func (j *jobEnd) handleEnding(reply func([]byte)) bool {
	if reply == nil {
		return false
	}
	first := byte(0)
	if j.rt.Liveness.ClaimNodeReport() { // so the ranks of this node have nothing to report
		j.rt.Liveness.MarkReported()
		first = 1
	}
	reply([]byte{first})
	go func() {
		defer log.Guard()
		<-j.started
		j.endJobWith(reportTime, func() {})
	}()
	return true
}

// AwaitJobEnd is called with the error of a public function before it is printed. If the function
// failed because a rank is gone, the job is ending or has to end, and there is nothing more to say:
// the call does not return. Nor does it if another thread is in exit, which has closed the
// connections: the process ends, and no call is to blame.
func (j *jobEnd) AwaitJobEnd(function string, err error) {
	if exiting := j.exitThread.Load(); exiting != 0 && exiting != int64(syscall.Gettid()) {
		time.Sleep(endTime)
		return
	}
	if !errors.Is(err, transport.ErrPeerDead) {
		return
	}
	select {
	case <-j.jobEnding:
	case <-time.After(reportTime):
		// no rank ends the job: the rank has finalised, but is needed
		j.endJob(reportTurn*time.Duration(min(j.rt.Topo.MyNode(), maxTurns)),
			fmt.Sprintf("%s: %v", function, err))
	}
	select {
	case <-j.jobEnded:
	case <-time.After(endTime):
	}
}

// Abort ends the job on behalf of the application (ARMCI_Error, a fatal mistake). It runs on the
// caller's thread. If another rank has printed why the job ends, this rank waits for it, then ends
// silently.
func (j *jobEnd) Abort(text string, code int) {
	if first, _ := j.claimReport(); first {
		if text != "" {
			log.Lastf("%s", text)
		}
		j.notifyNodes()
	} else {
		time.Sleep(reportTime)
	}
	j.Abandon()
	j.rt.Job.Abort(code)
}

// AbortInTurn is Abort for a mistake that ranks of several nodes may make at the same time: one
// node after the other would report it, so one line is printed.
func (j *jobEnd) AbortInTurn(text string, code int) {
	time.Sleep(reportTurn * time.Duration(min(j.rt.Topo.MyNode(), maxTurns)))
	j.Abort(text, code)
}

// AbortQuietly is Abort for a mistake that another rank reports.
func (j *jobEnd) AbortQuietly(code int) {
	time.Sleep(reportTime)
	j.Abort("", code)
}

// leaveTime bounds the disconnects of a process that exits.
const leaveTime = 2 * time.Second

// Leave is called when the process exits with status 0 without finalising. It disconnects from all
// nodes, so that they do not regard this rank as dead. It runs on the thread that has called exit;
// others may be in calls.
func (j *jobEnd) Leave() {
	j.exitThread.Store(int64(syscall.Gettid()))
	log.Flush()
	disconnected := make(chan struct{})
	go func() {
		defer log.Guard()
		defer close(disconnected)
		j.rt.coalescing.postCoalesced(everyRank)
		for _, tr := range j.rt.transports[1:] { // those between nodes
			tr.Close()
		}
	}()
	select {
	case <-disconnected:
	case <-time.After(leaveTime):
	}
	j.rt.Liveness.Leave(false)
}
