// SPDX-License-Identifier: BSD-3-Clause

// The start of a job: all ranks exchange what they must know of each other, join their nodes and
// open the transport between nodes. All take part, or all fail.
package core

import (
	"errors"
	"fmt"

	"libarmci/internal/bootstrap"
	"libarmci/internal/config"
	"libarmci/internal/transport"
)

// startup is the start of a runtime: its methods are collective over the job unless they say
// otherwise.
type startup struct{ rt *Runtime }

// Start is collective over the job. If one rank cannot take part, all get an error (see
// StartError).
func Start(cfg *config.Set, job bootstrap.Job, p transport.Platform) (*Runtime, error) {
	r, err := openRuntime(cfg, job, p)
	if err == nil {
		r.Barrier()
	}
	return r, err
}

// openRuntime is the part of Start until all ranks know that all take part.
func openRuntime(cfg *config.Set, job bootstrap.Job, p transport.Platform) (*Runtime, error) {
	r := newRuntime(cfg, job)
	s := startup{r}
	defer close(r.jobEnd.started)
	listener, problem := p.Listen()
	f, err := s.exchangeAddresses(listener, p.Memory(), problem)
	if err != nil {
		p.Abandon()
		return nil, startErrorOf(err)
	}
	s.initParts()
	if err := s.openTransports(p, f); err != nil {
		// the reason has been printed: a rank that leaves now is not lost
		r.jobEnd.endOnce.Do(func() {})
		r.closeTransports()
		if r.Liveness != nil {
			r.Liveness.Leave(true)
		}
		return nil, err
	}
	r.Job.EndExchange()
	r.groups.makeWorld()
	if w, ok := job.(bootstrap.LossWatcher); ok {
		w.OnLoss(func(rank int, reason string) {
			r.jobEnd.onRankLost(transport.Rank(rank),
				reason)
		})
	}
	return r, nil
}

// initParts prepares what handlers of messages need, which may arrive before the start has ended.
func (s *startup) initParts() {
	s.rt.regionManager.regions.initTable()
	s.rt.handleTable.initTable()
	s.rt.notifier.notified = make([]Notified, s.rt.N)
	s.rt.regionManager.remote.initRanks(s.rt.N)
	s.rt.regionManager.confirmed.initRanks(s.rt.N)
	s.rt.twoSided.initQueues(s.rt.N, len(s.rt.Topo.Mine()))
	s.rt.traffic = make(traffic, s.rt.N+1)
	s.rt.peers = make([]transport.Peer, s.rt.N)
	for i := range s.rt.peers {
		s.rt.peers[i] = transport.Peer(i)
	}
	if len(s.rt.Topo.Nodes) > 1 {
		s.rt.aggregates.batches = make([]Batch, numBatches)
	}
}

// Refuse is called instead of Start by a rank with a problem; Start of all others fails with it.
func Refuse(cfg *config.Set, job bootstrap.Job, problem error) error {
	s := startup{newRuntime(cfg, job)}
	_, err := s.exchangeAddresses("", 0, problem)
	return startErrorOf(err)
}

// startErrorOf is the error of the first exchange.
func startErrorOf(err error) error {
	var s *StartError
	if err == nil || errors.As(err, &s) {
		return err
	}
	return fmt.Errorf("exchange of addresses: %w", err)
}

// openTransports opens the node and, if there are several, the transport between them; afterwards
// every rank has a route. It is collective, and succeeds on all ranks or on none.
func (s *startup) openTransports(p transport.Platform, f *startInfo) error {
	c, err := s.chooseProvider(p)
	if err != nil {
		p.Abandon()
		return s.consensus(err)
	}
	err = s.joinNode(p, f)
	if c == nil {
		return s.consensus(err)
	}
	var tr transport.Transport
	var mine addresses
	if err == nil {
		mine.inquiries = s.rt.Liveness.InquiriesAt()
		if tr, err = s.openProvider(c, f.secret); err == nil {
			mine.server = tr.Info().Addr
		}
	}
	servers, inquiries, err := s.consensusWithAddresses(mine, err)
	if err != nil {
		return err
	}
	s.rt.jobEnd.inquiryAddrs = inquiries
	return s.consensus(s.connectProvider(tr, servers))
}

// joinNode joins the node, whose parts it sets, and connects to the ranks there.
func (s *startup) joinNode(p transport.Platform, f *startInfo) error {
	mine := s.rt.Topo.Mine()
	node, tr, err := p.Join(transport.JoinInfo{Node: s.rt.Topo.MyNode(),
		Nodes: len(s.rt.Topo.Nodes),
		Need:  f.arenaBytes,
		Ranks: mine, Listeners: f.listeners, Self: s.rt.Topo.Local(s.rt.Me), World: s.rt.N,
		MachineRanks: s.rt.Topo.MachineRanks,
		NetnsRanks:   s.rt.Topo.NetnsRanks, NetnsNode: s.rt.Topo.NetnsNode,
		Secret: f.secret,
		OnLoss: s.rt.jobEnd.onRankLost, Handle: s.rt.handleMessage})
	if err != nil {
		return err
	}
	s.rt.Memory, s.rt.Teams, s.rt.Locks, s.rt.Liveness = node, node, node, node
	s.rt.allocator, s.rt.mailbox, s.rt.notifications = node, node, node
	s.rt.rwlocks, s.rt.events = node, node
	s.rt.wordLocks, _ = node.(transport.WordLocks)
	s.rt.transports = []transport.Transport{tr}
	peers := make([]transport.PeerAddr, len(mine))
	for i, rank := range mine {
		peers[i] = transport.PeerAddr{Rank: rank}
	}
	s.rt.intranode = newIface(tr)
	return tr.Connect(peers)
}
