// SPDX-License-Identifier: BSD-3-Clause

// The library in one process: its parts, and its end by Finalize. start.go has the start. capi
// counts nested initialisations.
package core

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"libarmci/internal/bootstrap"
	"libarmci/internal/config"
	"libarmci/internal/log"
	"libarmci/internal/transport"
)

// Runtime is ARMCI between initialisation and finalisation. Its parts have a file each; what they
// export is called as a method of Runtime.
type Runtime struct {
	identity
	nodeParts
	routes
	jobEnd      // failure.go
	groups      // group.go, group_create.go
	locks       // mutex.go, rwlock.go, lockserver.go
	signals     // notify.go, event.go
	procedures  // gpc.go
	memoryParts // region.go, private.go
	batching    // aggregate.go, coalesce.go
	twoSided    // two_sided.go, straight.go, staged.go
	handleTable // handle_table.go
	checkpoints // checkpoint.go, checkpoint_recover.go
	traffic     // traffic.go
	// leaving is set in the final barrier: nodes that are connected to now may have left.
	leaving atomic.Bool
}

// identity is what this rank is in its job: constant after Start.
type identity struct {
	Cfg       *config.Set
	Job       bootstrap.Job
	Topo      *Topology
	Me        transport.Rank
	N         int // ranks of the job
	localRank int // number of this rank among those of its node
}

// nodeParts are the parts of the node (transport.Node), nil until this rank has joined it. They are
// constant afterwards.
type nodeParts struct {
	Memory        transport.NodeMemory
	Teams         transport.Teams
	Locks         transport.Mutexes
	Liveness      transport.Liveness
	allocator     transport.Allocator
	mailbox       transport.Mailbox
	notifications transport.Notifications
	rwlocks       transport.RWLocks
	wordLocks     transport.WordLocks // nil: the node's locks have no words
	events        transport.Events
}

// routes are the ways to other ranks. They are constant after Start.
type routes struct {
	intranode, internode iface // to ranks of this node, and of other nodes
	// peers is 0, 1, 2, ...: a part of it is a list of one peer that needs no allocation.
	peers      []transport.Peer
	transports []transport.Transport // that of the node is the first
	// deviceAtomics does RMWs in declared memory (Allocator.Declare); nil: there are none.
	deviceAtomics transport.Transport
}

// locks are mutexes and reader/writer locks, at their callers and at the server of their owners.
type locks struct {
	mutexes
	windowLocks
	lockServer
}

// signals are notifications and events.
type signals struct {
	notifier
	eventCounters
}

// memoryParts is the memory that other ranks may access.
type memoryParts struct {
	regionManager
	privateMemory
}

// batching collects small operations.
type batching struct {
	aggregates
	coalescing
}

// newRuntime returns a runtime that has not been started, of which each part knows the whole.
func newRuntime(cfg *config.Set, job bootstrap.Job) *Runtime {
	r := &Runtime{identity: identity{Cfg: cfg, Job: job, Me: transport.Rank(job.Rank()),
		N: job.Size()}}
	r.connectParts()
	return r
}

// connectParts gives each part the pointer to its runtime.
func (r *Runtime) connectParts() {
	r.jobEnd.rt, r.groups.rt, r.procedures.rt, r.twoSided.rt = r, r, r, r
	r.mutexes.rt, r.windowLocks.rt, r.lockServer.rt = r, r, r
	r.notifier.rt, r.eventCounters.rt = r, r
	r.regionManager.rt, r.privateMemory.rt = r, r
	r.checkpoints.rt, r.checkpoints.records = r, map[int]*checkpointRecord{}
	r.aggregates.rt, r.coalescing.rt = r, r
	r.jobEnd.started = make(chan struct{})
	r.jobEnd.jobEnding, r.jobEnd.jobEnded = make(chan struct{}), make(chan struct{})
}

// Finalize is collective: all operations complete, then this rank releases everything. The caller
// makes no other call afterwards.
func (r *Runtime) Finalize() error {
	r.FlushAggregates()
	r.WaitAll()
	r.AllFence()
	r.Liveness.AnnounceFinalBarrier(true)
	r.leaving.Store(true)
	r.Barrier()
	r.jobEnd.endOnce.Do(func() {}) // from here on the end of other ranks is ignored
	r.twoSided.close()
	r.closeRecords(nil)
	r.groups.releaseGroups()
	r.closeTransports()
	log.Flush()
	r.twoSided.tasks.Wait()
	r.Liveness.Leave(true)
	return r.Job.Close()
}

// closeTransports closes all transports. The caller is the last to use them.
func (rs *routes) closeTransports() {
	for _, tr := range slices.Backward(rs.transports) {
		// the node's last: transports between nodes use it
		tr.Close()
	}
}

// checkRank returns an error unless proc is a rank of the job.
func (r *Runtime) checkRank(arg string, proc int) error {
	if proc < 0 || proc >= r.N {
		return argErr(CodeProc, arg, "rank %d is outside 0..%d", proc, r.N-1)
	}
	return nil
}

// Summary is one line for ARMCI_VERBOSE and armci_info.
func (r *Runtime) Summary() string {
	names := make([]string, len(r.transports))
	for i, info := range r.Transports() {
		names[i] = info.Name
	}
	return fmt.Sprintf("%d ranks on %d node(s) (%s), started by %s, transport %s", r.N,
		len(r.Topo.Nodes), r.Topo,
		r.Job.Kind(), strings.Join(names, " and "))
}

// Transports lists the names of transports in use.
func (rs *routes) Transports() []transport.Info {
	infos := make([]transport.Info, len(rs.transports))
	for i, t := range rs.transports {
		infos[i] = t.Info()
	}
	return infos
}

// Counts is what the transports of this rank have counted, the same names at all ranks.
func (rs *routes) Counts() (all []transport.Count) {
	for _, t := range rs.transports {
		if c, ok := t.(transport.Counter); ok {
			all = append(all, c.Counts()...)
		}
	}
	return all
}
