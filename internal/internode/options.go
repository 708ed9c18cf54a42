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

	Servers int           // data servers per node: its first ranks
	Timeout time.Duration // a host that does not answer for so long is given up
	Poll    time.Duration // longest time that a data server polls before it sleeps
	Eager   int           // puts and accumulates of up to this many bytes are copied and complete at the origin at once
	Buffer  int64         // most bytes of buffers in a process
	Looks   func() int    // how often a waiter looks before it yields its core; may be nil
	Unbind  func()        // gives the calling thread all cores of the machine; may be nil

	Contiguous string // protocol that is forced; "" and "auto": by size and kind of memory
	Strided    string // the same, of strided and vector transfers
	Model      string // parameters of the cost model; "" and "auto": measured at first use
	DeviceAcc  bool   // accumulates are made by the origin's device under locks at the target
}

// What protocols are called in settings.
const (
	auto         = "auto"
	byCopy       = "buffered"    // contiguous: local memory goes through registered buffers
	byZeroCopy   = "zerocopy"    // contiguous: local memory is used as it is
	byDevice     = "nic"         // work requests of the device for each row, chained
	byPacking    = "host"        // packed into frames, unpacked by the data server
	byClaiming   = "host-atomic" // the same through buffers of the target that the origin claims by atomics (rdma/lab)
	byTargetSide = "push"        // of gets: the target's server writes the rows into the origin's memory
)

func (o *Options) unbind() {
	if o.Unbind != nil {
		o.Unbind()
	}
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

// local is the place of a rank on its node, -1 if there is no such rank.
func (o *Options) local(rank transport.Rank) int {
	for _, ranks := range o.Nodes {
		for i, r := range ranks {
			if r == rank {
				return i
			}
		}
	}
	return -1
}

// serverOf is the rank whose data server an origin uses at a node. Origins are spread over the servers there.
func (o *Options) serverOf(node int, origin transport.Rank) transport.Rank {
	ranks := o.Nodes[node]
	return ranks[max(o.local(origin), 0)%min(max(o.Servers, 1), len(ranks))]
}

// serves tells whether this process runs a data server.
func (o *Options) serves() bool {
	place := o.local(o.Me)
	return place >= 0 && place < max(o.Servers, 1)
}

// hostOf is the name of a node's host, for messages.
func (o *Options) hostOf(node int) string {
	if node >= 0 && node < len(o.Hosts) {
		return o.Hosts[node]
	}
	return "?"
}
