// SPDX-License-Identifier: BSD-3-Clause

// Package internode moves bytes between nodes over any transport.Fabric: it is the one
// transport.Transport between nodes.
//
// An origin is a process that posts operations. A target is the data server of a node; it acts for
// ranks there. Reading order:
//
//	transport.go                        opening, routes to ranks, closing
//	target.go                           what a process keeps for each target
//	post.go, packed.go, direct.go       transfers, by frames or by a device
//	link.go, release.go                 connections that are made and released
//	header.go, descriptor.go, chunk.go  frames
//	server.go, origin.go, serve.go      the data server
//	fence.go, poller.go, thread.go      fences and progress
//
// This file: the transport as core sees it.
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

// Options are the settings of a Transport; docs/configuration.md describes them.
type Options struct {
	transport.OpenInfo
	transport.Settings

	// Servers is the number of data servers of a node; its first ranks run them. Each acts for
	// its own rank and others of the node. 0: one. Negative: one for each rank, or fewer if the
	// ranks of the job, times the servers of a node, would exceed -Servers.
	Servers int
	// Connections is a goal for the connections to this process's data server, and for those of
	// this process to others. 0: any number.
	Connections int
	Poll        time.Duration // the longest time that a data server polls before it sleeps
	// parameters of the cost model; "" and "auto": measured at first use
	Model string
}

// ServersFor returns a value of Options.Servers with which a node's data servers have about as many
// connections each as the argument says. 0: any number.
func ServersFor(connections int) int {
	if connections == 0 {
		return math.MinInt32
	}
	return -connections
}

// servers returns the number of data servers of a node, which its first ranks run.
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

// serverOf returns the rank whose data server acts for a local rank of a node.
func (o *Options) serverOf(node, local int) transport.Rank {
	return o.Nodes[node][local%o.servers(node)]
}

// connectionLost returns the reason of a loss of a rank of another node.
func (o *Options) connectionLost(rank transport.Rank, why string) string {
	return fmt.Sprintf("rank %d (host %s): connection lost: %s", rank, o.HostName(rank), why)
}

// serves reports whether this process runs a data server.
func (o *Options) serves() bool { return o.LocalIndex(o.Me) < o.servers(o.MyNode) }

// Transport implements transport.Transport over a fabric.
type Transport struct {
	name    string
	opt     Options
	fabric  transport.Fabric
	direct  transport.DirectFabric // fabric, if it is one; else nil
	fast    transport.FastFabric   // fabric, if it is one; else nil
	info    transport.FabricInfo
	server  *server // nil: this process runs none
	routes  routes
	thread  progressThread
	senders senderPool
	pollers pollerSet
	conns   connections
	model   costModel
	life    lifecycle
}

// routes say which data server acts for a peer. Connect sets them; then they are constant.
type routes struct {
	peers   []struct{ Rank transport.Rank } // by peer
	byPeer  []*target                       // by peer: the target that acts for it
	targets []*target                       // by index
	known   atomic.Bool                     // the fields above are set
	// a target may have deferred frames; set by posts, cleared by flushAll
	anyDeferred atomic.Bool
}

// senderPool bounds the threads that send queued stores (queue.go).
type senderPool struct {
	running sync.WaitGroup
	slots   chan struct{} // one element for each sender that is sending
}

// pollerSet is the pollers of the sources that connections have.
type pollerSet struct {
	t        *Transport
	bySource sync.Map   // *poller by transport.Source
	mu       sync.Mutex // guards poller.links
}

// connections are what this process has open to other nodes.
type connections struct {
	outgoing *connLimit[*target] // the targets that this process is connected to
	counts   connCounts
	// a test: connections are released as soon as they may be, however soon they are made again
	restless atomic.Bool
}

// connCounts is for ARMCI_STATS and the log.
type connCounts struct {
	released        atomic.Int64 // connections that were released
	reconnected     atomic.Int64 // of these, connections that were made again
	refusedByDevice atomic.Int64 // transfers that frames carried instead
}

// costModel is the parameters that protocols are chosen by, and their measurement (measure.go).
type costModel struct {
	current atomic.Pointer[costs]
	scratch scratch

	mu      sync.Mutex   // held while a target is measured; guards the rest
	runs    [2]int       // measurements so far of puts, and of gets
	retryAt [2]time.Time // no measurement of puts, or of gets, before this time
}

// lifecycle is how a transport starts and ends.
type lifecycle struct {
	closing    atomic.Bool // nothing may be posted any more
	stopThread atomic.Bool // the progress thread must end
	startOnce  sync.Once
	closeOnce  sync.Once
	lossOnce   sync.Once // the job learns of one loss
}

// Provider returns the transport over a fabric, with the settings in o. Its Open fills in what
// concerns the job.
func Provider(d transport.Driver, o Options) transport.Provider {
	return transport.Provider{Name: d.Name, Probe: d.Probe,
		Notes: func() string { return describeModel(d, o) }, Hint: d.Hint, Spare: d.Spare,
		Open: func(info transport.OpenInfo) (transport.Transport, error) {
			o := o
			o.OpenInfo = info
			return Open(d, o)
		}}
}

// Open opens the fabric and starts the data server, if this process runs one. The caller then
// exchanges Info with the other processes and calls Connect.
func Open(d transport.Driver, o Options) (*Transport, error) {
	t := &Transport{name: d.Name, opt: o}
	t.pollers.t = t
	t.senders.slots = make(chan struct{}, maxSenders)
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
	t.model.current.Store(c)
	t.conns.outgoing = newConnLimit(o.Connections, useCountOf)
	fabric, err := d.Open(transport.FabricConfig{OpenInfo: o.OpenInfo, Settings: t.opt.Settings,
		Serves:     o.serves(),
		ServerAddr: t.routes.serverAddr,
		Await:      t.pollers.awaitRoom, Receive: t.pollers.receiveWhileSending,
		Fatal: t.routes.failAll})
	if err != nil {
		return nil, err
	}
	t.fabric, t.info = fabric, fabric.Info()
	t.direct, _ = fabric.(transport.DirectFabric)
	t.fast, _ = fabric.(transport.FastFabric)
	c.export(t, false)
	c.export(t, true)
	if o.serves() {
		if t.server, err = openServer(t); err != nil {
			fabric.Close()
			return nil, err
		}
	}
	t.thread.t = t
	return t, nil
}

// awaitRoom blocks until done. An endpoint calls it in Send, under its target's mu, when it has no
// room.
func (s *pollerSet) awaitRoom(e transport.OriginEndpoint, done func() bool) {
	s.pollerOf(e.Source()).pollUntil(done)
}

// receiveWhileSending polls the endpoint's source once, in Send, so that two processes that send to
// each other do not block. It returns false if another thread polls.
func (s *pollerSet) receiveWhileSending(e transport.OriginEndpoint) bool {
	p := s.pollerOf(e.Source())
	if !p.tryAcquire() {
		return false
	}
	p.poll(1)
	p.release()
	return true
}

// failAll marks all targets as lost, because the fabric has failed. Connected ones come first: the
// job learns of the first loss only.
func (s *routes) failAll(why error) {
	for _, connected := range []bool{true, false} {
		for _, g := range s.targets {
			if (g.link.Load() != nil) == connected {
				g.markLost(why)
			}
		}
	}
}

// reportLoss tells the job that a rank is lost. It reports the first loss only, and none while the
// transport is being closed.
func (t *Transport) reportLoss(rank transport.Rank, reason string) {
	if t.opt.OnLoss != nil && !t.life.closing.Load() {
		t.life.lossOnce.Do(func() { t.opt.OnLoss(rank, reason) })
	}
}

// Info returns the address record of this process.
func (t *Transport) Info() transport.Info {
	addr := t.info.Addr
	if t.server == nil {
		addr = nil // no process connects to this one
	}
	return transport.Info{Name: t.name, Addr: addr, Ordered: true, Fast: t.fast != nil,
		Coalesces: t.direct == nil, Eager: t.opt.Eager}
}

// CallLater has the progress thread call f after a tick.
func (t *Transport) CallLater(f func()) { t.thread.callLater(f) }

// Connect takes the addresses of the data servers and starts the progress thread. Connections are
// made on first use.
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
		if g := at[p.Rank]; g.serverRank == p.Rank {
			g.addr = p.Addr
		}
	}
	t.routes.peers, t.routes.targets, t.routes.byPeer = peers, targets, at
	t.routes.known.Store(true)
	t.life.startOnce.Do(t.thread.start)
	return nil
}

// serverAddr returns the address of the data server that acts for a rank, nil before Connect.
func (s *routes) serverAddr(rank transport.Rank) []byte {
	if !s.known.Load() || s.byPeer[rank] == nil {
		return nil
	}
	return s.byPeer[rank].addr
}

// targetOf returns the target that acts for a peer. It does not connect.
func (t *Transport) targetOf(p transport.Peer) (*target, error) {
	if t.life.closing.Load() {
		return nil, transport.ErrClosed
	}
	g := t.routes.byPeer[p]
	if len(g.addr) == 0 {
		return nil, fmt.Errorf("%s: rank %d published no address: %w", t.name,
			t.routes.peers[p].Rank, transport.ErrPeerDead)
	}
	return g, nil
}

// Close disconnects from all nodes and ends the threads of this transport, once. Open requests fail
// with ErrClosed. It takes each target's mu and queue.mu: threads that are posting or queueing have
// ended before the progress thread stops.
func (t *Transport) Close() error {
	t.life.closeOnce.Do(func() {
		t.life.closing.Store(true)
		for _, g := range t.routes.targets {
			g.disconnect()
		}
		for _, g := range t.routes.targets {
			g.mu.Lock() // waits for a thread that is posting
			g.mu.Unlock()
			g.queue.mu.Lock() // and for one that is queueing
			g.queue.mu.Unlock()
			g.queue.startSenderIfDue(math.MaxInt64) // the queued stores fail
		}
		t.senders.running.Wait()
		t.life.stopThread.Store(true)
		t.thread.stopAndWait()
		t.routes.finishAnswers()
		for _, p := range t.pollers.bySource.Range {
			p.(*poller).close()
		}
		for _, g := range t.routes.targets {
			g.close()
		}
		t.thread.closeReleased(t.thread.closing)
		t.conns.logCounts(t)
		if t.server != nil {
			t.server.close()
		}
		unix.Munmap(t.model.scratch.memory)
		t.fabric.Close()
	})
	return nil
}

// Abandon is transport.Abandoner's.
func (t *Transport) Abandon() {
	if a, ok := t.fabric.(transport.Abandoner); ok {
		a.Abandon()
	}
}

var (
	_ transport.Transport     = (*Transport)(nil)
	_ transport.DeviceAtomics = (*Transport)(nil)
)
