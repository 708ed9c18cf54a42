// SPDX-License-Identifier: BSD-3-Clause

// What a process keeps for one node that it sends to: a connection made on first use and shared by all threads, the
// requests that are open, and how far the node has come. Who posts holds the lock; answers are dealt with without it.
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
)

type target struct {
	t      *Transport
	node   int
	server transport.Rank // who serves this process there
	addr   []byte         // where

	mu       sync.Mutex // posting: all up to the blank line
	ep       transport.Endpoint
	direct   transport.DirectEndpoint // ep, if it is one
	frame    int                      // most bytes of a frame; 0: any number
	head     []byte
	chunk    chunk
	own      chunk              // of local memory (direct.go)
	held     []byte             // what a frame is sent from that is not the application\'s
	transfer transport.Transfer // that is posted (direct.go)
	keyOf    func(addr uintptr, meanwhile func()) (*transport.Range, error)
	told     uint64 // the node will tell without being asked that this frame has been handled
	stores   int    // transfers that were stored by frames since the last fence
	fenced   bool   // the caller fences after each of them
	learnt   bool   // the C fast path knows memory of the node

	live     atomic.Bool // ep may be used
	seat     *seat       // where ep's frames come from; constant once live
	queue    queue
	table    table
	answer   answer // the frame that is coming; of who has the seat
	watched  watched
	deferred atomic.Bool // the endpoint has put frames off

	sent     atomic.Uint64         // frames; written under mu
	handled  atomic.Uint64         // so many of them have taken effect
	stored   atomic.Uint64         // number of the last frame that stores
	posted   atomic.Uint64         // number of the last frame that fences wait for: one that stores, or one for a handler
	keys     pin.Table             // registered memory of the node
	declared pin.Table             // memory of the node whose 8-byte words belong to devices
	refused  atomic.Pointer[error] // what the node has refused and nobody was told
	broken   atomic.Pointer[error] // why the target is of no more use
	bye      atomic.Bool           // the node has said goodbye
	heard    atomic.Bool           // something has come since the last pulse
}

func newTarget(t *Transport, node int, addr []byte) *target {
	g := &target{t: t, node: node, server: t.opt.serverOf(node, t.opt.Me), addr: addr}
	g.answer.g, g.keyOf = g, g.key
	return g
}

// lock makes the caller the one who posts. What was queued before goes first.
func (g *target) lock() error {
	g.mu.Lock()
	err := g.ready()
	if err == nil && g.queue.length.Load() > 0 {
		err = g.drain()
	}
	if err != nil {
		g.mu.Unlock()
	}
	return err
}

// ready connects a new target and refuses a lost one.
func (g *target) ready() error {
	if e := g.broken.Load(); e != nil {
		return *e
	}
	if g.ep != nil {
		return nil
	}
	ep, err := g.t.fabric.Dial(g.server, g.addr, &g.answer)
	if err != nil {
		return g.fail(err)
	}
	g.ep, g.frame = ep, ep.MaxFrame()
	g.direct, _ = ep.(transport.DirectEndpoint)
	g.seat = g.t.seatOf(ep.Source())
	g.live.Store(true)
	g.t.thread.attend(g.seat) // it feels the pulse from now on
	return nil
}

// send sends a frame: the header, the descriptor of g.chunk if chunked, and n bytes of body, which moves. The caller has
// the lock, and has taken a credit.
func (g *target) send(h *header, scale []byte, desc []byte, body *kernel.Cursor, n int64, when transport.When) error {
	h.desc = uint32(len(desc))
	g.head = h.append(g.head[:0])
	g.head = append(append(g.head, scale...), desc...)
	deferred, err := g.ep.Send(g.head, body, n, when)
	if n > 0 {
		g.seat.afloat.Add(n)
	}
	if err != nil {
		return g.fail(err)
	}
	if was := g.deferred.Swap(deferred); deferred && !was {
		g.t.thread.flushSoon(g)
	}
	return nil
}

// credit waits until the node has room for another frame, and counts it. The caller has the lock.
func (g *target) credit() error {
	if most := uint64(g.t.info.Credits); most > 0 && g.sent.Load()-g.handled.Load() >= most {
		g.seat.await(func() bool {
			g.sendDeferred() // it takes credits, too
			return g.sent.Load()-g.handled.Load() < most || g.broken.Load() != nil
		})
	}
	if e := g.broken.Load(); e != nil {
		return *e
	}
	g.sent.Add(1)
	return nil
}

// sendDeferred sends what was put off, as far as it goes without blocking. The caller has the lock.
func (g *target) sendDeferred() {
	if g.deferred.Load() {
		g.deferred.Store(g.ep.Flush())
	}
}

// ask sends a frame without data and waits for the answer to it. The caller has not the lock, and releases the request.
func (g *target) ask(h header, want kind) (*request, error) {
	if err := g.lock(); err != nil {
		return nil, err
	}
	r, err := g.askLocked(h, want)
	g.mu.Unlock()
	if err == nil {
		err = r.wait()
	}
	return r, err
}

// askLocked is ask without waiting, for who has the lock.
func (g *target) askLocked(h header, want kind) (*request, error) {
	r, err := g.open(nil, false, want)
	if err != nil {
		return nil, err
	}
	if err = g.credit(); err == nil {
		r.expect()
		h.id = r.id
		err = g.send(&h, nil, nil, nil, 0, transport.Now)
	}
	r.Done(err)
	return r, nil
}

// reached tells whether a frame, and so all before it, has been handled.
func (g *target) reached(number uint64) bool { return g.handled.Load() >= number }

// caughtUp notes that so many frames were handled, of which a header has the lower bits.
func (g *target) caughtUp(n uint32) {
	was := g.handled.Load()
	if more := int32(n - uint32(was)); more > 0 {
		g.handled.Store(was + uint64(more))
	}
}

// fail makes a target useless, once: what is open there fails, and the job learns of the loss. It returns what later
// callers are told.
func (g *target) fail(why error) error {
	err := g.loss(why)
	if !g.broken.CompareAndSwap(nil, &err) {
		return *g.broken.Load()
	}
	if g.live.Load() && why != errFarewell {
		g.ep.Break()
	}
	g.failRequests(err)
	if !g.bye.Load() && !g.t.closing.Load() {
		g.t.lost(g.server, why)
	}
	if g.live.Load() {
		g.seat.tell()
		g.seat.src.Interrupt()
	}
	return err
}

// loss is what callers are told.
func (g *target) loss(why error) error {
	host := g.t.opt.hostOf(g.node)
	switch {
	case g.t.closing.Load():
		return transport.ErrClosed
	case g.bye.Load():
		return fmt.Errorf("rank %d (host %s) has left: %w", g.server, host, transport.ErrPeerDead)
	}
	return fmt.Errorf("rank %d (host %s): %w: %v", g.server, host, transport.ErrPeerDead, why)
}

// goodbyeTime is how long a goodbye waits for who is just sending, and to arrive.
const goodbyeTime = 200 * time.Millisecond

// errFarewell ends a target whose node was told that nothing follows: what was sent is not to be lost.
var errFarewell = errors.New("closed")

// goodbye tells the node that nothing follows and ends the target. Where another thread is in the middle of sending and
// stays there, the connection is broken instead.
func (g *target) goodbye() {
	why := error(transport.ErrClosed)
	if g.live.Load() && g.broken.Load() == nil && g.tryLock(goodbyeTime) {
		if g.send(&header{kind: kindBye, rank: uint32(g.server)}, nil, nil, nil, 0, transport.Now) == nil {
			why = errFarewell
		}
		g.mu.Unlock()
	}
	g.fail(why)
}

// tryLock takes the lock unless somebody keeps it for so long.
func (g *target) tryLock(limit time.Duration) bool {
	for end := time.Now().Add(limit); !g.mu.TryLock(); time.Sleep(50 * time.Microsecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// close gives the connection back. Nobody uses it any more.
func (g *target) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.live.Swap(false) {
		g.ep.Close(goodbyeTime)
	}
}
