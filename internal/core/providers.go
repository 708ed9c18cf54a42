// SPDX-License-Identifier: BSD-3-Clause

// The start of a job on several nodes: all ranks choose the same transport between nodes, open it
// and exchange addresses. All take part, or all fail. The platform lists the transports.
package core

import (
	"fmt"
	"slices"

	"libarmci/internal/transport"
)

// offer is what a rank, or a node, can do with one of the providers.
type offer struct {
	name string
	// Of a rank: why it cannot use it. Of a node: why the lowest of its ranks that cannot use
	// it cannot.
	problem string
	rank    int    // of a node: which one that is
	hint    []byte // of the node's leader
}

// notListed is the problem of a rank that does not have the provider, unlike its node's leader.
const notListed = "?"

// chosen is the provider that all ranks use; nil if there is one node only.
type chosenProvider struct {
	provider transport.Provider
	hints    [][]byte // by node
}

// chooseProvider is collective: the first provider that every rank can use. Its error is the same
// on all ranks.
func (s *startup) chooseProvider(p transport.Platform) (*chosenProvider, error) {
	if len(s.rt.Topo.Nodes) == 1 {
		return nil, nil
	}
	providers, err := s.candidateProviders(p)
	mine := make([]offer, len(providers))
	for i, w := range providers {
		mine[i] = offer{name: w.Name, problem: textOf(w.Probe())}
		if mine[i].problem == "" && s.rt.localRank == 0 {
			mine[i].hint = w.Hint()
		}
	}
	nodes, lost := s.exchangeOffers(mine)
	switch {
	case lost != nil:
		return nil, fmt.Errorf("exchange of transports: %w", lost)
	case err != nil:
		return nil, err
	}
	reasons := ""
	for i, w := range providers {
		reason := s.whyUnusable(w.Name, nodes, i)
		if reason != "" {
			reasons += fmt.Sprintf("; %s: %s", w.Name, reason)
			continue
		}
		c := &chosenProvider{provider: w, hints: make([][]byte, len(nodes))}
		for n, offers := range nodes {
			c.hints[n] = offers[i].hint
		}
		return c, nil
	}
	return nil, fmt.Errorf("the job spans %d nodes (%s) and has no usable transport between "+
		"nodes%s", len(s.rt.Topo.Nodes),
		s.rt.Topo, reasons)
}

// appendOffers writes the offers of a rank or node.
func (b *recordWriter) appendOffers(all []offer) {
	b.appendNumber(uint64(len(all)))
	for _, o := range all {
		b.appendText(o.name)
		if b.appendText(o.problem); o.problem != "" {
			b.appendNumber(uint64(o.rank))
		}
		b.appendBytes(o.hint)
	}
}

// readOffers reads the offers of a rank or node, as record.offers has written them.
func (d *recordReader) readOffers(ranks int) (all []offer) {
	for range d.readCount() {
		o := offer{name: d.readText(), problem: d.readText()}
		if o.problem != "" {
			o.rank = d.readRank(ranks)
		}
		o.hint = d.readBytes()
		all = append(all, o)
	}
	return all
}

// exchangeOffers returns the offers of all nodes, given those of this rank, in which it sets the
// rank and cuts long problems. It is collective over the job.
func (s *startup) exchangeOffers(mine []offer) (nodes [][]offer, err error) {
	for i := range mine {
		mine[i].problem = mine[i].problem[:min(len(mine[i].problem), maxReportBytes)]
		mine[i].rank = int(s.rt.Me)
	}
	var own recordWriter
	own.appendOffers(mine)
	all, err := s.exchangeRecords(own, s.mergeOffers)
	if err != nil {
		return nil, err
	}
	nodes = make([][]offer, len(all))
	for n, b := range all {
		d := recordReader{rest: b}
		nodes[n] = d.readOffers(s.rt.N)
		if err := d.checkEnd(); err != nil {
			return nil, fmt.Errorf("node of rank %d: %w", s.rt.Topo.Nodes[n][0], err)
		}
	}
	return nodes, nil
}

// mergeOffers makes the record of a node from those of its ranks; nil if one is malformed.
func (s *startup) mergeOffers(records [][]byte) (node recordWriter) {
	var all []offer
	for i, b := range records {
		d := recordReader{rest: b}
		theirs := d.readOffers(s.rt.N)
		if d.checkEnd() != nil {
			return nil
		}
		if i == 0 {
			all = theirs
		}
		for k := range all {
			switch o := &all[k]; {
			case o.problem != "": // of a lower rank
			case k >= len(theirs) || theirs[k].name != o.name:
				o.problem, o.rank = notListed, int(s.rt.Topo.Mine()[i])
			default:
				o.problem, o.rank = theirs[k].problem, theirs[k].rank
			}
		}
	}
	node.appendOffers(all)
	return node
}

// candidateProviders are all providers of the platform, or the one that ARMCI_TRANSPORT names.
func (s *startup) candidateProviders(p transport.Platform) ([]transport.Provider, error) {
	name, providers := s.rt.Cfg.String("ARMCI_TRANSPORT"), p.Providers()
	if name == "auto" {
		return providers, nil
	}
	if i := slices.IndexFunc(providers,
		func(p transport.Provider) bool { return p.Name == name }); i >= 0 {
		return providers[i : i+1], nil
	}
	names := ""
	for _, w := range providers {
		names += " " + w.Name
	}
	return nil, fmt.Errorf("ARMCI_TRANSPORT: there is no transport %q between nodes; known "+
		"are: auto%s", name, names)
}

// whyUnusable says why a rank cannot use the i-th provider, "" if all can. One reason is enough:
// that of the lowest rank.
func (s *startup) whyUnusable(name string, nodes [][]offer, i int) string {
	first := offer{rank: s.rt.N}
	for n, offers := range nodes {
		o := offer{problem: notListed, rank: int(s.rt.Topo.Nodes[n][0])}
		if i < len(offers) && offers[i].name == name {
			o = offers[i]
		}
		if o.problem != "" && o.rank < first.rank {
			first = o
		}
	}
	where := fmt.Sprintf("rank %d", first.rank)
	switch {
	case first.problem == "":
		return ""
	case first.problem == notListed:
		return fmt.Sprintf("%s (%s) does not have it", where,
			s.rt.Topo.hostOf(transport.Rank(first.rank)))
	}
	return fmt.Sprintf("%s (%s, %s)", first.problem, where,
		s.rt.Topo.hostOf(transport.Rank(first.rank)))
}

// hostOf is the host name of a rank's node.
func (t *Topology) hostOf(rank transport.Rank) string { return t.Hosts[t.Node(rank)] }

// openProvider opens the transport, so that other ranks can connect.
func (s *startup) openProvider(c *chosenProvider, secret []byte) (transport.Transport, error) {
	tr, err := c.provider.Open(transport.OpenInfo{Me: s.rt.Me, Nodes: s.rt.Topo.Nodes,
		MyNode: s.rt.Topo.MyNode(), NodeBy: s.rt.Topo.nodeOf, Hosts: s.rt.Topo.Hosts,
		Hints: c.hints, Secret: secret, Node: s.rt.Memory, Memory: s.rt.transports[0],
		Handle: s.rt.handleMessage, PlaceBody: s.rt.twoSided.placeMessage,
		Backlogged: s.rt.twoSided.hasBacklog, OnLoss: s.rt.jobEnd.onRankLostAsync})
	if err != nil {
		return nil, fmt.Errorf("transport %s: %w", c.provider.Name, err)
	}
	s.rt.transports = append(s.rt.transports, tr)
	return tr, nil
}

// connectProvider gives the transport the addresses of ranks that others connect to, and routes
// operations to other nodes through it.
func (s *startup) connectProvider(tr transport.Transport, addrs []transport.PeerAddr) error {
	s.rt.internode = newIface(tr)
	if err := tr.Connect(addrs); err != nil {
		return fmt.Errorf("transport %s: %w", tr.Info().Name, err)
	}
	if in, ok := tr.(transport.Incoming); ok && in.Shares() {
		s.rt.notifications.ReceiveBy(in)
	}
	if d, ok := tr.(transport.DeviceAtomics); ok && d.DeviceAtomics() {
		s.rt.deviceAtomics = tr
	}
	return nil
}
