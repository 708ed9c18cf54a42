// SPDX-License-Identifier: BSD-3-Clause

// A thousand ranks that all start, by an exchange of two levels, and agree; or all fail, for the
// reason of one of them.
package core

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"libarmci/internal/bootstrap"
	"libarmci/internal/testutil/leaktest"
	"libarmci/internal/transport"
)

// meeting is where so many come together, again and again: each brings something and gets what all
// have brought.
type meeting struct {
	mu    sync.Mutex
	parts [][]byte
	left  int
	over  chan struct{}
	// what was brought to the meeting before; all have left that when the next one is over
	last [][]byte
}

func newMeeting(n int) *meeting {
	return &meeting{parts: make([][]byte, n), left: n, over: make(chan struct{})}
}

// join contributes a member's part and returns the parts of all when the last has come.
func (m *meeting) join(at int, mine []byte) [][]byte {
	m.mu.Lock()
	over := m.over
	m.parts[at] = mine
	if m.left--; m.left == 0 {
		m.last, m.parts, m.left, m.over = m.parts, make([][]byte, len(m.parts)),
			len(m.parts), make(chan struct{})
		close(over)
	}
	m.mu.Unlock()
	<-over
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last
}

// crowd is a job, crowdJob what a rank has of it.
type crowd struct {
	nodes   [][]transport.Rank
	all     *meeting   // of all ranks, by number of the node, which leaders bring something to
	node    []*meeting // of the ranks of each node
	leaders *meeting
}

// crowdJob is one rank's bootstrap job among the simulated ranks of a crowd.
type crowdJob struct {
	bootstrap.Job
	c                 *crowd
	rank, node, local int
}

func newCrowd(nodes [][]transport.Rank) *crowd {
	c := &crowd{nodes: nodes, leaders: newMeeting(len(nodes))}
	for _, ranks := range nodes {
		c.node = append(c.node, newMeeting(len(ranks)))
	}
	return c
}

func (j *crowdJob) Rank() int          { return j.rank }
func (j *crowdJob) Size() int          { return len(j.c.nodes) * len(j.c.nodes[0]) }
func (j *crowdJob) WorldComm() uintptr { return 0 }
func (j *crowdJob) EndExchange()       {}
func (j *crowdJob) Split(string) (local, size int, err error) {
	return j.local, len(j.c.nodes[j.node]), nil
}

func (j *crowdJob) GatherNode(mine []byte) ([][]byte, error) {
	return j.c.node[j.node].join(j.local, mine), nil
}

func (j *crowdJob) ExchangeLeaders(mine []byte) ([][]byte, error) {
	var got [][]byte
	if j.local == 0 {
		got = j.c.leaders.join(j.node, mine)
	}
	all := j.c.node[j.node].join(j.local, bytes.Join(got, []byte("between nodes")))
	return bytes.Split(all[0], []byte("between nodes")), nil
}

// crowdWire is the transport between nodes: it notes what it is told.
type crowdWire struct {
	simTransport
	addr    []byte
	servers []transport.PeerAddr
}

func (w *crowdWire) Info() transport.Info { return transport.Info{Name: "wire", Addr: w.addr} }

func (w *crowdWire) Connect(servers []transport.PeerAddr) error {
	w.servers = servers
	return nil
}

const crowdRanks = 1000

// Many ranks on many nodes learn the same topology, addresses and listeners.
func TestCrowd(t *testing.T) {
	for _, s := range []spread{{"in blocks", crowdRanks, 8, inBlocks},
		{"in turn", crowdRanks, 10, inTurn}} {
		t.Run(s.name, func(t *testing.T) {
			want := s.known()
			s.startAll(t, -1, func(r *Runtime, p *simPlatform, w *crowdWire,
				err error) {
				if err != nil {
					t.Errorf("rank %d: %v", r.Me, err)
					return
				}
				topo, j := r.Topo, &p.joined
				equal := slices.EqualFunc(topo.Nodes, want.Nodes,
					slices.Equal[[]transport.Rank]) &&
					slices.Equal(topo.Hosts, want.Hosts) &&
					slices.Equal(topo.nodeOf, want.nodeOf) &&
					slices.Equal(topo.local, want.local) &&
					fmt.Sprint(w.servers) == want.servers
				if !equal || j.Need != int64(s.each)*256<<30 ||
					j.Nodes != len(want.Nodes) {
					t.Errorf("rank %d knows %v, nodes %v, %v; of the others "+
						"%v; %d bytes are needed", r.Me, topo.Hosts,
						topo.nodeOf, topo.local,
						w.servers, j.Need)
				}
				if !slices.Equal(j.Ranks, topo.Mine()) || j.Ranks[j.Self] != r.Me ||
					len(j.Listeners) != len(j.Ranks) {
					t.Errorf("rank %d is number %d of %v", r.Me, j.Self,
						j.Ranks)
				}
			})
		})
	}
}

// crowdKnown is what all ranks know when they have started.
type crowdKnown struct {
	Topology
	servers string
}

// known returns what each rank of a spread must have learned after the start.
func (s spread) known() (k crowdKnown) {
	k.Nodes, k.nodeOf, k.local = s.nodes(), make([]int32, s.ranks), make([]int32, s.ranks)
	var servers []transport.PeerAddr
	for n, ranks := range k.Nodes {
		k.Hosts = append(k.Hosts, fmt.Sprint("n", n))
		for i, r := range ranks {
			k.nodeOf[r], k.local[r] = int32(n), int32(i)
			if i < 2 {
				servers = append(servers, transport.PeerAddr{Rank: r,
					Addr: fmt.Append(nil, "at ", r)})
			}
		}
	}
	slices.SortFunc(servers, func(a, b transport.PeerAddr) int { return int(a.Rank - b.Rank) })
	k.servers = fmt.Sprint(servers)
	return k
}

// One rank of a thousand, which is not its node's leader, has a problem.
func TestCrowdFails(t *testing.T) {
	const guilty = 567
	var mu sync.Mutex
	printed, failed := []int{}, 0
	s := spread{"in turn", crowdRanks, 10, inTurn}
	s.startAll(t, guilty, func(r *Runtime, _ *simPlatform, _ *crowdWire, err error) {
		mu.Lock()
		defer mu.Unlock()
		var e *StartError
		if errors.As(err, &e) && e.Text == "no listener" {
			failed++
			if e.Print {
				printed = append(printed, r.Job.Rank())
			}
		}
	})
	if failed != crowdRanks || !slices.Equal(printed, []int{guilty}) {
		t.Errorf("%d ranks fail, ranks %v print why", failed, printed)
	}
}

// startAll starts all ranks; each node has two data servers.
func (s spread) startAll(t *testing.T, guilty int, check func(r *Runtime, p *simPlatform,
	w *crowdWire, err error)) {
	leaktest.Check(t)
	c := newCrowd(s.nodes())
	var running sync.WaitGroup
	for n, ranks := range c.nodes {
		for local, rank := range ranks {
			running.Go(func() {
				w, p := &crowdWire{}, &simPlatform{}
				if local < 2 {
					w.addr = fmt.Append(nil, "at ", rank)
				}
				if int(rank) == guilty {
					p.problem = errors.New("no listener")
				}
				p.fast = transport.Provider{Name: "wire",
					Probe: func() error { return nil },
					Hint:  func() []byte { return nil },
					Open: func(transport.OpenInfo) (transport.Transport,
						error) {
						return w, nil
					}}
				j := &crowdJob{c: c, rank: int(rank), node: n, local: local}
				r, err := openRuntime(settings(fmt.Sprint("ARMCI_NODE=n", n)), j, p)
				if r == nil {
					r = &Runtime{identity: identity{Job: j, Me: rank}}
				}
				check(r, p, w, err)
			})
		}
	}
	running.Wait()
}
