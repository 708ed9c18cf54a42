// SPDX-License-Identifier: BSD-3-Clause

// Jobs of tests: ranks of this process on pretended nodes, each with its own transport over one device. Memory, control
// messages and results of the nodes are transporttest's stand-ins. Without a device such a test is skipped.
package rdma

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"libarmci/internal/bootstrap/leaktest"
	"libarmci/internal/transport"
	"libarmci/internal/transport/transporttest"
)

// job is the ranks of a test.
type job struct {
	*transporttest.Cluster
	nodes [][]transport.Rank
	tr    []*Transport           // by rank
	inbox []*transporttest.Inbox // by rank

	mu   sync.Mutex
	lost []string // "rank R told rank L: reason"
}

// someDevice is what this host has; without one the test is skipped.
func someDevice(t testing.TB) *device {
	t.Helper()
	d, err := probe(&Options{})
	if err != nil {
		t.Skipf("no RDMA here: %v", err)
	}
	return d
}

// newJob opens nodes of so many ranks each; change, if not nil, may change a rank's options.
func newJob(t testing.TB, change func(*Options), ranks ...int) *job {
	d := someDevice(t)
	leaktest.Check(t)
	n := 0
	j := &job{}
	for _, k := range ranks {
		node := []transport.Rank{}
		for range k {
			node = append(node, transport.Rank(n))
			n++
		}
		j.nodes = append(j.nodes, node)
	}
	j.Cluster = transporttest.NewCluster(n)
	t.Cleanup(j.Cluster.Close)
	for range n {
		j.inbox = append(j.inbox, &transporttest.Inbox{})
	}
	t.Cleanup(j.close)
	for node, ranks := range j.nodes {
		memory := &transporttest.Memory{}
		for _, r := range ranks {
			j.open(t, d, r, node, memory, change)
		}
	}
	return j
}

func (j *job) open(t testing.TB, d *device, r transport.Rank, node int, memory transport.Transport, change func(*Options)) {
	t.Helper()
	o := Options{Timeout: 10 * time.Second, Poll: 20 * time.Microsecond, Eager: 8 << 10, Buffer: 4 << 20, Gather: 512,
		Spin: func() int { return 100 }}
	o.WireInfo = transport.WireInfo{Me: r, Nodes: j.nodes, MyNode: node, Hosts: make([]string, len(j.nodes)),
		Secret: []byte("the secret of a test's job"), Memory: memory,
		Node: transporttest.View{Node: j.Node(int(r)), First: int(j.nodes[node][0])}, Handle: j.handle,
		Lost: func(who transport.Rank, reason string) { j.note(r, who, reason) }}
	for i := range o.Hosts {
		o.Hosts[i] = fmt.Sprintf("host%d", i)
	}
	if change != nil {
		change(&o)
	}
	tr, err := Open(o, &d.ways[0])
	if err != nil {
		t.Fatal(err)
	}
	j.tr = append(j.tr, tr)
}

// handle gives a message to the rank it is for, whichever server it came by.
func (j *job) handle(from, to transport.Rank, m transport.Msg, reply func([]byte)) {
	j.inbox[to].Handle(from, to, m, reply)
}

func (j *job) note(me, who transport.Rank, reason string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lost = append(j.lost, fmt.Sprintf("rank %d was told about rank %d: %s", me, who, reason))
}

// losses is what Lost has told so far.
func (j *job) losses() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]string(nil), j.lost...)
}

// close closes all transports: at once, as the ranks of a job do.
func (j *job) close() {
	var all sync.WaitGroup
	for _, tr := range j.tr {
		all.Go(func() { tr.Close() })
	}
	all.Wait()
}

// peers is what Connect wants.
func (j *job) peers() []transport.PeerAddr {
	all := make([]transport.PeerAddr, len(j.tr))
	for i, tr := range j.tr {
		all[i] = transport.PeerAddr{Rank: transport.Rank(i), Addr: tr.Info().Addr}
	}
	return all
}

// alloc is memory of a rank that others may reach.
func (j *job) alloc(t testing.TB, rank int, nbytes int64) uintptr {
	t.Helper()
	addr, err := j.Node(rank).Grow(nbytes)
	if err == nil {
		err = j.Node(rank).Publish(addr, nbytes)
	}
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

// ends are the places of the conformance suite.
func (j *job) ends(t testing.TB) []*transporttest.End {
	t.Helper()
	all := make([]*transporttest.End, len(j.tr))
	addrs := [][]byte{}
	for _, p := range j.peers() {
		addrs = append(addrs, p.Addr)
	}
	for i, tr := range j.tr {
		mem := j.alloc(t, i, transporttest.MemBytes)
		all[i] = &transporttest.End{Transport: tr, Control: j.Node(i), Ranks: j.Node(i).Ranks(), Self: i, Mem: mem,
			Inbox: j.inbox[i], Addrs: addrs, Guarded: true}
	}
	return all
}
