// SPDX-License-Identifier: BSD-3-Clause

// Coalescing: while an answer of a rank of another node is outstanding, small nonblocking puts and
// gets to it are collected, and posted as one vector operation: when the answer comes, when their
// batch is full, or before the caller waits or posts something else there. C adds to an open batch
// without entering Go.
//
// The first operation to an idle rank is posted at once, unless the latest batch of the kind was of
// many: then it is collected, too. Where no answer is outstanding, as after puts, which are not
// answered, an alarm of the transport takes its place, so that nothing waits for the caller. Puts
// that few others follow are posted without an alarm.
package core

import (
	"sync"
	"sync/atomic"

	"libarmci/internal/log"
	"libarmci/internal/transport"
)

const (
	numCoalescers     = 16       // a rank has that of its number
	maxCoalescedBytes = 2048     // bytes of a transfer
	maxBatchBytes     = 64 << 10 // bytes of a batch
)

// coalescing is the coalescers of this process.
type coalescing struct {
	rt         *Runtime
	batches    []Batch // those of the coalescers
	coalescers []coalescer
	// openCount is the number of batches that are open or being posted. C reads it. nil:
	// nothing is coalesced.
	openCount *atomic.Int32
}

// coalescer collects operations to one rank at a time, the one of which answers are outstanding.
type coalescer struct {
	rt    *Runtime
	batch *Batch
	// posting is held from closing the batch until it has been posted, so that later operations
	// are posted behind it. It is locked before the batch.
	posting      sync.Mutex
	answeredFunc func() // onAnswered, made once
	alarmFunc    func() // onAlarm, made once

	// Under the batch's lock.
	proc              int      // the rank that is served
	pending           *request // the operation that the open batch becomes; nil: it is closed
	number            int32    // of pending in the table of handles
	noBatchSinceAlarm bool     // no batch has been opened since the alarm was set
	wasWorthwhile     [2]bool  // by kind: the last batch had many operations
	alarmlessStores   uint32   // stores without an alarm after the last small batch of puts

	// Changed under the batch's lock, read without it.
	outstanding atomic.Int32  // requests that were posted and not answered, and an alarm
	alarmsFrom  atomic.Uint32 // number of posted stores from which puts have an alarm again
}

// EnableCoalescing has small nonblocking operations to other nodes collected, and returns the
// batches for C to add to; none if nothing is gained. The number of batches that are not posted is
// kept in open. The caller makes the call before the first operation.
func (co *coalescing) EnableCoalescing(open *atomic.Int32) []Batch {
	open.Store(0)
	if len(co.rt.Topo.Nodes) == 1 || !co.rt.internode.coalesces {
		return nil
	}
	co.batches, co.coalescers = make([]Batch, numCoalescers), make([]coalescer, numCoalescers)
	for i := range co.coalescers {
		s := &co.coalescers[i]
		s.rt, s.batch, s.answeredFunc, s.alarmFunc = co.rt, &co.batches[i], s.onAnswered,
			s.onAlarm
	}
	co.openCount = open
	return co.batches
}

// coalescerFor returns the coalescer of a checked operation, nil if the operation cannot be
// coalesced.
func (co *coalescing) coalescerFor(o *Op, to *iface) *coalescer {
	x := &o.Xfer
	if co.coalescers == nil || !to.coalesces || !o.remoteKnown || o.Kind == Acc ||
		x.Vector != nil || len(x.Count) != 1 || x.Count[0] > maxCoalescedBytes {
		return nil
	}
	return &co.coalescers[o.Proc%numCoalescers]
}

// collectOp adds an operation to the open batch, or opens one while an answer is outstanding.
// false: the caller posts the operation. content and number are those of Runtime.startOperation.
func (s *coalescer) collectOp(o *Op, implicit bool, content int32) (number int32, collected bool) {
	if s.bypasses(o) {
		return Done, false
	}
	s.batch.lock()
	for s.pending != nil && !s.addToBatch(o, implicit, content) {
		s.batch.unlock()
		s.postBatch()
		s.batch.lock()
	}
	defer s.batch.unlock()
	if s.pending == nil && s.outstanding.Load() == 0 && s.wasWorthwhile[o.Kind] {
		s.setAlarm(o.Proc)
	}
	if s.pending != nil || s.openBatchFor(o, implicit, content) {
		return s.number, true
	}
	if o.Kind == Put {
		s.setAlarm(o.Proc)
	}
	return Done, false
}

// bypasses tells whether a put is posted without looking at the batch: nothing is collected or
// outstanding, and alarms pause. It costs no atomic operation that writes.
func (s *coalescer) bypasses(o *Op) bool {
	return o.Kind == Put && s.rt.coalescing.openCount.Load() == 0 &&
		s.outstanding.Load() == 0 &&
		int32(s.alarmsFrom.Load()-s.rt.traffic.total().Posted.Load()) > 0
}

// addToBatch adds an operation to the open batch; false: it does not fit, or operations of another
// batch are open under its handle. The caller holds the batch's lock.
func (s *coalescer) addToBatch(o *Op, implicit bool, content int32) bool {
	if implicit != s.pending.implicit {
		return false
	}
	if content = s.rt.handleTable.contentAfter(content); content != Done &&
		content != s.number {
		return false
	}
	return s.batch.addTransfer(o)
}

// openBatchFor opens a batch with its first operation, if an answer is outstanding. The caller
// holds the batch's lock.
func (s *coalescer) openBatchFor(o *Op, implicit bool, content int32) bool {
	if s.outstanding.Load() == 0 || s.proc != o.Proc {
		return false
	}
	e, found := s.rt.regionManager.remote.findExtent(transport.Rank(o.Proc), o.Xfer.Remote.Base)
	if !found || uintptr(o.Xfer.Count[0]) > e.hi-o.Xfer.Remote.Base {
		return false
	}
	p := requests.Get().(*request)
	p.proc, p.implicit, p.transport, p.refs = o.Proc, implicit, s.rt.internode.tr, 1
	s.pending, s.number, s.noBatchSinceAlarm = p, s.rt.handleTable.addRequest(p, content), false
	owner := s.number
	if implicit {
		owner = Done
	}
	s.batch.owner.Store(uintptr(uint32(owner)))
	s.batch.openFor(o, e, maxCoalescedBytes, maxBatchBytes)
	s.batch.addTransfer(o)
	s.rt.coalescing.openCount.Add(1)
	return true
}

// postBatch posts the open batch, if there is one. It locks posting and the batch.
func (s *coalescer) postBatch() {
	s.posting.Lock()
	defer s.posting.Unlock()
	s.batch.lock()
	p := s.pending
	if p == nil {
		s.batch.unlock()
		return
	}
	s.adaptToBatch(Kind(s.batch.kind), s.batch.count)
	o := NewOp()
	s.batch.closeInto(o)
	o.Xfer.Later = true
	p.copyOp(o)
	o.Release()
	s.pending = nil
	if p.op.Kind == Get {
		s.countRequest(p)
	}
	s.batch.unlock()
	if err := s.rt.postOp(&p.op); err != nil {
		p.complete(err)
	} else if p.implicit && p.op.Kind == Get {
		s.rt.traffic.countPosted(p.proc) // a fence waits for it too
	}
	s.rt.handleTable.unrefRequest(p)
	s.rt.coalescing.openCount.Add(-1)
}

// claimFor makes the coalescer serve a rank if it is idle; false: it serves another one. The caller
// holds the batch's lock.
func (s *coalescer) claimFor(proc int) bool {
	if s.outstanding.Load() == 0 && s.pending == nil {
		s.proc = proc
	}
	return s.proc == proc
}

// expectAnswer has onAnswered called at the answer to a request, which the caller posts next. It
// locks the batch.
func (s *coalescer) expectAnswer(p *request) {
	s.batch.lock()
	defer s.batch.unlock()
	if s.claimFor(p.proc) {
		s.countRequest(p)
	}
}

// setAlarm sets an alarm of the transport in place of an answer, if none is outstanding. The caller
// holds the batch's lock.
func (s *coalescer) setAlarm(proc int) {
	if alarm := s.rt.internode.alarm; alarm != nil && s.outstanding.Load() == 0 &&
		s.claimFor(proc) {
		s.outstanding.Add(1)
		s.noBatchSinceAlarm = true
		alarm.CallLater(s.alarmFunc)
	}
}

const (
	worthwhileOps = 8    // operations of a batch
	maxAlarmless  = 4096 // puts
)

// adaptToBatch adapts to a batch of n operations. After a small one puts are posted without an
// alarm for a while, which becomes longer each time. The caller holds the batch's lock.
func (s *coalescer) adaptToBatch(kind Kind, n int32) {
	s.wasWorthwhile[kind] = n >= worthwhileOps
	switch {
	case kind == Get:
		return
	case s.wasWorthwhile[Put]:
		s.alarmlessStores = 0
	default:
		s.alarmlessStores = min(max(4, 4*s.alarmlessStores), maxAlarmless)
	}
	s.alarmsFrom.Store(s.rt.traffic.total().Posted.Load() + s.alarmlessStores)
}

// onAlarm is called by the transport when the alarm expires. It locks the batch.
func (s *coalescer) onAlarm() {
	s.batch.lock()
	if s.noBatchSinceAlarm {
		s.adaptToBatch(Put, 0)
	}
	s.batch.unlock()
	s.onAnswered()
}

// countRequest counts a request that will be answered. The caller holds the batch's lock.
func (s *coalescer) countRequest(p *request) {
	p.onAnswer = s.answeredFunc
	s.outstanding.Add(1)
}

// onAnswered is called when a request is complete, perhaps under locks of the transport: it leaves
// the posting to a goroutine. It locks the batch.
func (s *coalescer) onAnswered() {
	s.batch.lock()
	last := s.outstanding.Add(-1) == 0 && s.pending != nil
	s.batch.unlock()
	if last {
		go s.postBatchAsync()
	}
}

// postBatchAsync is postBatch as a goroutine.
func (s *coalescer) postBatchAsync() {
	defer log.Guard()
	s.postBatch()
}

// everyRank is postCoalesced's argument for all ranks.
const everyRank = -1

// postCoalesced posts what was collected for a rank, or for all. It is called before the caller
// waits, or posts what must follow these operations.
func (co *coalescing) postCoalesced(proc int) {
	switch {
	case co.openCount == nil || co.openCount.Load() == 0:
	case proc == everyRank:
		for i := range co.coalescers {
			co.coalescers[i].postBatch()
		}
	default:
		co.coalescers[proc%numCoalescers].postBatch()
	}
}
