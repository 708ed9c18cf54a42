// SPDX-License-Identifier: BSD-3-Clause

// What a wire needs to know: the job, the node, and the settings of the user.
package tcp

import (
	"time"

	"libarmci/internal/transport"
)

// Options of a wire. The settings are named in docs/configuration.md.
type Options struct {
	transport.WireInfo

	Servers    int           // data servers of a node: its first ranks
	Interface  string        // name or CIDR of the interface to use; "" = the route to the peers
	Ports      string        // "lo-hi": where to listen; "" = any
	Timeout    time.Duration // after which a silent host is given up
	Poll       time.Duration // longest polling of a server before it sleeps
	Eager      int           // puts and accumulates of up to this many bytes are complete at the caller at once
	Buffer     int64         // most bytes of buffers of the process
	Congestion string        // control of connections by this name; "", "auto": the system's unless it paces
	Gather     int           // rows of at least this many bytes travel without being packed; 0 = as the cost model says
	Spin       func() int    // how often a waiter looks before it yields; may be nil
	Unbind     func()        // gives the calling thread all processors of the node; may be nil
}

// unbind prepares a thread that serves others.
func (o *Options) unbind() {
	if o.Unbind != nil {
		o.Unbind()
	}
}

// serverOf is the rank whose server a client uses at a node: they are spread over the servers there.
func (o *Options) serverOf(node int, client transport.Rank) transport.Rank {
	ranks := o.Nodes[node]
	own := o.Nodes[o.nodeOf(client)]
	local := 0
	for i, r := range own {
		if r == client {
			local = i
		}
	}
	return ranks[local%min(max(o.Servers, 1), len(ranks))]
}

// nodeOf is the node of a rank, -1 if there is no such rank.
func (o *Options) nodeOf(rank transport.Rank) int {
	for n, ranks := range o.Nodes {
		for _, r := range ranks {
			if r == rank {
				return n
			}
		}
	}
	return -1
}

// serves tells whether this rank runs a data server.
func (o *Options) serves() bool {
	for i, r := range o.Nodes[o.MyNode] {
		if r == o.Me {
			return i < max(o.Servers, 1)
		}
	}
	return false
}

// hostOf is the name of a rank's host, for messages.
func (o *Options) hostOf(rank transport.Rank) string {
	if n := o.nodeOf(rank); n >= 0 && n < len(o.Hosts) {
		return o.Hosts[n]
	}
	return "?"
}
