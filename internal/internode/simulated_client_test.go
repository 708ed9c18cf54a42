// SPDX-License-Identifier: BSD-3-Clause

//go:build simulation

// A client of a simulated job: a thread of a process. In memory that is its own at each rank it
// puts, gets and accumulates, and knows what must be there.
package internode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"time"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/testutil/history"
	"libarmci/internal/testutil/simulate"
	"libarmci/internal/transport"
)

// The memory of a rank: what all share, then the areas of clients, then their buffers.
const (
	simAreas   = 64 << 10
	simSlots   = 4
	simMostLen = 20000 // bytes of a slot
	simArea    = simSlots * simMostLen
	simClients = 2 * simRanks
	simBuffers = simAreas + simClients*simArea
)

// simClient is a thread.
type simClient struct {
	j     *simJob
	p     *simProcess
	id    int
	rnd   *rand.Rand
	peers []*simPeer // ranks of other nodes
	ops   int
	got   map[uint32]int // unordered messages that have come, by number
	asked uint32         // unordered messages that were asked for
}

// simPeer is what a client knows of a rank.
type simPeer struct {
	rank  transport.Rank
	slots [simSlots]simSlot
	lost  bool   // an operation has failed: all others will
	sent  uint32 // ordered messages
	// of ordered messages, the next that has to come; of the receiver
	expected uint32
	unfenced []*history.Op // stores to words
	calls    []*simOpen
}

// simSlot is a piece of memory that only one client changes.
type simSlot struct {
	at     int    // in the rank's memory
	want   []byte // what is there when all stores have taken effect
	open   *simOpen
	frozen bool // a message tells what is there: no store before the next fence
}

// simOpen is a nonblocking operation on a slot.
type simOpen struct {
	done  bool
	err   error
	check func() // what must be true when it is complete
}

// newSimClient makes a client of a process.
func newSimClient(j *simJob, p *simProcess, seed uint64) *simClient {
	c := &simClient{j: j, p: p, id: len(j.clients), ops: 5 + j.rnd.IntN(25),
		got: map[uint32]int{}}
	c.rnd = rand.New(rand.NewPCG(seed, 100+uint64(c.id)))
	for _, q := range j.procs {
		if q.node == p.node {
			continue
		}
		peer := &simPeer{rank: q.rank}
		for i := range peer.slots {
			peer.slots[i] = simSlot{at: simAreas + c.id*simArea + i*simMostLen,
				want: make([]byte, j.slot)}
		}
		c.peers = append(c.peers, peer)
	}
	return c
}

// run is the thread.
func (c *simClient) run() {
	for range c.ops {
		peer := c.peers[c.rnd.IntN(len(c.peers))]
		c.step(peer)
		if c.rnd.IntN(4) == 0 { // it computes
			most := int64(1) << (8 + c.rnd.IntN(14))
			simulate.Sleep(time.Duration(c.rnd.Int64N(most)))
		}
	}
	for _, peer := range c.peers {
		for i := range peer.slots {
			c.complete(peer, i)
		}
		c.completeCalls(peer)
		c.fence(peer)
	}
}

// step is one operation.
func (c *simClient) step(peer *simPeer) {
	i := c.rnd.IntN(simSlots)
	switch c.rnd.IntN(24) {
	case 0, 1, 2, 3:
		c.store(peer, i, false)
	case 4, 5:
		if c.store(peer, i, true); c.rnd.IntN(3) == 0 {
			c.fence(peer)
		}
	case 6, 7:
		c.load(peer, i)
	case 8, 9:
		c.fence(peer)
	case 10:
		c.fenceAll()
	case 11, 12, 13, 14:
		c.useWord(peer)
	case 15, 16:
		c.sendOrdered(peer)
	case 17, 20, 21:
		c.call(peer)
	case 22, 23: // the reply may come while the server has a part of the store
		c.call(peer)
		c.store(peer, i, false)
		c.fence(peer)
	case 18:
		c.lock(peer)
	case 19:
		c.askForMessages(peer)
	}
}

// note adds a line to the trace.
func (c *simClient) note(format string, args ...any) {
	simulate.Note("client %d of rank %d "+format, append([]any{c.id, c.p.rank}, args...)...)
}

// failed tells whether an operation has failed because the peer is lost, which has to be possible.
func (c *simClient) failed(peer *simPeer, what string, err error) bool {
	switch {
	case c.p.left && errors.Is(err, transport.ErrClosed), err == nil && c.hasLeft(peer):
		peer.lost = true
		return true
	case err == nil && !peer.lost:
		return false
	case err == nil:
		simulate.Fail("%s of client %d to rank %d succeeds though one before has failed",
			what, c.id, peer.rank)
	case !errors.Is(err, transport.ErrPeerDead) || !c.j.mayFail():
		simulate.Fail("%s of client %d to rank %d: %v", what, c.id, peer.rank, err)
	}
	c.note("%s fails: %v", what, err)
	peer.lost, c.p.failed = true, true
	return true
}

// buffer is local memory of the client, for operations on a slot.
func (c *simClient) buffer(peer *simPeer, slot int) (at int) {
	n := c.id%2*(simRanks-1) + slices.Index(c.peers, peer)
	return simBuffers + (n*simSlots+slot)*simMostLen
}

// fill fills memory with random bytes.
func (c *simClient) fill(b []byte) {
	for i := range b {
		b[i] = byte(c.rnd.Uint32())
	}
}

// store puts to a slot, or accumulates.
func (c *simClient) store(peer *simPeer, i int, later bool) {
	s := &peer.slots[i]
	c.complete(peer, i)
	if s.frozen {
		return
	}
	if c.rnd.IntN(4) == 0 {
		c.accumulate(peer, i, later)
		return
	}
	x, places := c.shape(peer, i)
	local := simBytes(c.p.rank, c.buffer(peer, i), c.j.slot)
	c.fill(local)
	for _, p := range places {
		copy(s.want[p[0]:][:p[1]], local[p[0]:])
	}
	c.note("puts %v to slot %d of rank %d, later %v", places, i, peer.rank, later)
	c.post(peer, i, "a put", x, later, func() {}, c.p.t.Put)
}

// post posts a transfer of a slot. check is called when it is complete.
func (c *simClient) post(peer *simPeer, i int, what string, x *transport.Xfer, later bool,
	check func(), post func(transport.Peer, *transport.Xfer) error) {
	local := simBytes(c.p.rank, c.buffer(peer, i), c.j.slot)
	o := &simOpen{check: check}
	x.Later = later
	x.Done = func(err error) {
		if o.done {
			simulate.Fail("%s of client %d is complete twice", what, c.id)
		}
		o.done, o.err = true, err
		if err == nil {
			check()
		}
		c.fill(local) // the client uses it again
		*x = transport.Xfer{Count: []int32{-1}}
	}
	if err := post(transport.Peer(peer.rank), x); err != nil {
		c.failed(peer, what, err)
		return
	}
	if later {
		peer.slots[i].open = o
		return
	}
	if !o.done {
		simulate.Fail("%s of client %d returns before it is complete", what, c.id)
	}
	c.failed(peer, what, o.err)
}

// complete waits for the nonblocking operation of a slot.
func (c *simClient) complete(peer *simPeer, i int) {
	s := &peer.slots[i]
	o := s.open
	if o == nil {
		return
	}
	s.open = nil
	c.await(func() bool { return o.done })
	if o.err != nil {
		c.failed(peer, "a nonblocking operation", o.err)
	}
}

// await waits in one of the ways that a client has.
func (c *simClient) await(done func() bool) {
	way := c.rnd.IntN(3)
	for d := time.Microsecond; !done(); d = min(2*d, 10*time.Millisecond) {
		switch way {
		case 0:
			simulate.Sleep(d)
		case 1:
			if _, err := c.p.t.Progress(d); err != nil {
				simulate.Fail("progress: %v", err)
			}
		case 2: // it receives, as a waiter does
			var v transport.Visit
			for range 1 + c.rnd.IntN(20) {
				c.p.t.PollIncoming(&v)
				if done() {
					break
				}
				simulate.Gosched()
			}
			c.p.t.LeaveIncoming(&v, done())
			simulate.Sleep(d)
		}
	}
}

// load gets from a slot.
func (c *simClient) load(peer *simPeer, i int) {
	s := &peer.slots[i]
	c.complete(peer, i)
	x, places := c.shape(peer, i)
	local := simBytes(c.p.rank, c.buffer(peer, i), c.j.slot)
	c.fill(local)
	later := c.rnd.IntN(3) == 0
	c.note("gets %v of slot %d of rank %d, later %v", places, i, peer.rank, later)
	c.post(peer, i, "a get", x, later, func() {
		for _, p := range places {
			if !bytes.Equal(local[p[0]:][:p[1]], s.want[p[0]:][:p[1]]) && !peer.lost {
				simulate.Fail("a get of client %d does not find in slot %d of "+
					"rank %d what was put before", c.id, i, peer.rank)
			}
		}
	}, c.p.t.Get)
}

// fence fences, and checks the memory of the peer.
func (c *simClient) fence(peer *simPeer) {
	c.note("fences rank %d", peer.rank)
	if !c.failed(peer, "a fence", c.p.t.Fence(transport.Peer(peer.rank))) {
		c.checkSlots(peer)
	}
}

// fenceAll fences all peers at once.
func (c *simClient) fenceAll() {
	var all []transport.Peer
	for _, peer := range c.peers {
		all = append(all, transport.Peer(peer.rank))
	}
	c.note("fences all")
	if err := c.p.t.Fence(all...); err != nil {
		for _, peer := range c.peers {
			if !errors.Is(err, transport.ErrPeerDead) || !c.j.mayFail() {
				c.failed(peer, "a fence of all", err)
			}
		}
		return
	}
	for _, peer := range c.peers {
		if !c.failed(peer, "a fence of all", nil) {
			c.checkSlots(peer)
		}
	}
}

// checkSlots checks that all stores have taken effect.
func (c *simClient) checkSlots(peer *simPeer) {
	for i := range peer.slots {
		s := &peer.slots[i]
		s.frozen = false
		if got := simBytes(peer.rank, s.at, c.j.slot); !bytes.Equal(got, s.want) {
			at := 0
			for got[at] == s.want[at] {
				at++
			}
			simulate.Fail("behind a fence of client %d byte %d of slot %d of rank "+
				"%d is not as it was stored", c.id, at, i, peer.rank)
		}
	}
	c.wordsFenced(peer)
}

// accumulate adds to the 8-byte words of a slot.
func (c *simClient) accumulate(peer *simPeer, i int, later bool) {
	s := &peer.slots[i]
	words := c.j.slot / 8
	first := c.rnd.IntN(words)
	n := 1 + c.rnd.IntN(words-first)
	local := simBytes(c.p.rank, c.buffer(peer, i), c.j.slot)
	c.fill(local)
	factor := int64(c.rnd.IntN(5))
	for k := 8 * first; k < 8*(first+n); k += 8 {
		old := binary.LittleEndian.Uint64(s.want[k:])
		add := binary.LittleEndian.Uint64(local[k:]) * uint64(factor)
		binary.LittleEndian.PutUint64(s.want[k:], old+add)
	}
	c.note("accumulates %d words at %d of slot %d of rank %d, later %v", n, first, i, peer.rank,
		later)
	x := simPlain(simAddr(c.p.rank, c.buffer(peer, i)+8*first),
		simAddr(peer.rank, s.at+8*first), 8*n)
	scale := transport.Scale{Type: int(kernel.Long), Value: unsafe.Pointer(&factor)}
	c.post(peer, i, "an accumulate", x, later, func() {},
		func(p transport.Peer, x *transport.Xfer) error { return c.p.t.Acc(p, x, scale) })
}
