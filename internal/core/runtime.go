// SPDX-License-Identifier: BSD-3-Clause

// The life of the library in one process: Start makes every rank known to every other and opens the node and the
// wires; Finalize ends it. Counting nested initialisations is the front door's business.
package core

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"libarmci/internal/bootstrap"
	"libarmci/internal/config"
	"libarmci/internal/log"
	"libarmci/internal/transport"
)

// Runtime is ARMCI between initialisation and finalisation.
type Runtime struct {
	Cfg  *config.Set
	Job  bootstrap.Job
	Node transport.Node
	Topo *Topology
	Me   transport.Rank
	N    int

	routes     []route
	transports []transport.Transport
	groups     groups
	regions    regions
	handles    handles
	aggregates aggregates
	mutexes    mutexes
	notified   notified
	gpc        gpc
	started    chan struct{} // closed when it is known whether all ranks take part
	ending     sync.Once
}

// route is how one rank is reached: one transport for the whole run.
type route struct {
	tr        transport.Transport
	peer      transport.Peer
	immediate bool
}

// card is what ranks tell each other first.
type card struct {
	Node, Host, Door string
	Secret           []byte
	Problem          string // why this rank cannot take part
}

// secretBytes is the length of a job's secret.
const secretBytes = 16

// Start is collective over the job. One rank that cannot go on is enough for all to get an error (see StartError).
func Start(cfg *config.Set, job bootstrap.Job, p transport.Platform) (*Runtime, error) {
	r, err := start(cfg, job, p)
	if err == nil {
		r.Node.World().Barrier()
	}
	return r, err
}

// start is Start until all ranks know that they take part.
func start(cfg *config.Set, job bootstrap.Job, p transport.Platform) (*Runtime, error) {
	r := &Runtime{Cfg: cfg, Job: job, Me: transport.Rank(job.Rank()), N: job.Size(), started: make(chan struct{})}
	defer close(r.started)
	door, problem := p.Door()
	cards, err := r.exchange(door, problem)
	if err != nil {
		p.Abandon()
		return nil, err
	}
	if err := r.agree(r.reach(p, cards)); err != nil {
		r.ending.Do(func() {}) // the reason has been told: who leaves now is not lost
		return nil, err
	}
	r.regions.init()
	r.handles.init()
	r.notified.init(r.N)
	r.makeWorld()
	return r, nil
}

// Refuse is what a rank calls instead of Start if it has a problem; the others' Start fails with it.
func Refuse(cfg *config.Set, job bootstrap.Job, problem error) error {
	r := &Runtime{Cfg: cfg, Job: job, Me: transport.Rank(job.Rank()), N: job.Size()}
	_, err := r.exchange("", problem)
	return err
}

func (r *Runtime) exchange(door string, problem error) ([]card, error) {
	mine := card{Door: door, Secret: make([]byte, secretBytes), Problem: textOf(problem)}
	mine.Node, mine.Host = NodeID(r.Cfg.String("ARMCI_NODE"))
	log.SetIdentity(int(r.Me), mine.Host)
	rand.Read(mine.Secret)
	blob, err := json.Marshal(mine)
	if err != nil {
		return nil, err
	}
	all, err := r.Job.Exchange(blob)
	if err != nil {
		return nil, fmt.Errorf("exchange of addresses: %w", err)
	}
	cards := make([]card, len(all))
	ids, hosts := make([]string, len(all)), make([]string, len(all))
	for i, b := range all {
		if err := json.Unmarshal(b, &cards[i]); err != nil {
			return nil, fmt.Errorf("rank %d: %w", i, err)
		}
		ids[i], hosts[i] = cards[i].Node, cards[i].Host
	}
	problems := make([]string, len(cards))
	for i, c := range cards {
		problems[i] = c.Problem
	}
	if err := verdict(problems, int(r.Me)); err != nil {
		return nil, err
	}
	if len(cards[0].Secret) != secretBytes {
		return nil, errors.New("rank 0 runs another version of this library")
	}
	r.Topo = newTopology(r.Me, ids, hosts)
	return cards, nil
}

// reach opens the node and finds a transport for every rank.
func (r *Runtime) reach(p transport.Platform, cards []card) error {
	if len(r.Topo.Nodes) > 1 {
		p.Abandon()
		return r.noWire(p)
	}
	mine := r.Topo.Nodes[r.Topo.MyNode()]
	doors := make([]string, len(mine))
	for i, rank := range mine {
		doors[i] = cards[rank].Door
	}
	node, tr, err := p.Join(transport.JoinInfo{Ranks: mine, Doors: doors, Self: r.Topo.Local(r.Me),
		Secret: cards[0].Secret, Lost: r.lost, Handle: r.handleMessage})
	if err != nil {
		return err
	}
	r.Node, r.transports = node, []transport.Transport{tr}
	r.routes = make([]route, r.N)
	peers := make([]transport.PeerAddr, len(mine))
	for i, rank := range mine {
		peers[i] = transport.PeerAddr{Rank: rank}
		r.routes[rank] = route{tr, transport.Peer(i), tr.Info().Immediate}
	}
	return tr.Connect(peers)
}

// noWire says why the nodes of this job cannot reach each other.
func (r *Runtime) noWire(p transport.Platform) error {
	reasons := ""
	for _, w := range p.Wires() {
		if err := w.Probe(); err != nil {
			reasons += fmt.Sprintf("; %s: %v", w.Name, err)
		}
	}
	return fmt.Errorf("the job spans %d nodes (%s) and this build has no usable transport between nodes%s",
		len(r.Topo.Nodes), r.Topo, reasons)
}

// Finalize is collective: everything outstanding completes, then this rank lets go of all it holds.
func (r *Runtime) Finalize() error {
	r.FlushAggregates()
	r.WaitAll()
	r.AllFence()
	r.Node.Ending(true)
	r.Node.World().Barrier()
	for _, tr := range r.transports {
		tr.Close()
	}
	r.ending.Do(func() {}) // nobody's end concerns us any more
	r.Node.Leave(true)
	return r.Job.Close()
}

// Leave is called when the process exits with status 0 and never finalised: the others are not to take it for dead.
func (r *Runtime) Leave() { r.Node.Leave(false) }

// checkRank returns an error unless proc is a rank of the job.
func (r *Runtime) checkRank(arg string, proc int) error {
	if proc < 0 || proc >= r.N {
		return argErr(CodeProc, arg, "rank %d is outside 0..%d", proc, r.N-1)
	}
	return nil
}
