// SPDX-License-Identifier: BSD-3-Clause

// Life: what a rank knows after Start, every way in which Start fails, what Finalize completes; and
// topology.
package core

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"libarmci/internal/testutil/leaktest"
	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// A started rank knows its number, its node, its transport and the launcher.
func TestStart(t *testing.T) {
	world(t, 3, func(r *tr) {
		if r.N != 3 || int(r.Me) != r.Job.Rank() || len(r.Topo.Nodes) != 1 ||
			!slices.Equal(r.Topo.Nodes[0], []transport.Rank{0, 1, 2}) {
			r.wrong("rank %d of %d, %s", r.Me, r.N, r.Topo)
		}
		if s := r.Summary(); !strings.HasPrefix(s, "3 ranks on 1 node(s)") ||
			!strings.HasSuffix(s, "started by test, transport fake") {
			r.wrong("%q", s)
		}
		if infos := r.Transports(); len(infos) != 1 || infos[0].Name != "fake" {
			r.wrong("%+v", infos)
		}
		for _, proc := range []int{-1, 3, 1 << 30} {
			wantArg(r, "checkRank", r.checkRank("proc", proc), "proc", CodeProc,
				"is outside 0..2")
		}
	})
}

// Start of two ranks, of which one fails in one step: both get the error, the one that has failed
// is to print it.
func TestStartFails(t *testing.T) {
	for _, step := range []string{"listen", "join", "connect"} {
		for rank := range 2 {
			t.Run(fmt.Sprintf("%s at %d", step, rank),
				func(t *testing.T) { startFails(t, step, rank) })
		}
	}
}

// startFails fails one step on one rank and checks the errors of both.
func startFails(t *testing.T, step string, rank int) {
	leaktest.Check(t)
	broken := errors.New("broken " + step)
	c := transporttest.NewCluster(2)
	defer c.Close()
	c.Fail = func(s string, r int) error {
		if s == step && r == rank {
			return broken
		}
		return nil
	}
	c.Wrap = func(r int, t transport.Transport) transport.Transport {
		return &transporttest.Flaky{Transport: t,
			Fail: func(what string, _ transport.Peer) error { return c.Fail(what, r) }}
	}
	errs := startAll(c, nil)
	for r, err := range errs {
		var s *StartError
		if !errors.As(err, &s) || s.Text != broken.Error() || s.Print != (r == rank) {
			t.Errorf("rank %d: %v (%+v)", r, err, s)
		}
		var want []bool // a rank that had joined leaves its node
		if step == "connect" || step == "join" && r != rank {
			want = []bool{true}
		}
		if left := c.Node(r).Left(); !slices.Equal(left, want) {
			t.Errorf("rank %d has left %v", r, left)
		}
	}
}

// startAll starts every rank of a cluster and returns their errors.
func startAll(c *transporttest.Cluster, environ []string) []error {
	errs := make([]error, c.N)
	var running sync.WaitGroup
	for i := range errs {
		running.Go(func() {
			cfg := settings()
			if environ != nil {
				cfg = settings(environ[i])
			}
			_, errs[i] = Start(cfg, c.Job(i), c.Platform(i))
		})
	}
	running.Wait()
	return errs
}

// An error of the launcher's exchange is the error of Start.
func TestExchangeFails(t *testing.T) {
	leaktest.Check(t)
	c := transporttest.NewCluster(1)
	defer c.Close()
	broken := errors.New("broken")
	c.Fail = func(step string, _ int) error {
		if step == "exchange" {
			return broken
		}
		return nil
	}
	if _, err := Start(settings(), c.Job(0), c.Platform(0)); !errors.Is(err, broken) ||
		!strings.HasPrefix(err.Error(), "exchange of addresses") {
		t.Errorf("%v", err)
	}
}

// A rank that refuses to start ends the start of the others.
func TestRefuse(t *testing.T) {
	leaktest.Check(t)
	c := transporttest.NewCluster(2)
	defer c.Close()
	refused := make(chan error, 1)
	go func() { refused <- Refuse(settings(), c.Job(1), errors.New("ARMCI_SPIN is wrong")) }()
	_, err := Start(settings(), c.Job(0), c.Platform(0))
	for tell, err := range map[bool]error{false: err, true: <-refused} {
		var s *StartError
		if !errors.As(err, &s) || s.Print != tell || s.Text != "ARMCI_SPIN is wrong" {
			t.Errorf("%v (%+v)", err, s)
		}
	}
}

// oddJob alters what the first exchange of leaders brings.
type oddJob struct {
	*transporttest.Job
	alter func(nodes [][]byte)
}

func (j oddJob) ExchangeLeaders(mine []byte) ([][]byte, error) {
	nodes, err := j.Job.ExchangeLeaders(mine)
	j.alter(nodes)
	return nodes, err
}

// A record that no rank of this version can have made ends the start.
func TestOddRecords(t *testing.T) {
	leaktest.Check(t)
	good := nodeRecord{ranks: []transport.Rank{0}, host: "h", secret: make([]byte, secretBytes)}
	short, twice := good, good
	short.secret, twice.ranks = good.secret[1:], []transport.Rank{0, 0}
	newer := append(recordWriter(recordMagic), recordVersion+1, 0, 0xff)
	for text, odd := range map[string]recordWriter{
		"malformed record": recordWriter("no record at all"), "a malformed": nil,
		"exchange of addresses: a malformed": short.encodeNode(),
		"node of rank 0: a malformed":        twice.encodeNode(),
		"of rank 0":                          good.encodeNode()[:12],
		"of version 4 at the start":          newer,
	} {
		c := transporttest.NewCluster(1)
		j := oddJob{c.Job(0), func(nodes [][]byte) { nodes[0] = odd }}
		_, err := Start(settings(), j, c.Platform(0))
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", odd, err)
		}
		c.Close()
	}
}

// Ranks with different versions of the library are not regarded as one node, and all of them fail;
// the first one prints why.
func TestVersions(t *testing.T) {
	leaktest.Check(t)
	c := transporttest.NewCluster(3)
	defer c.Close()
	errs := make([]error, 3)
	var running sync.WaitGroup
	for i := range errs {
		running.Go(func() {
			if i < 2 {
				_, errs[i] = Start(settings(), c.Job(i), c.Platform(i))
				return
			}
			newer := append(recordWriter(recordMagic), recordVersion+1, 2, 1, 2, 3)
			c.Job(i).Split("another version")
			c.Job(i).GatherNode([]byte("a card"))
			c.Job(i).ExchangeLeaders(newer)
		})
	}
	running.Wait()
	for i, err := range errs[:2] {
		var s *StartError
		if !errors.As(err, &s) || s.Print != (i == 0) ||
			!strings.Contains(s.Text, "rank 2 exchanges records of version 4") {
			t.Errorf("rank %d: %v", i, err)
		}
	}
}

// Ranks on several nodes need a transport between nodes; the error says which were looked at and
// why they are of no use.
func TestNoWire(t *testing.T) {
	leaktest.Check(t)
	c := transporttest.NewCluster(2)
	defer c.Close()
	c.ProviderList = []transport.Provider{
		{Name: "rdma", Probe: func() error { return errors.New("no device") }},
		{Name: "tcp", Probe: func() error { return errors.New("no network") }},
	}
	for _, err := range startAll(c, []string{"ARMCI_NODE=east", "ARMCI_NODE=west"}) {
		if err == nil || !strings.Contains(err.Error(),
			"2 nodes (east: ranks [0], west: ranks [1])") ||
			!strings.Contains(err.Error(),
				"rdma: no device (rank 0, east); tcp: no network (rank 0, east)") {
			t.Errorf("%v", err)
		}
	}
}

// Finalize completes what is open, says goodbye and closes the job.
func TestFinalize(t *testing.T) {
	var nodes [2]*transporttest.Node
	var jobs [2]*transporttest.Job
	worldOf(t, 2, func(c *transporttest.Cluster) {
		for i := range nodes {
			nodes[i], jobs[i] = c.Node(i), c.Job(i)
		}
	}, func(r *tr) {
		mem, src := r.alloc(8), r.local(8)
		*long(src) = 5
		if r.Me == 0 {
			_, err := r.Start(op(Put, 1, src, mem[1], 8), true)
			r.must(err)
			r.SetAggregate(77)
			if taken, err := r.Collect(77, op(Put, 0, src, mem[0], 8)); !taken ||
				err != nil {
				r.wrong("collect: %v %v", taken, err)
			}
		}
		r.must(r.Finalize())
		if got := *long(mem[r.Me]); got != 5 {
			r.wrong("after Finalize the word is %d", got)
		}
	})
	for i := range nodes { // worldOf finalizes once more
		if left := nodes[i].Left(); !slices.Equal(left, []bool{true, true}) {
			t.Errorf("rank %d left %v", i, left)
		}
		if ends := jobs[i].Ends(); !slices.Equal(ends, []string{"close", "close"}) {
			t.Errorf("rank %d: %v", i, ends)
		}
	}
}

func TestLeave(t *testing.T) {
	world(t, 1, func(r *tr) {
		r.Leave()
		if left := r.c.Node(0).Left(); !slices.Equal(left, []bool{false}) {
			r.wrong("%v", left)
		}
	})
}

// parting counts calls of Close and carries the last one out.
type parting struct {
	transport.Transport
	calls *atomic.Int32
}

func (p parting) Close() error {
	if p.calls.Add(1) == 1 {
		return nil
	}
	return p.Transport.Close()
}

// A rank that leaves disconnects from other nodes, too.
func TestLeaveWires(t *testing.T) {
	apart.run(t, nil, func(r *tr) {
		var calls atomic.Int32
		r.barrier()
		r.transports[1] = parting{r.transports[1], &calls}
		r.Leave()
		if left := r.c.Node(int(r.Me)).Left(); calls.Load() != 1 ||
			!slices.Equal(left, []bool{false}) {
			r.wrong("the wire was closed %d times, the node left %v", calls.Load(),
				left)
		}
	})
}

// Nodes are numbered by their lowest rank, and pretended nodes share their machine.
func TestTopology(t *testing.T) {
	topo := topologyOf(t, 4, "babcab")
	if got := topo.String(); got != "b: ranks [0 2 5], a: ranks [1 4], c: ranks [3]" {
		t.Error(got)
	}
	if topo.MyNode() != 1 || topo.Node(3) != 2 || topo.Local(5) != 2 || topo.Local(4) != 1 {
		t.Errorf("%+v", topo)
	}
	if topo.MachineRanks != 2 {
		t.Errorf("%d ranks share my machine", topo.MachineRanks)
	}
	if two := topologyOf(t, 0, "baB"); two.MachineRanks != 2 || len(two.Nodes) != 3 ||
		!two.SameMachine(2) || two.SameMachine(1) {
		t.Errorf("two nodes on one machine: %+v", two)
	}
	for r, same := range []bool{false, true, false, false, true, false} {
		if topo.SameNode(transport.Rank(r)) != same {
			t.Errorf("rank %d shares my node: %v", r, !same)
		}
	}
}

func TestNodeID(t *testing.T) {
	id, host := NodeID("")
	again, _ := NodeID("")
	pretend, name := NodeID("n1")
	if id != again || id == pretend || host == "" || name != "n1" ||
		strings.Count(id, "|") != 3 {
		t.Errorf("%q %q, %q %q", id, host, pretend, name)
	}
}
