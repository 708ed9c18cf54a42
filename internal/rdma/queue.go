// SPDX-License-Identifier: BSD-3-Clause

// A completion queue with its buffers: the transport.Source of all endpoints of one role, origins'
// or the data server's. poll.go has how it is polled. Memory for buffers does not depend on the
// number of endpoints. The queue cannot overflow: a request is posted only after an entry has been
// reserved for it.
package rdma

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"libarmci/internal/kernel"
	"libarmci/internal/log"
	"libarmci/internal/pin"
	"libarmci/internal/rdma/fastpath"
	"libarmci/internal/rdma/qp"
	"libarmci/internal/sys"
)

const (
	maxQueueRequests = 4096 // requests of all endpoints that may be posted at once
	pollBatch        = 64   // completions that one poll takes at most
	// longest sleep on the origins' queue: its poller waits for other events, too
	maxOriginSleep = 50 * time.Millisecond
)

// receiveID is set in the id of a receive buffer's completion; the lower bits are its number.
const receiveID = uint64(1) << 63

// queue is a completion queue. Any thread may post and claim buffers; one thread at a time, the
// poller, takes completions.
type queue struct {
	fabric         *Fabric
	cq             qp.Queue
	receiveBuffers *pin.Pool
	sendBuffers    *pin.Pool       // of messages, and of data that is not registered
	readInto       []kernel.Cursor // by send buffer: where bytes that are read into it belong
	requestsLeft   atomic.Int32    // entries that no posted request has reserved
	maxRequests    int             // entries for requests in all
	policy         pollPolicy
	fast           *fastpath.Path    // nil on the data server's queue
	answers        *fastpath.Answers // the answers that C sends; nil if it sends none
	wakeup         sys.EventFD       // ends Sleep
	endpoints      endpointTable
	calls          pollerCalls
	peersLeaving   atomic.Int32 // endpoints in state peerLeaving
	poller         pollerState
}

// pollPolicy is how long a poll spins and sleeps.
type pollPolicy struct {
	pollsBeforeYield int
	maxSleep         time.Duration // negative: without limit
}

// endpointTable finds the endpoint of a completion.
type endpointTable struct {
	mu sync.Mutex // guards byPair

	byPair map[uint32]*endpoint // by number of the queue pair
}

// pollerCalls are functions that the poller has to call, since they need its state.
type pollerCalls struct {
	pending      atomic.Bool // list is not empty, or an endpoint may be ready to be destroyed
	pollerActive atomic.Bool // the poller will load pending again before it sleeps

	mu sync.Mutex // guards list

	list []func()
}

// pollerState is what only the poller uses, except for closers.
type pollerState struct {
	closers atomic.Int32 // threads that wait for mu to disconnect endpoints; any thread
	mu      sync.Mutex   // the thread that holds it is the poller; guards the rest

	releasing    []*endpoint // whose queue pairs are destroyed when their disconnect is sent
	backlogged   []*target   // that have something to send for which there was no room
	seenFastOver uint32      // the fast path's count of requests that are over, when last read
	unreported   int         // completions that Sleep has handled and Poll has yet to return
	completions  [pollBatch]qp.Completion
	recycledIDs  []uint64 // receive buffers that are to be posted again, and their memory
	recycledData []qp.Data
}

// openQueue makes a queue with so many buffers to receive and to send. extra is how many entries
// the fast path or C's answers need beside those of requests.
func (f *Fabric) openQueue(receives, sends, extra int) (*queue, error) {
	limits := f.device.Limits()
	receives = min(receives, limits.MaxSRQ)
	requests := min(maxQueueRequests, limits.MaxCQE-receives-extra)
	cq, err := f.device.NewQueue(requests + receives + extra)
	if err != nil {
		return nil, err
	}
	q := &queue{fabric: f, cq: cq, wakeup: sys.NoEventFD, maxRequests: requests,
		policy: pollPolicy{pollsBeforeYield: 1, maxSleep: -1}}
	q.endpoints.byPair = map[uint32]*endpoint{}
	q.requestsLeft.Store(int32(requests))
	if q.keepsRequests() {
		server := f.originQueue != nil
		cq.(qp.ResumingQueue).KeepRequests(int(f.progress.wakeup), server)
	}
	q.receiveBuffers, err = pin.NewPool(f.bufferRegistrar, receives, f.bufferSize)
	if err == nil {
		q.sendBuffers, err = pin.NewPool(f.bufferRegistrar, sends, f.bufferSize)
	}
	if err != nil {
		err = fmt.Errorf("%w; is RLIMIT_MEMLOCK (ulimit -l) too small?", err)
	} else {
		q.readInto = make([]kernel.Cursor, q.sendBuffers.Count())
		err = q.cq.NewBuffers(q.receiveBuffers.Count())
	}
	if err == nil {
		take := q.receiveBuffers.TakeBuffer
		for b := take(); b != noBuffer; b = take() {
			q.recycleReceive(b)
		}
		err = q.repostReceives()
	}
	if err == nil {
		q.wakeup, err = sys.NewEventFD()
	}
	if err != nil {
		q.destroy()
		return nil, err
	}
	f.queues = append(f.queues, q)
	return q, nil
}

// destroy frees the queue. All its endpoints have been destroyed.
func (q *queue) destroy() {
	q.cq.Close()
	q.receiveBuffers.Close()
	q.sendBuffers.Close()
	q.wakeup.Close()
	q.fast.Free()
	q.answers.Free()
}

// receiveArea describes the receive buffers to C.
func (q *queue) receiveArea() *fastpath.Incoming {
	in := q.receiveBuffers
	return &fastpath.Incoming{Addr: in.Addr(0), Bytes: in.Size, Count: in.Count(),
		Key: q.fabric.device.LocalKey(in.Key)}
}

// registerEndpoint has completions of the endpoint's queue pair handled. It locks the table.
func (q *queue) registerEndpoint(e *endpoint) {
	q.endpoints.mu.Lock()
	q.endpoints.byPair[e.pair.Number()] = e
	q.endpoints.mu.Unlock()
}

// unregisterEndpoint undoes registerEndpoint. It locks the table.
func (q *queue) unregisterEndpoint(e *endpoint) {
	q.endpoints.mu.Lock()
	delete(q.endpoints.byPair, e.pair.Number())
	q.endpoints.mu.Unlock()
}

// endpointOf returns the endpoint with a queue pair, nil if there is none. It locks the table.
func (q *queue) endpointOf(pair uint32) *endpoint {
	q.endpoints.mu.Lock()
	defer q.endpoints.mu.Unlock()
	return q.endpoints.byPair[pair]
}

// listEndpoints returns all endpoints. It locks the table.
func (q *queue) listEndpoints() []*endpoint {
	q.endpoints.mu.Lock()
	defer q.endpoints.mu.Unlock()
	return slices.Collect(maps.Values(q.endpoints.byPair))
}

// reserveRequests reserves entries for n requests, if so many are left. The entries are returned
// when the requests have completed (releaseChain).
func (q *queue) reserveRequests(n int32) bool {
	if q.requestsLeft.Add(-n) >= 0 {
		return true
	}
	q.requestsLeft.Add(n)
	return false
}

// recycleReceive lists a receive buffer for repostReceives. Poller only.
func (q *queue) recycleReceive(b int32) {
	p := &q.poller
	p.recycledIDs = append(p.recycledIDs, receiveID|uint64(b))
	p.recycledData = append(p.recycledData,
		q.fabric.describeBuffer(q.receiveBuffers, b, 0, q.receiveBuffers.Size))
}

// repostReceives posts the listed receive buffers again, in one call of the device. Poller only.
func (q *queue) repostReceives() (err error) {
	p := &q.poller
	if len(p.recycledIDs) > 0 {
		if err = q.cq.PostReceives(p.recycledIDs, p.recycledData); err != nil {
			log.Errorf("nothing can be received any more: %v", err)
		}
		p.recycledIDs, p.recycledData = p.recycledIDs[:0], p.recycledData[:0]
	}
	return err
}
