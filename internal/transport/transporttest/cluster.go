// SPDX-License-Identifier: BSD-3-Clause

// Cluster stands in for one machine or several: its ranks are goroutines of this process, the
// arenas are memory outside the Go heap. Who shares a machine is what they say when they join;
// between machines there is a Fake (provider.go). It follows the contracts of transport.Node, Team
// and Platform literally and is slow on purpose: one lock for all.
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
	mutexBytes   = 64
	maxTeams     = 64
)

// Cluster is n ranks on as many nodes as they make of it. The exported fields are set before the
// first rank joins.
type Cluster struct {
	N    int
	Opts Options // of the transport
	// Fail, if set, is asked before a step that can fail: "exchange", "listen", "join", "room",
	// "grow", "publish", "expose", "team", "comm", "probe", "open". An error makes the step
	// fail at that rank.
	Fail func(step string, rank int) error
	// Wrap, if set, may put something between core and the transport of a rank.
	Wrap func(rank int, t transport.Transport) transport.Transport
	// Known, if set, is the answer to other nodes that ask one, by its leader, whether the
	// cause of the job's end is known there.
	Known func(leader transport.Rank) bool
	// Wire says what the wire between nodes is like; without it there is none. ProviderList
	// stands in its place.
	Wire         *Options
	ProviderList []transport.Provider

	Net     *Net // of the nodes, made when the first rank joins
	Between *Net // between nodes, made when the first rank opens it

	declared []declared

	mu               sync.Mutex
	changed          *sync.Cond // something below has changed
	memory           []byte
	base             uintptr
	privateBytesUsed []int // bytes of private memory handed out, by rank
	nodes            []*Node
	joins            []transport.JoinInfo
	opened           []transport.OpenInfo
	teams            map[int64]*teamState
	lastContext      int64 // last slot number given
	mutexes          map[uintptr]transport.Rank
	passOns          int               // calls of PassOn
	readers          map[uintptr]int   // of reader/writer locks; their writers are in mutexes
	notifyCounts     map[[2]int]uint32 // notify counters: target, source
	// of records of events: the count that a waiter wants to be told of
	eventMarks map[uintptr]uint32
	jobs       []*Job
	world      *teamState // of the job's exchanges
	// of exchanges within the nodes of a job: number of the split, leader
	splitTeams map[[2]int]*teamState
}

// NewCluster makes n ranks. Close gives its memory back.
func NewCluster(n int) *Cluster {
	memory, err := unix.Mmap(-1, 0, n*(sliceBytes+privateBytes), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		panic(fmt.Sprintf("map the arena of a test: %v", err))
	}
	c := &Cluster{N: n, memory: memory, base: uintptr(unsafe.Pointer(&memory[0])),
		privateBytesUsed: make([]int, n),
		teams:            map[int64]*teamState{}, mutexes: map[uintptr]transport.Rank{},
		readers:      map[uintptr]int{},
		notifyCounts: map[[2]int]uint32{}, eventMarks: map[uintptr]uint32{},
		splitTeams: map[[2]int]*teamState{},
		joins:      make([]transport.JoinInfo, n), opened: make([]transport.OpenInfo, n),
		world: newTeamState(n)}
	c.changed = sync.NewCond(&c.mu)
	all := make([]transport.Rank, n)
	for i := range n {
		all[i] = transport.Rank(i)
		c.nodes = append(c.nodes, &Node{c: c, rank: i, nodeRanks: all,
			nextFree: c.sliceBase(i) + firstByte, allocated: map[uintptr]int64{},
			published: map[uintptr]int64{}})
		c.jobs = append(c.jobs, &Job{c: c, rank: i})
	}
	return c
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
	unix.Munmap(c.memory)
}

func (c *Cluster) sliceBase(rank int) uintptr { return c.base + uintptr(rank)*sliceBytes }

// Node is the share of a rank.
func (c *Cluster) Node(rank int) *Node { return c.nodes[rank] }

// Job is the job as a rank sees it.
func (c *Cluster) Job(rank int) *Job { return c.jobs[rank] }

// Platform is what core.Start wants for a rank.
func (c *Cluster) Platform(rank int) transport.Platform { return platform{c, rank} }

// Private is memory of a rank that lies outside the arena and outside the Go heap.
func (c *Cluster) Private(rank, nbytes int) uintptr {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.privateBytesUsed[rank]
	c.privateBytesUsed[rank] += (nbytes + 63) &^ 63
	if c.privateBytesUsed[rank] > privateBytes {
		panic("a test wants more private memory than there is")
	}
	return c.base + uintptr(c.N*sliceBytes+rank*privateBytes+at)
}

// Lose tells all ranks but one that it is lost, those of its node first.
func (c *Cluster) Lose(rank int, reason string) {
	for i, j := range c.joins {
		if i != rank && j.Lost != nil && slices.Contains(j.Ranks, transport.Rank(rank)) {
			j.Lost(transport.Rank(rank), reason)
		}
	}
	for i, w := range c.opened {
		if i != rank && w.Lost != nil && !slices.Contains(w.Nodes[w.MyNode],
			transport.Rank(rank)) {
			w.Lost(transport.Rank(rank), reason)
		}
	}
}

func (c *Cluster) injectedFault(step string, rank int) error {
	if c.Fail == nil {
		return nil
	}
	return c.Fail(step, rank)
}

// waitUntil waits until something the lock guards is so.
func (c *Cluster) waitUntil(done func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !done() {
		c.changed.Wait()
	}
}

// changeState changes something the lock guards.
func (c *Cluster) changeState(do func()) {
	c.mu.Lock()
	do()
	c.mu.Unlock()
	c.changed.Broadcast()
}

type platform struct {
	c    *Cluster
	rank int
}

func (p platform) Memory() int64 { return 1 << 30 }

func (p platform) Listen() (string, error) {
	return fmt.Sprintf("listener %d", p.rank), p.c.injectedFault("listen", p.rank)
}

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
