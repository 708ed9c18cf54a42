// SPDX-License-Identifier: BSD-3-Clause

// What a process keeps for one data server that it sends to: the connection, the open requests, and
// how far the server has come. A caller that posts holds the target's mu; answers are received
// without it.
package internode

import (
	"sync"
	"sync/atomic"

	"libarmci/internal/kernel"
	"libarmci/internal/pin"
	"libarmci/internal/transport"
	"libarmci/internal/wait"
)

// target is a data server that this process sends to, which acts for one rank of a node or for
// several. All threads share the connection to it, which is made on first use.
type target struct {
	t          *Transport
	index      int // among all targets
	node       int
	serverRank transport.Rank // the rank that runs the data server
	addr       []byte         // where the server listens; empty: it cannot be reached

	mu sync.Mutex // guards tx, and so serialises posting
	tx sendState

	link           atomic.Pointer[link] // the connection; nil: there is none
	contendedPosts atomic.Uint32        // useCountOf found mu held so often
	queue          storeQueue
	requests       requestTable
	watch          watchState
	progress       targetProgress
	keys           keyTables
	loss           lossState
}

// sendState is what a thread needs to post to a target. The target's mu guards it.
type sendState struct {
	ep      transport.OriginEndpoint
	direct  transport.DirectEndpoint // ep, if that is one; else nil
	poller  *poller                  // polls the source of ep's frames
	maxBody int                      // bytes of a frame behind its header, at most

	sentFrames uint64 // frames that were given to ep, over all connections
	storeMarks
	ackRequested uint64 // number of the last frame that the server acknowledges unasked
	deferral     deferral
	fences       fencePattern
	useCount     uint32     // posts so far; wraps
	idle         idlePeriod // before the connection is released
	fastPathOpen bool       // the C fast path has keys of the node's memory
	counters     counterState
	shared       []transport.Range // private memory of the node's only process (share.go)
	buf          sendBuffers
}

// storeMarks are numbers of frames behind which the device's transfers are ordered.
type storeMarks struct {
	lastStore uint64 // the last one of a put, of a sum with a scale, or of a word
	// the last other accumulate: the device's accumulates, words and counters wait for it, not
	// its puts
	lastUpdate uint64
}

// sendBuffers are used again by each transfer and frame of a target. The target's mu guards them.
type sendBuffers struct {
	xfer       *transfer // the transfer that is being posted
	head       []byte    // the encoded head of the frame
	chunk      chunk     // the target's memory in the frame
	localChunk chunk     // the origin's memory, for a push
	keepAlive  []byte    // memory that a cursor is at: a cursor keeps none alive
	message    kernel.Cursor
	deviceXfer transport.Transfer
	lookupKey  func(addr uintptr, meanwhile func()) (*transport.Range, error)
}

// fencePattern predicts whether the caller fences after each store. The target's mu guards it.
type fencePattern struct {
	stores    int  // transfers that were stored by frames since the last fence
	afterEach bool // the last fence was for one store
}

// targetProgress is how far the data server has come.
type targetProgress struct {
	handledFrames atomic.Uint64    // frames that have taken effect
	fenceFrame    atomic.Uint64    // the last frame that fences wait for: a store or a message
	heardFrom     atomic.Bool      // a frame has come since the last pulse
	pulseDue      atomic.Bool      // the thread that waits under mu has to send a pulse
	server        transport.Server // whether the data server is likely to be awake
}

// keyTables are what this process knows of the node's memory. Each table locks itself.
type keyTables struct {
	registered  pin.Table
	private     pin.Table // addresses outside the node's arena
	deviceWords pin.Table // memory where words of 8 bytes are changed by devices only
}

// watchState is about threads that wait for messages from a target (progress.go).
type watchState struct {
	patience         wait.Patience
	cameOverLink     atomic.Bool  // the last message came over the connection
	unconnectedWaits atomic.Int32 // waits without a connection
	unconnectedLooks int          // looks of the progress thread that found none (idle.go)

	mu         sync.Mutex // also held while link changes
	sleepers   int32      // threads that wait and have stopped polling; under mu
	connectors int32      // those of them for which a connection may be made; under mu
}

// newTarget returns a target without a connection.
func newTarget(t *Transport, index, node int, serverRank transport.Rank) *target {
	g := &target{t: t, index: index, node: node, serverRank: serverRank}
	g.queue.target = g
	g.progress.server = transport.ServerOf(index)
	g.tx.buf.lookupKey = g.lookupKey
	g.watch.patience.Init(t.info.Patience)
	return g
}

// lockConnected takes mu, connects if there is no connection, and sends queued stores, which must
// not be overtaken. If it returns nil the caller posts and unlocks mu; after an error mu is not
// held.
func (g *target) lockConnected() error {
	g.mu.Lock()
	err := g.ensureConnected()
	if g.queue.length.Load() > 0 {
		g.queue.recordSender(true)
		err = g.queue.sendAll(err)
	}
	if err != nil {
		g.mu.Unlock()
	}
	return err
}

// sendFrame sends a frame: header h, the memory that c describes unless c is nil, and n bytes at
// body, which moves behind them. The answer goes to r unless r is nil; if sending fails, so does
// that part of r. The caller holds mu and has acquired a credit.
func (g *target) sendFrame(r *request, h *header, c *chunk, body *kernel.Cursor, n int64,
	when transport.When) error {
	if r != nil {
		r.expectAnswer()
		h.id = r.id
	}
	if c == nil {
		g.tx.buf.head = h.append(g.tx.buf.head[:0])
	} else {
		h.addr, h.bytes, h.desc = c.addr, uint64(c.bytes), uint32(len(c.desc))
		h.flags |= c.flags
		g.tx.buf.head = append(append(h.append(g.tx.buf.head[:0]), c.operand...), c.desc...)
	}
	deferred, err := g.tx.ep.Send(g.tx.buf.head, body, n, when)
	if n >= minInFlight {
		g.tx.poller.bytesInFlight.Add(n)
	}
	if err != nil {
		err = g.failAfterReading(err)
	} else if deferred != g.tx.deferral.pending.Load() {
		g.recordDeferral(deferred)
	}
	if r != nil && err == nil {
		err = g.loss.err() // failRequests may have missed r
	}
	if r != nil && err != nil && r.claimAnswer() {
		r.finishPart(err)
	}
	return err
}

// acquireCredit waits until the server has room for another frame, and counts the frame as sent.
// The caller holds mu, also during the wait, and sends exactly one frame after it.
func (g *target) acquireCredit() error {
	if most := uint64(g.t.info.Credits); most > 0 &&
		g.tx.sentFrames-g.progress.handledFrames.Load() >= most {
		g.awaitLocked(func() bool { // deferred frames hold credits, too
			return g.tx.sentFrames-g.progress.handledFrames.Load() < most
		})
	}
	if err := g.loss.err(); err != nil {
		return err
	}
	g.tx.sentFrames++
	return nil
}

// sendRequest sends a frame without a body. The caller holds mu, and waits for the request that it
// returns, which gets an answer of kind want.
func (g *target) sendRequest(h header, want kind) (r *request, err error) {
	if r, err = g.openRequest(nil, want); err != nil {
		return nil, err
	}
	if err = g.acquireCredit(); err == nil {
		err = g.sendFrame(r, &h, nil, nil, 0, transport.Now)
	}
	r.finishPart(err)
	return r, nil
}

// hasHandled reports whether the server has handled a frame, and so all before it, and also the
// accumulates of the C fast path.
func (g *target) hasHandled(number uint64) bool {
	return g.progress.handledFrames.Load() >= number && !g.hasPendingAccumulates()
}

// hasPendingAccumulates reports whether accumulates of the C fast path have yet to take effect.
func (g *target) hasPendingAccumulates() bool {
	l := g.link.Load()
	return l != nil && g.t.fast != nil && g.t.fast.HasPendingAccumulates(l.ep)
}

// updateHandled records that the server has handled so many frames, of which n has the lower 32
// bits.
func (p *targetProgress) updateHandled(n uint32) {
	was := p.handledFrames.Load()
	if more := int32(n - uint32(was)); more > 0 {
		p.handledFrames.Store(was + uint64(more))
	}
}
