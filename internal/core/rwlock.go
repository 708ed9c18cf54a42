// SPDX-License-Identifier: BSD-3-Clause

// Locks for one writer or many readers, in arena memory of any rank: those of windows. Locking is
// an acquire; unlocking completes everything that the holder has done at the lock's rank. Between
// nodes the rank's data server locks on behalf of the caller (lockserver.go).
package core

import (
	"encoding/binary"
	"fmt"

	"libarmci/internal/transport"
)

// windowLocks are the reader/writer locks, as their callers use them.
type windowLocks struct {
	rt        *Runtime
	lockWords lockWords
}

// syncAlign is how locks are aligned: to a cache line.
const syncAlign = 64

// The body of a message is the lock's address and whether it is exclusive; the answer one byte,
// none if the request is wrong.
const rwlockBody = 9

// rwlockMessage is the body of a message about a reader/writer lock.
func rwlockMessage(lock uintptr, exclusive bool) []byte {
	body := make([]byte, rwlockBody)
	binary.LittleEndian.PutUint64(body, uint64(lock))
	if exclusive {
		body[8] = 1
	}
	return body
}

// isAlignedArena tells whether n bytes at an address are aligned arena memory of a rank of this
// node.
func (rm *regionManager) isAlignedArena(rank transport.Rank, addr uintptr, n int64,
	align uintptr) bool {
	return addr%align == 0 && rm.rt.Memory.InArena(addr) &&
		rm.rt.Memory.InRegionOf(rm.rt.Topo.Local(rank), addr,
			n)
}

// isRWLock tells whether a lock may be at an address of a rank of this node.
func (wl *windowLocks) isRWLock(rank transport.Rank, addr uintptr) bool {
	return wl.rt.regionManager.isAlignedArena(rank, addr, wl.rt.rwlocks.RWLockBytes(),
		syncAlign)
}

// checkRWLock checks the address of a lock of any rank. Memory of another node is checked there.
func (wl *windowLocks) checkRWLock(proc int, addr uintptr) error {
	if err := wl.rt.checkRank("proc", proc); err != nil {
		return err
	}
	if rank := transport.Rank(proc); wl.rt.Topo.SameNode(rank) && !wl.isRWLock(rank, addr) {
		return notSyncMemory("lock", proc, addr)
	}
	return nil
}

// notSyncMemory is the error of an address that cannot hold a lock or event.
func notSyncMemory(arg string, proc int, addr uintptr) error {
	return argErr(CodeAddress, arg, "%#x is no aligned arena memory of rank %d", addr, proc)
}

// RWLock waits until the caller has the lock at an address of rank proc: exclusively, or with other
// readers.
func (wl *windowLocks) RWLock(proc int, lock uintptr, exclusive bool) error {
	if err := wl.checkRWLock(proc, lock); err != nil {
		return err
	}
	if wl.rt.Topo.SameNode(transport.Rank(proc)) {
		wl.rt.rwlocks.RWLock(lock, wl.rt.Me, exclusive)
		return nil
	}
	answer, err := wl.rt.callActive(transport.Rank(proc), msgRWLock,
		rwlockMessage(lock, exclusive))
	switch {
	case err != nil:
		return fmt.Errorf("lock of rank %d: %w", proc, err)
	case len(answer) != 1:
		return notSyncMemory("lock", proc, lock)
	}
	return nil
}

// RWUnlock unlocks a lock behind all earlier operations of the caller at proc: they have taken
// effect there when it returns. Where messages are handled behind operations that is one round
// trip.
func (wl *windowLocks) RWUnlock(proc int, lock uintptr, exclusive bool) error {
	if err := wl.checkRWLock(proc, lock); err != nil {
		return err
	}
	if err := wl.rt.fenceForMessage(proc); err != nil {
		return err
	}
	if wl.rt.Topo.SameNode(transport.Rank(proc)) {
		if !wl.rt.rwlocks.RWHeld(lock, wl.rt.Me, exclusive) {
			return notHeld(proc, lock)
		}
		wl.rt.rwlocks.RWUnlock(lock, exclusive)
		return nil
	}
	answer, err := wl.rt.callActive(transport.Rank(proc), msgRWUnlock,
		rwlockMessage(lock, exclusive))
	switch {
	case err != nil:
		return fmt.Errorf("unlock of rank %d: %w", proc, err)
	case len(answer) != 1:
		return notHeld(proc, lock)
	}
	return nil
}

// notHeld is the error of an unlock without a lock.
func notHeld(proc int, lock uintptr) error {
	return argErr(CodeArgument, "lock", "the lock at %#x of rank %d is not held in this way",
		lock, proc)
}

// handleRWLock executes a request of rank from, on another node, for a lock of rank to. It returns
// false for a malformed message.
func (wl *windowLocks) handleRWLock(from, to transport.Rank, m transport.Msg,
	reply func([]byte)) bool {
	if reply == nil || len(m.Body) != rwlockBody || m.Body[8] > 1 {
		return false
	}
	lock, exclusive := uintptr(binary.LittleEndian.Uint64(m.Body)), m.Body[8] == 1
	mode := lockShared
	if exclusive {
		mode = lockExclusive
	}
	switch {
	case !wl.isRWLock(to, lock):
		reply(nil)
	case m.Kind == msgRWLock:
		wl.rt.lockServer.requestLock(lock, lockRequest{from, mode, reply})
	case !wl.rt.rwlocks.RWHeld(lock, from, exclusive):
		reply(nil)
	default:
		wl.rt.rwlocks.RWUnlock(lock, exclusive)
		reply([]byte{lockGranted})
	}
	return true
}
