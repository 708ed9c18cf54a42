// SPDX-License-Identifier: BSD-3-Clause

// What the progress thread does in jobs so large that connections may have to be given back
// (part.go): it sees to it that it is told what comes on connections that no thread polls, for a
// node may ask for one; and it connects to a node whose messages are waited for, since the end of a
// connection is how a node's death is noticed. In other jobs it does nothing of that.
package internode

import (
	"time"

	"libarmci/internal/log"
	"libarmci/internal/transport"
)

// idleLookTime is how often it looks.
const idleLookTime = 100 * time.Millisecond

// missedOften is how often there is no connection to a node that is waited for before one is made,
// so that its death is noticed.
const missedOften = 10

// miss is told that there is no connection to a node.
func (h *thread) miss(g *target) {
	if !g.waitedFor(&g.missing) {
		g.missed = 0
	} else if g.missed++; g.missed == missedOften {
		h.dials.Go(func() {
			if g.lock() == nil { // which has connected
				g.mu.Unlock()
			}
		})
	}
}

// attendIdle has the fabric tell what comes on connections that no thread polls: a node may ask for
// one.
func (h *thread) attendIdle() {
	if !h.lookout.due() {
		return
	}
	for _, g := range h.t.targets {
		l := g.link.Load()
		if l == nil {
			h.miss(g)
			continue
		}
		if g.missed = 0; l.poller.attended || !l.poller.tryAcquire() {
			continue
		}
		h.t.fabric.Attend(l.poller.src)
		l.poller.attended = !l.poller.pollAll() // else the next time
		l.poller.handOver()
	}
}

// newLookout tells when to look: never, if no server can have more connections than it should.
func (t *Transport) newLookout() (p pulse) {
	if t.opt.Connections > 0 && mostOrigins(t.opt.Nodes) > t.opt.Connections {
		p = pulse{every: idleLookTime, last: time.Now()}
	}
	return p
}

// mostOrigins is how many processes may connect to a data server at most.
func mostOrigins(nodes [][]transport.Rank) (most int) {
	smallest := len(nodes[0])
	for _, ranks := range nodes {
		most += len(ranks)
		smallest = min(smallest, len(ranks))
	}
	return most - smallest
}

// Counts is what ARMCI_STATS tells besides calls, with that of the fabric.
func (t *Transport) Counts() []transport.Count {
	all := []transport.Count{
		{Name: t.name + ": connections made again", Value: t.counts.again.Load()},
		{Name: t.name + ": transfers retried by frames", Value: t.counts.refused.Load()},
	}
	if c, ok := t.fabric.(transport.Counter); ok {
		all = append(all, c.Counts()...)
	}
	return all
}

// tellCounts tells what has become of connections, if that is anything but usual.
func (t *Transport) tellCounts() {
	again, parted := t.counts.again.Load(), t.counts.parted.Load()
	_, peak, _, _ := t.outgoing.counts()
	if parted > 0 {
		log.Infof("%s: %d connections to other nodes were given back and %d made again; "+
			"%d at once at most", t.name, parted, again, peak)
	}
	if t.server == nil {
		return
	}
	if _, peak, exceeded, asked := t.server.bound.counts(); exceeded > 0 {
		log.Infof("%s: %d connections of other nodes at once, of %d that should be "+
			"(ARMCI_CONNECTIONS): %d came beyond that, %d were asked for",
			t.name, peak, t.opt.Connections, exceeded, asked)
	}
}
