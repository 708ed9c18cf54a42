// SPDX-License-Identifier: BSD-3-Clause

// Direct transfers: a Fabric whose device reads and writes memory of a target without the target's
// help, and its fast path in C.
package transport

import "libarmci/internal/kernel"

// Range is registered memory [Lo, Hi) and its key, which is valid over every connection to its
// owner's process. With Direct false the memory is not registered: peers reach it by messages.
type Range struct {
	Lo, Hi uintptr
	Key    uint64
	Direct bool
}

// Completion counts the parts of a direct transfer. The caller of the transfer implements it; the
// fabric calls it, from any thread. The transfer is complete when its call has returned and every
// part has ended.
type Completion interface {
	// AddParts says that n more parts have been posted.
	AddParts(n int32)
	// CompletePart says that one part has ended. The caller reports the first error.
	CompletePart(err error)
}

// Transfer is a direct transfer. Both cursors have the same number of bytes left. The fabric does
// not move them.
type Transfer struct {
	Local, Remote *kernel.Cursor
	// Key returns the range around a remote address. ErrNotNative: it has no key. Key may
	// block; it then calls meanwhile, once, so that the fabric can register local memory at the
	// same time.
	Key    func(addr uintptr, meanwhile func()) (*Range, error)
	Copied bool // local memory may be reused at return (Write)
	// LendFrom is the length in bytes of local rows from which on registering takes less time
	// than copying. FirstChunk is the length in bytes of the first piece that is copied. 0: the
	// fabric's own values.
	LendFrom, FirstChunk int
	// LendAfter is the number of bytes of Within that transfers like this one copy until
	// registering Within would have taken no longer; 0: unknown. Within contains the whole
	// local side.
	LendAfter int64
	Within    Span
	Done      Completion // may be nil (Write)
}

// DirectFabric is a Fabric whose device reads and writes memory of a target without its help.
type DirectFabric interface {
	Fabric
	// RegisterForPeers registers memory of this node for others, unless it is registered
	// already, and lists the ranges from lo to lo+n, in order. Direct is false for what cannot
	// be registered.
	RegisterForPeers(lo uintptr, n int64) []Range
	// LocalRange is the range around local memory of the arena, nil if it cannot be registered.
	LocalRange(addr uintptr) *Range
	// RegisterTemporarily registers local memory for a target's Write. The caller calls release
	// after it. ok is false if the memory cannot be registered.
	RegisterTemporarily(lo, hi uintptr) (key uint64, release func(), ok bool)
	// Share registers private memory of this process, which runs a data server, for all
	// origins. The caller calls release after their last access. ok is false if the memory
	// cannot be registered, or if its pages could be unmapped while it is.
	Share(lo, hi uintptr) (key uint64, release func(), ok bool)
	// Atomics tells whether the device has atomic operations on 8-byte words.
	Atomics() bool
}

// DirectEndpoint is an origin's Endpoint of a DirectFabric. The caller holds the same lock during
// calls as for Endpoint, except for Mark and Reached.
type DirectEndpoint interface {
	OriginEndpoint
	DirectWriter
	// Read is Write in the other direction. Its Transfer has a Done, which reports completion.
	Read(x *Transfer) error
	// Mark names the position behind all Writes posted so far. Any thread may call it.
	Mark() uint64
	// Reached tells whether all Writes before the mark have taken effect at the target. One
	// that has failed never does: the connection is lost. After Close it is true. Any thread
	// may call it.
	Reached(mark uint64) bool
	// Atomic changes an 8-byte word by the device, blocks, and returns the value before.
	Atomic(op AtomicOp, addr uintptr, key uint64, operand, compare int64) (old int64, err error)
	// Requests is the number of device requests that a transfer takes.
	Requests(local, remote *kernel.Cursor) int64
}

// DirectWriter is an Endpoint, of either end, that writes the peer's memory.
type DirectWriter interface {
	// Write posts a whole transfer. At the origin's end it may block until there is room for
	// all of its parts. At the target's end it does not block: it queues the parts for which
	// there is none. ErrNotNative: some memory has no key, and the caller makes the whole
	// transfer again by messages, when the parts that were posted have ended.
	Write(x *Transfer) error
}

// WordEndpoint is a DirectEndpoint that can write a 4-byte word.
type WordEndpoint interface {
	// WriteWord posts the write of one word, in order with Writes.
	WriteWord(addr uintptr, key uint64, value uint32) error
}

// DeviceAccumulator is a DirectEndpoint that accumulates by its device, under locks in the target's
// memory, without the target's help.
type DeviceAccumulator interface {
	// Accumulate adds s times the local side of x to the remote one. With done false nothing
	// has happened, and the caller asks the data server.
	Accumulate(x *Transfer, s Scale) (done bool, err error)
}

// Span is memory [Lo, Hi).
type Span struct{ Lo, Hi uintptr }

// Line is a linear cost model in nanoseconds: Start for a transfer, Each for each of its device
// requests, Byte for each byte.
type Line struct{ Start, Each, Byte float64 }

// WayCosts are the costs of the ways to transfer rows: by requests of the origin's device, by
// messages, by requests of the target's device. Wake is the additional cost in nanoseconds of the
// last two if the target's server sleeps.
type WayCosts struct {
	Device, Messages, TargetSide Line
	Wake                         float64
}

// FastFabric is a DirectFabric with a fast path: C makes contiguous puts and gets without entering
// Go (fast.h). The caller fills C's caches of keys, peers and costs. All methods are safe for
// concurrent use.
type FastFabric interface {
	// CacheRange lets C reach r, around addr, of an allocation of that rank through e. s is the
	// server of the rank's node.
	CacheRange(e OriginEndpoint, rank Rank, addr uintptr, r Range, whole Span, s Server)
	// KnowsRange tells whether C has a range of the rank around addr.
	KnowsRange(rank Rank, addr uintptr) bool
	// DropEndpoint removes all that C reaches through e.
	DropEndpoint(e OriginEndpoint)
	// CachePeer lets C send requests for that rank to its data server through e.
	CachePeer(e OriginEndpoint, rank Rank)
	// CacheSpan lets C accumulate to [lo, hi), around addr, of that rank.
	CacheSpan(rank Rank, addr, lo, hi uintptr)
	// HasPendingAccumulates tells whether accumulates of C through e have not taken effect yet.
	HasPendingAccumulates(e OriginEndpoint) bool
	// KnowsPeer tells whether CachePeer need not be called for that rank: C sends requests
	// there, or never will.
	KnowsPeer(rank Rank) bool
	// DropPeers ends all CachePeer of e.
	DropPeers(e OriginEndpoint)
	// HasBacklog tells whether C sends no two-sided messages to that rank, because it has not
	// delivered earlier ones.
	HasBacklog(rank Rank) bool
	// Delivered lets C send to that rank again.
	Delivered(rank Rank)
	// DropRank removes the ranges of a rank.
	DropRank(rank Rank)
	// SetCosts sets the costs of rows, for gets or for puts.
	SetCosts(get bool, c *WayCosts)
	// TimeRows returns how long C takes for a transfer by requests of the device, until it has
	// taken effect, in nanoseconds. ok is false if C cannot make it.
	TimeRows(get bool, rank Rank, x *Xfer) (ns float64, ok bool)

	// HasOpenRequests tells whether requests that C has posted through e are incomplete.
	HasOpenRequests(e OriginEndpoint) bool
	// FastSource is the source that handles completions of C's requests.
	FastSource() Source
	// RequestOpen tells whether a request of C's is open, so that a handle with it is not
	// complete.
	RequestOpen(number int32) bool
	// RequestEnded tells whether it is complete or has failed.
	RequestEnded(number int32) bool
	// RequestFailure returns whether a request that is over has failed, and at which rank, and
	// clears the failure.
	RequestFailure(number int32) (rank Rank, failed bool)
}

// AtomicOp is an operation of a device on an 8-byte word.
type AtomicOp uint8

// The operations that devices have.
const (
	AtomicAdd AtomicOp = iota
	AtomicCompareSwap
)
