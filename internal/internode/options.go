// SPDX-License-Identifier: BSD-3-Clause

// The settings of a transport between nodes, and where ranks are.
package internode

import (
	"slices"
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

// nodeOf is the node of a rank, -1 if there is no such rank.
func (o *Options) nodeOf(rank transport.Rank) int {
	return slices.IndexFunc(o.Nodes, func(ranks []transport.Rank) bool {
		_, ok := slices.BinarySearch(ranks, rank)
		return ok
	})
}

// local is the number of a rank on this node, -1 if it is of another.
func (o *Options) local(rank transport.Rank) int {
	if at, ok := slices.BinarySearch(o.Nodes[o.MyNode], rank); ok {
		return at
	}
	return -1
}

// serverOf is the rank whose data server this process uses at a node. Origins are spread over the servers there.
func (o *Options) serverOf(node int) transport.Rank {
	ranks := o.Nodes[node]
	return ranks[o.local(o.Me)%min(max(o.Servers, 1), len(ranks))]
}

// serves tells whether this process runs a data server.
func (o *Options) serves() bool { return o.local(o.Me) < max(o.Servers, 1) }

// hostOf is the name of a rank's host, for messages.
func (o *Options) hostOf(rank transport.Rank) string {
	if node := o.nodeOf(rank); node >= 0 && node < len(o.Hosts) {
		return o.Hosts[node]
	}
	return "?"
}
