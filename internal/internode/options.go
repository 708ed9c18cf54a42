// SPDX-License-Identifier: BSD-3-Clause

// The settings of a transport between nodes, and where ranks are.
package internode

import (
	"time"

	"libarmci/internal/transport"
)

// Options are described in docs/configuration.md.
type Options struct {
	transport.OpenInfo
	transport.Protocols

	Servers int           // data servers per node: its first ranks
	Timeout time.Duration // a host that does not answer for so long is given up
	Poll    time.Duration // longest time that a data server polls before it sleeps
	Eager   int           // puts and accumulates of up to this many bytes are copied and complete at the origin at once
	Buffer  int64         // most bytes of buffers in a process
	Looks   func() int    // how often a waiter looks before it yields its core; may be nil
	Unbind  func()        // gives the calling thread all cores of the machine; may be nil
	Model   string        // parameters of the cost model; "" and "auto": measured at first use
}

// serverOf is the rank whose data server this process uses at a node. Origins are spread over the servers there.
func (o *Options) serverOf(node int) transport.Rank {
	ranks := o.Nodes[node]
	return ranks[o.Local(o.Me)%min(max(o.Servers, 1), len(ranks))]
}

// serves tells whether this process runs a data server.
func (o *Options) serves() bool { return o.Local(o.Me) < max(o.Servers, 1) }
