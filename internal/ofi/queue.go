// SPDX-License-Identifier: BSD-3-Clause

// A completion queue: an endpoint of the provider, which the queue pairs of one role share. The
// provider completes requests in any order; they become completions of queue pairs, in order.
package ofi

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"libarmci/internal/log"
	"libarmci/internal/ofi/fast"
	"libarmci/internal/ofi/libfabric"
	"libarmci/internal/rdma/qp"
	"libarmci/internal/sys"
)

const (
	pollBatch  = 32                    // completions that are taken at a time
	maxNap     = time.Millisecond      // of a queue without a descriptor
	retryDelay = 50 * time.Microsecond // if the provider had no room
)

// buffer is a receive buffer that was given to the provider.
type buffer struct {
	id   uint64
	data qp.Data
}

// queue implements qp.Queue. One thread polls it, by Poll and WaitCompletions; other threads post.
type queue struct {
	device         *device
	endpoint       *libfabric.Endpoint
	fast           *fast.Queue  // nil: C does not use it
	requestSlots   slots        // of requests
	sleeperFD      atomic.Int32 // descriptor that ends Sleep; -1: none
	bufferSlots    slots        // of receive buffers
	offeredBuffers []buffer     // by slot of bufferSlots
	name           []byte

	mu           sync.Mutex // guards pairs, peers, stalledPairs and completions
	pairs        map[uint32]*pair
	peers        map[string]*peer // by name
	stalledPairs []*pair          // for which the provider had no room
	completions  []qp.Completion  // that were not returned by Poll or WaitCompletions

	// Of the thread that polls.
	polled      [pollBatch]libfabric.Done
	networkWoke bool
}

// slotUser is the request that uses a slot.
type slotUser struct {
	pair       *pair
	listNumber uint64
	write      bool
}

// NewQueue makes a queue; NewBuffers opens it.
func (d *device) NewQueue(int) (qp.Queue, error) {
	q := &queue{device: d, pairs: map[uint32]*pair{}, peers: map[string]*peer{}}
	q.sleeperFD.Store(-1)
	return q, nil
}

// NewBuffers opens the endpoint, with room for so many receive buffers.
func (q *queue) NewBuffers(n int) (err error) {
	q.offeredBuffers = make([]buffer, n)
	if err = q.requestSlots.open(q.device, maxRequests, slotBytes); err != nil {
		return err
	}
	if err = q.bufferSlots.open(q.device, n, contextBytes); err != nil {
		return err
	}
	if q.endpoint, err = q.device.NewEndpoint(maxRequests+fast.Most, n); err != nil {
		return err
	}
	q.fast = fast.NewQueue(q.endpoint, q.device.writeFlags, q.device.modes,
		q.device.progress.Progress)
	if q.fast == nil {
		return unix.ENOMEM
	}
	if q.name, err = q.endpoint.Name(); err != nil {
		return err
	}
	q.device.mu.Lock()
	q.device.endpoint = q.endpoint
	q.device.mu.Unlock()
	q.device.progress.addQueue(q)
	return nil
}

// PostReceives gives receive buffers to the provider.
func (q *queue) PostReceives(ids []uint64, data []qp.Data) error {
	for i := range ids {
		at := q.bufferSlots.acquire(slotUser{})
		q.offeredBuffers[at] = buffer{ids[i], data[i]}
		if err := q.offerBuffer(at); err != nil {
			return err
		}
	}
	return nil
}

// offerBuffer gives the receive buffer of a slot to the provider, again after a message of no use.
func (q *queue) offerBuffer(at int32) error {
	b := &q.offeredBuffers[at].data
	return q.endpoint.Receive(uintptr(b.Addr), int(b.Bytes), q.device.descs.descOf(b.Key),
		q.bufferSlots.addr(at))
}

// Poll returns completions, and polls for the first of them as often as said.
func (q *queue) Poll(out []qp.Completion, looks, yields int) (int, error) {
	if q.postStalled() || q.hasCompletions() {
		looks, yields = 1, 0
	}
	n, err := q.endpoint.Look(q.polled[:], looks, yields)
	return q.handlePolled(out, n, err)
}

// WaitCompletions returns completions, and sleeps until there are some, wake is readable, or limit
// has passed.
func (q *queue) WaitCompletions(out []qp.Completion, wake int, limit time.Duration) (
	n int, rang bool, err error) {
	if q.hasCompletions() {
		n, err = q.Poll(out, 1, 0)
		return n, false, err
	}
	q.sleeperFD.Store(int32(wake))
	if q.postStalled() && (limit < 0 || limit > retryDelay) {
		limit = retryDelay
	}
	n, rang, q.networkWoke, err = q.endpoint.Sleep(q.polled[:], wake, limit, maxNap)
	n, err = q.handlePolled(out, n, err)
	return n, rang, err
}

// ServedPeer tells whether the network has ended the last Sleep.
func (q *queue) ServedPeer() bool { return q.networkWoke }

// hasCompletions tells whether there are completions that were not returned. It locks mu.
func (q *queue) hasCompletions() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.completions) > 0 || q.fast.Some()
}

// handlePolled handles n completions of the provider in polled, and returns completions of queue
// pairs in out. It locks mu.
func (q *queue) handlePolled(out []qp.Completion, n int, err error) (int, error) {
	q.handleCompletions(q.polled[:n])
	q.handleFoundByC()
	q.mu.Lock()
	defer q.mu.Unlock()
	given := copy(out, q.completions)
	q.completions = append(q.completions[:0], q.completions[given:]...)
	return given + q.fast.TakeCompleted(out[given:]), err
}

// handleCompletions handles completions of the provider. Any thread may call it, without locks.
func (q *queue) handleCompletions(done []libfabric.Done) {
	for i := range done {
		q.handleCompletion(&done[i])
	}
}

// handleFoundByC handles completions of requests of Go that C has found. Any thread may call it.
func (q *queue) handleFoundByC() {
	var done [pollBatch]libfabric.Done
	for n := q.fast.TakeLeft(done[:]); n > 0; n = q.fast.TakeLeft(done[:]) {
		q.handleCompletions(done[:n])
	}
}

// pollCompletions handles completions that are there already. Any thread may call it.
func (q *queue) pollCompletions() {
	var done [pollBatch]libfabric.Done
	n, _ := q.endpoint.Look(done[:], 1, 0)
	q.handleCompletions(done[:n])
	q.wakeSleeper()
}

// wakeSleeper wakes a thread in Sleep if there are completions for it.
func (q *queue) wakeSleeper() {
	if wake := q.sleeperFD.Load(); wake >= 0 && q.hasCompletions() {
		sys.EventFD(wake).Signal()
	}
}

// handleCompletion handles a completion of a request, of a receive buffer, or of C.
func (q *queue) handleCompletion(c *libfabric.Done) {
	if at, ok := q.requestSlots.slotOf(c.Context); ok {
		r := q.requestSlots.releaseSlot(at)
		r.pair.requestCompleted(&r, libfabric.Error(c.Err))
		return
	}
	at, ok := q.bufferSlots.slotOf(c.Context)
	switch {
	case !ok && q.fast.Completed(c):
	case !ok: // an error of the provider itself
		log.Infof("%s: %v", q.device.Name(), libfabric.Error(c.Err))
	case c.Err != 0 || !q.messageArrived(at, int(c.Bytes)):
		if err := q.offerBuffer(at); err != nil {
			log.Errorf("%s: a receive buffer is lost: %v", q.device.Name(), err)
		}
	}
}

// messageArrived adds the message of n bytes in a slot to the completions of its queue pair, in the
// order of numbers. It returns false, and the caller offers the buffer again, for a pulse and if no
// queue pair has the token. It locks mu.
func (q *queue) messageArrived(at int32, n int) bool {
	b := q.offeredBuffers[at]
	if n < trailerBytes || n > int(b.data.Bytes) {
		return false
	}
	t := decodeTrailer(unsafe.Slice(
		(*byte)(pointerTo(uintptr(b.data.Addr)+uintptr(n-trailerBytes))), trailerBytes))
	q.mu.Lock()
	defer q.mu.Unlock()
	p := q.pairs[t.pair]
	if p == nil || t.token != p.local.token {
		return false // of a connection that is closed, or of a stranger
	}
	p.eventCount.Add(1)
	if t.number == pulseNumber {
		if n >= pulseBytes+trailerBytes {
			p.pulseArrived(decodePulse(b.data.Addr), time.Now())
		}
		return false
	}
	q.bufferSlots.releaseSlot(at)
	q.completions = p.messageArrived(t.number, qp.Completion{ID: b.id,
		Bytes: uint32(n - trailerBytes), Pair: t.pair}, q.completions)
	return true
}

// pointerTo is a pointer to memory outside of Go's heap.
func pointerTo(addr uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

// addCompletion adds a completion for the caller of Poll. It locks mu.
func (q *queue) addCompletion(c qp.Completion) {
	q.mu.Lock()
	q.completions = append(q.completions, c)
	q.mu.Unlock()
}

// addStalled has the thread that polls call retryPosting of a queue pair. It locks mu.
func (q *queue) addStalled(p *pair) {
	q.mu.Lock()
	q.stalledPairs = append(q.stalledPairs, p)
	q.mu.Unlock()
}

// postStalled posts requests for which the provider had no room: true if it still has none. It
// locks mu.
func (q *queue) postStalled() bool {
	q.mu.Lock()
	list := q.stalledPairs
	q.stalledPairs = nil
	q.mu.Unlock()
	for _, p := range list {
		p.retryPosting()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.stalledPairs) > 0
}

// Arm does nothing: FD becomes readable for every completion after Pending.
func (q *queue) Arm() error { return nil }

// SignalsAll is false: FD needs Pending.
func (q *queue) SignalsAll() bool { return false }

// Pending tells whether there may be completions already: then the caller does not wait for FD.
func (q *queue) Pending() bool { return q.hasCompletions() || q.endpoint.Pending() }

// FD is a descriptor that is readable when there may be completions; -1: there is none.
func (q *queue) FD() int { return q.endpoint.FD() }

// DrainEvents does nothing: FD becomes unreadable without it.
func (q *queue) DrainEvents() {}

// Close closes the endpoint.
func (q *queue) Close() (err error) {
	q.device.progress.removeQueue(q)
	if q.endpoint != nil {
		q.device.mu.Lock()
		if q.device.endpoint == q.endpoint {
			q.device.endpoint = nil
		}
		q.device.mu.Unlock()
		err = q.endpoint.Close()
	}
	q.requestSlots.close()
	q.bufferSlots.close()
	q.fast.Free()
	return err
}

// Network is the functions for C: nil where local memory has to be registered, or where the
// provider must have few requests only.
func (q *queue) Network() unsafe.Pointer {
	if !q.device.limits.Unregistered || q.device.maxPosted < maxRequests {
		return nil
	}
	return fast.Network()
}

// Handle is the queue of the fast path in C.
func (q *queue) Handle() unsafe.Pointer { return unsafe.Pointer(q.fast) }

// Channel is nil: a waiter in C does not sleep.
func (q *queue) Channel() unsafe.Pointer { return nil }

// Receive is nil: C receives no messages.
func (q *queue) Receive() unsafe.Pointer { return nil }

// peer is another endpoint, to which several queue pairs may be connected.
type peer struct {
	addr  libfabric.Address
	users int
}

// connectPeer returns the address of the endpoint of a name, and counts one more user, which calls
// releasePeer. It locks mu.
func (q *queue) connectPeer(name string) (libfabric.Address, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	x := q.peers[name]
	if x == nil {
		q.device.recordProcess([]byte(name))
		at, err := q.endpoint.Insert([]byte(name))
		if err != nil {
			// ofi_rxd may be adding it itself, because of a message from there: then
			// the second attempt succeeds
			at, err = q.endpoint.Insert([]byte(name))
		}
		if err != nil {
			return 0, err
		}
		x = &peer{addr: at}
		q.peers[name] = x
	}
	x.users++
	return x.addr, nil
}

// releasePeer ends one use of a name. After the last one the provider may close its connection. It
// locks mu.
func (q *queue) releasePeer(name string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	x := q.peers[name]
	if x.users--; x.users == 0 && !q.device.keepsAddresses {
		delete(q.peers, name)
		if err := q.endpoint.Remove(x.addr); err != nil {
			log.Infof("%s: %v", q.device.Name(), err)
		}
	}
}

// removePair removes a queue pair: messages for it are dropped. It locks mu.
func (q *queue) removePair(p *pair) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.pairs, p.local.pair)
	q.stalledPairs = slices.DeleteFunc(q.stalledPairs, func(s *pair) bool { return s == p })
}
