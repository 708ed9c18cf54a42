// SPDX-License-Identifier: BSD-3-Clause

// How a job ends when it cannot go on: one rank of a node prints one line, then every rank ends.
package core

import (
	"libarmci/internal/log"
	"libarmci/internal/transport"
)

// lost is called by the node when a rank has died. It runs on a goroutine, so MPI must not be called. A rank that goes
// while the job starts is a matter of the start, which fails on all ranks if it must.
func (r *Runtime) lost(_ transport.Rank, reason string) {
	<-r.started
	r.ending.Do(func() {
		if r.Node.ClaimEnd() {
			log.Errorf("%s: the job ends", reason)
		}
		r.Job.Die(1)
	})
}

// Abort ends the job on behalf of the application (ARMCI_Error, a fatal mistake). It runs on the caller's thread.
func (r *Runtime) Abort(text string, code int) {
	r.Node.ClaimEnd() // the others need not report that we are gone
	if text != "" {
		log.Errorf("%s", text)
	}
	r.Job.Abort(code)
}
