// SPDX-License-Identifier: BSD-3-Clause

// The wire between the nodes of a Cluster: a Fake with an end for every rank. The lowest rank of
// each node receives all of its messages, as a data server does. Opening the wire checks core's
// arguments.
package transporttest

import (
	"fmt"
	"slices"

	"libarmci/internal/transport"
)

// wireProvider is the provider of the wire at a rank. Open checks the hints of all nodes.
func (c *Cluster) wireProvider(rank int) transport.Provider {
	hint := func(rank int) []byte { return fmt.Appendf(nil, "hint %d", rank) }
	return transport.Provider{Name: "fakewire",
		Probe: func() error { return c.injectedFault("probe", rank) },
		Hint:  func() []byte { return hint(rank) },
		Open: func(w transport.OpenInfo) (transport.Transport, error) {
			if err := c.injectedFault("open", rank); err != nil {
				return nil, err
			}
			for i, h := range w.Hints {
				if first := int(w.Nodes[i][0]); string(h) != string(hint(first)) {
					return nil, fmt.Errorf(
						"rank %d was told that rank %d says %q", rank,
						first, h)
				}
			}
			return c.openWire(rank, w)
		}}
}

// openWire checks the other arguments of core, and opens the end of a rank.
func (c *Cluster) openWire(rank int, w transport.OpenInfo) (transport.Transport, error) {
	mine := w.Nodes[w.MyNode]
	switch {
	case int(w.Me) != rank || !slices.Contains(mine, transport.Rank(rank)) ||
		len(w.Hosts) != len(w.Nodes) || len(w.Hints) != len(w.Nodes):
		return nil, fmt.Errorf("rank %d opens a wire as rank %d of %v, node %d", rank, w.Me,
			w.Nodes, w.MyNode)
	case w.Memory == nil || w.Handle == nil || w.OnLoss == nil || len(w.Secret) == 0:
		return nil, fmt.Errorf("rank %d opens a wire with less than it needs", rank)
	}
	var t transport.Transport = c.wireNet(rank, w).Open(rank, w.Handle)
	if c.Wrap != nil {
		t = c.Wrap(rank, t)
	}
	return t, nil
}

// wireNet is the net that all nodes share. The first call makes it.
func (c *Cluster) wireNet(rank int, w transport.OpenInfo) *Net {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opened[rank] = w
	if c.Between == nil {
		o := *c.Wire
		o.Owns = func(p transport.Peer, addr uintptr, n int64) bool {
			node := c.nodes[p]
			return node.InRegionOf(node.Self(), addr, n)
		}
		o.Server = func(end int) int {
			for _, ranks := range w.Nodes {
				if slices.Contains(ranks, transport.Rank(end)) {
					return int(ranks[0])
				}
			}
			return end
		}
		c.Between = NewNet(c.N, o)
	}
	return c.Between
}
