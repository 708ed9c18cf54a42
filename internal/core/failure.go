// SPDX-License-Identifier: BSD-3-Clause

// How a job ends when it cannot go on: one rank of a node prints one line, then every rank ends.
package core

import (
	"time"

	"libarmci/internal/log"
	"libarmci/internal/transport"
)

// lost is called by the node or a wire when a rank has died. It runs on a goroutine, so MPI must not be called. A rank
// that goes while the job starts is a matter of the start, which fails on all ranks if it must.
func (r *Runtime) lost(rank transport.Rank, reason string) {
	<-r.started
	r.ending.Do(func() {
		time.Sleep(r.turn(rank))
		if r.Node.ClaimEnd() {
			log.Errorf("%s: the job ends", reason)
		}
		r.Job.Die(1)
	})
}

// turn is how long this node lets others go first, so that one of them reports and ends the job for all: those who share
// the lost rank's node, who know best, then one node after the other.
func (r *Runtime) turn(lost transport.Rank) time.Duration {
	const step, last = 500 * time.Millisecond, 6
	theirs, mine := r.Topo.Node(lost), r.Topo.MyNode()
	if theirs == mine {
		return 0
	}
	place := mine
	if mine > theirs {
		place--
	}
	if len(r.Topo.Nodes[theirs]) > 1 {
		place++
	}
	return step * time.Duration(min(place, last))
}

// Abort ends the job on behalf of the application (ARMCI_Error, a fatal mistake). It runs on the caller's thread.
func (r *Runtime) Abort(text string, code int) {
	r.Node.ClaimEnd() // the others need not report that we are gone
	if text != "" {
		log.Errorf("%s", text)
	}
	r.Job.Abort(code)
}
