// SPDX-License-Identifier: BSD-3-Clause

// What the ranks of one node share besides a transport: memory at one address, teams, two-sided
// messages, mutexes. The interfaces are divided by use, so that each user gets only what it needs:
// a data server gets NodeMemory and LocalMemory. Package shm implements all of them; tests have
// stand-ins.
package transport

import (
	"time"
	"unsafe"
)

// Node is the calling process's share of its node, as Platform.Join returns it. core takes the
// parts from it.
type Node interface {
	NodeMemory
	Allocator
	Teams
	Mailbox
	Notifications
	Mutexes
	RWLocks
	Events
	Liveness
}

// NodeMemory is the memory of all ranks of a node, for a data server: who owns an address, and what
// devices may do there. The local number of a rank is its index among the ranks of its node, in
// ascending order. Memory outside the arena that a rank has exposed (Allocator.Expose) is private:
// an address there means something else in every process.
type NodeMemory interface {
	ForeignMemory
	// are all n bytes in one live allocation of that rank, or exposed?
	Owns(local int, addr uintptr, n int64) bool
	Inside(addr uintptr) bool     // is it an arena address of this node at all?
	Arena() (lo uintptr, n int64) // all of these addresses
	// the live allocation, of any rank, around an arena address; n = 0: none
	Extent(addr uintptr) (lo uintptr, n int64)
	// devices have pinned pages: from now on this rank returns none to the machine
	KeepPages()
	// accumulate locks, lines of 64 bytes, if devices may take them; n = 0: devices may not
	DeviceLocks() (at uintptr, n int)
	// the memory declared for device atomics around an address; n = 0: none
	Declared(addr uintptr) (lo uintptr, n int64)
	// those of Notifications: uint32 [rank of the node][rank of the job]; n = 0: none
	Counters() (lo uintptr, n int64)
}

// ForeignMemory is the way to memory of any rank of the node that it owns, whatever kind it is. The
// caller has checked with Owns.
type ForeignMemory interface {
	// can this process load and store there? It is its own memory, or the arena's
	Mapped(local int, addr uintptr) bool
	ReadForeign(local int, addr uintptr, into []byte) error
	// ErrBadAddr: it is not mapped at its owner, perhaps after a part was copied
	WriteForeign(local int, addr uintptr, from []byte) error
}

// Allocator allocates arena memory. Every rank allocates from a slice of its own; addresses are
// equal in all ranks of the node.
type Allocator interface {
	// from memory that this rank has freed and kept
	Reuse(nbytes int64) (addr uintptr, ok bool)
	// an error unless the ranks of this machine may reserve this much more in all
	Room(nbytes int64) error
	Grow(nbytes int64) (addr uintptr, err error) // reserve new memory
	// this rank is about to use new memory of another rank of the node
	Enter(addr uintptr, nbytes int64)
	Return(addr uintptr)                      // free memory of Reuse or Grow
	Publish(addr uintptr, nbytes int64) error // make it accessible to all ranks
	Withdraw(addr uintptr) error              // end that
	// make any memory of this process accessible to all ranks; exposures may overlap and repeat
	Expose(addr uintptr, nbytes int64) error
	// end one exposure; ErrBadAddr: there is none of this memory
	Conceal(addr uintptr, nbytes int64) error
	// devices do all 8-byte RMWs there from now on; false: too many ranges
	Declare(addr uintptr, n int64) bool
	// bytes of this rank: allocated, freed but kept, most ever held
	MemoryUse() (live, kept, high int64)

	// GrowOnTouch is Grow, but the rank that first touches a page makes it.
	GrowOnTouch(nbytes int64) (addr uintptr, err error)
}

// Teams creates teams: the members of a group on this node.
type Teams interface {
	AllocContext() (TeamStart, error)
	// members as local numbers in team order; me: my index among them
	AttachTeam(s TeamStart, members []int, me int) Team
	World() Team // all ranks of the node
}

// Mailbox carries two-sided messages to ranks of the node, by local number, from any rank of the
// job.
type Mailbox interface {
	Send(to int, tag int64, body []byte) // from this rank; may wait for room
	// Deliver is Send on behalf of a rank of another node, whose message has total bytes of
	// which body is the first part; the rest follows by other means. With wait false it returns
	// false where there is no room.
	Deliver(to int, from Rank, tag int64, total int64, body []byte, wait bool) bool
	// from -1: any; ErrTooLong leaves it unread
	Recv(from Rank, tag int64, body []byte) (Received, error)
	Arrived(from Rank, tag int64) bool // would Recv return at once?
	// SetBacklogged says whether messages for a local rank wait outside its mailbox, and must
	// not be overtaken by what C delivers.
	SetBacklogged(local int, yes bool)
}

// Received describes a received two-sided message.
type Received struct {
	From  Rank
	Bytes int // received now
	Total int // of the message: more than Bytes only if it comes from another node in fragments
}

// Notifications are counters: each rank of the job has one at each rank of the node.
type Notifications interface {
	// raise the counter of rank from at local rank to; returns it
	Notify(to int, from Rank) uint32
	// wait until from's counter at this rank has reached want
	NotifyWait(from Rank, want uint32) uint32
	NotifySoon(from Rank, want uint32) bool // the same; false: NotifyWait would sleep now
	// A device that writes a counter wakes nobody. NotifySent says that one has written so many
	// of mine at a rank of another node; true: that rank has asked to be told, and the caller
	// must. NotifyAsk asks local rank by whom it is to be told of `want` of its; true: they
	// have been sent, and the caller must tell. Who is told calls Notified when the counter is
	// there: it wakes.
	NotifySent(to Rank, count uint32) bool
	NotifyAsk(local int, by Rank, want uint32) bool
	Notified(to int, from Rank, want uint32) bool
	// ReceiveBy has threads that wait for other nodes, for whatever it is, receive what comes
	// from them.
	ReceiveBy(in Incoming)
}

// Mutexes are in arena memory, MutexBytes each, zeroed by their owner. RankMutex is one that every
// rank has.
type Mutexes interface {
	MutexBytes() int64
	RankMutex(local int) uintptr
	Lock(m uintptr, who Rank)
	// waits a few microseconds at most; if not got, LockQueued must follow
	LockSoon(m uintptr, who Rank) (ticket uint32, got bool)
	LockQueued(m uintptr, who Rank, ticket uint32)
	TryLock(m uintptr, who Rank) bool
	Unlock(m uintptr)
	// PassOn makes a rank of another node the owner of a mutex that the caller would unlock;
	// false, and nothing has happened, if a rank is in the mutex's queue.
	PassOn(m uintptr, to Rank) bool
	MutexOwner(m uintptr) (who Rank, held bool)
}

// RWLocks are locks for one writer (exclusive) or many readers, in arena memory, RWLockBytes each
// and zeroed by their owner.
type RWLocks interface {
	RWLockBytes() int64
	RWLock(l uintptr, who Rank, exclusive bool)
	// waits a few microseconds at most; if not got, RWLockQueued must follow
	RWLockSoon(l uintptr, who Rank, exclusive bool) (ticket uint64, got bool)
	RWLockQueued(l uintptr, who Rank, exclusive bool, ticket uint64)
	RWUnlock(l uintptr, exclusive bool)
	RWHeld(l uintptr, who Rank, exclusive bool) bool // exclusively by who, or by any readers
}

// WordLocks are RWLocks that ranks of other nodes may hold by atomics of their device on a word
// that the lock names: a reader adds one, a writer RWWordWriter.
type WordLocks interface {
	// NameRWWord gives a lock that no other rank knows yet its word. 0: it has none.
	NameRWWord(l, word uintptr)
	// RWTaken tells whether a rank of the lock's own node is in the way of one that has changed
	// the word and then read this image of the lock, of RWLockBytes.
	RWTaken(image []byte, exclusive bool) bool
}

// RWWordWriter is what a lock's word has while a rank of another node writes.
const RWWordWriter = 1 << 32

// Events are counters in arena memory, EventBytes each and zeroed by their owner: an aligned uint32
// count comes first.
type Events interface {
	EventBytes() int64
	EventAdd(e uintptr, n uint32) // behind all earlier stores of the caller
	// EventWait waits until the count differs from seen, or, not to negative, until so many
	// milliseconds have passed: then it may return false. what: by what function, if that never
	// happens.
	EventWait(e uintptr, seen uint32, millis int, what string) bool
	// EventSoon looks for a short while, without sleeping, whether the count differs from seen.
	EventSoon(e uintptr, seen uint32) bool
	// A device that writes the count of an event wakes no waiter. The rank that raises it has a
	// record of it, which is an event, too. EventSent says that so many have been written;
	// true: a waiter has asked, and the caller must tell it. EventAsk asks to be told of
	// `want`; true: they have been written. EventTold wakes the waiters of an event when its
	// count is there.
	EventCount(e uintptr) uint32
	EventSent(record uintptr, count uint32) bool
	EventAsk(record uintptr, want uint32) bool
	EventTold(e uintptr, count uint32) bool
}

// Liveness is how a rank leaves its node, and how the ranks of a node agree who reports that the
// job ends.
type Liveness interface {
	// Ending(true) says that this rank enters the final barrier of the world, and does nothing
	// else for others until it has passed it or calls Ending(false). A rank that waits for
	// anything else from it ends the job.
	Ending(yes bool)
	// Leave says goodbye, so that the others do not regard this rank as dead. clean: the
	// library was finalised.
	Leave(clean bool)
	// Exited tells whether a rank of the node has exited without finalising.
	Exited() bool
	// ClaimEnd is true for one rank of the node, which prints why the job ends.
	ClaimEnd() bool
	// ClaimMachine is true unless another node of this machine, or a process that watches it,
	// has printed why the job ends, as far as that is known. Only the caller prints then.
	ClaimMachine() bool
	// Settle says that the cause has been printed elsewhere.
	Settle()
	// InquiriesAt is where other hosts may ask whether the cause of the end is known on this
	// one, even when all its ranks have ended; nil: nowhere.
	InquiriesAt() []byte
	// Known asks at such an address. A host that is out of reach has the time within, one that
	// is there has some seconds.
	Known(at []byte, within time.Duration) bool
}

// LocalMemory moves data to and from the memory of this node, private memory of its ranks included,
// at once: Peer = local number.
type LocalMemory interface {
	Put(p Peer, x *Xfer) error
	Get(p Peer, x *Xfer) error
	Acc(p Peer, x *Xfer, s Scale) error
	RMW(p Peer, r *RMW) error // ErrNotNative: private memory of another rank
}

// TeamStart is what the members of a new team must agree on; the member that has called
// AllocContext sends it to them.
type TeamStart struct {
	Context     int64
	Phase, Step uint64
}

// Team is a group's members on one node. One collective at a time; all members call the same ones
// in the same order.
type Team interface {
	Size() int
	Rank() int
	Barrier()
	Bcast(buf unsafe.Pointer, nbytes int64, root int)
	// at most 256 bytes each; all members' in team order, valid until the next call
	Allgather(mine []byte) []byte
	Allreduce(x unsafe.Pointer, nelem int64, typ, red int)
	Release(last bool)       // release the team; last: by one member, after a barrier of all
	Pointer() unsafe.Pointer // the team as C knows it
}
