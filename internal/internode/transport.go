// SPDX-License-Identifier: BSD-3-Clause

// Package internode moves bytes between nodes over any transport.Fabric: it is the one
// transport.Transport between nodes.
//
// An origin is a process that posts operations. A target is a node; its data server acts for all
// ranks there. Reading order: transport.go (opening, places of ranks), target.go (what a process
// keeps for each node), post.go (which way a transfer takes), packed.go and direct.go (the two
// ways), link.go and part.go (connections that come and go), header.go and descriptor.go (frames),
// server.go, origin.go and serve.go (the data server), fence.go, poller.go and thread.go (what
// makes progress).
//
// This file: the transport as core sees it: settings, opening, places of ranks, closing.
package internode

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/transport"
)

// Options are described in docs/configuration.md.
type Options struct {
	transport.OpenInfo
	transport.Settings

	// Servers is how many data servers a node has, in its first ranks: each acts for some of
	// the node's ranks, for its own among them. 0: one. Negative: as many as ranks, or fewer
	// where the ranks of the job times the servers of a node would exceed the number without
	// its sign.
	Servers int
	// Connections is how many connections this process should have at most: its data server's,
	// and as many of its own to others. 0: any number.
	Connections int
	Poll        time.Duration // longest time that a data server polls before it sleeps
	// parameters of the cost model; "" and "auto": measured at first use
	Model string
}

// ServersFor is a value of Options.Servers: so many that the servers of a node have about so many
// connections at most; 0: any number.
func ServersFor(connections int) int {
	if connections == 0 {
		return math.MinInt32
	}
	return -connections
}

// servers is how many data servers a node has: its first ranks.
func (o *Options) servers(node int) int {
	n := o.Servers
	if n < 0 {
		ranks := 0
		for _, of := range o.Nodes {
			ranks += len(of)
		}
		n = -(n / ranks)
	}
	return min(max(n, 1), len(o.Nodes[node]))
}

// serverOf is the rank with the data server that acts for a local rank of a node.
func (o *Options) serverOf(node, local int) transport.Rank {
	return o.Nodes[node][local%o.servers(node)]
}

// serves tells whether this process runs a data server.
func (o *Options) serves() bool { return o.Local(o.Me) < o.servers(o.MyNode) }

// Transport implements transport.Transport over a fabric.
type Transport struct {
	name    string
	opt     Options
	fabric  transport.Fabric
	direct  transport.DirectFabric // fabric, if it is one
	fast    transport.FastFabric   // the same
	info    transport.FabricInfo
	server  *server                         // nil if this process runs none
	peers   []struct{ Rank transport.Rank } // by peer
	at      []*target                       // by peer: its node
	targets []*target                       // by node
	thread  thread
	defers  atomic.Bool    // frames to some target were put off
	senders sync.WaitGroup // of queued stores (queue.go)
	turns   chan struct{}  // has as many of them as send

	pollers sync.Map   // *poller by transport.Source
	linking sync.Mutex // poller.links
	// targets that this process is connected to
	outgoing *bound[*target]
	// connections that were given back, that were made again; transfers the device refused
	counts struct{ parted, again, refused atomic.Int64 }

	costs     atomic.Pointer[costs] // the latest
	scratch   scratch
	measuring sync.Mutex   // for the next two
	measured  [2]int       // so often puts, and gets, were
	again     [2]time.Time // no earlier than this

	// a test: connections are given back as soon as they may be, however often they have to be
	// made again
	restless atomic.Bool

	closing atomic.Bool // nothing may be posted
	closed  atomic.Bool // the progress thread has to end
	started sync.Once
	ending  sync.Once
	loss    sync.Once
}

// Provider is the transport over a fabric, with the settings in o; what concerns the job is filled
// in when it is opened.
func Provider(d transport.Driver, o Options) transport.Provider {
	return transport.Provider{Name: d.Name, Probe: d.Probe,
		Notes: func() string { return notes(d, o) }, Hint: d.Hint, Spare: d.Spare,
		Open: func(info transport.OpenInfo) (transport.Transport, error) {
			o := o
			o.OpenInfo = info
			return Open(d, o)
		}}
}

// Open makes the process ready to be connected to, and to connect.
func Open(d transport.Driver, o Options) (*Transport, error) {
	t := &Transport{name: d.Name, opt: o, turns: make(chan struct{}, maxSenders)}
	t.opt.Eager = max(o.Eager, 0)
	if o.Looks == nil {
		t.opt.Looks = func() int { return 20 }
	}
	if o.Unbind == nil {
		t.opt.Unbind = func() {}
	}
	c, err := parseCosts(o.Model)
	if err != nil {
		return nil, err
	}
	t.costs.Store(c)
	t.outgoing = newBound(o.Connections, usesOf)
	fabric, err := d.Open(transport.FabricConfig{OpenInfo: o.OpenInfo, Settings: t.opt.Settings,
		Serves: o.serves(),
		Await:  t.await, Receive: t.receive, Fatal: t.failAll})
	if err != nil {
		return nil, err
	}
	t.fabric, t.info = fabric, fabric.Info()
	t.direct, _ = fabric.(transport.DirectFabric)
	t.fast, _ = fabric.(transport.FastFabric)
	t.tellCosts(c, false)
	t.tellCosts(c, true)
	if o.serves() {
		if t.server, err = openServer(t); err != nil {
			fabric.Close()
			return nil, err
		}
	}
	t.thread.t = t
	return t, nil
}

// await is for an endpoint that has to wait for room.
func (t *Transport) await(e transport.OriginEndpoint, done func() bool) {
	t.pollerOf(e.Source()).await(done)
}

// receive is for an endpoint that is sending; false: another thread polls.
func (t *Transport) receive(e transport.OriginEndpoint) bool {
	p := t.pollerOf(e.Source())
	if !p.tryAcquire() {
		return false
	}
	p.poll(1)
	p.release()
	return true
}

// failAll is for when nothing goes any more. The first loss is the one that is told: of a node that
// there is a connection to.
func (t *Transport) failAll(why error) {
	for _, connected := range []bool{true, false} {
		for _, g := range t.targets {
			if (g.link.Load() != nil) == connected {
				g.fail(why)
			}
		}
	}
}

// tellLoss passes on the first loss only, and none while the transport is being closed.
func (t *Transport) tellLoss(rank transport.Rank, reason string) {
	if t.opt.Lost != nil && !t.closing.Load() {
		t.loss.Do(func() { t.opt.Lost(rank, reason) })
	}
}

// lost reports that a rank of another node is lost.
func (t *Transport) lost(rank transport.Rank, why string) {
	t.tellLoss(rank, fmt.Sprintf("rank %d (host %s): connection lost: %s", rank,
		t.opt.HostOf(rank), why))
}

// Info tells where this process can be reached.
func (t *Transport) Info() transport.Info {
	addr := t.info.Addr
	if t.server == nil {
		addr = nil // no rank connects to this process
	}
	return transport.Info{Name: t.name, Addr: addr, Ordered: true, Fast: t.fast != nil,
		Coalesces: t.direct == nil, Eager: t.opt.Eager}
}

// CallLater calls f after a tick.
func (t *Transport) CallLater(f func()) { t.thread.callLater(f) }

// Connect tells where the data servers are. No connection is made before it is used.
func (t *Transport) Connect(servers []transport.PeerAddr) error {
	ranks := 0
	for _, of := range t.opt.Nodes {
		ranks += len(of)
	}
	peers, at := make([]struct{ Rank transport.Rank }, ranks), make([]*target, ranks)
	var targets []*target
	for n, of := range t.opt.Nodes {
		first := len(targets)
		for local, r := range of {
			server := t.opt.serverOf(n, local)
			if server == r {
				targets = append(targets, newTarget(t, len(targets), n, r))
			}
			peers[r].Rank, at[r] = r, targets[first+local%t.opt.servers(n)]
		}
	}
	for _, p := range servers {
		if p.Rank < 0 || int(p.Rank) >= ranks {
			return fmt.Errorf("rank %d is not in this job", p.Rank)
		}
		if g := at[p.Rank]; g.server == p.Rank {
			g.addr = p.Addr
		}
	}
	t.peers, t.targets, t.at = peers, targets, at
	t.started.Do(t.thread.start)
	return nil
}

// target is the node of a peer.
func (t *Transport) target(p transport.Peer) (*target, error) {
	if t.closing.Load() {
		return nil, transport.ErrClosed
	}
	g := t.at[p]
	if len(g.addr) == 0 {
		return nil, fmt.Errorf("%s: rank %d published no address: %w", t.name,
			t.peers[p].Rank, transport.ErrPeerDead)
	}
	return g, nil
}

// Close says goodbye to all nodes and ends what this process runs. What is open fails with
// ErrClosed.
func (t *Transport) Close() error {
	t.ending.Do(t.end)
	return nil
}

// Abandon: see transport.Abandoner.
func (t *Transport) Abandon() {
	if a, ok := t.fabric.(transport.Abandoner); ok {
		a.Abandon()
	}
}

func (t *Transport) end() {
	t.closing.Store(true)
	for _, g := range t.targets {
		g.goodbye()
	}
	for _, g := range t.targets {
		g.mu.Lock() // a thread that is posting comes to an end
		g.mu.Unlock()
		g.queue.mu.Lock() // so does one that is queueing
		g.queue.mu.Unlock()
		g.sendLate(math.MaxInt64) // which fails
	}
	t.senders.Wait()
	t.closed.Store(true)
	t.thread.stop()
	t.finishAnswers()
	for _, p := range t.pollers.Range {
		p.(*poller).close()
	}
	for _, g := range t.targets {
		g.close()
	}
	t.thread.closeParted(t.thread.parted)
	t.tellCounts()
	if t.server != nil {
		t.server.close()
	}
	unix.Munmap(t.scratch.memory)
	t.fabric.Close()
}

var (
	_ transport.Transport     = (*Transport)(nil)
	_ transport.DeviceAtomics = (*Transport)(nil)
)
