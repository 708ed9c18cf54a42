// SPDX-License-Identifier: BSD-3-Clause

// The start of a job on several nodes: which transport is chosen, every way in which it fails on
// one rank, what is said of it; and the loss of a rank on another node.
package core

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"libarmci/internal/testutil/leaktest"
	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// Ranks on several nodes start over two transports and list both.
func TestStartOnNodes(t *testing.T) {
	everyShape(t, func(r *tr) {
		want := []string{"fake", "fake"}[:min(2, len(r.Topo.Nodes))]
		var names []string
		for _, info := range r.Transports() {
			names = append(names, info.Name)
		}
		if !slices.Equal(names, want) ||
			!strings.HasSuffix(r.Summary(), "transport "+strings.Join(want, " and ")) {
			r.wrong("%q, %s", names, r.Summary())
		}
	})
}

// A step that fails on one rank fails the start on all, and one rank prints why; ranks that had
// joined their node leave it.
func TestStartOnNodesFails(t *testing.T) {
	for _, step := range []string{"probe", "join", "open", "connect"} {
		for rank := range 4 {
			t.Run(fmt.Sprintf("%s at %d", step, rank),
				func(t *testing.T) { startOnNodesFails(t, step, rank) })
		}
	}
}

// startOnNodesFails fails one step on one rank and checks the errors of all.
func startOnNodesFails(t *testing.T, step string, rank int) {
	leaktest.Check(t)
	c := transporttest.NewCluster(4)
	defer c.Close()
	o := wire
	c.Wire = &o
	c.Fail = func(s string, r int) error {
		if s == step && r == rank {
			return errors.New("broken " + step)
		}
		return nil
	}
	c.Wrap = func(r int, t transport.Transport) transport.Transport {
		return &transporttest.Flaky{Transport: t,
			Fail: func(what string, _ transport.Peer) error {
				if len(c.Node(r).Ranks()) < 4 { // of the wire
					return c.Fail(what, r)
				}
				return nil
			}}
	}
	told := 0
	for r, err := range startAll(c, []string{"ARMCI_NODE=a", "ARMCI_NODE=b", "ARMCI_NODE=a",
		"ARMCI_NODE=b"}) {
		var s *StartError
		if !errors.As(err, &s) || !strings.Contains(s.Text, "broken "+step) {
			t.Errorf("rank %d: %v", r, err)
			continue
		}
		if s.Print {
			told++
		}
		if s.Print != (r == rank) && step != "probe" {
			t.Errorf("rank %d tells: %v", r, s.Print)
		}
		joined := step == "open" || step == "connect" || step == "join" && r != rank
		if left := c.Node(r).Left(); slices.Equal(left, []bool{true}) != joined {
			t.Errorf("rank %d has left %v", r, left)
		}
	}
	if told != 1 {
		t.Errorf("%d ranks tell", told)
	}
}

// ARMCI_TRANSPORT names the only transport that is looked at.
func TestForcedTransport(t *testing.T) {
	leaktest.Check(t)
	for name, text := range map[string]string{"rdma": "rdma: no device (rank 0, east)",
		"ofi": `no transport "ofi" between nodes; known are: auto tcp rdma`} {
		c := transporttest.NewCluster(2)
		open := func(transport.OpenInfo) (transport.Transport, error) {
			return nil,
				errors.New("tcp was opened")
		}
		c.ProviderList = []transport.Provider{
			{Name: "tcp", Probe: func() error { return nil },
				Hint: func() []byte { return nil }, Open: open},
			{Name: "rdma", Probe: func() error { return errors.New("no device") }},
		}
		errs := make(chan error, 2)
		for i, node := range []string{"east", "west"} {
			go func() {
				_, err := Start(settings("ARMCI_NODE="+node,
					"ARMCI_TRANSPORT="+name), c.Job(i), c.Platform(i))
				errs <- err
			}()
		}
		for range 2 {
			if err := <-errs; err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v", name, err)
			}
		}
		c.Close()
	}
}

// Of the nodes that see a rank go one reports first: its own, if it has other ranks.
func TestTurns(t *testing.T) {
	cluster := transporttest.NewCluster(1)
	defer cluster.Close()
	r := &Runtime{nodeParts: nodeParts{Liveness: cluster.Node(0)}}
	r.connectParts()
	for _, c := range []struct {
		me, lost int
		turn     float64
	}{{0, 1, 0}, {2, 1, 1.5}, {3, 1, 2.5}, {4, 1, 3.5}, {0, 3, 0}, {2, 3, 1}, {4, 3, 2.5}} {
		r.Topo = topologyOf(t, c.me, "aabcd")
		if got := r.jobEnd.reportDelay(transport.Rank(c.lost)); got != time.Duration(
			c.turn*500)*time.Millisecond {
			t.Errorf("rank %d lost, rank %d waits %v", c.lost, c.me, got)
		}
	}
	cluster.Node(0).Leave(false) // my data server, perhaps
	if got := r.jobEnd.reportDelay(3); got != 9*250*time.Millisecond {
		t.Errorf("a node without its data server waits %v", got)
	}
}

// A rank of another node is lost: one line, and every rank ends; here even the lost one, which is
// told.
func TestLostAcrossNodes(t *testing.T) {
	lines := logged(t)
	shape{2, 3, false}.run(t, nil, func(r *tr) {
		if r.barrier(); r.Me == 0 {
			r.c.Lose(2, "rank 2 (host n1): connection lost")
			awaitEnds(r)
			for rank := range r.N {
				if got := r.c.Job(rank).Ends(); !slices.Equal(got,
					[]string{"die 1"}) {
					r.wrong("rank %d: %q", rank, got)
				}
			}
			if got := lines(); strings.Count(got,
				"rank 2 (host n1): connection lost: the job ends") != 1 {
				r.wrong("%q", got)
			}
		}
		r.barrier()
	})
}
