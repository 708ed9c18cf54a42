// SPDX-License-Identifier: BSD-3-Clause

// The common part of tests of transports between nodes: ranks of this process on pretended nodes,
// each with a transport of its own, which the test opens. Memory and control messages of the nodes
// are this package's stand-ins.
package transporttest

import (
	"fmt"
	"sync"
	"testing"

	"libarmci/internal/transport"
)

// Ends are the ranks of a test.
type Ends struct {
	*Cluster
	Open  []transport.Transport // by rank
	Inbox []*Inbox              // by rank
	Nodes []*Memory             // by node

	nodeOf []int // by rank

	mu sync.Mutex
	// BeforeClose is called once, before the first transport is closed; may be nil.
	BeforeClose func()
	losses      []string // one text for each call of OpenInfo.OnLoss
}

// NewEnds opens a transport for each rank. ranks are the numbers of ranks of the nodes.
func NewEnds(t testing.TB, ranks []int, open func(transport.OpenInfo) (transport.Transport,
	error)) *Ends {
	t.Helper()
	var nodes [][]transport.Rank
	e := &Ends{}
	for _, k := range ranks {
		var node []transport.Rank
		for range k {
			node = append(node, transport.Rank(len(e.Inbox)))
			e.nodeOf = append(e.nodeOf, len(nodes))
			e.Inbox = append(e.Inbox, &Inbox{})
		}
		nodes = append(nodes, node)
	}
	e.Cluster = NewCluster(len(e.Inbox))
	t.Cleanup(e.Cluster.Close)
	t.Cleanup(e.CloseAll)
	hosts := make([]string, len(nodes))
	for i := range hosts {
		hosts[i] = fmt.Sprintf("host%d", i)
	}
	for n, members := range nodes {
		memory := &Memory{}
		e.Nodes = append(e.Nodes, memory)
		for _, r := range members {
			tr, err := open(transport.OpenInfo{Me: r, Nodes: nodes, MyNode: n,
				Hosts: hosts, Memory: memory,
				Secret: []byte("the secret of a test's job"),
				Node: View{Node: e.Node(int(r)), First: int(members[0]),
					Memory: memory},
				Handle: e.handleMessage, OnLoss: func(who transport.Rank,
					reason string) {
					e.recordLoss(r, who, reason)
				}})
			if err != nil {
				t.Fatal(err)
			}
			e.Open = append(e.Open, tr)
		}
	}
	return e
}

// handleMessage records a message in the inbox of its receiver, whichever server has received it.
func (e *Ends) handleMessage(from, to transport.Rank, m transport.Msg, reply func([]byte)) {
	e.Inbox[to].Handle(from, to, m, reply)
}

// recordLoss records that rank me was told of the loss of another rank.
func (e *Ends) recordLoss(me, lost transport.Rank, reason string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.losses = append(e.losses, fmt.Sprintf("rank %d was told about rank %d: %s", me, lost,
		reason))
}

// Losses lists the losses that have been reported so far.
func (e *Ends) Losses() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.losses...)
}

// Sampled reports whether the i-th of a test's many settings is tried: each of them, but with
// -short, as under the race detector, every third.
func Sampled(i int) bool { return !testing.Short() || i%3 == 0 }

// CloseAll closes all transports at the same time, as the ranks of a job do.
func (e *Ends) CloseAll() {
	e.closing()
	var all sync.WaitGroup
	for _, tr := range e.Open {
		all.Go(func() { tr.Close() })
	}
	all.Wait()
}

// closing calls BeforeClose, the first time.
func (e *Ends) closing() {
	if first := e.BeforeClose; first != nil {
		e.BeforeClose = nil
		first()
	}
}

// Peers is the argument of Connect.
func (e *Ends) Peers() []transport.PeerAddr {
	all := make([]transport.PeerAddr, len(e.Open))
	for i, tr := range e.Open {
		all[i] = transport.PeerAddr{Rank: transport.Rank(i), Addr: tr.Info().Addr}
	}
	return all
}

// ConnectAll connects all transports.
func (e *Ends) ConnectAll(t testing.TB) {
	t.Helper()
	for _, tr := range e.Open {
		if err := tr.Connect(e.Peers()); err != nil {
			t.Fatal(err)
		}
	}
}

// Alloc allocates arena memory of a rank that others may reach.
func (e *Ends) Alloc(t testing.TB, rank int, nbytes int64) uintptr {
	t.Helper()
	addr, err := e.Node(rank).AllocatePopulated(nbytes)
	if err == nil {
		err = e.Node(rank).Publish(addr, nbytes)
	}
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

// Expose allocates private memory of a rank that others may reach.
func (e *Ends) Expose(t testing.TB, rank int, nbytes int64) uintptr {
	t.Helper()
	addr := e.Private(rank, int(nbytes))
	if err := e.Node(rank).Expose(addr, nbytes); err != nil {
		t.Fatal(err)
	}
	return addr
}

// Conform runs the conformance suite on all ends, closes them, and checks that no loss was
// reported.
func (e *Ends) Conform(t *testing.T) {
	t.Helper()
	e.runSuite(t, e.Alloc, false)
}

// ConformPrivate is Conform with private memory. words says that rank 1 is its node's server, so
// that read-modify-writes of its private memory are possible.
func (e *Ends) ConformPrivate(t *testing.T, words bool) {
	t.Helper()
	e.runSuite(t, e.Expose, !words)
}

// runSuite runs the conformance suite in memory of the given kind.
func (e *Ends) runSuite(t *testing.T, memory func(testing.TB, int, int64) uintptr, private bool) {
	t.Helper()
	addrs := [][]byte{}
	for _, p := range e.Peers() {
		addrs = append(addrs, p.Addr)
	}
	places := make([]*End, len(e.Open))
	served := make(chan error, len(places))
	for i, tr := range e.Open {
		places[i] = &End{Transport: tr, Control: e.Node(i), Ranks: e.Node(i).Ranks(),
			Self: i, Mem: memory(t, i, MemBytes),
			Inbox: e.Inbox[i], Addrs: addrs, Guarded: true, Private: private}
	}
	places[0].BeforeClose = e.closing
	for _, p := range places[1:] {
		go func() { served <- Serve(p) }()
	}
	Run(t, places[0])
	for range places[1:] {
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
	e.CloseAll()
	for _, l := range e.Losses() {
		t.Errorf("nobody was lost, but %s", l)
	}
}
