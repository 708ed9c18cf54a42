// SPDX-License-Identifier: BSD-3-Clause

// What the ranks of one node share besides a transport: memory at one address, teams, two-sided
// messages, mutexes. The interfaces are divided by use, so that each user gets only what it needs:
// a data server gets NodeMemory and LocalMemory. Package shm implements all of them; tests have
// stand-ins.
//
// All methods are safe for concurrent use, unless said otherwise. A method that blocks says so.
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

// NodeMemory is the memory of all ranks of a node, for a data server: the owners of addresses, and
// what devices may do there. The local number of a rank is its index among the ranks of its node,
// in ascending order. Memory outside the arena that a rank has exposed (Allocator.Expose) is
// private: an address there means something else in every process.
type NodeMemory interface {
	ForeignMemory
	// InRegionOf tells whether all n bytes at addr lie in one live allocation of that rank, or
	// in memory that it has exposed.
	InRegionOf(local int, addr uintptr, n int64) bool
	// InArena tells whether addr is an arena address of this node, allocated or not.
	InArena(addr uintptr) bool
	// ArenaRange is the range of all arena addresses.
	ArenaRange() (lo uintptr, n int64)
	// RegionAt is the live allocation, of any rank, around an arena address. n = 0: there is
	// none.
	RegionAt(addr uintptr) (lo uintptr, n int64)
	// RecordStore says that another node has stored in memory of a rank. It wakes the rank's
	// threads that wait for that.
	RecordStore(local int)
	// KeepPages says that a device has pinned pages: from now on this rank returns none to the
	// operating system.
	KeepPages()
	// DeviceLocks are the accumulate locks, lines of 64 bytes. n = 0: devices may not take
	// them.
	DeviceLocks() (at uintptr, n int)
	// Declared is the memory declared for device atomics around an address. n = 0: none.
	Declared(addr uintptr) (lo uintptr, n int64)
	// Counters is the table of the counters of Notifications: uint32 [rank of the node][rank of
	// the job]. n = 0: there is none.
	Counters() (lo uintptr, n int64)
}

// ForeignMemory gives access to memory of any rank of the node, arena or private. The caller has
// checked with NodeMemory.InRegionOf that the rank owns it.
type ForeignMemory interface {
	// MappedHere tells whether this process can load and store there: the memory is its own, or
	// the arena's.
	MappedHere(local int, addr uintptr) bool
	// ReadForeign copies memory of the rank to into. ErrBadAddr: it is not mapped at its owner;
	// a part may have been copied.
	ReadForeign(local int, addr uintptr, into []byte) error
	// WriteForeign copies from to memory of the rank. Errors are as of ReadForeign.
	WriteForeign(local int, addr uintptr, from []byte) error
}

// Allocator allocates arena memory. Every rank allocates from a slice of its own. Addresses are
// equal in all ranks of the node.
type Allocator interface {
	// AllocateKept allocates from memory that this rank has freed and kept. ok is false if
	// there is no such piece; the caller then uses AllocatePopulated.
	AllocateKept(nbytes int64) (addr uintptr, ok bool)
	// CheckReservation returns an error unless the ranks of this machine may reserve nbytes
	// more in all.
	CheckReservation(nbytes int64) error
	// AllocatePopulated allocates new memory. ErrNoMemory: this rank's slice of the arena is
	// full.
	AllocatePopulated(nbytes int64) (addr uintptr, err error)
	// MapPages announces that this rank is about to use new memory of another rank of the node.
	MapPages(addr uintptr, nbytes int64)
	// Deallocate frees memory of AllocateKept or AllocatePopulated. It must not be published.
	Deallocate(addr uintptr)
	// Publish makes an allocation accessible to all ranks; Withdraw ends that.
	Publish(addr uintptr, nbytes int64) error
	// Withdraw returns ErrBadAddr if no allocation at addr is published.
	Withdraw(addr uintptr) error
	// Expose makes any memory of this process accessible to all ranks. Exposures may overlap
	// and repeat.
	Expose(addr uintptr, nbytes int64) error
	// Conceal ends one exposure. ErrBadAddr: there is none of exactly this memory.
	Conceal(addr uintptr, nbytes int64) error
	// Declare has devices carry out all 8-byte read-modify-writes there from now on. False: the
	// table of such ranges is full.
	Declare(addr uintptr, n int64) bool
	// MemoryUse returns numbers of bytes of this rank: allocated now, freed but kept, and the
	// most that were ever allocated.
	MemoryUse() (live, kept, high int64)

	// AllocateOnTouch is AllocatePopulated, but a page is made by the rank that first touches
	// it.
	AllocateOnTouch(nbytes int64) (addr uintptr, err error)
}

// Teams creates teams: the members of a group on this node.
type Teams interface {
	// AllocContext reserves the shared state of a new team. One member calls it and sends the
	// result to the others. An error says that all are in use.
	AllocContext() (TeamStart, error)
	// AttachTeam joins a team. members are local numbers in team order; me is the caller's
	// index among them. The caller releases the team. With an error, which says that there is
	// no memory for it, the team is good for telling the other members, and is to be released
	// soon: the next one without memory waits for that.
	AttachTeam(s TeamStart, members []int, me int) (Team, error)
	// World is the team of all ranks of the node. It is not released.
	World() Team
}

// Mailbox carries two-sided messages to ranks of the node, by local number, from any rank of the
// job.
type Mailbox interface {
	// Send sends a message of this rank. It copies body and may block until there is room.
	Send(to int, tag int64, body []byte)
	// Deliver is Send on behalf of a rank of another node. The message has total bytes, of
	// which body is the first part; the rest follows by other means. Without room it blocks if
	// wait is set, else it returns false and nothing is sent.
	Deliver(to int, from Rank, tag int64, total int64, body []byte, wait bool) bool
	// Recv blocks until there is a message with this tag from this rank, -1: from any, and
	// copies it to body. ErrTooLong leaves it unread.
	Recv(from Rank, tag int64, body []byte) (Received, error)
	// Arrived tells whether Recv would return at once.
	Arrived(from Rank, tag int64) bool
	// SetBacklogged says whether messages for a local rank are queued outside its mailbox.
	// While they are, C delivers none to it, since it must not overtake them.
	SetBacklogged(local int, yes bool)
}

// Received describes a received two-sided message.
type Received struct {
	From  Rank
	Bytes int // received now
	Total int // of the message: more than Bytes only if it comes from another node in fragments
}

// Notifications are counters: each rank of the job has one at each rank of the node.
//
// A device that writes a counter wakes no waiter. So a waiter that is about to sleep asks for a
// message, whose handler calls WakeNotified. RecordNotifySent and RequestNotifyWake are the two
// sides of the race between the device's write and that request: at least one of them returns true.
type Notifications interface {
	// Notify raises the counter of rank from at local rank to, wakes its waiter, and returns
	// the new value.
	Notify(to int, from Rank) uint32
	// NotifyWait blocks until the counter of rank from at this rank is at least want, and
	// returns it.
	NotifyWait(from Rank, want uint32) uint32
	// NotifySoon is NotifyWait, but returns false instead of sleeping.
	NotifySoon(from Rank, want uint32) bool
	// RecordNotifySent records that a device has written count to this rank's counter at rank
	// to, of another node. True: that rank has asked, and the caller must send it a message.
	RecordNotifySent(to Rank, count uint32) bool
	// RequestNotifyWake records that rank by, of another node, waits for want notifications of
	// the local rank. True: they have been sent, and the caller must send the message at once.
	RequestNotifyWake(local int, by Rank, want uint32) bool
	// WakeNotified wakes the waiter if the counter of rank from at local rank to is at least
	// want. False: it is not yet.
	WakeNotified(to int, from Rank, want uint32) bool
	// ReceiveBy has threads that wait for anything from other nodes poll in. It is called once,
	// before there are any.
	ReceiveBy(in Incoming)
}

// Mutexes are in arena memory, MutexBytes each, zeroed by their owner.
type Mutexes interface {
	// MutexBytes is the size of a mutex.
	MutexBytes() int64
	// RankMutex is the address of a mutex that every rank of the node has.
	RankMutex(local int) uintptr
	// Lock blocks until owner has the mutex.
	Lock(m uintptr, owner Rank)
	// LockSoon waits a few microseconds at most. If got is false, owner has a place in the
	// queue, and LockQueued must follow with the ticket.
	LockSoon(m uintptr, owner Rank) (ticket uint32, got bool)
	// LockQueued blocks until owner, which has the ticket of LockSoon, has the mutex.
	LockQueued(m uintptr, owner Rank, ticket uint32)
	// TryLock takes the mutex if it is free.
	TryLock(m uintptr, owner Rank) bool
	// Unlock frees the mutex, which is held, and wakes the first in its queue.
	Unlock(m uintptr)
	// PassOn makes a rank of another node the owner of a mutex that the caller would unlock. It
	// returns false and does nothing if a rank is in the mutex's queue.
	PassOn(m uintptr, to Rank) bool
	// MutexOwner is the rank that holds the mutex, if held.
	MutexOwner(m uintptr) (owner Rank, held bool)
}

// RWLocks are locks for one writer (exclusive) or many readers, in arena memory, RWLockBytes each
// and zeroed by their owner.
type RWLocks interface {
	// RWLockBytes is the size of a lock.
	RWLockBytes() int64
	// RWLock blocks until the rank has the lock.
	RWLock(l uintptr, owner Rank, exclusive bool)
	// RWLockSoon waits a few microseconds at most. If got is false, RWLockQueued must follow
	// with the ticket.
	RWLockSoon(l uintptr, owner Rank, exclusive bool) (ticket uint64, got bool)
	// RWLockQueued blocks until the rank, which has the ticket of RWLockSoon, has the lock.
	RWLockQueued(l uintptr, owner Rank, exclusive bool, ticket uint64)
	// RWUnlock frees the lock, which is held in that way.
	RWUnlock(l uintptr, exclusive bool)
	// RWHeld tells whether the rank holds the lock exclusively, or whether any reader does.
	RWHeld(l uintptr, owner Rank, exclusive bool) bool
}

// WordLocks are RWLocks that ranks of other nodes may hold by atomics of their device on a word
// that the lock names: a reader adds one, a writer RWWordWriter.
type WordLocks interface {
	// NameRWWord sets the word of a lock that no other rank knows yet. 0: it has none.
	NameRWWord(l, word uintptr)
	// RWTaken tells whether a rank of the lock's own node excludes a rank of another node. That
	// one has changed the word first, and then read this image of the lock, of RWLockBytes.
	RWTaken(image []byte, exclusive bool) bool
}

// RWWordWriter is the value of a lock's word while a rank of another node writes.
const RWWordWriter = 1 << 32

// Events are counters in arena memory, EventBytes each and zeroed by their owner. An aligned uint32
// count comes first.
//
// A device that writes the count of an event wakes no waiter. So the rank that raises it by a
// device has a record, which is an event, too, with the count that it has sent, and the waiter
// asks there for a message. RecordEventSent and RequestEventWake are the two sides of that race, as
// of Notifications.
type Events interface {
	// EventBytes is the size of an event.
	EventBytes() int64
	// EventAdd raises the count, ordered behind all earlier stores of the caller, and wakes the
	// waiters.
	EventAdd(e uintptr, n uint32)
	// EventWait blocks until the count differs from seen, or until millis milliseconds have
	// passed: then it may return false. Negative: without a limit. what is the name of the
	// waiting function, for the report of a wait that never ends.
	EventWait(e uintptr, seen uint32, millis int, what string) bool
	// EventSoon polls for a short while, without sleeping, whether the count differs from seen.
	EventSoon(e uintptr, seen uint32) bool
	// EventCount is the count.
	EventCount(e uintptr) uint32
	// RecordEventSent records that a device has written count to the event of this record.
	// True: a waiter has asked, and the caller must send it a message.
	RecordEventSent(record uintptr, count uint32) bool
	// RequestEventWake records that a waiter asks for a message when want has been sent. True:
	// it has been, and the caller must send the message at once.
	RequestEventWake(record uintptr, want uint32) bool
	// WakeEventWaiters wakes the waiters of the event if its count is at least count. False: it
	// is not yet.
	WakeEventWaiters(e uintptr, count uint32) bool
}

// Liveness is the orderly departure of a rank from its node, and the agreement of the ranks of a
// node on the one that reports why the job ends.
type Liveness interface {
	// AnnounceFinalBarrier(true) says that this rank enters the final barrier of the world, and
	// does nothing else for others until it has passed it or calls AnnounceFinalBarrier(false).
	// A rank that waits for anything else from it ends the job.
	AnnounceFinalBarrier(yes bool)
	// Leave announces the departure of this rank, so that the others do not regard it as dead.
	// clean: the library was finalised.
	Leave(clean bool)
	// Exited tells whether a rank of the node has exited without finalising.
	Exited() bool
	// ClaimNodeReport is true for one rank of the node, which prints why the job ends.
	ClaimNodeReport() bool
	// ClaimMachineReport is called by that rank. It is false if another node of this machine,
	// or a process that watches it, is known to have printed why the job ends. The caller then
	// prints nothing.
	ClaimMachineReport() bool
	// MarkReported records that the cause has been printed elsewhere.
	MarkReported()
	// InquiriesAt is the address at which other hosts may ask whether the cause of the end is
	// known on this host, even when all its ranks have ended. nil: there is none.
	InquiriesAt() []byte
	// AskCauseKnown asks at such an address, and blocks. An unreachable host has the time
	// within to answer, a reachable one some seconds.
	AskCauseKnown(at []byte, within time.Duration) bool
}

// LocalMemory moves data to and from the memory of this node, private memory of its ranks included.
// A Peer is a local number. Operations are complete when the call returns. The caller has checked
// the remote addresses.
type LocalMemory interface {
	// Put copies the local side to the remote one.
	Put(p Peer, x *Xfer) error
	// Get copies the remote side to the local one.
	Get(p Peer, x *Xfer) error
	// Acc adds s times the local side to the remote one, atomically for each element.
	Acc(p Peer, x *Xfer, s Scale) error
	// Update changes elements of p's memory, mapped by this process or not, atomically for each
	// element with respect to all updates and accumulates.
	Update(p Peer, u *Update) error
	// CompareSwap carries out c, atomically as Update does.
	CompareSwap(p Peer, c *CompareSwap) error
	// RMW carries out r. ErrNotNative: the word is private memory of another rank.
	RMW(p Peer, r *RMW) error
}

// TeamStart is what the members of a new team must agree on. The member that has called
// AllocContext sends it to the others.
type TeamStart struct {
	Context     int64
	Phase, Step uint64
}

// Team is a group's members on one node. All members call the same collectives in the same order,
// one at a time: a Team is used by one thread at a time. Collectives block.
type Team interface {
	// Size is the number of members, Rank the caller's index among them.
	Size() int
	Rank() int
	// Barrier returns when all members have called it.
	Barrier()
	// Bcast copies nbytes of root's buf to the others'.
	Bcast(buf unsafe.Pointer, nbytes int64, root int)
	// Allgather returns the slices of all members, of equal length and at most 256 bytes each,
	// in team order. The result is valid until the next call.
	Allgather(mine []byte) []byte
	// Allreduce combines nelem elements of x of all members. typ is a kernel.Type, red a
	// kernel.Reduction.
	Allreduce(x unsafe.Pointer, nelem int64, typ, red int)
	// Release releases the team. last is set by one member, after a barrier of all: it frees
	// the shared state.
	Release(last bool)
	// Pointer is the team as C knows it, nil if it does not.
	Pointer() unsafe.Pointer
}
