// SPDX-License-Identifier: BSD-3-Clause

// Package pipe is a network in memory, between processes that are pretended in one. It is the
// example of docs/adding-a-fabric.md, and tests of internode run over it: it delays, reorders and
// divides whatever the contracts of package transport allow, and drops connections on request. It
// must not be faster or more orderly than a device may be.
package pipe

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"libarmci/internal/transport"
)

// Options are the properties of a network. With none of them frames arrive at once, whole, and in
// any number.
type Options struct {
	Seed     uint64 // of the random generator
	MaxFrame int    // most bytes of head and body together; 0: no limit
	Credits  int    // FabricInfo.Credits
	// Room is the most bytes on their way to one end; a sender waits beyond it. 0: no limit.
	Room int
	// Latency is the time until frames, direct transfers and completions arrive. Two of three
	// arrive up to Delay later still.
	Latency, Delay time.Duration
	// Divide passes bodies on in portions, with frames of other connections between them.
	Divide   bool
	Defer    bool // Send delays frames that need not be sent at once
	Straight int  // FabricInfo.MinDirectRow
	Blocks   bool // FabricInfo.Blocks
	Shared   bool // the connections of an origin share one source
	Direct   bool // there is a device that reads and writes memory of others
	Atomics  bool // the device has atomic operations
	// Refuse refuses one of so many attempts to connect again, twice at most one after the
	// other. 0: none.
	Refuse int
	Keys   KeyOptions
}

// KeyOptions are the properties of a device's registered memory.
type KeyOptions struct {
	Range  uintptr // bytes of memory that one key covers; 0: 1 MiB
	Holes  int     // one of so many ranges cannot be registered; 0: none
	NoLend bool    // local memory cannot be lent
}

// Net is a network. Its lock guards everything that two processes share, and all queues.
type Net struct {
	opts Options

	mu      sync.Mutex
	rnd     *rand.Rand
	fabrics map[string]*fabric // by address
	opened  int                // number of fabrics that were opened
	keys    map[uint64]region
	lastKey uint64
	breaks  []plannedBreak
}

// plannedBreak is a connection that breaks after some more frames.
type plannedBreak struct {
	origin, target transport.Rank
	frames         int
}

// New makes a network.
func New(o Options) *Net {
	if o.Keys.Range == 0 {
		o.Keys.Range = 1 << 20
	}
	return &Net{opts: o, rnd: rand.New(rand.NewPCG(o.Seed, 42)), fabrics: map[string]*fabric{},
		keys: map[uint64]region{}}
}

// Driver opens fabrics of this network.
func (n *Net) Driver() transport.Driver {
	return transport.Driver{Name: "pipe", Open: n.Open}
}

// Open opens the network for one process.
func (n *Net) Open(cfg transport.FabricConfig) (transport.Fabric, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.opened++
	f := &fabric{net: n, cfg: cfg, addr: fmt.Sprintf("pipe %d", n.opened),
		wakeUp: make(chan struct{}, 1),
		device: deviceQueue{wakeUp: make(chan struct{}, 1)}}
	n.fabrics[f.addr] = f
	if n.opts.Direct {
		return &directFabric{fabric: f}, nil
	}
	return f, nil
}

// Break breaks the connection from an origin to a target when that many more frames have been sent
// over it, in both directions together. With 0 it breaks the present ones at once.
func (n *Net) Break(origin, target transport.Rank, frames int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if frames > 0 {
		n.breaks = append(n.breaks, plannedBreak{origin, target, frames})
		return
	}
	for _, f := range n.fabrics {
		for _, e := range f.endpoints() {
			if !e.target && e.fabric.cfg.Me == origin && e.to == target {
				e.conn.breakWith(errBroken)
			}
		}
	}
}

// String lists what is on its way at all ends of connections, for tests that fail.
func (n *Net) String() string {
	var b strings.Builder
	for i := range n.opened {
		f := n.fabrics[fmt.Sprintf("pipe %d", i+1)]
		if f == nil {
			continue
		}
		for _, e := range f.endpoints() {
			fmt.Fprintf(&b, "  rank %d, end towards rank %d (target %v): state %d, %d "+
				"frames have arrived (%d bytes), current %v, %d completions, %d "+
				"queued, %d deferred, %d blocking, broken: %v\n", f.cfg.Me, e.to,
				e.target,
				e.state, len(e.arrivals.frames), e.arrivals.bytes,
				e.arrivals.current != nil, len(e.arrivals.completions),
				len(e.outgoing.queued), len(e.outgoing.deferred),
				e.outgoing.blocking, e.conn.broken)
		}
	}
	return b.String()
}

// Vanish makes a process silent, as if its machine had lost power: nothing arrives from it any
// more, and its peers notice by Pulse only.
func (n *Net) Vanish(rank transport.Rank) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, f := range n.fabrics {
		f.vanished = f.vanished || f.cfg.Me == rank
	}
}

// Fail makes the device of a process fail.
func (n *Net) Fail(rank transport.Rank) {
	n.mu.Lock()
	var fatal []func(error)
	for _, f := range n.fabrics {
		if f.cfg.Me == rank {
			fatal = append(fatal, f.cfg.Fatal)
			for _, e := range f.endpoints() {
				e.conn.breakWith(errDevice)
			}
		}
	}
	n.mu.Unlock()
	for _, report := range fatal {
		report(errDevice)
	}
}

var (
	errBroken = errors.New("the connection has been broken")
	errClosed = errors.New("the other side has closed the connection")
	errDevice = errors.New("the device has failed")
	errSilent = errors.New("the other side does not answer")
)

// arrivalTime is when something that is sent now arrives; zero: at once.
func (n *Net) arrivalTime() (at time.Time) {
	wait := n.opts.Latency
	if n.opts.Delay > 0 && n.rnd.IntN(3) > 0 {
		wait += time.Duration(n.rnd.Int64N(int64(n.opts.Delay)))
	}
	if wait == 0 {
		return at
	}
	return time.Now().Add(wait)
}

// countFrame counts a frame of a connection, and breaks the connection if a planned break is due.
// The caller holds n.mu.
func (n *Net) countFrame(c *conn) {
	for i := range n.breaks {
		b := &n.breaks[i]
		if b.origin != c.ends[0].fabric.cfg.Me || b.target != c.ends[1].fabric.cfg.Me {
			continue
		}
		if b.frames--; b.frames <= 0 {
			n.breaks = slices.Delete(n.breaks, i, i+1)
			c.breakWith(errBroken)
		}
		return
	}
}
