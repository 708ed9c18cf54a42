// SPDX-License-Identifier: BSD-3-Clause

// What a wire needs to know: the job, the node, and the settings of the user.
package rdma

import (
	"time"

	"libarmci/internal/transport"
)

// Options of a wire. The settings are named in docs/configuration.md.
type Options struct {
	transport.WireInfo

	Device  string        // name, or name:port; "" = the first that is usable
	GID     string        // index of the port's address to use; "" = the best
	Timeout time.Duration // after which a silent host is given up
	Poll    time.Duration // longest polling of a server before it sleeps; see patience
	Eager   int           // puts of up to this many bytes are copied and complete at the caller at once
	Buffer  int64         // registered memory of the process for buffers
	Guarded bool          // accumulates are made by the caller's device under the target's locks, not by its server
	Pin     int64         // memory of the application that stays registered; 0 = by what the system has
	Spin    func() int    // how often a waiter looks before it yields; may be nil
	Unbind  func()        // gives the calling thread all processors of the node; may be nil

	Contiguous string // a protocol that is forced; "" and "auto" = the best
	Strided    string // the same
	Model      string // parameters of the cost model; "" and "auto" = measured
}

// What protocols are called in settings.
const (
	auto       = "auto"
	buffered   = "buffered"    // local memory goes through registered buffers
	zerocopy   = "zerocopy"    // local memory is used as it is, registered where it is not
	nic        = "nic"         // a request of the device for each row, chained
	host       = "host"        // packed into messages, unpacked by the server
	hostAtomic = "host-atomic" // packed into buffers of the server that are claimed by its device's atomics
	push       = "push"        // of gets: the server writes the rows into the caller's memory
)

func (o *Options) unbind() {
	if o.Unbind != nil {
		o.Unbind()
	}
}

// serverOf is the rank that serves a node: its first.
func (o *Options) serverOf(node int) transport.Rank { return o.Nodes[node][0] }

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

func (o *Options) hostOf(rank transport.Rank) string {
	if n := o.nodeOf(rank); n >= 0 && n < len(o.Hosts) {
		return o.Hosts[n]
	}
	return "?"
}

// retryExponent is the device's timeout, 4.096 us * 2^e, so that all retries together, of which a device may take
// four times as long as it is told, end within the time after which a host is given up.
func retryExponent(limit time.Duration) uint8 {
	e := uint8(12)
	for e < 18 && 8*4*(4096*time.Nanosecond<<(e+1)) <= limit {
		e++
	}
	return e
}
