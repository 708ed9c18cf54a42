// SPDX-License-Identifier: BSD-3-Clause

// Fake is a transport between goroutines that behaves like a wire: nothing is complete when its
// call returns, local completion comes before the effect at the target, operations that are open at
// the same time complete in any order, and messages overtake data. It keeps exactly the promises of
// transport.Transport and no others (engine.go).
package transporttest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// Options of a Net. The zero value is an unordered wire.
type Options struct {
	Seed  uint64        // of the order of steps
	Pause time.Duration // longest pause between two steps of one end
	// Ordered, Coalesces and Eager are those of transport.Info. The Fake keeps their promises.
	Ordered   bool
	Coalesces bool
	Eager     int
	// Owns, if set, tells whether n bytes at an address belong to a peer and may be accessed.
	Owns func(p transport.Peer, addr uintptr, n int64) bool
	// Server, if set, is the end that receives the messages for an end.
	Server func(end int) int
}

// Net connects the ends of a Fake. Its lock guards all of their fields.
type Net struct {
	opts Options

	mu              sync.Mutex
	changed         *sync.Cond
	ends            []*Fake
	held            bool
	rnd             *rand.Rand
	running         sync.WaitGroup
	operationCounts map[string]int // operations carried out, by name
}

// NewNet makes a net of n ends.
func NewNet(n int, o Options) *Net {
	net := &Net{opts: o, ends: make([]*Fake, n), rnd: rand.New(rand.NewPCG(o.Seed, 1)),
		operationCounts: map[string]int{}}
	net.changed = sync.NewCond(&net.mu)
	return net
}

// Fake implements transport.Transport.
type Fake struct {
	net        *Net
	self       int
	handler    transport.Handler
	peers      []int
	posted     []*op
	departed   [][]*op           // by end: locally complete, in the order they will take effect
	inbox      [][]queuedMessage // by sender: messages on their way
	dead       bool
	closed     bool
	lateErrors map[int]error // by end: the error of a store, for the next fence
	// by end: messages that are not unordered, and how many of them have been handled
	messagesSent    map[int]int
	messagesHandled map[int]int
}

// Open makes end number self.
func (n *Net) Open(self int, h transport.Handler) *Fake {
	n.mu.Lock()
	defer n.mu.Unlock()
	f := &Fake{net: n, self: self, handler: h, departed: make([][]*op, len(n.ends)),
		inbox:      make([][]queuedMessage, len(n.ends)),
		lateErrors: map[int]error{}, messagesSent: map[int]int{},
		messagesHandled: map[int]int{}}
	n.ends[self] = f
	n.running.Add(2)
	go f.runEngine()
	go f.deliverMessages()
	return f
}

// Hold stops the wire: posted operations stay open until Release.
func (n *Net) Hold() { n.changeState(func() { n.held = true }) }

// Release ends Hold.
func (n *Net) Release() { n.changeState(func() { n.held = false }) }

// Kill makes an end dead: operations to it fail with ErrPeerDead.
func (n *Net) Kill(end int) { n.changeState(func() { n.ends[end].dead = true }) }

// Close closes all ends and waits for their goroutines.
func (n *Net) Close() {
	for _, f := range n.ends {
		if f != nil {
			f.Close()
		}
	}
	n.running.Wait()
}

// Count is the number of calls of one kind so far: "put", "get", "acc", "rmw", "fence", "put
// vector" ...
func (n *Net) Count(name string) (count int) {
	n.changeState(func() { count = n.operationCounts[name] })
	return count
}

// changeState calls do with the lock held, and wakes the waiters.
func (n *Net) changeState(do func()) {
	n.mu.Lock()
	do()
	n.mu.Unlock()
	n.changed.Broadcast()
}

// Info has the values of Options.
func (f *Fake) Info() transport.Info {
	return transport.Info{Name: "fake", Addr: []byte{byte(f.self)}, Ordered: f.net.opts.Ordered,
		Coalesces: f.net.opts.Coalesces, Eager: f.net.opts.Eager}
}

// Connect accepts ranks that are numbers of ends.
func (f *Fake) Connect(peers []transport.PeerAddr) error {
	to := make([]int, len(peers))
	for i, p := range peers {
		if p.Rank < 0 || int(p.Rank) >= len(f.net.ends) {
			return fmt.Errorf("rank %d is no end of this net", p.Rank)
		}
		to[i] = int(p.Rank)
	}
	f.net.changeState(func() { f.peers = to })
	return nil
}

// Put posts an operation.
func (f *Fake) Put(p transport.Peer, x *transport.Xfer) error {
	return f.postOp(p, &op{name: "put", xfer: x})
}

// Get posts an operation.
func (f *Fake) Get(p transport.Peer, x *transport.Xfer) error {
	return f.postOp(p, &op{name: "get", xfer: x})
}

// Acc posts an operation and reads the scale.
func (f *Fake) Acc(p transport.Peer, x *transport.Xfer, s transport.Scale) error {
	o := &op{name: "acc", xfer: x, typ: kernel.Type(s.Type)}
	copy(o.scale[:], unsafe.Slice((*byte)(s.Value), kernel.TypeSize(o.typ)))
	return f.postOp(p, o)
}

// RMW posts an operation and waits for it.
func (f *Fake) RMW(p transport.Peer, r *transport.RMW) error {
	if !r.Valid() {
		return fmt.Errorf("read-modify-write: %w", transport.ErrNotNative)
	}
	done := make(chan error, 1)
	x := &transport.Xfer{Remote: transport.Section{Base: r.Addr},
		Count: []int32{int32(r.Bytes)},
		Done:  func(err error) { done <- err }}
	if err := f.postOp(p, &op{name: "rmw", xfer: x, rmw: r}); err != nil {
		return err
	}
	return <-done
}

// Send queues a copy of the message.
func (f *Fake) Send(p transport.Peer, m transport.Msg) error { return f.queueMessage(p, m, nil) }

// Call waits for the reply, or until the peer is dead or this end is closed. If m.Replied is set, a
// goroutine waits.
func (f *Fake) Call(p transport.Peer, m transport.Msg) ([]byte, error) {
	reply, err := f.postCall(p, m)
	switch {
	case err != nil:
		return nil, err
	case m.Replied == nil:
		return reply()
	}
	go func() { m.Replied(reply()) }()
	return nil, nil
}

// postCall queues a message. Its result waits for the reply.
func (f *Fake) postCall(p transport.Peer, m transport.Msg) (reply func() ([]byte, error),
	err error) {
	n, done := f.net, false
	var answer []byte
	setReply := func(body []byte) { n.changeState(func() { done, answer = true, body }) }
	if err := f.queueMessage(p, m, setReply); err != nil {
		return nil, err
	}
	return func() ([]byte, error) {
		n.mu.Lock()
		defer n.mu.Unlock()
		for !done {
			if _, err := f.reachableEnd(p); err != nil {
				return nil, err
			}
			n.changed.Wait()
		}
		return answer, nil
	}, nil
}

// queueMessage queues a copy of a message at the receiving end: at a random place if it is
// unordered.
func (f *Fake) queueMessage(p transport.Peer, m transport.Msg, reply func([]byte)) (err error) {
	f.net.changeState(func() {
		switch end, e := f.reachableEnd(p); {
		case e != nil:
			err = e
		case len(m.Body) > transport.MaxMessage:
			err = fmt.Errorf("message of %d bytes: %w", len(m.Body),
				transport.ErrTooLong)
		default:
			to := f.net.ends[f.net.serverOf(end)]
			l := queuedMessage{from: f.self, to: end, tag: int64(m.Kind),
				body: slices.Clone(m.Joined()), reply: reply,
				waitsFor: f.openOpsTo(end)}
			at := len(to.inbox[f.self])
			if m.Unordered {
				l.waitsFor, at = nil, f.net.rnd.IntN(at+1)
			} else {
				l.onHandled = func() { f.messagesHandled[end]++ }
				f.messagesSent[end]++
			}
			to.inbox[f.self] = slices.Insert(to.inbox[f.self], at, l)
		}
	})
	return err
}

// serverOf is the end that receives the messages for an end.
func (n *Net) serverOf(end int) int {
	if n.opts.Server == nil {
		return end
	}
	return n.opts.Server(end)
}

// openOpsTo lists the operations that a message to an end has to wait for: with Ordered the open
// ones to any end of the same server. The caller holds the net's lock.
func (f *Fake) openOpsTo(end int) []*op {
	var open []*op
	if !f.net.opts.Ordered {
		return nil
	}
	for _, o := range slices.Concat(append([][]*op{f.posted}, f.departed...)...) {
		if f.net.serverOf(o.to) == f.net.serverOf(end) {
			open = append(open, o)
		}
	}
	return open
}

// reachableEnd is the number of a peer's end. It fails if that is dead, or if this end is closed.
// The caller holds the net's lock.
func (f *Fake) reachableEnd(p transport.Peer) (int, error) {
	end := f.peers[p]
	switch {
	case f.closed:
		return end, transport.ErrClosed
	case f.net.ends[end].dead:
		return end, fmt.Errorf("peer %d: %w", p, transport.ErrPeerDead)
	}
	return end, nil
}

// Progress sleeps for a short time: the engine has a goroutine of its own.
func (f *Fake) Progress(wait time.Duration) (int, error) {
	time.Sleep(min(wait, 20*time.Microsecond))
	return 0, nil
}

// Close completes open operations with ErrClosed.
func (f *Fake) Close() error {
	f.net.changeState(func() { f.closed = true })
	return nil
}

var _ transport.Transport = (*Fake)(nil)
