// SPDX-License-Identifier: BSD-3-Clause

//go:build simulation

// A simulated job: nodes, processes and clients, and a network between them, all drawn from a seed.
// And what must be true at its end.
package internode

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"libarmci/internal/testutil/pipe"
	"libarmci/internal/testutil/simulate"
	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// simJob is a job.
type simJob struct {
	rnd     *rand.Rand // for what is decided before the clients run
	net     *pipe.Net
	nodes   [][]transport.Rank
	far     bool          // memory is far from the other ranks of its node
	procs   []*simProcess // by rank
	clients []*simClient
	slot    int // bytes of a slot of a client
	words   []*simWord
	locks   []*simLock // by rank
	fault   simFault
	stopped bool // all clients have ended
}

// simProcess is a rank.
type simProcess struct {
	rank    transport.Rank
	node    int
	t       *Transport
	losses  []string
	failed  bool               // an operation has failed, because a connection was broken
	left    bool               // it has begun to leave the job
	running simulate.WaitGroup // threads that reply later
}

// simulateJob runs a job.
func simulateJob(seed uint64) {
	j := &simJob{rnd: rand.New(rand.NewPCG(seed, 2))}
	j.open(seed)
	simulate.OnFailure(j.describe)
	var running, faults simulate.WaitGroup
	for _, c := range j.clients {
		running.Go(c.run)
	}
	if j.fault != noFault {
		faults.Go(j.breakSomething)
	}
	running.Wait()
	j.stopped = true
	faults.Wait()
	for _, p := range j.procs {
		p.running.Wait()
	}
	j.checkWords()
	j.checkEnd()
	var closing simulate.WaitGroup
	for _, p := range j.procs {
		closing.Go(func() { p.t.Close() })
	}
	closing.Wait()
	j.checkLosses()
}

// open draws the job and opens its transports.
func (j *simJob) open(seed uint64) {
	r := j.rnd
	network := simNetwork(r, seed)
	j.net = pipe.New(network)
	ranks := 0
	for n := range 2 + r.IntN(2) {
		var node []transport.Rank
		for range 1 + r.IntN(2) {
			node = append(node, transport.Rank(ranks))
			j.procs = append(j.procs, &simProcess{rank: transport.Rank(ranks), node: n})
			j.locks = append(j.locks, &simLock{})
			ranks++
		}
		j.nodes = append(j.nodes, node)
	}
	j.slot = pick(r, 64, 512, 4096, 20000)
	j.far = !network.Direct && r.IntN(4) == 0
	if r.IntN(4) == 0 {
		j.fault = simFault(1 + r.IntN(int(simFaults)-1))
	}
	clear(simArena[:ranks*simSlice])
	options := simSettings(r)
	options.Model = simModel
	simulate.Note("nodes %v, far %v, fault %v, slots of %d bytes; %+v; servers %d, "+
		"connections %d, eager %d", j.nodes, j.far, j.fault, j.slot, network,
		options.Servers, options.Connections, options.Eager)
	memories := make([]*transporttest.Memory, len(j.nodes))
	for n := range memories {
		memories[n] = &transporttest.Memory{}
	}
	addrs := make([]transport.PeerAddr, ranks)
	for _, p := range j.procs {
		o := options
		o.OpenInfo = j.openInfo(p, memories[p.node])
		var err error
		if p.t, err = Open(j.net.Driver(), o); err != nil {
			simulate.Fail("open: %v", err)
		}
		p.t.conns.restless.Store(r.IntN(2) == 0)
		addrs[p.rank] = transport.PeerAddr{Rank: p.rank, Addr: p.t.Info().Addr}
	}
	for _, p := range j.procs {
		if err := p.t.Connect(addrs); err != nil {
			simulate.Fail("connect: %v", err)
		}
		for range 1 + r.IntN(2) {
			j.clients = append(j.clients, newSimClient(j, p, seed))
		}
	}
	j.openWords()
}

// openInfo is what a process is told.
func (j *simJob) openInfo(p *simProcess, m *transporttest.Memory) transport.OpenInfo {
	hosts := make([]string, len(j.nodes))
	for i := range hosts {
		hosts[i] = fmt.Sprintf("host%d", i)
	}
	of := j.nodes[p.node]
	return transport.OpenInfo{Me: p.rank, Nodes: j.nodes, MyNode: p.node, Hosts: hosts,
		Memory: m, Secret: []byte("a secret"), Handle: p.handler(j),
		Node: simNode{first: int(of[0]), ranks: len(of), me: int(p.rank - of[0]),
			far: j.far},
		OnLoss: func(who transport.Rank, reason string) {
			p.losses = append(p.losses, fmt.Sprintf("of rank %d: %s", who, reason))
			simulate.Note("rank %d is told of the loss of rank %d: %s", p.rank, who,
				reason)
		}}
}

// describe says what is open, for the report of a failure.
func (j *simJob) describe() string {
	var b strings.Builder
	for _, p := range j.procs {
		for _, g := range p.t.routes.targets {
			l := g.link.Load()
			if l == nil {
				continue
			}
			fmt.Fprintf(&b, "  rank %d towards rank %d: link %d, %d frames, %d "+
				"handled, %d for fences, %d queued, empty %v, poller held %v and "+
				"awaited by %d, unattended %d, lost %v\n", p.rank, g.serverRank,
				l.state.Load(), g.tx.sentFrames, g.progress.handledFrames.Load(),
				g.progress.fenceFrame.Load(), g.queue.length.Load(),
				g.requests.isEmpty(), l.poller.owner.held, l.poller.waiting.Load(),
				l.poller.unattended.Load(), g.loss.failure.Load() != nil)
		}
	}
	return b.String() + j.net.String()
}

// breakSomething is a thread that breaks connections.
func (j *simJob) breakSomething() {
	simulate.Sleep(time.Duration(j.rnd.Int64N(int64(1) << (10 + j.rnd.IntN(12)))))
	a := j.procs[j.rnd.IntN(len(j.procs))]
	b := j.procs[j.rnd.IntN(len(j.procs))]
	simulate.Note("fault %d of ranks %d and %d", j.fault, a.rank, b.rank)
	switch j.fault {
	case breakNow:
		j.net.Break(a.rank, b.rank, 0)
	case breakLater:
		j.net.Break(a.rank, b.rank, 1+j.rnd.IntN(20))
	case vanish:
		j.net.Vanish(a.rank)
	case leave:
		a.left = true
		a.t.Close()
	}
}

// mayFail tells whether operations may fail.
func (j *simJob) mayFail() bool {
	switch j.fault {
	case noFault:
		return false
	case breakNow, breakLater:
		return breakEndsTarget
	}
	return true
}

// hasLeft tells whether the process has left that serves a peer, so that nothing is known of what
// was stored there, or the client's own.
func (c *simClient) hasLeft(peer *simPeer) bool {
	server := c.p.t.routes.byPeer[peer.rank].serverRank
	return c.p.left || c.j.procs[server].left
}

// checkEnd checks that nothing is open when all clients have fenced and ended. A thread may still
// be at the end of what it does for them.
func (j *simJob) checkEnd() {
	begin := simulate.Now()
	for left := j.leftOpen(); left != ""; left = j.leftOpen() {
		if simulate.Since(begin) > time.Second {
			simulate.Fail("%s", left)
		}
		simulate.Sleep(time.Millisecond)
	}
	j.checkLosses()
}

// leftOpen says what is open; "": nothing.
func (j *simJob) leftOpen() string {
	for _, p := range j.procs {
		for _, g := range p.t.routes.targets {
			if left := g.leftOpen(); left != "" {
				return fmt.Sprintf("rank %d towards rank %d: %s", p.rank,
					g.serverRank, left)
			}
		}
		for _, v := range p.t.pollers.bySource.Range {
			q := v.(*poller)
			if q.unattended.Load() != 0 || q.waiting.Load() != 0 {
				return fmt.Sprintf("rank %d: %d requests that no thread waits "+
					"for, %d waiters", p.rank, q.unattended.Load(),
					q.waiting.Load())
			}
		}
	}
	return ""
}

// leftOpen says what is open towards a target; "": nothing.
func (g *target) leftOpen() string {
	switch {
	case !g.requests.isEmpty():
		return "a request is open for ever"
	case g.requests.largeOpen.Load() != 0 || g.requests.claimed.Load() != 0:
		return fmt.Sprintf("%d large and %d claimed requests",
			g.requests.largeOpen.Load(), g.requests.claimed.Load())
	case g.queue.length.Load() != 0:
		return fmt.Sprintf("%d stores are queued", g.queue.length.Load())
	case g.progress.handledFrames.Load() > g.tx.sentFrames:
		return fmt.Sprintf("%d frames were handled, of %d",
			g.progress.handledFrames.Load(), g.tx.sentFrames)
	case g.watch.hasWaiters(&g.watch.sleepers) || g.watch.hasWaiters(&g.watch.connectors):
		return fmt.Sprintf("%d sleepers, %d connectors", g.watch.sleepers,
			g.watch.connectors)
	}
	return ""
}

// checkLosses checks what processes were told of losses.
func (j *simJob) checkLosses() {
	for _, p := range j.procs {
		switch n := len(p.losses); {
		case n > 1 || n > 0 && !j.mayFail():
			simulate.Fail("rank %d was told of losses: %q", p.rank, p.losses)
		case n == 0 && p.failed && j.fault != leave:
			simulate.Fail("operations of rank %d have failed, and it was told of no "+
				"loss", p.rank)
		}
	}
}
