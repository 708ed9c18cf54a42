// SPDX-License-Identifier: BSD-3-Clause

// The fabric of a process: opening, what it can do, closing.
package rdma

import (
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/pin"
	"libarmci/internal/rdma/fastpath"
	"libarmci/internal/rdma/lab"
	"libarmci/internal/rdma/verbs"
	"libarmci/internal/transport"
)

const (
	credits     = 16 // frames of an origin for which a target has buffers, on average
	defaultSpin = 20 // looks before the first yield
	yields      = 40 // of a waiter before it sleeps
	tick        = time.Millisecond
)

// Fabric implements transport.Fabric over verbs.
type Fabric struct {
	opt     Options
	cfg     transport.FabricConfig
	base    *verbs.Device
	way     *way
	device  pin.Device // of memory that is used for transfers
	pinned  pin.Device // of buffers
	pins    *pin.Cache
	arena   *pin.Arena
	origins *queue // of all ends of this process as an origin
	served  *queue // of its data server; nil if it has none
	queues  []*queue
	cm      *manager
	size    int // bytes of a buffer, and so of a message to this process

	bell     int         // ends Wait
	waiting  atomic.Bool // somebody does
	attended atomic.Bool // the origins' queue has been asked to tell

	listening sync.Mutex // all below
	accept    func(transport.Rank, transport.Endpoint) (transport.Receiver, error)
	greeted   map[nonce][]byte
	eager     *lab.Ring // of the data server, if an origin uses it
	locks     *verbs.Region
}

// open makes the process ready to connect, and to be connected to.
func open(o Options, cfg transport.FabricConfig, w *way) (*Fabric, error) {
	cfg.Buffer = max(min(cfg.Buffer, pin.Lockable()/2), allShares*pin.LeastBuffers*leastBytes)
	f := &Fabric{opt: o, cfg: cfg, way: w, size: bufferBytes(cfg.Buffer), bell: -1}
	var err error
	if f.base, err = w.open(); err != nil {
		return nil, err
	}
	cfg.Node.KeepPages()
	onDemand := f.base.Limits.OnDemand
	f.device, f.pinned = &registrar{f.base.Domain, onDemand}, &registrar{f.base.Domain, false}
	f.pins = pin.Open(f.device, pinBudget(&o, &cfg.OpenInfo), onDemand)
	f.arena = pin.NewArena(cfg.Node, f.device, f.pins)
	if f.bell, err = newBell(); err == nil {
		err = f.openOrigins()
	}
	if err == nil && cfg.Serves {
		f.served, err = f.openQueue(f.buffers(comingShare), f.buffers(answerShare), 0)
	}
	if err == nil {
		f.cm, err = openManager(f)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// openOrigins makes the queue of the origins, and the C fast path on it.
func (f *Fabric) openOrigins() (err error) {
	n := f.buffers(originShare)
	if f.origins, err = f.openQueue(n, n, fastpath.Entries); err != nil {
		return err
	}
	q := f.origins
	q.looks, q.nap = defaultSpin, longNap
	if f.cfg.Looks != nil {
		q.looks = max(f.cfg.Looks(), 1)
	}
	if f.opt.Contiguous == buffered || f.opt.Contiguous == zerocopy { // forced
		return nil
	}
	if q.room, err = pin.NewPool(f.pinned, 1, pageBytes); err != nil {
		return err
	}
	var sleep *verbs.Channel
	if q.looks <= 1 {
		sleep = q.cq.Channel()
	}
	q.fast = fastpath.Open(q.cq, sleep, q.room.Addr(0), uint32(q.room.Key), inlineBytes)
	return nil
}

// Info tells what concerns package internode.
func (f *Fabric) Info() transport.FabricInfo {
	return transport.FabricInfo{Addr: encode(&f.cm.self), Credits: credits, Looks: f.origins.looks + yields, Tick: tick,
		Pulses: true}
}

// Atomics tells whether the device has any.
func (f *Fabric) Atomics() bool { return f.base.Limits.Atomic != 0 }

// Costs are those of a fast network.
func (f *Fabric) Costs() transport.Costs {
	return transport.Costs{
		PutDirect: transport.Linear{Start: 2000, Each: 150, Byte: 0.09}, PutPacked: transport.Linear{Start: 5000, Byte: 0.3},
		GetDirect: transport.Linear{Start: 2500, Each: 250, Byte: 0.09}, GetPacked: transport.Linear{Start: 5000, Byte: 0.3},
		GetPush: transport.Linear{Start: 6000, Each: 250, Byte: 0.09},
		Copy:    transport.Linear{Byte: 0.1}, Pin: transport.Linear{Start: 2500, Each: 100}}
}

// Close ends everything.
func (f *Fabric) Close() error {
	if f.origins != nil {
		f.origins.fast.Close()
	}
	for _, q := range f.queues {
		q.closeAll()
	}
	if f.cm != nil {
		f.cm.close()
	}
	for _, q := range f.queues {
		q.free()
	}
	f.closeLab()
	f.pins.Close()
	f.arena.Close()
	f.base.Close()
	if f.bell >= 0 {
		unix.Close(f.bell)
	}
	return nil
}

// CacheRange lets C reach memory of a rank.
func (f *Fabric) CacheRange(e transport.Endpoint, rank transport.Rank, addr uintptr, r transport.Range) {
	o, ok := e.(*origin)
	if !ok || o.q.fast == nil || !r.Direct || o.pair.Inline < fastpath.RoomBytes || o.broken.Load() != nil {
		return
	}
	o.q.fast.Enter()
	o.q.fast.AddRange(int(rank), addr, r.Lo, r.Hi, uint32(r.Key), o.pair)
	o.q.fast.Leave()
}

// DropEndpoint forgets what is reached through an end.
func (f *Fabric) DropEndpoint(e transport.Endpoint) {
	if o, ok := e.(*origin); ok {
		o.q.fast.DropPair(o.pair)
	}
}

// DropRank forgets the memory of a rank.
func (f *Fabric) DropRank(rank transport.Rank) { f.origins.fast.DropRank(int(rank)) }

// GetOpen tells whether a get that C has left to Go has not completed.
func (f *Fabric) GetOpen() bool { return !f.origins.fast.Answered() }

// GetDone tells whether its data is here.
func (f *Fabric) GetDone() bool { return f.origins.fast.Here() }

var (
	_ transport.DirectFabric   = (*Fabric)(nil)
	_ transport.FastFabric     = (*Fabric)(nil)
	_ transport.DirectEndpoint = (*origin)(nil)
	_ transport.DirectEndpoint = (*target)(nil)
)
