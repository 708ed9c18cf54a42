// SPDX-License-Identifier: BSD-3-Clause

// The transport as core sees it: opening, who is where, closing. A process has one wire to each node, whatever the
// number of ranks there.
package rdma

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"libarmci/internal/rdma/pin"
	"libarmci/internal/transport"
)

// Transport implements transport.Transport over verbs.
type Transport struct {
	opt       Options
	base      *hca // whose queues are not used
	arena     *arena
	server    *server // nil if this rank runs none
	porter    *porter
	client    *client
	pins      *pin.Cache
	engine    engine
	peers     []transport.PeerAddr
	at        []*wire               // by peer: the wire to its node
	wires     []*wire               // by node
	known     atomic.Pointer[costs] // once they are
	size      int                   // bytes of a buffer, and so of a message to this process
	scratch   scratch
	measuring sync.Mutex
	spin      int // looks of a waiter before it yields

	closing atomic.Bool // nothing may be posted
	closed  atomic.Bool // the engine has to end
	ending  sync.Once
	loss    sync.Once
}

// leastProcs is how many goroutines can run at the same time: those of this package spend their time in system calls,
// and Go's scheduler takes long to notice that one of its processors is free meanwhile.
const leastProcs = 8

// Open makes the process ready to be connected to, and to connect, over a device.
func Open(o Options, w *way) (*Transport, error) {
	if runtime.GOMAXPROCS(0) < leastProcs {
		runtime.GOMAXPROCS(leastProcs)
	}
	o.Buffer = max(min(o.Buffer, pin.Lockable()/2), allShares*leastBuffers*leastBytes)
	t := &Transport{size: bufferBytes(o.Buffer), spin: 20}
	o.Eager = min(max(o.Eager, 0), leastBytes)
	t.opt = o
	if o.Spin != nil {
		t.spin = max(o.Spin(), 1)
	}
	t.opt.Lost = t.reportLoss(o.Lost)
	var err error
	if o.Model != "" && o.Model != auto {
		c, err := parseCosts(o.Model)
		if err != nil {
			return nil, fmt.Errorf("ARMCI_RDMA_MODEL: %w", err)
		}
		t.known.Store(&c)
	}
	if t.base, err = openHCA(w, 1); err != nil {
		return nil, err
	}
	o.Node.Hold()
	t.arena = &arena{node: o.Node, domain: t.base.domain}
	t.pins = openPins(&t.opt, t.arena, &t.base.limits)
	t.arena.pins = t.pins
	if err = t.open(); err != nil {
		t.release()
		return nil, err
	}
	return t, nil
}

func (t *Transport) open() (err error) {
	if t.client, err = openClient(t, t.base); err != nil {
		return err
	}
	var accept func(*hello) (*hello, error)
	if t.opt.serverOf(t.opt.MyNode) == t.opt.Me {
		if t.server, err = openServer(t, t.base); err != nil {
			return err
		}
		accept = t.server.accept
	}
	if t.porter, err = openPorter(t.base, t.opt.Secret, accept); err != nil {
		return err
	}
	if err = t.engine.start(t); err != nil {
		return fmt.Errorf("start the engine: %w", err)
	}
	return nil
}

// reportLoss passes on the first loss only, and none while the transport is being closed.
func (t *Transport) reportLoss(tell func(transport.Rank, string)) func(transport.Rank, string) {
	return func(rank transport.Rank, reason string) {
		if tell != nil && !t.closing.Load() {
			t.loss.Do(func() { tell(rank, reason) })
		}
	}
}

// failAll is for when nothing goes any more.
func (t *Transport) failAll(why error) {
	for _, w := range t.wires {
		w.fail(why)
	}
}

// Info tells what is native, and where datagrams reach this process.
func (t *Transport) Info() transport.Info {
	return transport.Info{Name: "rdma", Addr: t.porter.self.encode(), Native: transport.Native{Acc: true, RMW: true},
		MaxMsg: maxMsg, Ordered: true, Eager: t.opt.Eager}
}

// Connect tells who is where. No connection is made before it is used.
func (t *Transport) Connect(peers []transport.PeerAddr) error {
	node, addr := map[transport.Rank]int{}, map[transport.Rank][]byte{}
	for n, ranks := range t.opt.Nodes {
		for _, r := range ranks {
			node[r] = n
		}
	}
	for _, p := range peers {
		if _, ok := node[p.Rank]; !ok {
			return fmt.Errorf("rank %d is not in this job", p.Rank)
		}
		addr[p.Rank] = p.Addr
	}
	wires := make([]*wire, len(t.opt.Nodes))
	for n := range wires {
		wires[n] = newWire(t, n, addr[t.opt.serverOf(n)])
	}
	at := make([]*wire, len(peers))
	for i, p := range peers {
		if w := wires[node[p.Rank]]; len(w.addr) > 0 {
			at[i] = w
		}
	}
	t.peers, t.wires, t.at = peers, wires, at
	return nil
}

// wire is the way to a peer.
func (t *Transport) wire(p transport.Peer) (*wire, error) {
	if t.closing.Load() {
		return nil, transport.ErrClosed
	}
	w := t.at[p]
	if w == nil {
		return nil, fmt.Errorf("rdma: rank %d published no address: %w", t.peers[p].Rank, transport.ErrPeerDead)
	}
	return w, nil
}

// Register has nothing to do: the arena is registered as it is used.
func (t *Transport) Register([]byte) (transport.Key, error) { return 0, nil }

// Deregister has nothing to do.
func (t *Transport) Deregister(transport.Key) error { return nil }

// Close says goodbye to all nodes and ends what this process runs. What is open fails with ErrClosed.
func (t *Transport) Close() error {
	t.ending.Do(t.end)
	return nil
}

func (t *Transport) end() {
	t.closing.Store(true)
	t.client.lane.Close()
	for _, w := range t.wires {
		w.goodbye()
		w.fail(transport.ErrClosed)
	}
	for _, w := range t.wires {
		w.mu.Lock() // who is posting comes to an end
		w.mu.Unlock()
	}
	t.closed.Store(true)
	t.engine.stop()
	t.client.stop()
	t.release()
}

func (t *Transport) release() {
	for _, w := range t.wires {
		w.close()
	}
	if t.porter != nil {
		t.porter.close()
	}
	if t.server != nil {
		t.server.close()
	}
	if t.client != nil {
		t.client.close()
	}
	t.pins.Close()
	t.arena.close()
	t.scratch.close()
	t.base.close()
}

var _ transport.Transport = (*Transport)(nil)
