// SPDX-License-Identifier: BSD-3-Clause

// The transport as core sees it: opening, who is where, closing.
package internode

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"libarmci/internal/transport"
)

// Transport implements transport.Transport over a fabric.
type Transport struct {
	name    string
	opt     Options
	fabric  transport.Fabric
	direct  transport.DirectFabric // fabric, if it is one
	fast    transport.FastFabric   // the same
	info    transport.FabricInfo
	server  *server // nil if this process runs none
	peers   []transport.PeerAddr
	at      []*target // by peer: its node
	targets []*target // by node
	thread  thread
	senders senders

	seatsMu sync.Mutex
	seats   atomic.Pointer[map[transport.Source]*seat]

	known     atomic.Pointer[costs] // once they are
	scratch   scratch
	measuring sync.Mutex

	closing atomic.Bool // nothing may be posted
	closed  atomic.Bool // the progress thread has to end
	started sync.Once
	ending  sync.Once
	loss    sync.Once
}

// Provider is the transport over a fabric, with the settings in o; what concerns the job is filled in when it is opened.
func Provider(d transport.Driver, o Options) transport.Provider {
	return transport.Provider{Name: d.Name, Probe: d.Probe, Notes: func() string { return notes(d, o) }, Hint: d.Hint,
		Open: func(info transport.OpenInfo) (transport.Transport, error) {
			o := o
			o.OpenInfo = info
			return Open(d, o)
		}}
}

// Open makes the process ready to be connected to, and to connect.
func Open(d transport.Driver, o Options) (*Transport, error) {
	t := &Transport{name: d.Name, opt: o}
	t.opt.Eager = max(o.Eager, 0)
	t.seats.Store(&map[transport.Source]*seat{})
	if o.Model != "" && o.Model != auto {
		c, err := parseCosts(o.Model)
		if err != nil {
			return nil, fmt.Errorf("cost model: %w", err)
		}
		t.known.Store(&c)
	}
	fabric, err := d.Open(transport.FabricConfig{OpenInfo: o.OpenInfo, Serves: o.serves(), Timeout: o.Timeout, Buffer: o.Buffer,
		Eager: t.opt.Eager, Looks: o.Looks, Unbind: o.Unbind, Await: t.await, Fatal: t.failAll})
	if err != nil {
		return nil, err
	}
	t.fabric, t.info = fabric, fabric.Info()
	t.direct, _ = fabric.(transport.DirectFabric)
	t.fast, _ = fabric.(transport.FastFabric)
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
func (t *Transport) await(e transport.Endpoint, done func() bool) {
	if !done() {
		t.seatOf(e.Source()).await(done)
	}
}

// seatOf is the seat of a source, which is made when it is first asked for.
func (t *Transport) seatOf(src transport.Source) *seat {
	if s := (*t.seats.Load())[src]; s != nil {
		return s
	}
	t.seatsMu.Lock()
	defer t.seatsMu.Unlock()
	was := *t.seats.Load()
	if s := was[src]; s != nil {
		return s
	}
	now := map[transport.Source]*seat{}
	for k, s := range was {
		now[k] = s
	}
	now[src] = newSeat(t, src)
	t.seats.Store(&now)
	return now[src]
}

// failAll is for when nothing goes any more. The first loss is the one that is told: of a node that there is a connection to.
func (t *Transport) failAll(why error) {
	for _, connected := range []bool{true, false} {
		for _, g := range t.targets {
			if g.live.Load() == connected {
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
func (t *Transport) lost(rank transport.Rank, why error) {
	t.tellLoss(rank, fmt.Sprintf("rank %d (host %s): connection lost: %v", rank, t.opt.hostOf(t.opt.nodeOf(rank)), why))
}

// Info tells where this process can be reached.
func (t *Transport) Info() transport.Info {
	return transport.Info{Name: t.name, Addr: t.info.Addr, Ordered: true, Eager: t.opt.Eager}
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
	targets := make([]*target, len(t.opt.Nodes))
	for n := range targets {
		targets[n] = newTarget(t, n, addr[t.opt.serverOf(n, t.opt.Me)])
	}
	at := make([]*target, len(peers))
	for i, p := range peers {
		if g := targets[node[p.Rank]]; len(g.addr) > 0 {
			at[i] = g
		}
	}
	t.peers, t.targets, t.at = peers, targets, at
	t.started.Do(t.thread.start)
	return nil
}

// finishAnswers reads what has begun to come, so that no memory is written to later. Who is slow is not waited for.
func (t *Transport) finishAnswers() {
	for begin, more := time.Now(), true; more; {
		late := time.Since(begin) > goodbyeTime
		more = false
		for _, g := range t.targets {
			if !g.live.Load() || g.table.held.Load() == 0 {
				continue
			}
			more = true
			if late {
				g.ep.Break()
			}
			if g.seat.tryTake() {
				g.seat.poll(1)
				g.seat.leave()
			}
		}
		if more {
			time.Sleep(20 * time.Microsecond)
		}
	}
}

// target is the node of a peer.
func (t *Transport) target(p transport.Peer) (*target, error) {
	if t.closing.Load() {
		return nil, transport.ErrClosed
	}
	g := t.at[p]
	if g == nil {
		return nil, fmt.Errorf("%s: rank %d published no address: %w", t.name, t.peers[p].Rank, transport.ErrPeerDead)
	}
	return g, nil
}

// Close says goodbye to all nodes and ends what this process runs. What is open fails with ErrClosed.
func (t *Transport) Close() error {
	t.ending.Do(t.end)
	return nil
}

func (t *Transport) end() {
	t.closing.Store(true)
	for _, g := range t.targets {
		g.goodbye()
	}
	for _, g := range t.targets {
		g.mu.Lock() // who is posting comes to an end
		g.mu.Unlock()
	}
	t.senders.close()
	t.closed.Store(true)
	t.thread.stop()
	t.finishAnswers()
	for _, s := range *t.seats.Load() {
		s.close()
	}
	for _, g := range t.targets {
		g.close()
	}
	if t.server != nil {
		t.server.close()
	}
	t.scratch.close()
	t.fabric.Close()
}

var (
	_ transport.Transport     = (*Transport)(nil)
	_ transport.DeviceAtomics = (*Transport)(nil)
)
