// SPDX-License-Identifier: BSD-3-Clause

// The life of the library in one process: Start exchanges what ranks must know of each other, and
// opens the node and the transport between nodes; Finalize ends it. capi counts nested
// initialisations.
package core

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
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
	Topo *Topology
	Me   transport.Rank
	N    int

	localRank int // my number on my node

	// The parts of my node (transport.Node), nil until this rank has joined it.
	Memory        transport.NodeMemory
	Teams         transport.Teams
	Locks         transport.Mutexes
	Liveness      transport.Liveness
	allocator     transport.Allocator
	mailbox       transport.Mailbox
	notifications transport.Notifications
	rwlocks       transport.RWLocks
	wordLocks     transport.WordLocks // nil: the node's locks have no words
	events        transport.Events
	updater       transport.Updater // nil: the node's transport has no updates

	intranode, internode iface // to ranks of my node, and of others
	// 0, 1, 2, ...: a part of it is a list of one peer that needs no allocation
	peers      []transport.Peer
	transports []transport.Transport
	// does RMWs in declared memory (Allocator.Declare); nil: there are no device atomics
	deviceAtomics transport.Transport
	groups        groups
	regions       regionTable
	handles       handleTable
	aggregates    aggregates
	coalesced     coalescing
	mutexes       mutexes
	lockserver    lockServer
	lockWords     lockWords
	notified      []Notified
	notifying     sync.Mutex // one notification of another node after the other
	gpc           procedures
	private       privateMemory
	twoSided      twoSided
	expected      expectedTable
	// it is in the final barrier: nodes that are connected to now may have left
	leaving      atomic.Bool
	exitThread   atomic.Int64  // number of the thread that is in Leave or has been, 0 if none
	remote       remoteRegions // of collective allocations
	confirmed    remoteRegions // of others, which their owners have been asked for
	traffic      traffic
	world        *Group
	started      chan struct{} // closed when it is known whether all ranks take part
	inquiryAddrs [][]byte      // by node: where to ask whether it knows the cause of the end
	endOnce      sync.Once
	jobEnding    chan struct{} // closed when the job begins to end because of a failure
	jobEnded     chan struct{} // closed when this process has ended, in tests
}

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
	r := &Runtime{Cfg: cfg, Job: job, Me: transport.Rank(job.Rank()), N: job.Size(),
		started:   make(chan struct{}),
		jobEnding: make(chan struct{}), jobEnded: make(chan struct{})}
	defer close(r.started)
	listener, problem := p.Listen()
	f, err := r.exchangeAddresses(listener, p.Memory(), problem)
	if err != nil {
		p.Abandon()
		return nil, startErrorOf(err)
	}
	r.initParts()
	if err := r.openTransports(p, f); err != nil {
		// the reason has been printed: a rank that leaves now is not lost
		r.endOnce.Do(func() {})
		r.closeTransports()
		if r.Liveness != nil {
			r.Liveness.Leave(true)
		}
		return nil, err
	}
	r.Job.EndExchange()
	r.makeWorld()
	if w, ok := job.(bootstrap.LossWatcher); ok {
		w.OnLoss(func(rank int, reason string) { r.onRankLost(transport.Rank(rank), reason) })
	}
	return r, nil
}

// initParts prepares what handlers of messages need, which may arrive before the start has ended.
func (r *Runtime) initParts() {
	r.regions.initTable()
	r.handles.initTable()
	r.notified = make([]Notified, r.N)
	r.remote.initRanks(r.N)
	r.confirmed.initRanks(r.N)
	r.twoSided.initQueues(r.N, len(r.Topo.Mine()))
	r.traffic = make(traffic, r.N+1)
	r.peers = make([]transport.Peer, r.N)
	for i := range r.peers {
		r.peers[i] = transport.Peer(i)
	}
	if len(r.Topo.Nodes) > 1 {
		r.aggregates.batches = make([]Batch, numBatches)
	}
}

// Refuse is called instead of Start by a rank with a problem; Start of all others fails with it.
func Refuse(cfg *config.Set, job bootstrap.Job, problem error) error {
	r := &Runtime{Cfg: cfg, Job: job, Me: transport.Rank(job.Rank()), N: job.Size()}
	_, err := r.exchangeAddresses("", 0, problem)
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
func (r *Runtime) openTransports(p transport.Platform, f *startInfo) error {
	c, err := r.chooseProvider(p)
	if err != nil {
		p.Abandon()
		return r.consensus(err)
	}
	err = r.joinNode(p, f)
	if c == nil {
		return r.consensus(err)
	}
	var tr transport.Transport
	var mine addresses
	if err == nil {
		mine.inquiries = r.Liveness.InquiriesAt()
		if tr, err = r.openProvider(c, f.secret); err == nil {
			mine.server = tr.Info().Addr
		}
	}
	servers, inquiries, err := r.consensusWithAddresses(mine, err)
	if err != nil {
		return err
	}
	r.inquiryAddrs = inquiries
	return r.consensus(r.connectProvider(tr, servers))
}

// joinNode joins the node, whose parts it sets, and connects to the ranks there.
func (r *Runtime) joinNode(p transport.Platform, f *startInfo) error {
	mine := r.Topo.Mine()
	node, tr, err := p.Join(transport.JoinInfo{Node: r.Topo.MyNode(), Nodes: len(r.Topo.Nodes),
		Need:  f.need,
		Ranks: mine, Listeners: f.listeners, Self: r.Topo.Local(r.Me), World: r.N,
		MachineRanks: r.Topo.MachineRanks,
		NetnsRanks:   r.Topo.NetnsRanks, NetnsNode: r.Topo.NetnsNode, Secret: f.secret,
		Lost: r.onRankLost, Handle: r.handleMessage})
	if err != nil {
		return err
	}
	r.Memory, r.Teams, r.Locks, r.Liveness = node, node, node, node
	r.allocator, r.mailbox, r.notifications = node, node, node
	r.rwlocks, r.events = node, node
	r.wordLocks, _ = node.(transport.WordLocks)
	r.updater, _ = tr.(transport.Updater)
	r.transports = []transport.Transport{tr}
	peers := make([]transport.PeerAddr, len(mine))
	for i, rank := range mine {
		peers[i] = transport.PeerAddr{Rank: rank}
	}
	r.intranode = newIface(tr)
	return tr.Connect(peers)
}

// Finalize is collective: all operations complete, then this rank releases everything.
func (r *Runtime) Finalize() error {
	r.FlushAggregates()
	r.WaitAll()
	r.AllFence()
	r.Liveness.Ending(true)
	r.leaving.Store(true)
	r.Barrier()
	r.endOnce.Do(func() {}) // from here on the end of other ranks is ignored
	r.twoSided.close()
	r.releaseGroups()
	r.closeTransports()
	log.Flush()
	r.twoSided.tasks.Wait()
	r.Liveness.Leave(true)
	return r.Job.Close()
}

func (r *Runtime) closeTransports() {
	for _, tr := range slices.Backward(r.transports) {
		// the node's last: transports between nodes use it
		tr.Close()
	}
}

// leaveTime bounds the goodbyes of a process that exits.
const leaveTime = 2 * time.Second

// Leave is called when the process exits with status 0 without finalising: it says goodbye to all
// nodes, so that they do not regard this rank as dead. It runs on the thread that has called exit;
// others may be in calls.
func (r *Runtime) Leave() {
	r.exitThread.Store(int64(syscall.Gettid()))
	log.Flush()
	parted := make(chan struct{})
	go func() {
		defer log.Guard()
		defer close(parted)
		r.postCoalesced(everyRank)
		for _, tr := range r.transports[1:] { // those between nodes
			tr.Close()
		}
	}()
	select {
	case <-parted:
	case <-time.After(leaveTime):
	}
	r.Liveness.Leave(false)
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
	return fmt.Sprintf("%d ranks on %d node(s) (%s), started by %s, transport %s", r.N,
		len(r.Topo.Nodes), r.Topo,
		r.Job.Kind(), strings.Join(names, " and "))
}

// Transports lists the names of transports in use.
func (r *Runtime) Transports() []transport.Info {
	infos := make([]transport.Info, len(r.transports))
	for i, t := range r.transports {
		infos[i] = t.Info()
	}
	return infos
}

// Counts is what the transports of this rank have counted, the same names at all ranks.
func (r *Runtime) Counts() (all []transport.Count) {
	for _, t := range r.transports {
		if c, ok := t.(transport.Counter); ok {
			all = append(all, c.Counts()...)
		}
	}
	return all
}
