// SPDX-License-Identifier: BSD-3-Clause

// The client side of a process: one completion queue for all its wires, looked after by whoever waits for something,
// else by the engine. A queue cannot overflow: nothing is posted without a token, and there is one for each entry.
package rdma

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/log"
	"libarmci/internal/rdma/lane"
	"libarmci/internal/rdma/verbs"
)

const (
	clientTokens = 4096
	credits      = 16 // messages a client may have at a server before it is told that they have taken effect
	burst        = 64 // completions that are taken at a time
)

type client struct {
	t      *Transport
	h      *hca
	srq    *verbs.Shared
	in     *pool // answers
	out    *pool // messages, and data whose place is not registered
	tokens atomic.Int32
	events atomic.Uint64 // completions so far
	later  atomic.Int32  // operations that nobody waits for

	pairs atomic.Pointer[map[uint32]*wire] // by number of the queue pair
	lane  *lane.Lane                       // nil if there is none
	room  *pool                            // of its gets

	mu      sync.Mutex
	turn    *sync.Cond // the driver has found something, or gives up its seat
	driving bool
	closed  bool
	waiting atomic.Int32
	// Of the driver alone.
	run   time.Time // when it last went through Go's scheduler, see runEvery
	done  [burst]verbs.Completion
	ids   []uint64
	offer []verbs.Data
}

func openClient(t *Transport, base *hca) (*client, error) {
	n := min(t.buffers(clientShare), base.limits.MaxSRQ)
	tokens := min(clientTokens, base.limits.MaxCQE-n-lane.Entries)
	h, err := base.role(tokens + n + lane.Entries)
	if err != nil {
		return nil, err
	}
	c := &client{t: t, h: h}
	c.turn = sync.NewCond(&c.mu)
	c.tokens.Store(int32(tokens))
	c.pairs.Store(&map[uint32]*wire{})
	if c.in, err = newPool(h.domain, n, t.size); err == nil {
		c.out, err = newPool(h.domain, n, t.size)
	}
	if err == nil {
		c.srq, err = h.domain.NewShared(c.in.count())
	}
	if err == nil {
		err = offerAll(c.srq, c.in)
	}
	if err == nil {
		err = c.openLane()
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// offerAll posts all buffers of a pool for receiving.
func offerAll(srq *verbs.Shared, p *pool) error {
	var ids []uint64
	var data []verbs.Data
	for i := p.take(); i != none; i = p.take() {
		ids = append(ids, received|uint64(i))
		data = append(data, p.data(i, 0, p.size))
	}
	return srq.Post(ids, data)
}

func (c *client) close() {
	if c.srq != nil {
		c.srq.Close()
	}
	for _, p := range []*pool{c.in, c.out, c.room} {
		if p != nil {
			p.close()
		}
	}
	c.h.close()
	c.lane.Free()
}

// know adds a wire to those whose completions come.
func (c *client) know(w *wire) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := map[uint32]*wire{}
	for n, other := range *c.pairs.Load() {
		m[n] = other
	}
	m[w.pair.Number] = w
	c.pairs.Store(&m)
}

// await returns when done says so, which it says once. Who waits takes the driver's seat if it is free.
func (c *client) await(done func() bool) {
	if done() {
		return
	}
	c.waiting.Add(1) // before another look at what it waits for: who changes that looks here afterwards
	defer c.waiting.Add(-1)
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		if c.driving {
			if done() {
				return
			}
			c.turn.Wait()
			continue
		}
		if c.takeSeat(done, time.Time{}) {
			return
		}
	}
}

// takeSeat drives; the caller has the lock, and the seat is free.
func (c *client) takeSeat(done func() bool, until time.Time) (yes bool) {
	c.driving = true
	c.mu.Unlock()
	if time.Since(c.run) > runEvery {
		runtime.Gosched()
		c.run = time.Now()
	}
	c.lane.Enter()
	yes = c.drive(done, until)
	c.lane.Leave()
	c.mu.Lock()
	c.driving = false
	c.turn.Broadcast()
	return yes
}

// tryDrive drives until done or until a time; false if another one does.
func (c *client) tryDrive(done func() bool, until time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.driving || c.closed {
		return false
	}
	c.takeSeat(done, until)
	return true
}

// stop returns when nobody waits or drives any more. All wires have failed, so nobody begins to.
func (c *client) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for c.driving || c.waiting.Load() > 0 {
		c.turn.Broadcast()
		c.mu.Unlock()
		time.Sleep(50 * time.Microsecond)
		c.mu.Lock()
	}
}

const (
	sleepAfter = 40                    // yields
	longNap    = 50 * time.Millisecond // before a sleeper looks at other things than the queue
)

// drive takes completions until done, or until a time that is not zero: then it is false.
func (c *client) drive(done func() bool, until time.Time) bool {
	looked := false
	for !done() {
		left := longNap
		if !until.IsZero() {
			left = min(left, time.Until(until))
		}
		var n int
		switch {
		case left <= 0:
			n = c.poll(1, 0)
		case !looked:
			n = c.poll(c.t.spin, sleepAfter)
		default:
			n = c.sleep(left)
		}
		switch looked = n == 0; {
		case n > 0:
			c.tell()
		case left <= 0:
			return false
		}
	}
	return true
}

func yield() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// tell wakes those who wait for what the driver may have found.
func (c *client) tell() {
	if c.waiting.Load() > 0 {
		c.mu.Lock()
		c.turn.Broadcast()
		c.mu.Unlock()
	}
}

// poll takes what has been completed, and looks for it so often. For the driver.
func (c *client) poll(looks, yields int) int {
	if n := c.left(); n > 0 {
		return n
	}
	n, err := c.h.cq.Look(c.done[:], looks, yields)
	return c.deal(n, err)
}

// sleep is poll that sleeps until there is something, or for a while.
func (c *client) sleep(limit time.Duration) int {
	if n := c.left(); n > 0 {
		return n
	}
	n, _, err := c.h.cq.Sleep(c.done[:], c.h.channel, -1, limit)
	return c.deal(n, err)
}

// left deals with what the lane has left to Go.
func (c *client) left() int {
	e, some := c.lane.Left()
	if !some {
		return 0
	}
	c.done[0] = e
	return c.deal(1, nil)
}

// deal deals with n completions.
func (c *client) deal(n int, err error) int {
	if err != nil {
		c.t.failAll(err)
		return 1
	}
	if n == 0 {
		return 0
	}
	pairs := *c.pairs.Load()
	c.ids, c.offer = c.ids[:0], c.offer[:0]
	for i := range c.done[:n] {
		e := &c.done[i]
		w := pairs[e.Pair]
		if c.lane.Mine(e) {
			if e.Status != 0 && w != nil {
				w.fail(errors.New(e.Text()))
			}
			continue
		}
		if e.ID&received == 0 {
			if w != nil {
				w.landed(uint32(e.ID), e)
			}
			continue
		}
		b := int32(e.ID &^ received)
		if w != nil && e.Status == 0 {
			w.receive(c.in.bytes(b)[:e.Bytes])
		}
		c.ids = append(c.ids, e.ID)
		c.offer = append(c.offer, c.in.data(b, 0, c.in.size))
	}
	if len(c.ids) > 0 {
		if err := c.srq.Post(c.ids, c.offer); err != nil {
			log.Errorf("answers cannot be received any more: %v", err)
		}
	}
	c.events.Add(uint64(n))
	return n
}

// claim takes n tokens, if there are so many.
func (c *client) claim(n int32) bool {
	for {
		have := c.tokens.Load()
		if have < n {
			return false
		}
		if c.tokens.CompareAndSwap(have, have-n) {
			return true
		}
	}
}

// Progress drives what nobody waits for.
func (t *Transport) Progress(wait time.Duration) (int, error) {
	c := t.client
	before := c.events.Load()
	found := func() bool { return c.events.Load() != before || c.later.Load() == 0 }
	if wait <= 0 || c.later.Load() == 0 {
		c.glance()
	} else if !c.tryDrive(found, time.Now().Add(wait)) {
		time.Sleep(min(wait, 20*time.Microsecond))
	}
	return int(c.events.Load() - before), nil
}

// glance looks once; false if another one drives.
func (c *client) glance() bool {
	looked := false
	return c.tryDrive(func() bool {
		was := looked
		looked = true
		return was
	}, time.Now())
}
