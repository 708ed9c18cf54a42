// SPDX-License-Identifier: BSD-3-Clause

// A wire: this process's connection to a node, made on first use and shared by all threads. Who posts holds its lock;
// completions are dealt with without it.
package rdma

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"libarmci/internal/rdma/lane"
	"libarmci/internal/rdma/verbs"
	"libarmci/internal/transport"
)

const (
	wireRequests = 256 // of a queue pair
	chainLength  = 64  // requests that are posted together
	inlineBytes  = 256
)

type wire struct {
	t      *Transport
	c      *client
	node   int
	server transport.Rank
	host   string
	addr   []byte

	mu      sync.Mutex // posting
	pair    *verbs.Pair
	width   int         // pieces that a request may have
	room    int         // bytes of a message to the server
	most    int         // bytes of a message either way
	live    atomic.Bool // pair may be used
	batch   batch
	plan    plan
	guarded guarded
	tickets tickets
	sent    uint64       // messages; under mu
	slots   atomic.Int32 // requests that may be posted
	flight  flight

	handled  atomic.Uint64 // messages that have taken effect
	stores   atomic.Uint64 // number of the last message that stores
	posted   atomic.Uint64 // number of the last message that fences wait for: one that stores, or one for a handler
	told     uint64        // the server will tell without being asked that this message has taken effect; under mu
	burst    int           // transfers that have been stored since the last fence; under mu
	habit    bool          // the caller fences after each of them; under mu
	learnt   bool          // the lane knows of memory of the node; under mu
	keys     cover         // of the node's memory
	declared cover         // memory of the node that is for atomics of devices, without keys
	refused  atomic.Pointer[error]
	broken   atomic.Pointer[error]
	bye      atomic.Bool
	active   atomic.Bool // something has completed since the engine looked
	asked    questions
}

func newWire(t *Transport, node int, addr []byte) *wire {
	w := &wire{t: t, c: t.client, node: node, server: t.opt.serverOf(node), addr: addr,
		width: max(1, min(mostPieces, t.base.limits.MaxSGE))}
	if node < len(t.opt.Hosts) {
		w.host = t.opt.Hosts[node]
	}
	n := min(wireRequests, t.base.limits.MaxWR-lane.Entries, int(t.client.tokens.Load()))
	w.slots.Store(int32(n))
	w.flight.init(n)
	w.batch.buffer = none
	return w
}

// lock makes the caller the one who posts, over a wire that can be used.
func (w *wire) lock() error {
	w.mu.Lock()
	w.c.lane.Enter()
	err := w.ready()
	if err != nil {
		w.unlock()
	}
	return err
}

// tryLock is lock if nobody has it, over a wire that may have failed.
func (w *wire) tryLock() bool {
	if !w.mu.TryLock() {
		return false
	}
	w.c.lane.Enter()
	return true
}

func (w *wire) unlock() {
	w.c.lane.Leave()
	w.mu.Unlock()
}

func (w *wire) ready() error {
	if e := w.broken.Load(); e != nil {
		return *e
	}
	if w.pair != nil {
		return nil
	}
	pair, err := w.dial()
	if err != nil {
		return w.fail(err)
	}
	w.pair = pair
	w.c.know(w)
	w.live.Store(true)
	w.t.engine.attend()
	return nil
}

// randomPSN is a number for a first packet.
func randomPSN() uint32 {
	var b [4]byte
	rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint32(b[:]) & 0xffffff
}

// dial connects to the node's server.
func (w *wire) dial() (*verbs.Pair, error) {
	var to endpoint
	if err := to.decode(w.addr); err != nil {
		return nil, err
	}
	h := w.c.h
	pair, err := h.domain.NewPair(verbs.Caps{Send: int(w.slots.Load()) + lane.Entries, Pieces: w.width, Inline: inlineBytes, From: h.cq,
		To: h.cq, Shared: w.c.srq})
	if err != nil {
		return nil, err
	}
	q := &hello{from: w.t.opt.Me, to: w.server, pair: pair.Number, psn: randomPSN(), mtu: h.state.MTU,
		reads: uint8(min(h.limits.ReadsIn, 16)), room: w.t.size}
	a, err := w.t.porter.ask(q, &to, w.t.opt.Timeout)
	if err == nil && a.from != w.server {
		err = fmt.Errorf("the server there is of rank %d", a.from)
	}
	if err == nil {
		err = pair.Connect(w.t.link(q, &a, &to))
	}
	if err != nil {
		pair.Close()
		return nil, err
	}
	w.room, w.most = a.room, min(a.room, w.t.size)
	return pair, nil
}

// link is what both sides of a connection set their queue pairs to: mine is what this side said, its what the other.
func (t *Transport) link(mine, its *hello, at *endpoint) *verbs.Link {
	l := t.base.limits
	return &verbs.Link{Path: t.base.path(at), Pair: its.pair, MTU: min(mine.mtu, its.mtu), MyPSN: mine.psn, PSN: its.psn,
		ReadsOut: uint8(min(l.ReadsOut, int(its.reads))), ReadsIn: mine.reads, Timeout: retryExponent(t.opt.Timeout),
		Atomics: l.Atomic != 0}
}

// ship posts requests, of which the last one is to be told, when there is room for them. The caller has the lock.
func (w *wire) ship(s *shipment, requests []verbs.Request, data []verbs.Data) error {
	n := int32(len(requests))
	w.c.await(func() bool { return w.slots.Load() >= n && w.c.claim(n) || w.broken.Load() != nil })
	if e := w.broken.Load(); e != nil {
		return *e
	}
	w.slots.Add(-n)
	s.requests = n
	if s.op != nil {
		s.op.left.Add(1)
	}
	last := &requests[n-1]
	last.ID = uint64(w.flight.push(s))
	last.Flags |= verbs.Signal
	if _, err := w.pair.Post(requests, data); err != nil {
		return w.fail(err)
	}
	return nil
}

// landed deals with the completion of a shipment, and so of all before it.
func (w *wire) landed(number uint32, e *verbs.Completion) {
	if e.Status != 0 {
		w.fail(fmt.Errorf("%s", e.Text()))
		return
	}
	w.active.Store(true)
	for s, ok := w.flight.pop(number); ok; s, ok = w.flight.pop(number) {
		if s.bytes > 0 {
			s.into.scatter(w.c.out.bytes(s.buffer)[:s.bytes])
		}
		if s.buffer != none {
			w.c.out.put(s.buffer)
		}
		w.slots.Add(s.requests)
		w.c.tokens.Add(s.requests)
		if s.op != nil {
			s.op.part(nil)
		}
	}
}

// buffer waits for a free one. The caller has the lock.
func (w *wire) buffer() (b int32, err error) {
	w.c.await(func() bool {
		b = w.c.out.take()
		return b != none || w.broken.Load() != nil
	})
	if e := w.broken.Load(); e != nil {
		if b != none {
			w.c.out.put(b)
		}
		return none, *e
	}
	return b, nil
}

// fail makes a wire useless: what is open on it fails, and the job learns of the loss. It returns what later
// callers will be told. Buffers that are on their way stay where they are.
func (w *wire) fail(why error) error {
	err := w.loss(why)
	if w.live.Load() {
		w.c.lane.ForgetPair(w.pair)
	}
	first := w.broken.CompareAndSwap(nil, &err)
	err = *w.broken.Load()
	for s, ok := w.flight.pop(w.flight.next()); ok; s, ok = w.flight.pop(w.flight.next()) {
		if s.op != nil {
			s.op.part(err)
		}
	}
	w.asked.fail(err)
	if first && !w.bye.Load() && !w.t.closing.Load() {
		w.t.opt.Lost(w.server, fmt.Sprintf("rank %d (host %s): connection lost: %v", w.server, w.host, why))
	}
	w.c.tell()
	return err
}

func (w *wire) loss(why error) error {
	switch {
	case w.t.closing.Load():
		return transport.ErrClosed
	case w.bye.Load():
		return fmt.Errorf("rank %d (host %s) has left: %w", w.server, w.host, transport.ErrPeerDead)
	}
	return fmt.Errorf("rank %d (host %s): %w: %v", w.server, w.host, transport.ErrPeerDead, why)
}

// partingTime is how long a goodbye waits until it has arrived.
const partingTime = 200 * time.Millisecond

// goodbye tells the server that nothing follows, unless another thread posts and stays there.
func (w *wire) goodbye() {
	if !w.live.Load() || w.broken.Load() != nil || !w.tryLock() {
		return
	}
	defer w.unlock()
	if b := w.c.out.take(); b != none && w.slots.Load() > 0 && w.c.tokens.Load() > 0 {
		w.say(b, &header{kind: kindBye}, headerBytes)
		end, n := time.Now().Add(partingTime), w.flight.next()
		w.c.await(func() bool { return !w.flight.open(n) || w.broken.Load() != nil || time.Now().After(end) })
	}
}

// close ends the connection. Nobody uses the wire any more.
func (w *wire) close() {
	if w.live.Swap(false) {
		w.pair.Close()
	}
	if w.tickets.cell != nil {
		w.tickets.cell.close()
	}
}
