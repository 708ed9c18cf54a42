// SPDX-License-Identifier: BSD-3-Clause

// Package pipe is a network in memory, between processes that are pretended in one. It is the
// example of docs/adding-a-fabric.md, and tests of internode run over it: it delays, reorders and
// divides whatever the rules of transport/fabric.go allow, and drops connections on request. It
// must not be faster or more orderly than a device may be.
package pipe

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"libarmci/internal/transport"
)

// Options say what a network is like. With none of them frames arrive at once, whole, and in any
// number.
type Options struct {
	Seed     uint64 // of all that is random
	MaxFrame int    // most bytes of head and body together
	Credits  int    // FabricInfo.Credits
	// a sender waits while so many bytes are on their way to the other end; 0: never
	Room    int
	Latency time.Duration // frames, direct transfers and completions come so much later,
	Delay   time.Duration // and two of three of them up to so much later still
	// bodies come in portions, and other connections' frames come between them
	Divide   bool
	Defer    bool    // Send puts off what may be put off
	Straight int     // FabricInfo.Straight
	Blocks   bool    // FabricInfo.Blocks
	Shared   bool    // the connections of an origin share one source
	Direct   bool    // there is a device that reads and writes memory of others
	Atomics  bool    // it has atomic operations
	Range    uintptr // the memory of a key; 0: 1 MiB
	Holes    int     // one of so many ranges cannot be registered; 0: none
	NoLend   bool    // nor can local memory be lent
}

// Net is a network. Its lock guards everything that two processes share, and all queues.
type Net struct {
	opts Options

	mu      sync.Mutex
	rnd     *rand.Rand
	fabrics map[string]*fabric // by address
	made    int                // fabrics
	keys    map[uint64]region
	lastKey uint64
	breaks  []breakAt
}

// breakAt is a connection to be broken.
type breakAt struct {
	origin, target transport.Rank
	frames         int // after so many
}

// New makes a network.
func New(o Options) *Net {
	if o.Range == 0 {
		o.Range = 1 << 20
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
	n.made++
	f := &fabric{net: n, cfg: cfg, addr: fmt.Sprintf("pipe %d", n.made),
		bell: make(chan struct{}, 1), posted: make(chan struct{}, 1)}
	n.fabrics[f.addr] = f
	if n.opts.Direct {
		return &directFabric{fabric: f}, nil
	}
	return f, nil
}

// Break breaks the connection that an origin has to a target when so many more frames have been
// sent over it, either way. With 0 it breaks those there are now.
func (n *Net) Break(origin, target transport.Rank, frames int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if frames > 0 {
		n.breaks = append(n.breaks, breakAt{origin, target, frames})
		return
	}
	for _, f := range n.fabrics {
		for _, e := range f.ends() {
			if !e.target && e.fabric.cfg.Me == origin && e.to == target {
				e.conn.fail(errBroken)
			}
		}
	}
}

// Vanish makes a process silent, as if its machine had lost its power: nothing comes from it any
// more, and the others find out by Pulse only.
func (n *Net) Vanish(rank transport.Rank) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, f := range n.fabrics {
		f.gone = f.gone || f.cfg.Me == rank
	}
}

// Fail makes the device of a process fail.
func (n *Net) Fail(rank transport.Rank) {
	n.mu.Lock()
	var fatal []func(error)
	for _, f := range n.fabrics {
		if f.cfg.Me == rank {
			fatal = append(fatal, f.cfg.Fatal)
			for _, e := range f.ends() {
				e.conn.fail(errDevice)
			}
		}
	}
	n.mu.Unlock()
	for _, tell := range fatal {
		tell(errDevice)
	}
}

var (
	errBroken = errors.New("the connection has been broken")
	errClosed = errors.New("the other side has closed the connection")
	errDevice = errors.New("the device has failed")
	errSilent = errors.New("the other side does not answer")
)

// later is when something arrives that is sent now.
func (n *Net) later() (at time.Time) {
	wait := n.opts.Latency
	if n.opts.Delay > 0 && n.rnd.IntN(3) > 0 {
		wait += time.Duration(n.rnd.Int64N(int64(n.opts.Delay)))
	}
	if wait == 0 {
		return at
	}
	return time.Now().Add(wait)
}

// count counts a frame of a connection, and breaks it if it is to be broken now.
func (n *Net) count(c *conn) {
	for i := range n.breaks {
		b := &n.breaks[i]
		if b.origin != c.ends[0].fabric.cfg.Me || b.target != c.ends[1].fabric.cfg.Me {
			continue
		}
		if b.frames--; b.frames <= 0 {
			n.breaks = slices.Delete(n.breaks, i, i+1)
			c.fail(errBroken)
		}
		return
	}
}
