// SPDX-License-Identifier: BSD-3-Clause

// What a process keeps for one data server that it sends to, which acts for one rank of a node or
// several: a connection made on first use and shared by all threads, the requests that are open,
// and how far the node has come. A caller that posts holds the lock; answers are dealt with without
// it.
package internode

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"libarmci/internal/kernel"
	"libarmci/internal/pin"
	"libarmci/internal/transport"
	"libarmci/internal/wait"
)

type target struct {
	t      *Transport
	number int // its index among all targets
	node   int
	server transport.Rank // whose data server it is
	addr   []byte         // where; empty: it cannot be reached

	mu       sync.Mutex // posting: all up to the blank line
	ep       transport.OriginEndpoint
	direct   transport.DirectEndpoint // ep, if it is one
	poller   *poller                  // where ep's frames come from
	payload  int                      // most bytes of a frame behind its header
	posting  *transfer                // the one that is being posted
	head     []byte
	chunk    chunk
	own      chunk              // of local memory (direct.go)
	held     []byte             // what a frame is sent from that is not the application's
	parts    kernel.Cursor      // of a message that is being sent (calls.go)
	transfer transport.Transfer // that is posted (direct.go)
	keyOf    func(addr uintptr, meanwhile func()) (*transport.Range, error)
	sent     uint64 // frames
	stored   uint64 // number of the last frame that stores
	told     uint64 // the node will tell without being asked that this frame has been handled
	// how often frames that were put off were lately taken along by the next one
	taken    int
	stores   int    // transfers that were stored by frames since the last fence
	fenced   bool   // the caller fences after each of them
	learnt   bool   // the C fast path knows memory of the node
	uses     uint32 // how often somebody had the lock to post something
	quiet    quiet  // how long it must be idle to be given back
	counters counters
	// private memory of the node's only process that the device may reach (share.go)
	shared []transport.Range

	link         atomic.Pointer[link] // the connection; nil: there is none
	met          atomic.Uint32        // how often somebody was found to post (part.go)
	queue        queue
	table        table
	watching     wait.Patience // for messages (progress.go)
	cameStraight atomic.Bool   // the last ones did, by the connection
	connects     sync.Mutex    // changes of link, and who sleeps
	sleepers     int32         // who waits for a message and has stopped looking
	missing      int32         // those of them for whom a connection may be made
	missed       int           // so often there was none (part.go); of the progress thread
	watched      atomic.Int32  // how often messages were waited for without a connection
	deferred     atomic.Bool   // the endpoint has put frames off
	flushDue     atomic.Int64  // when these must be sent, since began

	handled atomic.Uint64 // so many frames have taken effect
	// number of the last frame that fences wait for: one that stores, or one for a handler
	posted   atomic.Uint64
	keys     pin.Table             // registered memory of the node
	private  pin.Table             // addresses outside its arena
	declared pin.Table             // memory of the node whose 8-byte words belong to devices
	refused  atomic.Pointer[error] // what the node has refused and nobody was told
	broken   atomic.Pointer[error] // why the target is of no more use
	bye      atomic.Bool           // the node has said goodbye
	heard    atomic.Bool           // something has come since the last pulse
	serves   transport.Server      // whether the node's server is awake
}

func newTarget(t *Transport, number, node int, server transport.Rank) *target {
	g := &target{t: t, number: number, node: node, server: server,
		serves: transport.ServerOf(number)}
	g.keyOf = g.key
	g.watching.Init(t.info.Patience)
	return g
}

// lock makes the caller the one who posts. What was queued before goes first.
func (g *target) lock() error {
	g.mu.Lock()
	err := g.ready()
	if g.queue.length.Load() > 0 {
		g.queue.note(true)
		err = g.drain(err)
	}
	if err != nil {
		g.mu.Unlock()
	}
	return err
}

// lost is why the target is of no more use, nil if it is.
func (g *target) lost() error {
	if e := g.broken.Load(); e != nil {
		return *e
	}
	return nil
}

// send sends a frame: a header, the description of memory in c, if it is not nil, and n bytes of
// body, which moves. r, if it is not nil, gets the answer; if sending fails, so does it. The caller
// has the lock, and has taken a credit.
func (g *target) send(r *request, h *header, c *chunk, body *kernel.Cursor, n int64,
	when transport.When) error {
	if r != nil {
		r.expect()
		h.id = r.id
	}
	if c == nil {
		g.head = h.append(g.head[:0])
	} else {
		h.addr, h.bytes, h.desc = c.addr, uint64(c.bytes), uint32(len(c.desc))
		h.flags |= c.flags
		g.head = append(append(h.append(g.head[:0]), c.scale...), c.desc...)
	}
	deferred, err := g.ep.Send(g.head, body, n, when)
	if n >= leastAfloat {
		g.poller.afloat.Add(n)
	}
	if err != nil {
		err = g.failPosting(err)
	} else if deferred != g.deferred.Load() {
		g.noteDeferred(deferred)
	}
	if r != nil && err == nil {
		err = g.lost() // whoever has failed the requests has not seen this one, perhaps
	}
	if r != nil && err != nil && r.claim() {
		r.finish(err)
	}
	return err
}

// credit waits until the node has room for another frame, and counts it. The caller has the lock.
func (g *target) credit() error {
	if most := uint64(g.t.info.Credits); most > 0 && g.sent-g.handled.Load() >= most {
		g.await(func() bool {
			g.sendDeferred() // it takes credits, too
			return g.sent-g.handled.Load() < most
		})
	}
	if err := g.lost(); err != nil {
		return err
	}
	g.sent++
	return nil
}

// sendDeferred sends what was put off, as far as it goes without blocking. The caller has the lock.
func (g *target) sendDeferred() {
	if g.deferred.Load() {
		g.deferred.Store(g.ep.Flush())
	}
}

// A caller that puts a frame off usually sends another one soon, such as a notification, which
// takes it along. Then the progress thread has no work with it, and is better left asleep. Where
// all were taken along lately, even an alarm each millisecond costs a tenth of the time of put and
// notification.
const (
	usuallyTaken = 4 // so many frames were taken along lately
	mostTaken    = 32
	patientFlush = time.Millisecond
	calmFlush    = 8 * time.Millisecond // where mostTaken were
)

// noteDeferred is told that the last frame was put off, or that it took along what was. The caller
// has the lock.
func (g *target) noteDeferred(deferred bool) {
	g.deferred.Store(deferred)
	if deferred {
		g.t.defers.Store(true)
	}
	if !deferred {
		g.taken = min(g.taken+1, mostTaken)
		return
	}
	d := g.t.info.Tick
	if g.taken >= usuallyTaken {
		d = flushTime(g.taken)
	}
	g.flushDue.Store(g.t.thread.flushIn(d))
}

// flushTime is how long a caller that usually sends what was put off is given.
func flushTime(taken int) time.Duration {
	if taken == mostTaken {
		return calmFlush
	}
	return patientFlush
}

// flushLate is flush for the progress thread: no caller has sent in time what was put off. It tells
// how long it is until it must be called again; negative: nothing is left.
func (g *target) flushLate(now int64) (left time.Duration) {
	if !g.deferred.Load() {
		return -1
	}
	if due := g.flushDue.Load(); due > now {
		return time.Duration(due - now)
	}
	if g.mu.TryLock() {
		g.taken /= 4
		g.mu.Unlock()
	}
	if g.flush() {
		return g.t.info.Tick
	}
	return -1
}

// flush is sendDeferred for who has not the lock: true if something is left.
func (g *target) flush() (left bool) {
	if g.deferred.Load() && g.mu.TryLock() {
		g.sendDeferred()
		g.mu.Unlock()
	}
	return g.deferred.Load() && g.broken.Load() == nil
}

// flushAll sends what was put off to any target, for a caller that is going to wait: nothing that
// it sends takes it along soon.
func (t *Transport) flushAll() {
	if !t.defers.Load() || !t.defers.Swap(false) {
		return
	}
	for _, g := range t.targets {
		if g.flush() {
			t.defers.Store(true)
		}
	}
}

// ask sends a frame without data; r gets the answer. The caller has the lock.
func (g *target) ask(h header, want kind) (r *request, err error) {
	if r, err = g.open(nil, want); err != nil {
		return nil, err
	}
	if err = g.credit(); err == nil {
		err = g.send(r, &h, nil, nil, 0, transport.Now)
	}
	r.finish(err)
	return r, nil
}

// reached tells whether a frame, and so all before it, has been handled.
func (g *target) reached(number uint64) bool {
	return g.handled.Load() >= number && !g.accumulating()
}

// accumulating tells whether accumulates that C has asked for have yet to take effect.
func (g *target) accumulating() bool {
	l := g.link.Load()
	return l != nil && g.t.fast != nil && g.t.fast.Storing(l.ep)
}

// caughtUp notes that so many frames were handled, of which n has the lower bits.
func (g *target) caughtUp(n uint32) {
	was := g.handled.Load()
	if more := int32(n - uint32(was)); more > 0 {
		g.handled.Store(was + uint64(more))
	}
}

// fail makes a target useless, once: what is open there fails, and the job learns of the loss. It
// returns what later callers are told.
func (g *target) fail(why error) error {
	// first: whose error does not say that the node has left is told of a loss
	bye := g.bye.Load()
	err := g.loss(why)
	if !g.broken.CompareAndSwap(nil, &err) {
		return g.lost()
	}
	l := g.link.Load()
	if l != nil && why != errFarewell {
		l.ep.Break()
	}
	g.failRequests(err)
	if !bye && !g.t.closing.Load() {
		g.t.lost(g.server, why.Error())
	}
	if l != nil {
		l.poller.tell()
		l.poller.src.Interrupt()
	}
	return err
}

// failPosting is fail for a caller that sends or posts, which may see the end of the connection
// before the poller does: frames that have come before it, of which one may be a goodbye, are read
// first, as long as a thread reads or a frame comes.
func (g *target) failPosting(why error) error {
	news := time.Now()
	for end := news.Add(10 * goodbyeTime); g.broken.Load() == nil &&
		time.Since(news) < goodbyeTime && news.Before(end); {
		if !g.poller.tryAcquire() {
			news = time.Now()
		} else {
			if g.poller.poll(1) > 0 {
				news = time.Now()
			}
			g.poller.release()
		}
		time.Sleep(50 * time.Microsecond)
	}
	return g.fail(why)
}

// loss is what callers are told.
func (g *target) loss(why error) error {
	host := g.t.opt.HostOf(g.server)
	switch {
	case g.t.closing.Load():
		return transport.ErrClosed
	case g.bye.Load():
		return fmt.Errorf("rank %d (host %s) has left: %w", g.server, host,
			transport.ErrPeerDead)
	}
	return fmt.Errorf("rank %d (host %s): %w: %v", g.server, host, transport.ErrPeerDead, why)
}

// goodbyeTime is how long a goodbye waits for who is just sending, and to arrive.
const goodbyeTime = 200 * time.Millisecond

// errFarewell ends a target behind the last frame: no frame before that is to be lost.
var errFarewell = errors.New("closed")

// goodbye tells the node that nothing follows and ends the target. Where another thread is in the
// middle of sending and stays there, the connection is broken instead.
func (g *target) goodbye() {
	useful := func() bool { return g.link.Load() != nil && g.broken.Load() == nil }
	why, free := error(transport.ErrClosed), useful() && g.mu.TryLock()
	for end := time.Now().Add(goodbyeTime); !free && useful() && time.Now().Before(end); {
		time.Sleep(50 * time.Microsecond)
		free = g.mu.TryLock()
	}
	if free {
		if l := g.link.Load(); l == nil || l.state.Load() != linked {
			why = errFarewell // it knows
		} else if g.send(nil, &header{kind: kindBye, rank: uint32(g.server)}, nil, nil, 0,
			transport.Now) == nil {
			why = errFarewell
		}
		g.mu.Unlock()
	}
	g.fail(why)
}

// close gives the connection back. Nobody uses it any more.
func (g *target) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if l := g.link.Swap(nil); l != nil {
		l.ep.Close(goodbyeTime)
	}
}
