// SPDX-License-Identifier: BSD-3-Clause

// Cluster stands in for one machine or several: its ranks are goroutines of this process, the
// arenas are memory outside the Go heap. The ranks of a node are those of Platform.Join; between
// nodes there is a Fake (provider.go). It follows the contracts of transport.Node, Team and
// Platform literally and is slow on purpose: one lock for all.
package transporttest

import (
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
	"libarmci/internal/transport"
)

const (
	sliceBytes   = 32 << 20 // of the arena, per rank
	privateBytes = 4 << 20  // outside the arena, per rank
	firstByte    = 64 << 10 // a slice begins with what a rank always has, such as its mutex
	pageBytes    = 4096
	maxTeams     = 64
)

// Cluster is n ranks on as many nodes as they make of it. The exported fields up to ProviderList
// are set before the first rank joins.
type Cluster struct {
	N    int
	Opts Options // of the transport
	// Fail, if set, is called before a step that can fail: "exchange", "listen", "join",
	// "room", "grow", "publish", "expose", "team", "comm", "probe", "open". Its error is that
	// of the step at that rank.
	Fail func(step string, rank int) error
	// Wrap, if set, returns the transport that core gets in place of t.
	Wrap func(rank int, t transport.Transport) transport.Transport
	// Known, if set, tells other nodes whether the cause of the job's end is known at a node,
	// which is named by its leader.
	Known func(leader transport.Rank) bool
	// Wire are the options of the wire between nodes; without it there is none, and
	// ProviderList is used.
	Wire         *Options
	ProviderList []transport.Provider

	Net     *Net // of the nodes, made when the first rank joins
	Between *Net // between nodes, made when the first rank opens it

	arena arenaMemory
	nodes []*Node // by rank
	jobs  []*Job  // by rank

	mu      sync.Mutex
	changed *sync.Cond // broadcast when state, or a part of a Node or Job, has changed
	clusterState
}

// arenaMemory is the memory of a Cluster: the slices of all ranks, and behind them their private
// memory.
type arenaMemory struct {
	mapped []byte
	base   uintptr
}

// clusterState is the state that all ranks share. Cluster.mu guards it.
type clusterState struct {
	joins            []transport.JoinInfo // by rank
	opened           []transport.OpenInfo // by rank
	privateBytesUsed []int                // by rank: bytes of private memory handed out
	declared         []declaredRange
	notifyCounts     map[[2]int]uint32 // by target and source
	// eventMarks are the counts that waiters wait for, by the address of the event's record.
	eventMarks map[uintptr]uint32
	lockState
	teamTable
}

// lockState is the state of all mutexes and reader/writer locks, by address.
type lockState struct {
	mutexes map[uintptr]transport.Rank // owners; of a reader/writer lock the writer
	readers map[uintptr]int            // number of readers
	passOns int                        // calls of PassOn
}

// teamTable is the state of all teams.
type teamTable struct {
	teams       map[int64]*teamState // by context; nil until the first member attaches
	lastContext int64
	jobWorld    *teamState            // of the job's exchanges
	splitTeams  map[[2]int]*teamState // by number of the Job.Split and leader of the node
}

// NewCluster makes n ranks. Close frees the memory.
func NewCluster(n int) *Cluster {
	memory, err := unix.Mmap(-1, 0, n*(sliceBytes+privateBytes), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		panic(fmt.Sprintf("map the arena of a test: %v", err))
	}
	c := &Cluster{N: n, arena: arenaMemory{memory, uintptr(unsafe.Pointer(&memory[0]))},
		clusterState: newClusterState(n)}
	c.changed = sync.NewCond(&c.mu)
	all := make([]transport.Rank, n)
	for i := range n {
		all[i] = transport.Rank(i)
		c.nodes = append(c.nodes, newNode(c, i, all))
		c.jobs = append(c.jobs, &Job{c: c, rank: i})
	}
	return c
}

func newClusterState(n int) clusterState {
	return clusterState{joins: make([]transport.JoinInfo, n),
		opened: make([]transport.OpenInfo, n), privateBytesUsed: make([]int, n),
		notifyCounts: map[[2]int]uint32{}, eventMarks: map[uintptr]uint32{},
		lockState: lockState{mutexes: map[uintptr]transport.Rank{},
			readers: map[uintptr]int{}},
		teamTable: teamTable{teams: map[int64]*teamState{}, jobWorld: newTeamState(n),
			splitTeams: map[[2]int]*teamState{}}}
}

// Close ends the cluster; no rank may be running.
func (c *Cluster) Close() {
	c.mu.Lock()
	nets := []*Net{c.Net, c.Between}
	c.mu.Unlock()
	for _, net := range nets {
		if net != nil {
			net.Close()
		}
	}
	unix.Munmap(c.arena.mapped)
}

// sliceBase is the first address of a rank's slice of the arena.
func (c *Cluster) sliceBase(rank int) uintptr { return c.arena.base + uintptr(rank)*sliceBytes }

// Node is the share of a rank, as Platform.Join returns it.
func (c *Cluster) Node(rank int) *Node { return c.nodes[rank] }

// Job is the job as a rank sees it.
func (c *Cluster) Job(rank int) *Job { return c.jobs[rank] }

// Platform is the argument of core.Start for a rank.
func (c *Cluster) Platform(rank int) transport.Platform { return platform{c, rank} }

// Private allocates memory of a rank outside the arena and outside the Go heap.
func (c *Cluster) Private(rank, nbytes int) uintptr {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.privateBytesUsed[rank]
	c.privateBytesUsed[rank] += (nbytes + 63) &^ 63
	if c.privateBytesUsed[rank] > privateBytes {
		panic("a test wants more private memory than there is")
	}
	return c.arena.base + uintptr(c.N*sliceBytes+rank*privateBytes+at)
}

// Lose reports the loss of a rank to all others, first to those of its node.
func (c *Cluster) Lose(rank int, reason string) {
	for i, j := range c.joins {
		if i != rank && j.OnLoss != nil && slices.Contains(j.Ranks, transport.Rank(rank)) {
			j.OnLoss(transport.Rank(rank), reason)
		}
	}
	for i, w := range c.opened {
		if i != rank && w.OnLoss != nil && !slices.Contains(w.Nodes[w.MyNode],
			transport.Rank(rank)) {
			w.OnLoss(transport.Rank(rank), reason)
		}
	}
}

// injectedFault is the error that the test wants for a step, nil if none.
func (c *Cluster) injectedFault(step string, rank int) error {
	if c.Fail == nil {
		return nil
	}
	return c.Fail(step, rank)
}

// waitUntil blocks until done is true. It calls done with the lock held.
func (c *Cluster) waitUntil(done func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !done() {
		c.changed.Wait()
	}
}

// changeState calls do with the lock held, and wakes the waiters.
func (c *Cluster) changeState(do func()) {
	c.mu.Lock()
	do()
	c.mu.Unlock()
	c.changed.Broadcast()
}

// platform implements transport.Platform for one rank.
type platform struct {
	c    *Cluster
	rank int
}

func (p platform) Memory() int64 { return 1 << 30 }

func (p platform) Listen() (string, error) {
	return fmt.Sprintf("listener %d", p.rank), p.c.injectedFault("listen", p.rank)
}

// Join checks what core has been told by Listen of the other ranks, and opens the rank's Fake.
func (p platform) Join(j transport.JoinInfo) (transport.Node, transport.Transport, error) {
	if err := p.c.injectedFault("join", p.rank); err != nil {
		return nil, nil, err
	}
	for i, d := range j.Listeners {
		if want := fmt.Sprintf("listener %d", j.Ranks[i]); d != want {
			return nil, nil,
				fmt.Errorf("rank %d was told %q is the listener of rank %d", p.rank,
					d, j.Ranks[i])
		}
	}
	p.c.mu.Lock()
	p.c.joins[p.rank] = j
	p.c.nodes[p.rank].nodeRanks = j.Ranks
	if lead := p.c.nodes[j.Ranks[0]]; lead.world == nil || lead.world.members != len(j.Ranks) {
		lead.world = newTeamState(len(j.Ranks))
	}
	if p.c.Net == nil {
		p.c.Net = NewNet(p.c.N, p.c.Opts)
	}
	net := p.c.Net
	p.c.mu.Unlock()
	var t transport.Transport = net.Open(p.rank, j.Handle)
	if p.c.Wrap != nil {
		t = p.c.Wrap(p.rank, t)
	}
	return p.c.nodes[p.rank], t, nil
}

func (p platform) Providers() []transport.Provider {
	if p.c.Wire == nil {
		return p.c.ProviderList
	}
	return []transport.Provider{p.c.wireProvider(p.rank)}
}

func (p platform) Abandon() {}
