// SPDX-License-Identifier: BSD-3-Clause

// Package rdma is the fabric of InfiniBand and RoCE: one reliable connection for each pair of
// process and remote node, over which the origin writes and reads the node's registered memory
// itself, and exchanges frames with the node's data server. It must not know what is in a frame,
// ARMCI's rules, or other fabrics.
//
// Reading order: fabric.go (what a process has), connect.go (how two meet), queue.go (completions),
// end.go and ring.go (what is in flight), origin.go and target.go (the two ends), direct.go
// (transfers by the device), loss.go (how an end ends).
//
// This file: the fabric of a process: what it has, how it is opened and closed, its fast path. And
// what the progress thread waits for: completions on the origins' queue if it was asked to attend
// to it, ends that were lost, and asynchronous events of the device.
package rdma

import (
	"bytes"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/eventfd"
	"libarmci/internal/log"
	"libarmci/internal/pin"
	"libarmci/internal/rdma/fastpath"
	"libarmci/internal/rdma/lab"
	"libarmci/internal/rdma/qp"
	"libarmci/internal/transport"
)

const (
	framesPerOrigin   = 16 // frames of one origin for which a target has buffers, on average
	yieldsBeforeSleep = 40 // of a waiter before it sleeps
	pollCost          = 50 * time.Nanosecond
	progressTick      = time.Millisecond
)

// Fabric implements transport.Fabric over verbs.
type Fabric struct {
	*pin.Arena     // Expose
	*fastpath.Path // DropRank, SetCosts, RequestOpen, RequestOver, RequestFailure

	cfg            transport.FabricConfig
	device         qp.Device
	transferMemory pin.Device // of memory that is used for transfers
	bufferMemory   pin.Device // of buffers
	registrations  *pin.Cache
	originQueue    *queue // of all ends of this process as an origin
	serverQueue    *queue // of its data server; nil if it has none
	queues         []*queue
	connManager    *connManager
	bufferSize     int // bytes of a buffer, and so of a message to this process

	wakeup        eventfd.FD  // ends Wait
	waiting       atomic.Bool // a thread is in Wait
	attendOrigins atomic.Bool // Attend was called: Wait looks at the origins' queue

	listenMu      sync.Mutex // for all below
	acceptOrigin  func(transport.Rank, transport.TargetEndpoint) (transport.Receiver, error)
	answered      map[nonce][]byte  // answers to questions that may come again
	answeredOrder []answeredRequest // the same, the oldest first
	eagerRing     *lab.Ring         // of the data server, if an origin uses it
	accLocks      qp.Region         // nil: none
}

// Open makes the process ready to connect, and to be connected to, over a device, which it closes
// in the end. keep is how many bytes of the application's memory stay registered; 0: by what the
// system has.
func Open(base qp.Device, keep int64, cfg transport.FabricConfig) (*Fabric, error) {
	cfg.Buffer = max(min(cfg.Buffer, pin.Lockable()/2), allShares*pin.LeastBuffers*minBufferBytes)
	f := &Fabric{device: base, cfg: cfg, bufferSize: bufferBytes(cfg.Buffer), wakeup: eventfd.None}
	if most := base.Limits().MaxMessage; most > 0 {
		f.bufferSize = min(f.bufferSize, most)
	}
	cfg.Node.KeepPages()
	onDemand := base.Limits().OnDemand
	f.transferMemory, f.bufferMemory = &registrar{base, onDemand}, &registrar{base, false}
	f.registrations = openRegistrationCache(f, pin.Budget(keep, len(cfg.Nodes[cfg.MyNode])), onDemand)
	f.Arena = pin.NewArena(cfg.Node, f.transferMemory, f.registrations)
	var err error
	if f.wakeup, err = eventfd.New(); err == nil {
		err = f.openOrigins()
	}
	if err == nil && cfg.Serves {
		in, out := f.bufferCount(serverReceiveShare), f.bufferCount(serverSendShare)
		f.serverQueue, err = f.openQueue(in, out, f.maxAnswers())
		if err == nil {
			f.openAnswers(f.serverQueue)
		}
	}
	if err == nil {
		f.connManager, err = openConnManager(f)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// openOrigins makes the queue of this process as an origin, and the C fast path on it.
func (f *Fabric) openOrigins() (err error) {
	n := f.bufferCount(originShare)
	if f.originQueue, err = f.openQueue(n, n, f.fastEntries()); err != nil {
		return err
	}
	q := f.originQueue
	q.pollsBeforeYield, q.maxSleep = max(f.cfg.Looks(), 1), maxOriginSleep
	if f.cfg.Copies() || f.cfg.Lends() {
		return nil
	}
	v, ok := q.cq.(fastpath.Queue)
	if ok && v.Network() != nil && q.sendBuffers.Size >= fastpath.BufferBytes {
		buffer := q.sendBuffers.Take() // it stays C's
		width := max(1, min(maxPieces, f.device.Limits().MaxSGE))
		arena, size := f.cfg.Node.Arena()
		f.Path = fastpath.Open(v, fastpath.Limits{
			Entries: f.fastEntries(),
			Inline:  inlineBytes,
			Piece:   maxRequestBytes,
			Width:   width,
			Buffers: q.sendBuffers.Addr(buffer),
			Bytes:   q.sendBuffers.Size,
			Key:     f.device.LocalKey(q.sendBuffers.Key),
			In:      q.receiveArea(),
			Arena:   arena,
			Size:    size,
			Sleep:   q.pollsBeforeYield <= 1,
			Parts:   f.device.Limits().Bytewise,
			Direct:  f.device.Limits().Unregistered,
		})
		q.fast = f.Path
	}
	if f.Path != nil && !f.device.Limits().Unregistered {
		f.registrations.SetMirror(&fastpath.Watched{Path: f.Path, Key: f.device.LocalKey})
	}
	return nil
}

// answersEach and mostAnswers are how many answers of C's there may be, to one origin and in all.
func (f *Fabric) maxAnswersPerOrigin() int {
	return min(f.device.Limits().MaxWR/8, fastpath.MostAnswersEach)
}

func (f *Fabric) maxAnswers() int { return min(f.device.Limits().MaxCQE/8, fastpath.MostAnswers) }

// answerInC has C answer what it can of what comes to the data server.
func (f *Fabric) openAnswers(q *queue) {
	if v, ok := q.cq.(fastpath.Queue); ok {
		q.answers = fastpath.OpenAnswers(v, q.receiveArea(), f.maxAnswers(), f.maxAnswersPerOrigin(),
			f.cfg.Me)
	}
}

// fastEntries is how many work requests of the fast path there may be.
func (f *Fabric) fastEntries() int { return fastpath.Entries(f.device.Limits().MaxWR) }

// Info describes the fabric to package internode.
func (f *Fabric) Info() transport.FabricInfo {
	return transport.FabricInfo{Addr: bytes.TrimRight(f.connManager.address[:], "\x00"), Credits: framesPerOrigin,
		Tick:     progressTick,
		Patience: time.Duration(f.originQueue.pollsBeforeYield+yieldsBeforeSleep) * pollCost, Look: pollCost,
		Copies: true, Pulses: true, Bytewise: f.device.Limits().Bytewise}
}

// Atomics tells whether the device has atomic operations.
func (f *Fabric) Atomics() bool { return f.device.Limits().Atomic != 0 }

// Close ends everything.
func (f *Fabric) Close() error {
	f.Path.Close()
	for _, q := range f.queues {
		q.closeEndpoints()
	}
	if f.connManager != nil {
		f.connManager.stop()
	}
	for _, q := range f.queues {
		q.destroy()
	}
	f.eagerRing.Close()
	if f.accLocks != nil {
		f.accLocks.Close()
	}
	f.registrations.Close()
	f.Arena.Close()
	f.device.Close()
	f.wakeup.Close()
	return nil
}

// CacheRange lets C reach memory of a rank.
func (f *Fabric) CacheRange(e transport.OriginEndpoint, rank transport.Rank, addr uintptr,
	r transport.Range, whole transport.Span, s transport.Server) {
	o := e.(*origin)
	if !r.Direct || o.pair.Inline() < transport.FastBytes {
		return
	}
	base, key := o.pair.Place(r.Key)
	pair := o.pair.Handle()
	f.AddRange(int(rank), addr, r.Lo, r.Hi, whole, base, key, pair, s)
	if o.lossReason.Load() != nil { // perhaps lost meanwhile
		f.DropPair(pair)
	}
}

// DropEndpoint forgets what is reached through an end.
func (f *Fabric) DropEndpoint(e transport.OriginEndpoint) {
	f.DropRanges(e.(*origin).pair.Handle())
}

// CachePeer lets C ask the data server of a rank.
func (f *Fabric) CachePeer(e transport.OriginEndpoint, rank transport.Rank) {
	o := e.(*origin)
	if o.pair.Inline() < transport.FastBytes {
		return
	}
	f.AddPeer(rank, o.pair.Handle(), o.maxMessage, func() bool { return o.lossReason.Load() != nil })
}

// Storing reports whether accumulates that C has asked for through an end have yet to take effect.
func (f *Fabric) Storing(e transport.OriginEndpoint) bool {
	return f.Path.Storing(e.(*origin).pair.Handle())
}

// CacheSpan lets C ask for accumulates to an allocation of a rank.
func (f *Fabric) CacheSpan(rank transport.Rank, addr, lo, hi uintptr) {
	f.AddSpan(rank, addr, lo, hi)
}

// DropPeers lets C ask nothing through an end.
func (f *Fabric) DropPeers(e transport.OriginEndpoint) {
	f.Path.DropPeers(e.(*origin).pair.Handle())
}

// EndpointOpen reports whether C has anything outstanding at an end.
func (f *Fabric) EndpointOpen(e transport.OriginEndpoint) bool {
	return f.Outstanding(e.(*origin).pair.Handle())
}

// FastSource is the queue from which completions of the fast path come.
func (f *Fabric) FastSource() transport.Source { return f.originQueue }

var (
	_ transport.DirectFabric   = (*Fabric)(nil)
	_ transport.FastFabric     = (*Fabric)(nil)
	_ transport.DirectEndpoint = (*origin)(nil)
	_ transport.DirectWriter   = (*target)(nil)
)

// Attend asks Wait for the origins' queue; a data server sleeps on its own.
func (f *Fabric) Attend(transport.Source) {
	if err := f.originQueue.cq.Arm(); err != nil {
		// every time: a thread in Sleep may have taken the event meanwhile
		log.Errorf("%v", err)
		return
	}
	if !f.attendOrigins.Swap(true) && f.waiting.Load() {
		f.Wake()
	}
}

// Wait blocks until something has happened.
func (f *Fabric) Wait(limit time.Duration, ready []transport.Source) []transport.Source {
	ready = ready[:0]
	f.waiting.Store(true)
	defer f.waiting.Store(false)
	q := f.originQueue
	fds := [3]unix.PollFd{{Fd: int32(f.wakeup), Events: unix.POLLIN},
		{Fd: int32(f.device.EventFD()), Events: unix.POLLIN}, {Fd: -1}}
	some := false // come to the origins' queue, perhaps
	// A farewell is on its way, and the descriptor may have told of something before it.
	leaving := q.disconnectsExpected.Load() > 0
	if leaving && (limit < 0 || limit > disconnectPollInterval) {
		limit = disconnectPollInterval
	}
	if f.attendOrigins.Load() || leaving {
		fds[2] = unix.PollFd{Fd: int32(q.cq.FD()), Events: unix.POLLIN}
		if some = q.cq.Pending(); some && f.attendOrigins.Load() && fds[2].Fd >= 0 {
			limit = 0
		} else if some && (limit < 0 || limit > disconnectPollInterval) {
			limit = disconnectPollInterval
		}
	}
	var until *unix.Timespec
	if limit >= 0 {
		ts := unix.NsecToTimespec(int64(limit))
		until = &ts
	}
	unix.Ppoll(fds[:], until, nil)
	if fds[0].Revents != 0 {
		f.wakeup.Drain()
	}
	if fds[1].Revents != 0 {
		f.handleDeviceEvents()
	}
	if some = some || fds[2].Revents != 0; some {
		f.attendOrigins.Store(false)
		q.cq.Take()
	}
	if some || leaving || q.callsPending.Load() {
		ready = append(ready, q)
	}
	return ready
}

// lookEvery is how often the progress thread looks at a queue whose descriptor does not tell, or
// that has none.
const disconnectPollInterval = 500 * time.Microsecond

// anywhere is local memory where none has to be registered.
var unregisteredRange = transport.Range{Hi: ^uintptr(0), Direct: true}

// Here is the range around local memory that the device uses as it is.
func (f *Fabric) Here(addr uintptr) *transport.Range {
	if f.device.Limits().Unregistered {
		return &unregisteredRange
	}
	return f.Arena.Here(addr)
}

// Abandon removes what the device has in the file system.
func (f *Fabric) Abandon() {
	if a, ok := f.device.(transport.Abandoner); ok {
		a.Abandon()
	}
}

// Wake ends Wait.
func (f *Fabric) Wake() { f.wakeup.Ring() }

// hear handles asynchronous events of the device.
func (f *Fabric) handleDeviceEvents() {
	for {
		text, fatal, some := f.device.Event()
		if !some {
			return
		}
		log.Infof("%s: %s", f.device.Name(), text)
		if fatal && f.cfg.Fatal != nil {
			f.cfg.Fatal(f.device.Fault(text))
		}
	}
}
