// SPDX-License-Identifier: BSD-3-Clause

// Package rdma is the fabric of InfiniBand and RoCE: one reliable connection for each pair of
// process and remote node, over which the origin writes and reads the node's registered memory
// itself, and exchanges frames with the node's data server. It must not know what is in a frame,
// ARMCI's rules, or other fabrics.
//
// Reading order: fabric.go (what a process has), connect.go (how two processes connect), queue.go
// and poll.go (completions), endpoint.go and ring.go (what is in flight), origin.go and target.go
// (the two kinds of endpoints), direct.go (transfers by the device), resume.go (how a connection
// goes on after a failure), loss.go (how it ends).
//
// This file: the fabric of a process, how it is opened and closed, and its fast path; and what the
// progress thread waits for: completions on the origins' queue if Attend has asked for that,
// endpoints that were lost, and asynchronous events of the device.
package rdma

import (
	"bytes"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/log"
	"libarmci/internal/pin"
	"libarmci/internal/rdma/fastpath"
	"libarmci/internal/rdma/lab"
	"libarmci/internal/rdma/qp"
	"libarmci/internal/sys"
	"libarmci/internal/transport"
)

// credits is how many frames of one origin a target has buffers for, on average.
const credits = 16

const (
	yieldsBeforeSleep = 40 // of a waiter
	pollCost          = 50 * time.Nanosecond
	progressTick      = time.Millisecond
)

// Fabric implements transport.Fabric over queue pairs.
type Fabric struct {
	*pin.Arena     // RegisterForPeers
	*fastpath.Path // DropRank, SetCosts, RequestOpen, RequestEnded, RequestFailure

	cfg               transport.FabricConfig
	device            qp.Device
	transferRegistrar pin.Device // registers memory that transfers use
	bufferRegistrar   pin.Device // registers memory of buffers, which is pinned
	regCache          *pin.Cache
	originQueue       *queue   // of all endpoints of this process as an origin
	serverQueue       *queue   // of its data server; nil if it has none
	queues            []*queue // both
	connManager       *connManager
	bufferSize        int // bytes of a buffer, and so of a message to this process
	progress          progressState
	listen            listenState
	resumes           resumeState
}

// progressState is what Wait and the threads that end it share.
type progressState struct {
	wakeup        sys.EventFD // ends Wait
	waiting       atomic.Bool // a thread is in Wait
	attendOrigins atomic.Bool // Wait has to poll for completions of the origins' queue
	portDownAt    time.Time   // zero while the device's port has its link; of Wait's thread
}

// listenState is what accepting origins needs.
type listenState struct {
	mu sync.Mutex // guards the rest

	// accept makes the receiver of a target's endpoint; nil while the fabric does not listen.
	accept        func(transport.Rank, transport.TargetEndpoint) (transport.Receiver, error)
	answered      map[nonce][]byte  // replies to connect requests, which may be repeated
	answeredOrder []answeredRequest // the requests in answered, the oldest first
	eagerRing     *lab.Ring         // the data server's; nil until an origin uses it
	accLocks      qp.Region         // for accumulates by devices; nil until an origin uses them
}

// Open makes the process ready to connect, and to be connected to, over a device. It owns the
// device, also if it fails. keep is how many bytes of the application's memory stay registered; 0:
// by what the system has. The caller closes the fabric.
func Open(device qp.Device, keep int64, cfg transport.FabricConfig) (*Fabric, error) {
	cfg.Buffer = max(min(cfg.Buffer, pin.Lockable()/2),
		allShares*pin.LeastBuffers*minBufferBytes)
	f := &Fabric{device: device, cfg: cfg, bufferSize: bufferBytes(cfg.Buffer)}
	f.progress.wakeup = sys.NoEventFD
	if most := device.Limits().MaxMessage; most > 0 {
		f.bufferSize = min(f.bufferSize, most)
	}
	cfg.Node.KeepPages()
	onDemand := device.Limits().OnDemand
	f.transferRegistrar, f.bufferRegistrar = &registrar{device, onDemand},
		&registrar{device, false}
	budget := pin.Budget(keep, len(cfg.Nodes[cfg.MyNode]))
	f.regCache = openRegistrationCache(f, budget, onDemand)
	f.Arena = pin.NewArena(cfg.Node, f.transferRegistrar, f.regCache)
	var err error
	if f.progress.wakeup, err = sys.NewEventFD(); err == nil {
		err = f.openOriginQueue()
	}
	if err == nil && cfg.Serves {
		receives, sends := f.bufferCount(serverReceiveShare), f.bufferCount(serverSendShare)
		f.serverQueue, err = f.openQueue(receives, sends, f.maxAnswers())
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

// openOriginQueue makes the queue of this process as an origin, and the C fast path on it if
// device and settings allow one.
func (f *Fabric) openOriginQueue() (err error) {
	n := f.bufferCount(originShare)
	if f.originQueue, err = f.openQueue(n, n, f.fastEntries()); err != nil {
		return err
	}
	q := f.originQueue
	q.policy.pollsBeforeYield, q.policy.maxSleep = max(f.cfg.Looks(), 1), maxOriginSleep
	if f.cfg.Copies() || f.cfg.Lends() {
		return nil
	}
	v, ok := q.cq.(fastpath.Queue)
	if ok && v.Network() != nil && q.sendBuffers.Size >= fastpath.BufferBytes {
		buffer := q.sendBuffers.TakeBuffer() // C keeps it until the queue is destroyed
		width := max(1, min(maxPieces, f.device.Limits().MaxSGE))
		arena, size := f.cfg.Node.ArenaRange()
		f.Path = fastpath.Open(v, fastpath.Limits{
			Entries:      f.fastEntries(),
			MaxInline:    inlineBytes,
			MaxRequest:   maxRequestBytes,
			MaxPieces:    width,
			Buffers:      q.sendBuffers.Addr(buffer),
			BufferBytes:  q.sendBuffers.Size,
			BufferKey:    f.device.LocalKey(q.sendBuffers.Key),
			Incoming:     q.receiveArea(),
			Arena:        arena,
			ArenaBytes:   size,
			WaitsSleep:   q.policy.pollsBeforeYield <= 1,
			Bytewise:     f.device.Limits().Bytewise,
			Unregistered: f.device.Limits().Unregistered,
		})
		q.fast = f.Path
	}
	if f.Path != nil && !f.device.Limits().Unregistered {
		f.regCache.SetMirror(&fastpath.Watched{Path: f.Path, Key: f.device.LocalKey})
	}
	return nil
}

// maxAnswersPerOrigin is how many answers of C's to one origin may be in flight.
func (f *Fabric) maxAnswersPerOrigin() int {
	return min(f.device.Limits().MaxWR/8, fastpath.MaxAnswersPerOrigin)
}

// maxAnswers is how many answers of C's may be in flight in all.
func (f *Fabric) maxAnswers() int { return min(f.device.Limits().MaxCQE/8, fastpath.MaxAnswers) }

// openAnswers has C answer those questions to the data server that it can.
func (f *Fabric) openAnswers(q *queue) {
	if v, ok := q.cq.(fastpath.Queue); ok {
		q.answers = fastpath.OpenAnswers(v, q.receiveArea(), f.maxAnswers(),
			f.maxAnswersPerOrigin(), f.cfg.Me)
	}
}

// fastEntries is how many work requests of the fast path may be in flight.
func (f *Fabric) fastEntries() int { return fastpath.Entries(f.device.Limits().MaxWR) }

// Info describes the fabric to package internode.
func (f *Fabric) Info() transport.FabricInfo {
	polls := f.originQueue.policy.pollsBeforeYield + yieldsBeforeSleep
	return transport.FabricInfo{
		Addr:     bytes.TrimRight(f.connManager.address[:], "\x00"),
		Credits:  credits,
		Tick:     progressTick,
		Patience: time.Duration(polls) * pollCost,
		Look:     pollCost,
		Copies:   true,
		Pulses:   true,
		Bytewise: f.device.Limits().Bytewise,
	}
}

// Atomics reports whether the device has atomic operations.
func (f *Fabric) Atomics() bool { return f.device.Limits().Atomic != 0 }

// Close disconnects all endpoints, and frees the queues and the device, or what Open has made of
// them before it failed. Not the poller's thread calls it, since it locks the poller's mu.
func (f *Fabric) Close() error {
	f.Path.Close()
	for _, q := range f.queues {
		q.closeEndpoints()
	}
	f.resumes.outages.Wait()
	if f.connManager != nil {
		f.connManager.stopThread()
	}
	for _, q := range f.queues {
		q.destroy()
	}
	f.listen.eagerRing.Close()
	if f.listen.accLocks != nil {
		f.listen.accLocks.Close()
	}
	f.regCache.Close()
	f.Arena.Close()
	f.device.Close()
	f.progress.wakeup.Close()
	return nil
}

// CacheRange tells C which memory of a rank it reaches through an endpoint.
func (f *Fabric) CacheRange(e transport.OriginEndpoint, rank transport.Rank, addr uintptr,
	r transport.Range, whole transport.Span, s transport.Server) {
	o := e.(*origin)
	if !r.Direct || o.pair.Inline() < transport.FastBytes {
		return
	}
	base, key := o.pair.RemoteKey(r.Key)
	pair := o.pair.Handle()
	f.AddRange(int(rank), addr, r.Lo, r.Hi, whole, base, key, pair, s)
	if o.lossReason.Load() != nil { // markLost may have dropped the pair before AddRange
		f.DropPair(pair)
	}
}

// DropEndpoint has C reach no memory through an endpoint any more.
func (f *Fabric) DropEndpoint(e transport.OriginEndpoint) {
	f.DropRanges(e.(*origin).pair.Handle())
}

// CachePeer lets C post questions (fastpath/questions.h) to the data server of a rank, on an
// endpoint's queue pair; nothing else is cached. The caller holds the target's lock. A connection
// that was lost is left out, since later questions would not be failed.
func (f *Fabric) CachePeer(e transport.OriginEndpoint, rank transport.Rank) {
	o := e.(*origin)
	if o.pair.Inline() < transport.FastBytes {
		return
	}
	f.AddPeer(rank, o.pair.Handle(), o.limits.message,
		func() bool { return o.lossReason.Load() != nil })
}

// HasPendingAccumulates reports whether C's accumulates through an endpoint have yet to take
// effect.
func (f *Fabric) HasPendingAccumulates(e transport.OriginEndpoint) bool {
	return f.Path.Storing(e.(*origin).pair.Handle())
}

// CacheSpan lets C post questions for accumulates to an allocation [lo, hi) of a rank, around addr.
func (f *Fabric) CacheSpan(rank transport.Rank, addr, lo, hi uintptr) {
	f.AddSpan(rank, addr, lo, hi)
}

// DropPeers has C post no questions on an endpoint any more.
func (f *Fabric) DropPeers(e transport.OriginEndpoint) {
	f.Path.DropPeers(e.(*origin).pair.Handle())
}

// HasOpenRequests reports whether C has requests in flight on an endpoint.
func (f *Fabric) HasOpenRequests(e transport.OriginEndpoint) bool {
	return f.Outstanding(e.(*origin).pair.Handle())
}

// FastSource is the queue that the fast path's completions go to.
func (f *Fabric) FastSource() transport.Source { return f.originQueue }

var (
	_ transport.DirectFabric   = (*Fabric)(nil)
	_ transport.FastFabric     = (*Fabric)(nil)
	_ transport.DirectEndpoint = (*origin)(nil)
	_ transport.DirectWriter   = (*target)(nil)
)

// Attend has the next Wait return when there is a completion on the origins' queue. The data
// server's queue needs none of that: its own thread sleeps on it. Any thread may call it.
func (f *Fabric) Attend(transport.Source) {
	// Arm each time: a thread in Sleep may have taken the event since the last one.
	if err := f.originQueue.cq.Arm(); err != nil {
		log.Errorf("%v", err)
		return
	}
	if !f.progress.attendOrigins.Swap(true) && f.progress.waiting.Load() {
		f.Wake()
	}
}

// Wait blocks until there is something for the progress thread to do, Wake is called, or a time has
// passed (negative: no limit). It returns the queues that the caller has to poll, in ready's
// memory.
func (f *Fabric) Wait(limit time.Duration, ready []transport.Source) []transport.Source {
	ready = ready[:0]
	f.progress.waiting.Store(true)
	defer f.progress.waiting.Store(false)
	q := f.originQueue
	fds := [3]unix.PollFd{{Fd: int32(f.progress.wakeup), Events: unix.POLLIN},
		{Fd: int32(f.device.EventFD()), Events: unix.POLLIN}, {Fd: -1}}
	some := false // perhaps there are completions on the origins' queue
	// While a disconnect message is expected Wait polls from time to time: the descriptor may
	// have signalled an earlier completion, and signals only once.
	leaving := q.peersLeaving.Load() > 0
	if leaving && (limit < 0 || limit > disconnectPollInterval) {
		limit = disconnectPollInterval
	}
	if f.progress.attendOrigins.Load() || leaving {
		fds[2] = unix.PollFd{Fd: int32(q.cq.FD()), Events: unix.POLLIN}
		some = q.cq.Pending()
		if some && f.progress.attendOrigins.Load() && fds[2].Fd >= 0 {
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
		f.progress.wakeup.Drain()
		f.findBroken()
	}
	if fds[1].Revents != 0 {
		f.handleDeviceEvents()
	}
	if some = some || fds[2].Revents != 0; some {
		f.progress.attendOrigins.Store(false)
		q.cq.DrainEvents()
	}
	if some || leaving || q.calls.pending.Load() {
		ready = append(ready, q)
	}
	return ready
}

// disconnectPollInterval is how often the progress thread polls a queue whose descriptor does not
// signal every completion, or that has none.
const disconnectPollInterval = 500 * time.Microsecond

// unregisteredRange is all local memory, for a device with which none has to be registered.
var unregisteredRange = transport.Range{Hi: ^uintptr(0), Direct: true}

// LocalRange returns the range around a local address that stays registered, nil if there is none.
func (f *Fabric) LocalRange(addr uintptr) *transport.Range {
	if f.device.Limits().Unregistered {
		return &unregisteredRange
	}
	return f.Arena.LocalRange(addr)
}

// Abandon removes the device's files, if it has any.
func (f *Fabric) Abandon() {
	if a, ok := f.device.(transport.Abandoner); ok {
		a.Abandon()
	}
}

// Wake ends Wait. Any thread may call it.
func (f *Fabric) Wake() { f.progress.wakeup.Signal() }
