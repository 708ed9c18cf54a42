// SPDX-License-Identifier: BSD-3-Clause

// What the ranks of one machine share besides a wire: memory at one address, barriers, locks, messages.
// core reaches it through this interface only, so that tests can stand in for a machine.
package transport

import "unsafe"

// Node is the calling process's share of its machine.
type Node interface {
	Ranks() []Rank // world ranks of this node, ascending; the index is the local number
	Self() int     // my local number

	// Memory: every rank allocates from a slice of its own; addresses are equal in all ranks of the node.
	Reuse(nbytes int64) (addr uintptr, ok bool)  // from memory this rank already holds
	Room(nbytes int64) error                     // may the ranks of the node reserve this much more in all?
	Grow(nbytes int64) (addr uintptr, err error) // reserve new memory
	Return(addr uintptr)                         // give back what Reuse or Grow returned
	Publish(addr uintptr, nbytes int64) error    // open to all ranks
	Withdraw(addr uintptr) error                 // no longer
	Owns(local int, addr uintptr, n int64) bool  // are all n bytes in one live allocation of that rank?
	Inside(addr uintptr) bool                    // is it an arena address at all?
	Extent(addr uintptr) (lo uintptr, n int64)   // the live allocation around an arena address, whoever's; n = 0: none
	Hold()                                       // a device holds pages: from now on this rank gives none back to the machine
	DeviceLocks() (at uintptr, n int)            // accumulate locks, lines of 64 bytes, if devices may take them; n = 0: they may not
	Declare(addr uintptr, n int64) bool          // 8-byte RMWs there are for devices from now on; false: too many pieces
	Declared(addr uintptr) (lo uintptr, n int64) // the declared memory around an address; n = 0: none
	MemoryUse() (live, kept, high int64)         // bytes of this rank: allocated, freed but kept, most ever held

	// Teams: the members of a group on this node.
	ClaimTeam() (TeamStart, error)
	HoldTeam(s TeamStart, members []int, me int) Team // members as local numbers in team order; me = my place among them
	World() Team

	// Messages and counters: to a rank of the node by local number, from any rank of the job.
	Send(to int, tag int64, body []byte) // from me; may wait for room
	// Deliver is Send on behalf of a rank of another node, whose message has total bytes of which body is the first
	// part; the rest follows by other means. With wait false it returns false where there is no room.
	Deliver(to int, from Rank, tag int64, total int64, body []byte, wait bool) bool
	Recv(from Rank, tag int64, body []byte) (Letter, error) // from -1 = any; ErrTooLong leaves it unread
	Arrived(from Rank, tag int64) bool                      // would Recv return at once?
	Notify(to int, from Rank) uint32                        // raise the counter from keeps at to; returns it
	NotifyWait(from Rank, want uint32) uint32               // wait until from's counter at me has come to want

	// Mutexes live in arena memory, MutexBytes each, zeroed by their owner; RankMutex is one every rank has anyway.
	MutexBytes() int64
	RankMutex(local int) uintptr
	Lock(m uintptr, who Rank)
	LockSoon(m uintptr, who Rank) (ticket uint32, got bool) // waits a few microseconds at most; not got: LockQueued must follow
	LockQueued(m uintptr, who Rank, ticket uint32)
	TryLock(m uintptr, who Rank) bool
	Unlock(m uintptr)
	MutexOwner(m uintptr) (who Rank, held bool)

	// Ending(true) says that this rank enters the world's barrier to finalise, and does nothing else for others until it
	// is through or says Ending(false): who waits for anything else from it ends the job.
	Ending(yes bool)
	// Leave says goodbye, so that the others do not take this rank for dead. clean: the library was finalised.
	Leave(clean bool)
	// ClaimEnd is true for the one rank that is to print why the job ends.
	ClaimEnd() bool
}

// Letter describes a received message.
type Letter struct {
	From  Rank
	Bytes int // received now
	Total int // of the message: more than Bytes only if it comes from another node in parts
}

// TeamStart is what the members of a new team must agree on; the claimer sends it to them.
type TeamStart struct {
	Slot        int64
	Phase, Step uint64
}

// Team is a group's members on one node. One collective at a time; all members call the same ones in the same order.
type Team interface {
	Size() int
	Rank() int
	Barrier()
	Bcast(buf unsafe.Pointer, nbytes int64, root int)
	Allgather(mine []byte) []byte // at most 256 bytes each; all members' in team order, valid until the next call
	Allreduce(x unsafe.Pointer, nelem int64, typ, red int)
	Release(last bool)       // let go; last: by one member, after a barrier of all
	Pointer() unsafe.Pointer // what the C fast path works on
}
