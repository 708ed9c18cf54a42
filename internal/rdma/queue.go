// SPDX-License-Identifier: BSD-3-Clause

// A completion queue with its buffers: the transport.Source of all ends of one role, origins' or
// the data server's. The thread that holds its lock is the poller. Memory for buffers does not
// depend on the number of ends. The queue cannot overflow: nothing is posted without a token, and
// there is one token for each entry.
package rdma

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"libarmci/internal/eventfd"
	"libarmci/internal/kernel"
	"libarmci/internal/log"
	"libarmci/internal/pin"
	"libarmci/internal/rdma/fastpath"
	"libarmci/internal/rdma/qp"
)

const (
	maxRequests = 4096
	pollBatch   = 64 // completions that are polled at a time
	// longest sleep of an origin, which waits for other things, too
	maxOriginSleep = 50 * time.Millisecond
)

// received marks the number of a receive buffer.
const receiveID = uint64(1) << 63

type queue struct {
	fabric           *Fabric
	cq               qp.Queue
	receiveBuffers   *pin.Pool       // what is received
	sendBuffers      *pin.Pool       // what is sent, and data whose place is not registered
	readInto         []kernel.Cursor // by buffer of out that is read into: where its bytes belong
	freeEntries      atomic.Int32
	allEntries       int               // tokens that there are in all
	pollsBeforeYield int               // before the first yield
	maxSleep         time.Duration     // longest sleep; negative: any time
	fast             *fastpath.Path    // nil if there is none
	answers          *fastpath.Answers // that C sends, of a data server's queue; nil: it sends none
	wakeup           eventfd.FD        // ends Sleep

	mu         sync.Mutex
	ends       map[uint32]*endpoint // by number of the queue pair
	calls      []func()             // calls for the poller to make
	backlogged []*target            // that have something to send and had no room; poller only

	disconnectsExpected atomic.Int32 // ends whose farewell is expected
	callsPending        atomic.Bool  // the poller has something to do: todo, or an end to destroy
	handling            atomic.Bool  // the poller will look at urgent before it sleeps
	closers             atomic.Int32 // threads in own

	// Used by the poller only.
	pollMu          sync.Mutex
	releasing       []*endpoint // whose queue pairs will be destroyed
	seenCompletions uint32      // as the fast path has said last
	unreported      int         // what Sleep has found; the next Poll returns it
	completions     [pollBatch]qp.Completion
	offerIDs        []uint64
	offerData       []qp.Data
}

// openQueue makes a queue with so many buffers to receive and to send, and extra entries.
func (f *Fabric) openQueue(in, out, extra int) (*queue, error) {
	limits := f.device.Limits()
	in = min(in, limits.MaxSRQ)
	tokens := min(maxRequests, limits.MaxCQE-in-extra)
	cq, err := f.device.NewQueue(tokens + in + extra)
	if err != nil {
		return nil, err
	}
	q := &queue{fabric: f, cq: cq, pollsBeforeYield: 1, maxSleep: -1, wakeup: eventfd.None, ends: map[uint32]*endpoint{}}
	q.freeEntries.Store(int32(tokens))
	q.allEntries = tokens
	if q.receiveBuffers, err = pin.NewPool(f.bufferMemory, in, f.bufferSize); err == nil {
		q.sendBuffers, err = pin.NewPool(f.bufferMemory, out, f.bufferSize)
	}
	if err != nil {
		err = fmt.Errorf("%w; is RLIMIT_MEMLOCK (ulimit -l) too small?", err)
	} else {
		q.readInto = make([]kernel.Cursor, q.sendBuffers.Count())
		err = q.cq.NewBuffers(q.receiveBuffers.Count())
	}
	if err == nil {
		for b := q.receiveBuffers.Take(); b != noBuffer; b = q.receiveBuffers.Take() {
			q.recycleReceive(b)
		}
		err = q.repostReceives()
	}
	if err == nil {
		q.wakeup, err = eventfd.New()
	}
	if err != nil {
		q.destroy()
		return nil, err
	}
	f.queues = append(f.queues, q)
	return q, nil
}

// free destroys the queue. Its ends are gone.
func (q *queue) destroy() {
	q.cq.Close()
	q.receiveBuffers.Close()
	q.sendBuffers.Close()
	q.wakeup.Close()
	q.fast.Free()
	q.answers.Free()
}

// incoming is its receive buffers as C knows them.
func (q *queue) receiveArea() *fastpath.Incoming {
	return &fastpath.Incoming{Addr: q.receiveBuffers.Addr(0), Bytes: q.receiveBuffers.Size, Count: q.receiveBuffers.Count(),
		Key: q.fabric.device.LocalKey(q.receiveBuffers.Key)}
}

func (q *queue) registerEndpoint(e *endpoint) {
	q.mu.Lock()
	q.ends[e.pair.Number()] = e
	q.mu.Unlock()
}

func (q *queue) unregisterEndpoint(e *endpoint) {
	q.mu.Lock()
	delete(q.ends, e.pair.Number())
	q.mu.Unlock()
}

func (q *queue) endpointOf(pair uint32) *endpoint {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ends[pair]
}

// all lists the ends.
func (q *queue) listEndpoints() []*endpoint {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Collect(maps.Values(q.ends))
}

// claim takes n tokens, if there are so many.
func (q *queue) claimEntries(n int32) bool {
	if q.freeEntries.Add(-n) >= 0 {
		return true
	}
	q.freeEntries.Add(n)
	return false
}

func (q *queue) lockPoll() {
	if q.closers.Load() > 0 { // the lock is not fair: let the thread in own have it
		time.Sleep(100 * time.Microsecond)
	}
	q.pollMu.Lock()
	q.fast.Enter()
}

func (q *queue) unlockPoll() {
	q.fast.Leave()
	q.pollMu.Unlock()
}

// Poll handles completions. It looks for the first one up to looks times, in one call of C: the
// first q.looks times without a pause, then with a yield before each.
func (q *queue) Poll(looks int) int {
	q.lockPoll()
	defer q.unlockPoll()
	return q.pollUpTo(looks, pollBatch)
}

func (q *queue) pollBatch(looks int) int { return q.pollUpTo(looks, pollBatch) }

// pollSome handles so many completions at most.
func (q *queue) pollUpTo(looks, most int) int {
	if n := q.handleAside() + q.unreported; n > 0 {
		q.unreported = 0
		return n
	}
	spin := max(min(looks, q.pollsBeforeYield), 1)
	return q.pollCQ(most, spin, max(looks-spin, 0))
}

// look looks for completions in C, which answers some of them, and handles the others.
func (q *queue) pollCQ(most, looks, yields int) int {
	if q.answers == nil {
		n, err := q.cq.Look(q.completions[:most], looks, yields)
		return q.handleCompletions(n, err)
	}
	n, answered, failed, err := q.answers.Look(q.completions[:most], looks, yields)
	q.loseUnanswerable(failed)
	return q.handleCompletions(n, err) + answered
}

// refused loses the end with this queue pair, which takes no answer; 0: there is none.
func (q *queue) loseUnanswerable(failed uint32) {
	if failed == 0 {
		return
	}
	if e := q.endpointOf(failed); e != nil {
		e.markLost(q.fabric.device.Fault("an answer cannot be posted"))
	}
}

// Sleep sleeps until there are completions, and handles them. It looks and sleeps in one call of C.
func (q *queue) Sleep(limit time.Duration) {
	q.lockPoll()
	defer q.unlockPoll()
	if q.unreported += q.handleAside(); q.unreported > 0 {
		return
	}
	q.repostReceives()
	if q.maxSleep >= 0 && (limit < 0 || limit > q.maxSleep) {
		limit = q.maxSleep
	}
	n, rang, err := q.cq.Sleep(q.completions[:], int(q.wakeup), limit)
	if rang {
		q.wakeup.Drain()
	}
	left, answered, failed := q.answers.Take(q.completions[:n])
	q.loseUnanswerable(failed)
	q.unreported += q.handleCompletions(left, err) + answered
	if n == 0 && !rang && q.cq.Stirred() { // others are served while this one polls: it pays to
		q.unreported++
	}
}

// Interrupt ends Sleep.
func (q *queue) Interrupt() { q.wakeup.Ring() }

// later has the poller call do soon. Any thread.
func (q *queue) callFromPoller(do func()) {
	q.mu.Lock()
	q.calls = append(q.calls, do)
	q.mu.Unlock()
	q.callsPending.Store(true)
	if !q.handling.Load() {
		q.Interrupt()
	}
}

// waiting handles what does not come from the queue: completions that C has put aside, what C has
// found to be over, and todo.
func (q *queue) handleAside() (n int) {
	if left := q.fast.Left(q.completions[:fastpath.MostLeft]); left > 0 {
		n = q.handleCompletions(left, nil)
	}
	if now := q.fast.Ended(); now != q.seenCompletions { // a thread may wait for that
		q.seenCompletions = now
		n++
	}
	for q.callsPending.Load() {
		// again if later has found dealing set, and so has not called Interrupt
		q.handling.Store(true)
		q.callsPending.Store(false)
		q.mu.Lock()
		list := q.calls
		q.calls = nil
		q.mu.Unlock()
		for _, do := range list {
			do()
		}
		q.destroyReleased()
		q.repostReceives()
		q.handling.Store(false)
		n += len(list)
	}
	return n
}

// deal handles n completions.
func (q *queue) handleCompletions(n int, err error) int {
	if err != nil {
		for _, e := range q.listEndpoints() {
			e.markLost(err)
		}
		return 1
	}
	if n == 0 {
		return 0
	}
	q.handling.Store(true)
	defer q.handling.Store(false)
	sent := false
	for i := range q.completions[:n] {
		c := &q.completions[i]
		e := q.endpointOf(c.Pair)
		switch {
		case q.fast.Mine(c):
			if c.Status != 0 && e != nil {
				e.markLost(q.fabric.device.Failure(c))
			}
		case c.ID&receiveID == 0:
			sent = true
			if e != nil {
				e.handleCompletion(c)
			}
		case e == nil || c.Status != 0 || e.lossReason.Load() != nil:
			if e != nil && c.Status == 0 && c.Bytes == 0 {
				e.onPeerDisconnect()
			}
			q.recycleReceive(int32(c.ID &^ receiveID))
		default:
			e.onMessage(int32(c.ID&^receiveID), int(c.Bytes))
		}
	}
	if sent {
		q.serveBacklogged()
	}
	if len(q.offerIDs) >= q.receiveBuffers.Count()/4 { // else before the poller sleeps: it is a call of C
		q.repostReceives()
	}
	return n
}

// giveBack has a receive buffer offered again.
func (q *queue) recycleReceive(b int32) {
	q.offerIDs = append(q.offerIDs, receiveID|uint64(b))
	q.offerData = append(q.offerData, q.fabric.bufferPiece(q.receiveBuffers, b, 0, q.receiveBuffers.Size))
}

func (q *queue) repostReceives() (err error) {
	if len(q.offerIDs) > 0 {
		if err = q.cq.Offer(q.offerIDs, q.offerData); err != nil {
			log.Errorf("nothing can be received any more: %v", err)
		}
		q.offerIDs, q.offerData = q.offerIDs[:0], q.offerData[:0]
	}
	return err
}

// payDebts serves the targets that had no room.
func (q *queue) serveBacklogged() {
	list := q.backlogged
	q.backlogged = nil
	for _, t := range list {
		t.backlogged = false
		t.serveBacklog()
	}
}
