// SPDX-License-Identifier: BSD-3-Clause

// Jobs of tests: ranks of this process on pretended nodes, each with its own transport over one device. Memory, control
// messages and results of the nodes are transporttest's stand-ins. Without a device such a test is skipped.
package rdma

import (
	"testing"
	"time"

	"libarmci/internal/bootstrap/leaktest"
	"libarmci/internal/transport"
	"libarmci/internal/transport/transporttest"
)

// job is the ranks of a test.
type job struct {
	*transporttest.Ends
	tr []*Transport // by rank
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
	j := &job{}
	j.Ends = transporttest.NewEnds(t, ranks, func(info transport.WireInfo) (transport.Transport, error) {
		o := Options{WireInfo: info, Timeout: 10 * time.Second, Poll: 20 * time.Microsecond, Eager: 8 << 10,
			Buffer: 4 << 20, Spin: func() int { return 100 }}
		if change != nil {
			change(&o)
		}
		tr, err := Open(o, &d.ways[0])
		if err != nil {
			return nil, err
		}
		j.tr = append(j.tr, tr)
		return tr, nil
	})
	return j
}
