// SPDX-License-Identifier: BSD-3-Clause

// The life of the library in one process: Start makes every rank known to every other and opens the node and the
// wires; Finalize ends it. Counting nested initialisations is the front door's business.
package core

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

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
	declarer   transport.Transport // does RMWs in declared memory (Node.Declare), nil if none can
	groups     groups
	regions    regions
	handles    handles
	aggregates aggregates
	mutexes    mutexes
	lockserver lockserver
	notified   notified
	gpc        gpc
	mail       mail
	known      known
	traffic    traffic
	everyone   []int // all ranks
	world      *Group
	started    chan struct{} // closed when it is known whether all ranks take part
	ending     sync.Once
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
		r.Barrier()
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
	r.init()
	if err := r.reach(p, cards); err != nil {
		r.ending.Do(func() {}) // the reason has been told: who leaves now is not lost
		r.closeTransports()
		if r.Node != nil {
			r.Node.Leave(true)
		}
		return nil, err
	}
	r.makeWorld()
	return r, nil
}

// init makes what messages may find before the start has ended.
func (r *Runtime) init() {
	r.regions.init()
	r.handles.init()
	r.notified.init(r.N)
	r.known.init(r.N)
	r.mail.init(r.N, len(r.Topo.Nodes[r.Topo.MyNode()]))
	r.traffic = make(traffic, r.N+1)
	if len(r.Topo.Nodes) > 1 {
		r.aggregates.batches = make([]Batch, numBatches)
	}
	r.routes, r.everyone = make([]route, r.N), make([]int, r.N)
	for i := range r.everyone {
		r.everyone[i] = i
	}
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
	cards, err := swapJSON(r, mine)
	if err != nil {
		return nil, fmt.Errorf("exchange of addresses: %w", err)
	}
	ids, hosts, problems := make([]string, len(cards)), make([]string, len(cards)), make([]string, len(cards))
	for i, c := range cards {
		ids[i], hosts[i], problems[i] = c.Node, c.Host, c.Problem
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

// reach opens the node and, if there are several, the wire between them: every rank then has a route. Collective, and
// so is its success.
func (r *Runtime) reach(p transport.Platform, cards []card) error {
	c, err := r.chooseWire(p)
	if err != nil {
		p.Abandon()
		return r.agree(err)
	}
	err = r.joinNode(p, cards)
	if c == nil {
		return r.agree(err)
	}
	var tr transport.Transport
	var addr []byte
	if err == nil {
		if tr, err = r.openWire(c, cards[0].Secret); err == nil {
			addr = tr.Info().Addr
		}
	}
	addrs, err := r.agreeOn(addr, err)
	if err != nil {
		return err
	}
	return r.agree(r.connectWire(tr, addrs))
}

func (r *Runtime) joinNode(p transport.Platform, cards []card) error {
	mine := r.Topo.Nodes[r.Topo.MyNode()]
	doors := make([]string, len(mine))
	for i, rank := range mine {
		doors[i] = cards[rank].Door
	}
	node, tr, err := p.Join(transport.JoinInfo{Ranks: mine, Doors: doors, Self: r.Topo.Local(r.Me),
		World: r.N, Shared: r.Topo.Shared, Secret: cards[0].Secret, Lost: r.lost, Handle: r.handleMessage})
	if err != nil {
		return err
	}
	r.Node, r.transports = node, []transport.Transport{tr}
	peers := make([]transport.PeerAddr, len(mine))
	for i, rank := range mine {
		peers[i] = transport.PeerAddr{Rank: rank}
		r.routes[rank] = newRoute(tr, transport.Peer(i), tr.Info())
	}
	return tr.Connect(peers)
}

// Finalize is collective: everything outstanding completes, then this rank lets go of all it holds.
func (r *Runtime) Finalize() error {
	r.FlushAggregates()
	r.WaitAll()
	r.AllFence()
	r.Node.Ending(true)
	r.Barrier()
	r.ending.Do(func() {}) // nobody's end concerns us any more
	r.mail.close()
	r.closeTransports()
	r.mail.running.Wait()
	r.Node.Leave(true)
	return r.Job.Close()
}

func (r *Runtime) closeTransports() {
	for _, tr := range slices.Backward(r.transports) { // the node's last: a wire acts on it
		tr.Close()
	}
}

// leaveTime bounds what a process that exits does to part well.
const leaveTime = 2 * time.Second

// Leave is called when the process exits with status 0 and never finalised: the others, of all nodes, are not to take it
// for dead.
func (r *Runtime) Leave() {
	parted := make(chan struct{})
	go func() {
		defer log.Guard()
		defer close(parted)
		for _, tr := range r.transports[1:] { // the wires
			tr.Close()
		}
	}()
	select {
	case <-parted:
	case <-time.After(leaveTime):
	}
	r.Node.Leave(false)
}

// checkRank returns an error unless proc is a rank of the job.
func (r *Runtime) checkRank(arg string, proc int) error {
	if proc < 0 || proc >= r.N {
		return argErr(CodeProc, arg, "rank %d is outside 0..%d", proc, r.N-1)
	}
	return nil
}

// Summary is one line for ARMCI_VERBOSE and armci_info.
func (r *Runtime) Summary() string {
	names := make([]string, len(r.transports))
	for i, info := range r.Transports() {
		names[i] = info.Name
	}
	return fmt.Sprintf("%d ranks on %d node(s) (%s), started by %s, transport %s", r.N, len(r.Topo.Nodes), r.Topo,
		r.Job.Kind(), strings.Join(names, " and "))
}

// Transports lists the names of those in use.
func (r *Runtime) Transports() []transport.Info {
	infos := make([]transport.Info, len(r.transports))
	for i, t := range r.transports {
		infos[i] = t.Info()
	}
	return infos
}
