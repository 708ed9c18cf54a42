// SPDX-License-Identifier: BSD-3-Clause

// Jobs of tests: ranks of this process on pretended nodes, each with its own transport over loopback. Memory, control
// messages and results of the nodes are transporttest's stand-ins.
package tcp

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

// newJob opens nodes of so many ranks each; change, if not nil, may change a rank's options.
func newJob(t testing.TB, change func(*Options), ranks ...int) *job {
	leaktest.Check(t)
	j := &job{}
	var hints [][]byte
	for _, k := range ranks {
		for range k {
			hints = append(hints, makeHint())
		}
	}
	j.Ends = transporttest.NewEnds(t, ranks, func(info transport.WireInfo) (transport.Transport, error) {
		o := Options{WireInfo: info, Servers: 1, Timeout: 5 * time.Second, Poll: 20 * time.Microsecond, Eager: 8 << 10,
			Buffer: 16 << 20, Gather: 512, Spin: func() int { return 100 }}
		o.Hints = hints
		if change != nil {
			change(&o)
		}
		tr, err := Open(o)
		if err != nil {
			return nil, err
		}
		j.tr = append(j.tr, tr)
		return tr, nil
	})
	return j
}
