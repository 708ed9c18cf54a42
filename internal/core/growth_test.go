// SPDX-License-Identifier: BSD-3-Clause

// The start of one process of a job of 100,000 ranks, whose other ranks exist as records only, made
// by the same code. docs/growth.md has the figures.
package core

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"libarmci/internal/bootstrap"
	"libarmci/internal/bootstrap/jobwire"
	"libarmci/internal/internode"
	"libarmci/internal/testutil/leaktest"
	"libarmci/internal/testutil/pipe"
	"libarmci/internal/transport"
)

// spread is how ranks are dealt out to nodes.
type spread struct {
	name        string
	ranks, each int
	node        func(s spread, rank int) int
}

func inBlocks(s spread, rank int) int { return rank / s.each }
func inTurn(s spread, rank int) int   { return rank % s.count() }

func (s spread) count() int { return (s.ranks + s.each - 1) / s.each }

func (s spread) nodes() [][]transport.Rank {
	nodes := make([][]transport.Rank, s.count())
	for r := range s.ranks {
		n := s.node(s, r)
		nodes[n] = append(nodes[n], transport.Rank(r))
	}
	return nodes
}

// A simNode is what a process has of its node, as far as its start goes.
type simNode struct {
	transport.Node
	team transport.Team
}

func (n simNode) World() transport.Team                { return n.team }
func (n simNode) ArenaRange() (lo uintptr, size int64) { return 0, 0 }
func (n simNode) Leave(bool)                           {}
func (n simNode) ReceiveBy(transport.Incoming)         {}
func (n simNode) InquiriesAt() []byte                  { return make([]byte, simInquiries) }

// simTransport is that within the node.
type simTransport struct{ transport.Transport }

func (simTransport) Info() transport.Info {
	return transport.Info{Name: "sim", Immediate: true}
}
func (simTransport) Connect([]transport.PeerAddr) error { return nil }
func (simTransport) Close() error                       { return nil }

// simPlatform offers what a machine with a network card does.
type simPlatform struct {
	fast    transport.Provider
	problem error
	joined  transport.JoinInfo
}

func (p *simPlatform) Memory() int64           { return 256 << 30 }
func (p *simPlatform) Listen() (string, error) { return strings.Repeat("l", 30), p.problem }
func (p *simPlatform) Abandon()                {}

func (p *simPlatform) Join(j transport.JoinInfo) (transport.Node, transport.Transport, error) {
	p.joined = j
	return simNode{}, simTransport{}, nil
}

func (p *simPlatform) Providers() []transport.Provider {
	sockets := transport.Provider{Name: "tcp", Probe: func() error { return nil },
		Hint: func() []byte { return make([]byte, 8+3*6) }}
	return []transport.Provider{p.fast, sockets}
}

const (
	simHint = 16 // bytes, as of RDMA
	simAddr = 32

	simInquiries = 12 // two addresses
)

// simJob is a job of which one process runs. It counts what that sends and receives, as under
// armcirun: a leader sends everything to the ranks below it.
type simJob struct {
	bootstrap.Job
	rank, local int
	nodes       [][]transport.Rank
	node        int
	step        int
	cards       [][][]byte // of its node, by step
	records     [][][]byte // of all nodes, by step
	in, out     int
}

func (j *simJob) Rank() int          { return j.rank }
func (j *simJob) Size() int          { return len(j.nodes) * len(j.nodes[0]) }
func (j *simJob) WorldComm() uintptr { return 0 }
func (j *simJob) EndExchange()       {}

func (j *simJob) Split(key string) (local, size int, err error) {
	j.out += len(key)
	return j.local, len(j.nodes[j.node]), nil
}

// prepare makes what others send in all steps of the start.
func (j *simJob) prepare() {
	mine := j.nodes[j.node]
	j.cards, j.records = make([][][]byte, 4), make([][][]byte, 4)
	offered := func(leads bool) []offer {
		o := []offer{{name: "pipe"}, {name: "tcp"}}
		if leads {
			o[0].hint, o[1].hint = make([]byte, simHint), make([]byte, 8+3*6)
		}
		return o
	}
	for i, r := range mine {
		c := addressRecord{rank: int(r), listener: strings.Repeat("l", 30)}
		j.cards[0] = append(j.cards[0], c.encodeAddress())
		var o recordWriter
		o.appendOffers(offered(i == 0))
		j.cards[1] = append(j.cards[1], o)
		leads := max(1-i, 0)
		at := addresses{make([]byte, simAddr*leads), make([]byte, simInquiries*leads)}
		j.cards[2] = append(j.cards[2], consensusRecord(nil, at))
		j.cards[3] = append(j.cards[3], consensusRecord(nil, addresses{}))
	}
	for n, ranks := range j.nodes {
		rec := nodeRecord{ranks: ranks, host: fmt.Sprintf("nid%06d", n),
			machine: hashID(fmt.Sprint(n)), arenaBytes: 64 * 256 << 30}
		if n == 0 {
			rec.secret = make([]byte, secretBytes)
		}
		var o recordWriter
		o.appendOffers(offered(true))
		j.records[0] = append(j.records[0], rec.encodeNode())
		j.records[1] = append(j.records[1], o)
		j.records[2] = append(j.records[2], mergeReports(j.cards[2], ranks))
		j.records[3] = append(j.records[3], mergeReports(j.cards[3], ranks))
	}
}

// pass is one level of an exchange: the process gets all, and passes it on.
func (j *simJob) pass(all [][]byte, at int, mine []byte) ([][]byte, error) {
	all[at] = mine
	payload, err := jobwire.PackList(all)
	if err != nil {
		return nil, err
	}
	_, children := jobwire.Children(j.local, len(j.nodes[j.node]))
	j.in += len(payload)
	j.out += len(mine) + children*len(payload)
	return jobwire.UnpackList(payload)
}

func (j *simJob) GatherNode(mine []byte) ([][]byte, error) {
	return j.pass(j.cards[j.step], j.local, mine)
}

func (j *simJob) ExchangeLeaders(mine []byte) ([][]byte, error) {
	at := j.node
	if j.local > 0 {
		mine = j.records[j.step][at]
	}
	j.step++
	return j.pass(j.records[j.step-1], at, mine)
}

// One process of a job of 100,000 ranks, the leader of a node and another one, starts with less
// than 20 MB of memory, counting what is garbage again, and less than 1 MB of bytes received and
// sent. These are limits, not measures.
func TestGrowth(t *testing.T) {
	for _, s := range []spread{{"64 a node", 100_000, 64, inBlocks},
		{"64 a node, in turn", 99_968, 64, inTurn}} {
		for _, local := range []int{0, 20} {
			t.Run(fmt.Sprintf("%s, number %d", s.name, local), func(t *testing.T) {
				c := startOne(t, s, local)
				t.Logf("%s: received %d, sent %d bytes; %d bytes of memory, %d "+
					"allocated in all", s.name, c.in, c.out, c.live, c.all)
				if c.in+c.out > 1e6 || c.all > 20e6 {
					t.Error("a process needs more than it may")
				}
			})
		}
	}
}

// A job with as many nodes as it can have for 100,000 ranks and 4 ranks a node: it starts, whatever
// it needs.
func TestGrowthOfNodes(t *testing.T) {
	s := spread{"4 a node", 100_000, 4, inBlocks}
	c := startOne(t, s, 0)
	t.Logf("received %d, sent %d bytes; %d bytes of memory, %d allocated in all", c.in, c.out,
		c.live, c.all)
}

// costs are bytes.
type simCosts struct{ in, out, live, all int }

// startOne starts one real rank among simulated ones and returns what the start costs it.
func startOne(t *testing.T, s spread, local int) (c simCosts) {
	leaktest.Check(t)
	nodes := s.nodes()
	if s.ranks%s.each > 0 { // full nodes only
		nodes = nodes[:len(nodes)-1]
	}
	middle := len(nodes) / 2
	j := &simJob{rank: int(nodes[middle][local]), local: local, nodes: nodes, node: middle}
	j.prepare()
	driver := pipe.New(pipe.Options{}).Driver()
	driver.Probe, driver.Hint = func() error { return nil },
		func() []byte { return make([]byte, simHint) }
	p := &simPlatform{fast: internode.Provider(driver, internode.Options{Servers: 1})}
	before, live := memoryNow()
	r, err := openRuntime(settings(fmt.Sprintf("ARMCI_NODE=nid%06d", middle)), j, p)
	if err != nil {
		t.Fatal(err)
	}
	after, now := memoryNow()
	if len(r.Topo.Nodes) != len(nodes) || r.Topo.Local(r.Me) != local ||
		r.NodesOf(r.groups.world) != len(nodes) {
		t.Errorf("rank %d is number %d of %d nodes", r.Me, r.Topo.Local(r.Me),
			len(r.Topo.Nodes))
	}
	r.closeTransports()
	return simCosts{j.in, j.out, int(now - live), int(after - before)}
}

// memoryNow is what was allocated so far, and what is live.
func memoryNow() (all, live uint64) {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.TotalAlloc, m.HeapAlloc
}
