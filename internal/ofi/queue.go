// SPDX-License-Identifier: BSD-3-Clause

// A completion queue: an endpoint of the provider, which the queue pairs of one role share. What
// the provider completes, in any order, becomes completions of queue pairs, in theirs.
package ofi

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"libarmci/internal/eventfd"
	"libarmci/internal/log"
	"libarmci/internal/ofi/fast"
	"libarmci/internal/ofi/libfabric"
	"libarmci/internal/rdma/qp"
)

const (
	burst      = 32                    // completions that are taken at a time
	longestNap = time.Millisecond      // of a queue without a descriptor
	retryAfter = 50 * time.Microsecond // if the provider had no room
)

// buffer is a receive buffer that was offered.
type buffer struct {
	id   uint64
	data qp.Data
}

type queue struct {
	d       *device
	ep      *libfabric.Endpoint
	fast    *fast.Queue  // nil: C does not use it
	slots   slots        // of requests
	wake    atomic.Int32 // descriptor that ends Sleep; -1: none
	taken   slots        // of receive buffers
	offered []buffer     // by slot of taken
	name    []byte

	mu      sync.Mutex
	pairs   map[uint32]*pair
	peers   map[string]*peer // by name
	stalled []*pair          // which the provider had no room for
	ready   []qp.Completion  // that were not given to the caller

	// Of the poller.
	done    [burst]libfabric.Done
	stirred bool
}

// request is what a slot is used for.
type request struct {
	p     *pair
	list  uint64
	write bool
}

// NewQueue makes a queue; NewBuffers opens it.
func (d *device) NewQueue(int) (qp.Queue, error) {
	q := &queue{d: d, pairs: map[uint32]*pair{}, peers: map[string]*peer{}}
	q.wake.Store(-1)
	return q, nil
}

// NewBuffers opens the endpoint, with room for so many receive buffers.
func (q *queue) NewBuffers(n int) (err error) {
	q.offered = make([]buffer, n)
	if err = q.slots.open(q.d, mostRequests, slotBytes); err != nil {
		return err
	}
	if err = q.taken.open(q.d, n, contextBytes); err != nil {
		return err
	}
	if q.ep, err = q.d.NewEndpoint(mostRequests+fast.Most, n); err != nil {
		return err
	}
	q.fast = fast.NewQueue(q.ep, q.d.told, q.d.modes, q.d.progress.Progress)
	if q.name, err = q.ep.Name(); err != nil {
		return err
	}
	q.d.mu.Lock()
	q.d.endpoint = q.ep
	q.d.mu.Unlock()
	q.d.progress.add(q)
	return nil
}

// Offer offers receive buffers.
func (q *queue) Offer(ids []uint64, data []qp.Data) error {
	for i := range ids {
		at := q.taken.take(request{})
		q.offered[at] = buffer{ids[i], data[i]}
		if err := q.receive(at); err != nil {
			return err
		}
	}
	return nil
}

func (q *queue) receive(at int32) error {
	b := &q.offered[at].data
	return q.ep.Receive(uintptr(b.Addr), int(b.Bytes), q.d.descs.of(b.Key), q.taken.addr(at))
}

// Look takes completions.
func (q *queue) Look(out []qp.Completion, looks, yields int) (int, error) {
	if q.pushStalled() || q.some() {
		looks, yields = 1, 0
	}
	n, err := q.ep.Look(q.done[:], looks, yields)
	return q.deal(out, n, err)
}

// Sleep takes completions, and sleeps until there are some.
func (q *queue) Sleep(out []qp.Completion, wake int, limit time.Duration) (n int, rang bool,
	err error) {
	if q.some() {
		n, err = q.Look(out, 1, 0)
		return n, false, err
	}
	q.wake.Store(int32(wake))
	if q.pushStalled() && (limit < 0 || limit > retryAfter) {
		limit = retryAfter
	}
	n, rang, q.stirred, err = q.ep.Sleep(q.done[:], wake, limit, longestNap)
	n, err = q.deal(out, n, err)
	return n, rang, err
}

// Stirred tells whether the network has ended the last Sleep.
func (q *queue) Stirred() bool { return q.stirred }

// some tells whether completions are there that were not given to the caller.
func (q *queue) some() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.ready) > 0 || q.fast.Some()
}

// deal handles n completions of the provider, and gives those of queue pairs to the caller.
func (q *queue) deal(out []qp.Completion, n int, err error) (int, error) {
	q.completed(q.done[:n])
	q.completeLeft()
	q.mu.Lock()
	defer q.mu.Unlock()
	given := copy(out, q.ready)
	q.ready = append(q.ready[:0], q.ready[given:]...)
	return given + q.fast.Take(out[given:]), err
}

// completed handles completions of the provider. Any thread.
func (q *queue) completed(done []libfabric.Done) {
	for i := range done {
		q.complete(&done[i])
	}
}

// completeLeft handles completions of the provider that C has found. Any thread.
func (q *queue) completeLeft() {
	var done [burst]libfabric.Done
	for n := q.fast.TakeLeft(done[:]); n > 0; n = q.fast.TakeLeft(done[:]) {
		q.completed(done[:n])
	}
}

// reap takes what is complete already. Any thread.
func (q *queue) reap() {
	var done [burst]libfabric.Done
	n, _ := q.ep.Look(done[:], 1, 0)
	q.completed(done[:n])
	q.tellSleeper()
}

// tellSleeper wakes a thread in Sleep if there is something for it.
func (q *queue) tellSleeper() {
	if wake := q.wake.Load(); wake >= 0 && q.some() {
		eventfd.FD(wake).Ring()
	}
}

func (q *queue) complete(c *libfabric.Done) {
	if at, ok := q.slots.at(c.Context); ok {
		r := q.slots.put(at)
		r.p.completed(&r, libfabric.Error(c.Err))
		return
	}
	at, ok := q.taken.at(c.Context)
	switch {
	case !ok && q.fast.Completed(c):
	case !ok: // an error that is about nothing of ours
		log.Infof("%s: %v", q.d.Name(), libfabric.Error(c.Err))
	case c.Err != 0 || !q.arrived(at, int(c.Bytes)):
		if err := q.receive(at); err != nil {
			log.Errorf("%s: a receive buffer is lost: %v", q.d.Name(), err)
		}
	}
}

// arrived gives a message to its queue pair; false if it is for nobody.
func (q *queue) arrived(at int32, n int) bool {
	b := q.offered[at]
	if n < trailerBytes || n > int(b.data.Bytes) {
		return false
	}
	t := trailerOf(unsafe.Slice(
		(*byte)(pointerTo(uintptr(b.data.Addr)+uintptr(n-trailerBytes))), trailerBytes))
	q.mu.Lock()
	defer q.mu.Unlock()
	p := q.pairs[t.pair]
	if p == nil || t.token != p.mine.token {
		return false // of a connection that is closed, or a stranger's
	}
	p.news.Add(1)
	if t.number == pulseNumber {
		return false
	}
	q.taken.put(at)
	p.early[t.number] = qp.Completion{ID: b.id, Bytes: uint32(n - trailerBytes), Pair: t.pair}
	for c, ok := p.early[p.next]; ok; c, ok = p.early[p.next] {
		delete(p.early, p.next)
		p.next = following(p.next)
		q.ready = append(q.ready, c)
	}
	return true
}

// following is the number of the next message.
func following(n uint32) uint32 {
	if n++; n == pulseNumber {
		n = 0
	}
	return n
}

// pointerTo is memory that is not Go's.
func pointerTo(addr uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

// tell adds a completion.
func (q *queue) tell(c qp.Completion) {
	q.mu.Lock()
	q.ready = append(q.ready, c)
	q.mu.Unlock()
}

// stall has the poller try again to post what a queue pair has.
func (q *queue) stall(p *pair) {
	q.mu.Lock()
	q.stalled = append(q.stalled, p)
	q.mu.Unlock()
}

// pushStalled posts what there was no room for: true if there still is none.
func (q *queue) pushStalled() bool {
	q.mu.Lock()
	list := q.stalled
	q.stalled = nil
	q.mu.Unlock()
	for _, p := range list {
		p.again()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.stalled) > 0
}

// Arm: FD tells of everything that comes after Pending.
func (q *queue) Arm() error { return nil }

// Tells: it does not, without Pending.
func (q *queue) Tells() bool { return false }

// Pending tells whether FD is not to be waited for.
func (q *queue) Pending() bool { return q.some() || q.ep.Pending() }

// FD is readable when something may have come; -1: there is none.
func (q *queue) FD() int { return q.ep.FD() }

// Take: FD becomes unreadable by itself.
func (q *queue) Take() {}

// Close closes the endpoint.
func (q *queue) Close() (err error) {
	q.d.progress.remove(q)
	if q.ep != nil {
		q.d.mu.Lock()
		if q.d.endpoint == q.ep {
			q.d.endpoint = nil
		}
		q.d.mu.Unlock()
		err = q.ep.Close()
	}
	q.slots.close()
	q.taken.close()
	q.fast.Free()
	return err
}

// Network is what C calls: nothing where local memory has to be registered, or where the provider
// must have only a few requests.
func (q *queue) Network() unsafe.Pointer {
	if !q.d.limits.Unregistered || q.d.flight < mostRequests {
		return nil
	}
	return fast.Network()
}

// Handle is the queue as C knows it.
func (q *queue) Handle() unsafe.Pointer { return unsafe.Pointer(q.fast) }

// Channel: a waiter in C does not sleep.
func (q *queue) Channel() unsafe.Pointer { return nil }

// Receive: messages to C take their buffers from nowhere.
func (q *queue) Receive() unsafe.Pointer { return nil }

// peer is another endpoint, which several queue pairs may be connected to.
type peer struct {
	at    libfabric.Address
	users int
}

// meet finds the endpoint of a name.
func (q *queue) meet(name string) (libfabric.Address, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	x := q.peers[name]
	if x == nil {
		q.d.meet([]byte(name))
		at, err := q.ep.Insert([]byte(name))
		if err != nil {
			// ofi_rxd may be adding it itself, since something comes from there: then
			// it is there the next time
			at, err = q.ep.Insert([]byte(name))
		}
		if err != nil {
			return 0, err
		}
		x = &peer{at: at}
		q.peers[name] = x
	}
	x.users++
	return x.at, nil
}

// part ends one use of a name. The provider may then close what it has for it.
func (q *queue) part(name string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	x := q.peers[name]
	if x.users--; x.users == 0 && !q.d.keeps {
		delete(q.peers, name)
		if err := q.ep.Remove(x.at); err != nil {
			log.Infof("%s: %v", q.d.Name(), err)
		}
	}
}

// forget ends the use of a queue pair.
func (q *queue) forget(p *pair) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.pairs, p.mine.pair)
	q.stalled = slices.DeleteFunc(q.stalled, func(s *pair) bool { return s == p })
}
