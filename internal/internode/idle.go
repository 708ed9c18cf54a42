// SPDX-License-Identifier: BSD-3-Clause

// The progress thread's part in jobs that are so large that connections may have to be released
// (release.go). It arms the fabric's wake-up for connections that no thread polls, since a node may
// ask for their release. It connects to a node from which a message is awaited, since the end of a
// connection is how a node's death is noticed. In other jobs it does neither. And counters for
// ARMCI_STATS.
package internode

import (
	"time"

	"libarmci/internal/log"
	"libarmci/internal/transport"
)

// idleLookInterval is how often the thread looks at idle connections.
const idleLookInterval = 100 * time.Millisecond

// looksBeforeConnect is how many looks find no connection to a node whose messages are awaited,
// before one is made.
const looksBeforeConnect = 10

// onNoConnection counts a look that found no connection to a node. After looksBeforeConnect of them
// it connects, in a thread of its own, if a caller waits for messages from there.
func (h *progressThread) onNoConnection(g *target) {
	if !g.watch.hasWaiters(&g.watch.connectors) {
		g.watch.unconnectedLooks = 0
	} else if g.watch.unconnectedLooks++; g.watch.unconnectedLooks == looksBeforeConnect {
		h.dials.Go(func() {
			if g.lockConnected() == nil { // has connected
				g.mu.Unlock()
			}
		})
	}
}

// watchIdleLinks arms the fabric's wake-up for connections that no thread polls.
func (h *progressThread) watchIdleLinks() {
	if !h.idleLook.isDueOnce() {
		return
	}
	for _, g := range h.t.routes.targets {
		l := g.link.Load()
		if l == nil {
			h.onNoConnection(g)
			continue
		}
		if g.watch.unconnectedLooks = 0; l.poller.armed || !l.poller.tryAcquire() {
			continue
		}
		h.t.fabric.Attend(l.poller.src)
		l.poller.armed = !l.poller.pollUntilEmpty() // else retry at the next look
		l.poller.handOver()
	}
}

// newIdleLookInterval returns when to look: never, if no server can have more connections than the
// limit.
func (o *Options) newIdleLookInterval() (p interval) {
	if o.Connections > 0 && mostOrigins(o.Nodes) > o.Connections {
		p = interval{every: idleLookInterval, last: time.Now()}
	}
	return p
}

// mostOrigins returns how many processes connect to a data server at most.
func mostOrigins(nodes [][]transport.Rank) (most int) {
	smallest := len(nodes[0])
	for _, ranks := range nodes {
		most += len(ranks)
		smallest = min(smallest, len(ranks))
	}
	return most - smallest
}

// Counts returns the counters for ARMCI_STATS, with those of the fabric.
func (t *Transport) Counts() []transport.Count {
	all := []transport.Count{
		{Name: t.name + ": connections made again",
			Value: t.conns.counts.reconnected.Load()},
		{Name: t.name + ": transfers retried by frames",
			Value: t.conns.counts.refusedByDevice.Load()},
	}
	if c, ok := t.fabric.(transport.Counter); ok {
		all = append(all, c.Counts()...)
	}
	return all
}

// logCounts logs what has become of connections, if any were released or exceeded the limit.
func (c *connections) logCounts(t *Transport) {
	reconnected, released := c.counts.reconnected.Load(), c.counts.released.Load()
	_, peak, _, _ := c.outgoing.counts()
	if released > 0 {
		log.Infof("%s: %d connections to other nodes were given back and %d made again; "+
			"%d at once at most", t.name, released, reconnected, peak)
	}
	if t.server == nil {
		return
	}
	if _, peak, exceeded, asked := t.server.limit.counts(); exceeded > 0 {
		log.Infof("%s: %d connections of other nodes at once, of %d that should be "+
			"(ARMCI_CONNECTIONS): %d came beyond that, %d were asked for",
			t.name, peak, t.opt.Connections, exceeded, asked)
	}
}
